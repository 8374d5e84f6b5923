"""Settings of training that takes a moment."""

TINY = """
[learning]
num_envs = 8
steps = 16
minibatch = 64
epochs = 1
layers = [8]
threads = 1
evaluate_every = 128
[opponents]
league = 0.5
scripted = ["random"]
snapshot_steps = 128
[evaluation]
against = ["random"]
games = 4
[budget]
steps = 256
"""
