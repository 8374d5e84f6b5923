"""Any game of the engine as a game of OpenSpiel (`pyspiel`), with a chance node for every draw.

The package of a game registers it (`register`). A state holds only a `tabletop_engine.positions.position.Position`,
which never changes. So cloning a state takes no time beyond OpenSpiel's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from tabletop_engine.defaults import hide_nothing
from tabletop_engine.extras import needed
from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import REWARDS, choice
from tabletop_engine.positions.position import Position, Positions, positions_of

pyspiel: Any = needed("pyspiel", "OpenSpiel", "openspiel")

JOINED_BY = "+"
"""The separator of several names in one parameter, such as `double_card+one_more_turn`."""
REWARD, AT_THE_END = "reward", "at_the_end"


def register(game: Game) -> str:
    """Register a game as `python_<name>`, unless it is registered already. Returns that name.

    Its parameters are the fields of its configuration, with `+` between several names; `reward`; and `at_the_end`,
    whether rewards are paid only at the end. OpenSpiel's limits of its length are those of `Game.limits`.
    """
    kind = spiel_class(game)
    if kind.name not in pyspiel.registered_names():
        _made[game.home] = kind
        pyspiel.register_game(_type(_default(game), game.players), kind)
    return kind.name


def spiel_class(game: Game) -> type[SpielGame]:
    """The class of a game; the registered one if there is one.

    Each game has its own class, because OpenSpiel destroys what was registered after Python has ended, and only a class
    survives that.
    """
    if game.home in _made:
        return _made[game.home]
    content = {"game": game, "name": f"python_{game.name}"}
    return type(f"{game.title.replace(' ', '')}Game", (SpielGame,), content)


_made: dict[str, type[SpielGame]] = {}


def _unpickled_game(game: Game, is_registered: bool, parameters: dict[str, Any], positions: Positions) -> SpielGame:
    """The game of a pickle. The game is registered here if it was registered where the pickle was made."""
    if is_registered:
        register(game)
    return spiel_class(game)(parameters, positions)


def _unpickled_state(game: SpielGame, written: str) -> SpielState:
    state: SpielState = game.deserialize_state(written)
    return state


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """A game with one configuration, as `pyspiel.load_game` returns it.

    Arguments:
        parameters: the parameters that differ from the defaults.
        positions: positions with other printed numbers, in place of those of the configuration.

    Attributes:
        game: the game that is played.
        name: its name in OpenSpiel.
        config: the configuration.
        reward: "win", "margin" or "points", as in `Batch`.
        at_the_end: whether rewards are paid only at the end.
        positions: the positions of the configuration.

    Raises ConfigError for bad parameters.
    """

    game: ClassVar[Game]
    name: ClassVar[str]

    def __init__(self, parameters: Mapping[str, Any] | None = None, positions: Positions | None = None) -> None:
        given = dict(parameters or {})
        self.config, self.reward, self.at_the_end = config, reward, at_the_end = _chosen(self.game, given)
        self.positions: Positions = positions_of(config) if positions is None else positions
        self._limits = limits = self.game.limits(config)
        lowest, highest = _utilities(config, reward)
        sums_to_zero = {"utility_sum": 0.0} if _is_zero_sum(config, reward) else {}
        info = pyspiel.GameInfo(
            num_distinct_actions=self.game.num_actions,
            max_chance_outcomes=limits.outcomes,
            num_players=config.players,
            min_utility=lowest,
            max_utility=highest,
            max_game_length=limits.decisions,
            **sums_to_zero,
        )
        super().__init__(_type(config, self.game.players, reward, at_the_end, limits.outcomes > 0), info, given)

    def __reduce__(self) -> tuple[Callable[..., SpielGame], tuple[Any, ...]]:
        """No module has the name of the class, so a pickle names what the class is made of."""
        kind = type(self)
        is_registered = _made.get(self.game.home) is kind
        return _unpickled_game, (self.game, is_registered, self.get_parameters(), self.positions)

    def new_initial_state(self) -> SpielState:
        """The state at the start of a game."""
        return SpielState(self, self.positions.first)

    def returns_of(self, position: Position) -> np.ndarray:
        """The return of each player so far, (P,) float64."""
        if self.at_the_end and not position.is_over:
            return np.zeros(self.config.players)
        return position.returns(self.reward)

    def rewards_of(self, position: Position) -> np.ndarray:
        """The reward of each player since the last decision, (P,) float64; 0 at a draw."""
        return self.returns_of(position) if self.at_the_end else position.rewards(self.reward)

    def state_of(self, position: Position) -> SpielState:
        """A position as a state. The history of the state starts here."""
        return SpielState(self, position)

    def max_chance_nodes_in_history(self) -> int:
        """The most draws in one game."""
        return self._limits.draws

    def make_py_observer(self, kind: Any = None, params: Mapping[str, Any] | None = None) -> Observer | Memory:
        """An observer of what a player sees, or of all that it has seen and done.

        Raises ValueError for parameters, and for observations without what is public or with another private part.
        """
        if isinstance(kind, Mapping):
            kind, params = None, kind
        if params:
            raise ValueError(f"observation parameters {dict(params)!r:.80}: there are none")
        if kind is None:
            kind = pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(
                f"{kind}: no observation is for everybody, or for one player without what is public; "
                "leave public_info=True and private_info=SINGLE_PLAYER"
            )
        return Memory() if kind.perfect_recall else Observer(self.game)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A decision, a draw or the end of a game.

    Attributes:
        position: the position, which is all that the state holds.
    """

    def __init__(self, game: SpielGame, position: Position) -> None:
        super().__init__(game)
        self.position: Position = position

    def __reduce__(self) -> tuple[Callable[..., SpielState], tuple[Any, ...]]:
        """OpenSpiel's own pickle names only the game, which another process does not know."""
        return _unpickled_state, (self.get_game(), self.serialize())

    def current_player(self) -> int:
        """The seat that takes the pending decision, or OpenSpiel's number for chance or the end."""
        actor = self.position.actor
        if actor >= 0:
            return actor
        return int(pyspiel.PlayerId.CHANCE if self.position.is_chance else pyspiel.PlayerId.TERMINAL)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.position.is_over

    def is_chance_node(self) -> bool:
        """Whether a draw is pending."""
        return self.position.is_chance

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal_actions if player == self.position.actor else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of a draw, with their probabilities."""
        return self.position.chance_outcomes

    def _apply_action(self, action: int) -> None:
        try:
            self.position = self.position.after(action)
        except ValueError as error:
            raise pyspiel.SpielError(str(error)) from None

    def returns(self) -> list[float]:
        """The return of each player so far."""
        return list(map(float, self.get_game().returns_of(self.position)))

    def rewards(self) -> list[float]:
        """The reward of each player since the last decision; 0 at a draw."""
        return list(map(float, self.get_game().rewards_of(self.position)))

    def _action_to_string(self, player: int, action: int) -> str:
        position = self.position
        game = position.positions.game
        if position.is_chance:
            return f"outcome {action}"
        if action not in position.legal_actions:
            return game.actions[action]
        return game.words.action_text(position.state, action)

    def __str__(self) -> str:
        return text_of(self.position, None)


class Observer:
    """What a player sees now.

    Attributes:
        tensor: (D,) float32, the observation.
        dict: its blocks by name, views of `tensor`.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self.tensor: np.ndarray = np.zeros(game.observation.size, np.float32)
        self.dict: dict[str, np.ndarray] = {
            block.name: self.tensor[block.slice].reshape(block.shape) for block in game.observation
        }

    def __reduce__(self) -> tuple[Callable[..., Observer], tuple[Any, ...], np.ndarray]:
        """Copies have views of their own, too."""
        return Observer, (self._game,), self.tensor

    def __setstate__(self, tensor: np.ndarray) -> None:
        self.tensor[:] = tensor

    def set_from(self, state: SpielState, player: int) -> None:
        """Write the player's observation into `tensor`, and so into `dict`."""
        self.tensor[:] = state.position.observe(player)

    def string_from(self, state: SpielState, player: int) -> str:
        """The game as the player sees it, in words."""
        return text_of(state.position, player)


