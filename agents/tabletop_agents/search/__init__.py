"""The compiled parts of agents that look ahead: an evaluation of positions, a one-turn walk, playouts, a search tree.

Their machine code is kept in the cache until a file of this folder or of the rules changes.
"""
