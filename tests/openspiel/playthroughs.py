"""Games through OpenSpiel as text: draws with their possible outcomes, actions, and what each player knows.

python -m tests.openspiel.playthroughs     # writes tests/openspiel/*.txt anew
"""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
GAMES = {
    "petrichor-solo": "python_petrichor(players=1,variants=double_card+one_more_turn)",
    "petrichor-2p": "python_petrichor()",
    "petrichor-3p": "python_petrichor(players=3,drafting=True,modules=cactus+powers+forecasts,reward=margin)",
    "evergreen-solo": "python_evergreen(players=1,reward=points)",
    "evergreen-2p": "python_evergreen()",
    "evergreen-4p": "python_evergreen(players=4,reward=margin,at_the_end=True)",
}
"""The games that are played through, by the name of their file."""
_SHOWN = 40
"""One of so many nodes is shown in full."""


def told(game_string: str) -> str:
    """One random game. Python's own `random` chooses: its numbers are the same in every version."""
    import pyspiel

    game = pyspiel.load_game(game_string)
    state, choose = game.new_initial_state(), random.Random(1).random
    lines = [
        f"# {game}",
        "",
        f"max_game_length {game.max_game_length()}, "
        f"max_chance_nodes_in_history {game.max_chance_nodes_in_history()}, "
        f"max_chance_outcomes {game.max_chance_outcomes()}, "
        f"utilities {game.min_utility():g} to {game.max_utility():g}, "
        f"utility_sum {game.utility_sum()}",
        "",
    ]
    while not state.is_terminal():
        if state.move_number() % _SHOWN == 0:
            lines += ["", *shown(state), ""]
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            action = drawn(outcomes, choose())
            chances = " ".join(f"{outcome}:{Fraction(chance).limit_denominator(1000)}" for outcome, chance in outcomes)
            lines.append(f"chance: {state.action_to_string(action)} ({chances})")
        else:
            legal = state.legal_actions()
            action = legal[int(choose() * len(legal))]
            lines.append(f"player_{state.current_player()}: {action} {state.action_to_string(action)}")
        state.apply_action(action)
        if not state.is_chance_node() and any(state.rewards()):
            lines.append(f"rewards {' '.join(f'{reward:g}' for reward in state.rewards())}")
    lines += ["", *shown(state), "", f"returns {' '.join(f'{gained:g}' for gained in state.returns())}", ""]
    return "\n".join(line.rstrip() for line in lines)


def drawn(outcomes: list[tuple[int, float]], number: float) -> int:
    """The outcome that a number from 0 to 1 stands for."""
    for outcome, chance in outcomes:
        number -= chance
        if number < 0:
            return outcome
    return outcomes[-1][0]


def shown(state: Any) -> list[str]:
    """The state, and what each player knows."""
    players = range(state.num_players())
    return [*str(state).split("\n"), *(state.information_state_string(player) for player in players)]


if __name__ == "__main__":
    import evergreen_env.openspiel  # noqa: F401
    import petrichor_env.openspiel  # noqa: F401

    for name, game_string in GAMES.items():
        (FOLDER / f"{name}.txt").write_text(told(game_string), encoding="utf-8")