class Memory:
    """All that a player has seen and done, as a string: the player, the part of the game, and a digest of the rest."""

    tensor = None

    def __init__(self) -> None:
        self.dict: dict[str, np.ndarray] = {}

    def set_from(self, state: SpielState, player: int) -> None:
        """Raises SpielError: there is no tensor of it."""
        raise pyspiel.SpielError("there is no information_state_tensor; there are the string and observation_tensor")

    def string_from(self, state: SpielState, player: int) -> str:
        """The string. Two strings are equal if the player has seen and done the same."""
        position = state.position
        game, seat = position.positions.game, f"player_{player}"
        if not position.has_begun:
            return f"{seat} before the first decision"
        record = position.state
        asked = f", asked {game.decisions[record['decision']]}" if position.actor == player else ""
        place = "game over" if position.is_over else f"round {record['round']}{asked}"
        return f"{seat}, {place}, knows {position.knowledge(player).hex()}"


class Resampler:
    """A function for `set_resampler` of OpenSpiel's IS-MCTS: returns a state that a player can't tell from a given one.

    The history of the new state starts there, so it does not reveal the true history.
    """

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        self.generator: np.random.Generator = np.random.default_rng(seed)

    def __call__(self, state: SpielState, player: int) -> SpielState:
        return SpielState(state.get_game(), state.position.resampled(player, self.generator))


