"""Learning a game with PPO on games in which every seat can learn."""
