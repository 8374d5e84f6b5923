"""The small games against OpenSpiel's: who is asked, what is legal, what each player sees, and what they win."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import Batch
from tests.games import connect_four, hex, leduc_poker
from tests.support.effort import games

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is the oracle; it is in the extra dev")

GAMES = games(1000, 4000)
HEX_GAMES = games(100, 1000)
SEED = 7


class Played(NamedTuple):
    """Random games (N), step by step (T).

    actions: (T, N). actors: (T + 1, N). masks: (T + 1, N, A). views: (T + 1, N, 2, D), what each seat saw as counts.
    lengths: (N,), their actions. final: (N,) records at the end; `start`: at the beginning.
    """

    actions: np.ndarray
    actors: np.ndarray
    masks: np.ndarray
    views: np.ndarray
    lengths: np.ndarray
    start: np.ndarray
    final: np.ndarray


def play(config: Config, number: int = GAMES) -> Played:
    batch = Batch(config, number, SEED, autoreset="disabled", observation_dtype="int8")
    start = batch.states.copy()
    actions: list[np.ndarray] = []
    actors, masks, views = [batch.actors.copy()], [batch.action_masks.copy()], [both_views(batch)]
    lengths = np.zeros(number, np.int64)
    while (running := batch.actors != NOBODY).any():
        actions.append(batch.random_actions())
        batch.step(actions[-1], which=running)
        lengths += running
        actors.append(batch.actors.copy())
        masks.append(batch.action_masks.copy())
        views.append(both_views(batch))
    shown = (np.array(actors), np.array(masks), np.array(views))
    return Played(np.array(actions), *shown, lengths, start, batch.states.copy())


def both_views(batch: Batch) -> np.ndarray:
    return np.stack([batch.observe(seat) for seat in (0, 1)], axis=1)


class Oracle:
    """The same games in OpenSpiel, one after another: what it says for each decision and each position."""

    def __init__(self) -> None:
        self.actors: list[int] = []
        self.masks: list[list[int]] = []
        self.tensors: list[Any] = []
        self.returns: list[list[float]] = []

    def see(self, state: Any, *tensors: Any) -> None:
        self.tensors += tensors
        if state.is_terminal():
            self.returns.append(state.returns())
        else:
            self.actors.append(state.current_player())
            self.masks.append(state.legal_actions_mask())

    def compare(self, played: Played, views: np.ndarray) -> None:
        """`views`: (positions, 2, D), the oracle's tensors in the form of our counts."""
        steps = np.arange(len(played.actors))[:, None]
        decisions, positions = (steps < played.lengths).T, (steps <= played.lengths).T
        assert self.actors == played.actors.T[decisions].tolist()
        np.testing.assert_array_equal(played.masks.swapaxes(0, 1)[decisions], np.array(self.masks))
        np.testing.assert_array_equal(played.views.swapaxes(0, 1)[positions], views)
        np.testing.assert_array_equal(played.final["points"], np.array(self.returns))


def test_connect_four() -> None:
    played, oracle = play(connect_four.Config()), Oracle()
    game = pyspiel.load_game("connect_four")
    for number in range(GAMES):
        state = game.new_initial_state()
        oracle.see(state, state.observation_tensor(0))
        for action in played.actions[: played.lengths[number], number].tolist():
            state.apply_action(action)
            oracle.see(state, state.observation_tensor(0))
    # planes of the first player's stones, the second's, and empty cells, by row from the bottom
    first = np.moveaxis(np.array(oracle.tensors, np.int8).reshape(-1, 3, 6, 7)[:, :2, ::-1], 1, 3)
    oracle.compare(played, np.stack([first, first[..., ::-1]], axis=1).reshape(len(first), 2, -1))
    assert (played.final["points"] == 0).all(axis=1).any(), "no draw among them"


def test_hex() -> None:
    played, oracle = play(hex.Config(), HEX_GAMES), Oracle()
    game = pyspiel.load_game(f"hex(board_size={hex.SIZE})")
    for number in range(HEX_GAMES):
        state = game.new_initial_state()
        oracle.see(state, hex_stones(state))
        for action in played.actions[: played.lengths[number], number].tolist():
            state.apply_action(action)
            oracle.see(state, hex_stones(state))
    first = np.array(oracle.tensors)
    both = np.stack([first, first[:, ::-1]], axis=1).reshape(len(first), 2, -1)
    seats = np.broadcast_to(np.eye(2, dtype=np.int8), (len(first), 2, 2))  # OpenSpiel does not tell the viewer's seat
    oracle.compare(played, np.concatenate([both, seats], axis=2))
    assert np.unique(played.final["points"], axis=0).tolist() == [[-1, 1], [1, -1]]


def hex_stones(state: Any) -> np.ndarray:
    """(2, 8, 8), the stones of the first player and of the second.

    OpenSpiel's observation has nine planes, its rows and columns are ours: four of the second player's stones (in a
    winning line, connected with column a, with column h, with neither), the empty spaces, and four of the first's.
    """
    planes = np.array(state.observation_tensor(0), np.int8).reshape(9, hex.SIZE, hex.SIZE)
    assert (planes.sum(axis=0) == 1).all()
    return np.stack([planes[5:].sum(axis=0, dtype=np.int8), planes[:4].sum(axis=0, dtype=np.int8)])


def test_leduc_poker() -> None:
    played, oracle = play(leduc_poker.Config()), Oracle()
    game = pyspiel.load_game("leduc_poker")
    dealt = np.column_stack([played.start["cards"], played.final["open_card"]])
    for number in range(GAMES):
        state = game.new_initial_state()
        ranks = dealt[number].tolist()
        for action in [*played.actions[: played.lengths[number], number].tolist(), None]:
            while state.is_chance_node():  # OpenSpiel's cards have suits, too
                card = 2 * ranks.pop(0)
                state.apply_action(card if card in state.legal_actions() else card + 1)
            tensors = [state.information_state_tensor(seat) + state.observation_tensor(seat)[14:] for seat in (0, 1)]
            oracle.see(state, *tensors)
            if action is not None:
                state.apply_action(action)
        assert ranks in ([], [leduc_poker.NO_CARD])
    oracle.compare(played, leduc_views(np.array(oracle.tensors, np.int8)))
    assert len(np.unique(dealt, axis=0)) == 3**3 - 3 + 3**2, "every deal, with and without an open card"
    assert np.unique(np.abs(played.final["points"])).tolist() == [0, 1, 3, 5, 7, 9, 11, 13]


def leduc_views(tensors: np.ndarray) -> np.ndarray:
    """(positions * 2, 32) tensors: seat, own card, open card, answers; and the chips that each player has paid."""
    seat, cards, answers, paid = np.split(tensors, [2, 14, 30], axis=1)
    ranks = cards.reshape(-1, 6, 2).sum(axis=2)  # equal ranks of both suits
    paid[1::2] = paid[1::2, ::-1]
    return np.hstack([seat, ranks, paid, answers]).reshape(-1, 2, leduc_poker.LAYOUT.size)
