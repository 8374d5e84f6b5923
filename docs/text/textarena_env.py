"""TextArena: an environment with its methods; models play every seat of Evergreen for two."""

from evergreen_env import Config
from tabletop_text import TextTable


class Evergreen:
    """As `textarena.Env`: reset, get_observation, step, close."""

    def reset(self, num_players=2, seed=None):
        self.table = TextTable(Config(players=num_players))
        self.turn = self.table.reset(seed)

    def get_observation(self):
        """Who is asked, and the message to that player: what is new, not the whole history."""
        return self.turn.seat, self.turn.text

    def step(self, action):
        """Answer for that player; returns whether the game is over, and what went wrong."""
        self.turn = self.table.step(action)
        return self.turn.done, {"problem": self.turn.problem, "message": self.turn.message}

    def close(self):
        """The reward and the last facts of each player."""
        turns = {seat: self.table.turn(seat) for seat in range(self.table.config.players)}
        return {seat: turn.reward for seat, turn in turns.items()}, {
            seat: dict(turn.info) for seat, turn in turns.items()
        }
