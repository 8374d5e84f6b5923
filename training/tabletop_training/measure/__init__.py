"""Games of agents, and what they say.

A command is the function `main` of its module: it plays the games, prints and writes the results, and returns their
folder. What all of these functions have in common:

- `output` is the folder. Games are kept there after each block, Ctrl-C keeps the finished ones, and `resume` goes on.
- `workers` play the blocks of games: `HERE`, other `Workers`, or a number of processes to start. The games are the same
  for all. A process imports the program that starts it, so what that program does must stand below
  `if __name__ == "__main__":`.
- `on_result` is called with the content of the command's JSON file.
- They raise ConfigError for bad arguments, CheckpointError for a policy that can't be loaded, and TabletopError for a
  folder that has other games or can't be written to.
"""
