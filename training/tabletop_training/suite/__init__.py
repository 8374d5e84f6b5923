"""The suite: named tasks to learn and to play, statistics over training runs, and results that anybody can check."""
