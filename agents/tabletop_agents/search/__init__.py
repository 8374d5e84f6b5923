"""Agents that look ahead, each beside its search.

The searches are templates that are compiled for a game when an agent first plays it. The machine code stays in the
cache until a file of this folder or of the rules changes.

| agent | its search |
|---|---|
| `greedy` | `one_turn`: every way to finish the current action |
| `rollout` | `playouts`: flat Monte Carlo |
| `ismcts` | `ismcts_tree`: information-set Monte Carlo tree search |
| `guided_search` | `guided_tree`: a tree guided by a network, which `forward` evaluates |

The last two have the layout of their trees in common (`tree`), and what they make of them (`tree_agent`).
"""
