"""Compiling a game's kernels at its first start."""

from __future__ import annotations

import numpy as np

from tabletop_engine.compiling.once import Call, compile_once
from tabletop_engine.game import Game
from tabletop_engine.play.kernels import masked_random_actions
from tabletop_engine.record import exact_points

_warm: set[str] = set()


def warm_up(game: Game) -> None:
    """Compile a game's kernels, and tell the progress. If the cache has them, this returns at once.

    A start with a filled cache loads only the kernels that it calls.
    """
    if game.home in _warm:
        return
    _warm.add(game.home)
    what = f"the rules of {game.title}"
    compile_once(what, "half a minute", game.kernels.playout, lambda: calls(game))


def calls(game: Game) -> list[Call]:
    """Every kernel with arguments of its types. The calls play one game, so their order matters."""
    kernels, size = game.kernels, game.observation.size
    state, final = np.zeros(1, game.state), np.zeros(1, game.state)
    game.config(players=game.players[0]).write_switches(state)
    tables = game.load_tables(None)
    actors, flag, which = np.zeros(1, np.int8), np.zeros(1, np.bool_), np.ones(1, np.bool_)
    masks = np.zeros((1, game.num_actions), np.int8)
    wide, narrow = np.zeros((1, size), np.float32), np.zeros((1, 0), np.int8)
    actions, modes, seats = np.zeros(1, np.int64), np.array([0, 2, 0], np.int64), np.zeros(1, np.int64)
    editions, divisors = np.zeros(1, np.int64), game.observation.divisors
    views = (divisors, actors, masks, wide, narrow)
    paid = exact_points(np.zeros_like(state["points"]))
    ends = (np.zeros((1, 1)), paid, flag, flag.copy(), final, wide.copy(), narrow)
    return [
        ("drawing starts", kernels.draw_numbers, (state, 1, seats)),
        ("setting up games", kernels.reset_games, (state, tables, which, editions)),
        ("playing them", kernels.step_games, (state, tables, actions, which, editions, modes, *views, *ends)),
        ("seeing them", kernels.view_games, (state, tables, *views)),
        ("seeing them from a seat", kernels.observe_games, (state, tables, seats, divisors, wide, narrow)),
        ("counting what they see", kernels.count_games, (state, tables, seats, np.zeros((1, size), np.int16))),
        ("checking actions", kernels.first_illegal, (state, actions, which, game.num_actions)),
        ("listing legal actions", kernels.refresh_legal, (state, tables)),
        ("choosing legal actions", kernels.random_legal_actions, (state, np.zeros(1), actions)),
        ("choosing by mask", masked_random_actions, (masks, np.zeros(1), actions)),
        ("naming places", kernels.places_of_games, (final, np.zeros((1, game.max_owners), np.int8))),
        ("naming teams", kernels.teams_of_games, (final, seats[None].copy())),
        ("redrawing what is hidden", kernels.sample_hidden_games, (state, tables, seats, np.zeros(1, np.uint64))),
        ("playing what is recorded", kernels.play_actions, (state, tables, actions, ~which)),
        ("playing to the end", kernels.playout, (state[:0], tables)),  # no game: the rules may have no way to the end
    ]
