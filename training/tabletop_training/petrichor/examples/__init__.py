"""Learners of one's own, one short file each: Stable-Baselines3, CleanRL's style, a plain PyTorch loop.

Each runs as `python -m tabletop_training.petrichor.examples.NAME --steps N` and prints what the
agent that it trained is worth.
"""
