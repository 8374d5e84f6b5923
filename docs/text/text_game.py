"""One game by text: whatever writes the replies plays one seat, agents play the others."""

from petrichor_env import Config
from tabletop_text import Form, TextGame


def write(message):
    """Your player; this one gives the first answer of the list."""
    return '{"answer": 1}'


game = TextGame(Config(players=2), opponents=("greedy",), seat="random", form=Form(board="compact"), tries=3)
turn = game.reset(seed=3)
while not turn.done:
    turn = game.step(write(turn.text))
print(turn.text.splitlines()[-1], turn.reward, turn.info)
game.replay.save("game.json")  # for `petrichor replay` and `petrichor review`
