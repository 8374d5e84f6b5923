"""Examples of learners, one short file each: Stable-Baselines3, CleanRL's style, and a plain PyTorch loop.

Run one with `python -m tabletop_training.petrichor.examples.NAME --steps N`. It trains an agent and prints its win
rate.
"""