class Playouts:
    """An evaluator for OpenSpiel's MCTS and IS-MCTS: it plays random games from a state, in compiled code.

    OpenSpiel's `RandomRolloutEvaluator` does the same, but more slowly.
    """

    def __init__(self, games: int = 1, seed: int | np.random.Generator | None = None) -> None:
        self.games: int = games
        self.generator: np.random.Generator = np.random.default_rng(seed)

    def evaluate(self, state: SpielState) -> np.ndarray:
        """The mean return of each player."""
        return state.position.played_out(self.generator, state.get_game().reward, self.games)

    def prior(self, state: SpielState) -> list[tuple[int, float]]:
        """Equal probabilities of all actions; at a draw, the probabilities of the outcomes."""
        if state.position.is_chance:
            return state.position.chance_outcomes
        legal = state.position.legal_actions
        return [(action, 1 / len(legal)) for action in legal]


def text_of(position: Position, viewer: int | None) -> str:
    """The game as text, as this seat sees it at the last decision; None sees everything, also what is being drawn."""
    positions = position.positions
    if not position.has_begun:
        shown = f"{positions.game.title}, {positions.config.name}: being set up"
    else:
        shown = positions.game.drawing.render_text(position.state, viewer, tables=positions.tables)
    if viewer is not None or not position.is_chance:
        return shown
    lines = [shown, ""]
    if position.has_begun and position.pending is not None:
        action = positions.game.words.action_text(position.state, position.pending)
        lines.append(f"player_{position.state['actor']}: {action}")
    drawn = ", ".join(map(str, position.outcomes)) or "nothing yet"
    return "\n".join([*lines, f"Drawn: {drawn}. {len(position.chance_outcomes)} outcomes are possible now."])


# --- Facts for OpenSpiel ---------------------------------------------------------------------------------------------


def _is_zero_sum(config: Config, reward: str) -> bool:
    """Whether the returns of a game sum to 0: those of equally large teams do, and those of players alone."""
    sizes = np.bincount(config.game.teams(config))
    return reward != "points" and len(sizes) > 1 and len(set(sizes.tolist())) == 1


def _utilities(config: Config, reward: str) -> tuple[float, float]:
    """The least and the greatest return of a player, by `Limits.points`."""
    if reward == "win":
        return -1.0, 1.0
    bounds, field = config.game.limits(config).points, config.game.state["points"].base
    if bounds is None:  # whatever a record can hold, less whatever it can hold
        room: Any = np.finfo(field) if field.kind == "f" else np.iinfo(field)
        most = float(room.max) - float(room.min)
        return (-2 * most, 2 * most) if reward == "margin" else (-most, most)
    least, most = map(float, bounds)
    if reward == "points" or config.owners == 1:
        return min(least, 0.0), max(most, 0.0)  # 0 before the first decision
    return least - most, most - least


def _utility(config: Config, reward: str) -> Any:
    kind = pyspiel.GameType.Utility
    if config.players > 1 and len(set(config.game.teams(config))) == 1:
        return kind.IDENTICAL
    return kind.ZERO_SUM if _is_zero_sum(config, reward) else kind.GENERAL_SUM


def _type(
    config: Config, players: Sequence[int], reward: str = "points", at_the_end: bool = False, chance: bool = True
) -> Any:
    kind, game = pyspiel.GameType, config.game
    # a single player knows all that is fixed; the rest is chance
    hides = config.players > 1 and game.rules.sample_hidden is not hide_nothing
    return kind(
        short_name=f"python_{game.name}",
        long_name=game.title,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if chance else kind.ChanceMode.DETERMINISTIC,
        information=kind.Information.IMPERFECT_INFORMATION if hides else kind.Information.PERFECT_INFORMATION,
        utility=_utility(config, reward),
        reward_model=kind.RewardModel.TERMINAL if at_the_end or reward == "win" else kind.RewardModel.REWARDS,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters_of(_default(game)),
    )


def _default(game: Game) -> Config:
    """The default configuration: for two players if the game allows it, or else its own default."""
    config: Config = game.config(players=2) if 2 in game.players else game.config()
    return config


def parameters_of(config: Config, reward: str | None = None, at_the_end: bool = False) -> dict[str, Any]:
    """The parameters of a configuration. `components` are not among them.

    `reward` None is "win", or "points" where several players share all that happens.
    """
    if reward is None:
        reward = "points" if config.owners == 1 < config.players else "win"
    parameters: dict[str, Any] = {}
    for field in fields(config):
        if field.name != "components":
            value = getattr(config, field.name)
            parameters[field.name] = JOINED_BY.join(value) if isinstance(value, tuple) else value
    return {**parameters, REWARD: reward, AT_THE_END: at_the_end}


def _chosen(game: Game, given: Mapping[str, Any]) -> tuple[Config, str, bool]:
    """The configuration, `reward` and `at_the_end` of these parameters. Raises ConfigError for bad values."""
    values = {**parameters_of(_default(game)), **given}
    reward, at_the_end = values.pop(REWARD), values.pop(AT_THE_END)
    choice(REWARD, reward, REWARDS)
    lists = [name for name in values if isinstance(getattr(_default(game), name), tuple)]
    values |= {name: tuple(filter(None, values[name].split(JOINED_BY))) for name in lists}
    config: Config = game.config(**values)
    return config, reward, at_the_end
