"""What must hold in every state of random games, compiled: legal sets, words, observations, ranks, the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tabletop_engine.described.invariants import first_outside
from tabletop_engine.errors import StateError, TabletopError
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.legal import NO_WAY_ON
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.play.names import make_agent
from tabletop_engine.record import copied
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.testing.problems import Problem
from tabletop_engine.testing.strict import MOST_STEPS, NO_END, checksums, pick, positions

TABLES = 4
"""Games of which every state is looked at in words, with each seat as the viewer."""


def problems(config: Config, seeds: range, on_note: Callable[[str], None] = lambda note: None) -> Iterator[Problem]:
    """The mistakes that games of these seeds meet: random ones, and every fourth one played by `greedy`.

    `on_note` is called with what could not be compared.
    """
    game = config.game
    met: list[tuple[int, int, Any]] = []
    for seed in seeds:
        found = _first_problem(game, config, seed, seed - seeds[0] < TABLES, met)
        if found is not None:
            yield found
            return
    yield from _unsound(game, config, met)
    yield from _after_a_reset(game, config, seeds[:4])
    yield from _images(game, config, seeds, on_note)


def _first_problem(
    game: Game, config: Any, seed: int, in_words: bool, met: list[tuple[int, int, Any]]
) -> Problem | None:
    """The first mistake of one game; `met` gets its states, with seed and step."""
    step, seat = 0, None
    try:
        batch = Batch(config, 1, seed, autoreset="disabled", num_threads=1)
        chosen = generator(seed, Stream.CHECK)
        agent = make_agent("greedy", game) if seed % 4 == 3 else None
        for step in positions(batch, chosen, weighted=seed % 2 == 1, agent=agent):
            state, seat = batch.states[0], int(batch.actors[0])
            met.append((seed, step, copied(state)))
            for check, message in _wrong_in(game, config, batch, state, in_words):
                return Problem(check, message, config.players, seed, step, seat)
        if batch.actors[0] != NOBODY:
            return Problem("the end", NO_END, config.players, seed, MOST_STEPS, seat)
        step += 1
        most = game.limits(config).decisions
        if step > most:
            message = f"a random game has {step} decisions; Game.limits declares at most {most}"
            return Problem("limits", message, config.players, seed, step)
        met.append((seed, step, copied(batch.states[0])))
        for check, message in _wrong_at_the_end(game, config, batch):
            return Problem(check, message, config.players, seed, step)
    except Exception as error:  # whatever a stranger's game raises
        kind = "" if isinstance(error, TabletopError) else f"{type(error).__name__}: "
        return Problem("every state", f"{kind}{error}", config.players, seed, step, seat)
    return None


def _wrong_in(game: Game, config: Any, batch: Batch, state: Any, in_words: bool) -> Iterator[tuple[str, str]]:
    """Mistakes in one state in which somebody is asked: the check, and the message."""
    players, actor, decision = config.players, int(state["actor"]), int(state["decision"])
    if not 0 <= actor < players:
        yield "counts", f"the actor is {actor}, of {players} players"
    if not 0 <= decision < len(game.decisions):
        yield "counts", f"the decision is {decision}, but there are names for {len(game.decisions)}"
    if int(state["players"]) != players or int(state["owners"]) != config.owners:
        yield "counts", "the rules changed the fields players or owners, which the configuration sets"
    yield from _wrong_points(game, config, state)
    if not 1 <= int(state["round"]) <= max(1, int(state["rounds"])):
        yield "counts", f"it is round {int(state['round'])} of {int(state['rounds'])}"
    legal = legal_actions(state)
    if len(legal) == 0:
        yield "legal set", f"{game.decisions[decision]!r} has no legal action"
    beyond = [one for one in legal.tolist() if one >= game.num_actions]
    if beyond:
        yield "legal set", f"action {beyond[0]} is allowed, but the last one is {game.num_actions - 1}"
    before = batch.states.tobytes()
    if not in_words:
        return
    texts = [game.words.action_text(state, one) for one in legal.tolist()]
    twice = [text for text, number in Counter(texts).items() if number > 1]
    if twice:
        yield "words", f"{twice[0]!r} stands for two legal actions of {game.decisions[decision]!r}"
    if not all(isinstance(text, str) and text.strip() for text in texts) or not game.words.question(state).strip():
        yield "words", f"{game.decisions[decision]!r} has a question or an answer without words"
    for viewer in (*range(players), None):
        game.drawing.render_text(state, viewer, tables=batch.tables)
        game.words.facts(state, viewer, None)
        for action in legal.tolist()[:3]:
            game.words.events(state, action, viewer, batch.tables)
    game.drawing.render_svg(state, 0, tables=batch.tables)
    if batch.states.tobytes() != before:
        yield "words", "words or drawings change the record"


def _wrong_points(game: Game, config: Any, state: Any) -> Iterator[tuple[str, str]]:
    """Points outside of what `Game.limits` declares."""
    bounds, points = game.limits(config).points, state["points"][: config.owners].tolist()
    if bounds is not None and not bounds[0] <= min(points) <= max(points) <= bounds[1]:
        yield "limits", f"the points are {points}; Game.limits declares {bounds[0]} to {bounds[1]}"


def _wrong_at_the_end(game: Game, config: Any, batch: Batch) -> Iterator[tuple[str, str]]:
    """Mistakes in a finished game."""
    state = batch.states[0]
    if int(state["decision"]) == NO_WAY_ON:
        yield "the end", "the rules reach no decision and no end"
    if legal_actions(state).size:
        yield "the end", "a finished game has legal actions: end_game forbids them"
    yield from _wrong_points(game, config, state)
    ranks = np.full(game.max_owners, -99, np.int8)
    game.rules.ranks(state, ranks)
    own = ranks[: config.owners].tolist()
    if -99 in own:
        yield "ranks", f"ranks writes no place for owner {own.index(-99)}"
    elif min(own) != 1 or max(own) > config.owners:
        yield "ranks", f"the places are {own}: the first is 1, and equal owners share a place"
    elif sorted(own) != sorted(1 + sum(other < one for other in own) for one in own):
        yield "ranks", f"the places are {own}: after k owners who share a place, k - 1 places are left out"


def _unsound(game: Game, config: Any, met: list[tuple[int, int, Any]]) -> Iterator[Problem]:
    """The first state whose observation is outside the declared space, or which `Game.check` refuses."""
    states = np.array([state for _, _, state in met], game.state)
    tables = game.load_tables(config.components)
    outside = first_outside(game, states, tables)
    if outside is not None:
        seed, step, state = met[outside[0]]
        yield Problem("observation", outside[1], config.players, seed, step, int(state["actor"]))
        return
    refused = first_refused(game, states, tables)
    if refused is not None:
        seed, step, state = met[refused[0]]
        message = f"check refuses a state of a random game: {refused[1]}"
        yield Problem("every state", message, config.players, seed, step, int(state["actor"]))


def first_refused(game: Game, states: np.ndarray, tables: np.ndarray) -> tuple[int, str] | None:
    """The index of the first record that `Game.check` refuses, and why; None if it refuses none."""
    try:
        game.check(states, tables)
    except StateError as all_together:
        for i in range(len(states)):
            try:
                game.check(states[i : i + 1], tables)
            except StateError as error:
                return i, str(error)
        return 0, str(all_together)
    return None


def _after_a_reset(game: Game, config: Any, seeds: range) -> Iterator[Problem]:
    """A record that a game was played on starts as a new one: `reset` sets every field."""
    used = Batch(config, 1, seeds[0], autoreset="disabled", num_threads=1)
    chosen = generator(0, Stream.CHECK)
    for _ in positions(used, chosen):
        pass
    for seed in seeds:
        used.reset([seed])
        fresh = Batch(config, 1, seed, autoreset="disabled", num_threads=1)
        if checksums(used) == checksums(fresh):
            continue
        names = [name for name in game.state.names or () if (used.states[name] != fresh.states[name]).any()]
        what = f"the field{'s' * (len(names) > 1)} {', '.join(names)}" if names else "what its actor sees"
        message = f"after a game, reset leaves {what} as it was: the same seed starts another game"
        yield Problem("reset", message, config.players, seed, 0)
        return


def _images(game: Game, config: Any, seeds: range, on_note: Callable[[str], None]) -> Iterator[Problem]:
    """Images of actions lead to images of positions, if games start with one that is its own image.

    Chance knows no images: where it drew, both games may go on in different ways, and no more is compared.
    """
    for number, image in enumerate(game.images(config.players)):
        for what, order, size in (
            ("observation", image.observation, game.observation.size),
            ("actions", image.actions, game.num_actions),
        ):
            if not np.array_equal(np.sort(order), np.arange(size)):
                yield Problem("images", f"{what} of image {number} is no permutation of {size} numbers", config.players)
                return
        one, other = (Batch(config, 1, seeds[0], autoreset="disabled", num_threads=1) for _ in range(2))
        if (one.observations[0] != _image(image.observation, one.observations[0])).any():
            on_note(f"not compared with {config.players} players: images, as games start with positions that have some")
            return
        chosen, has_drawn = generator(seeds[0], Stream.CHECK, 4), False
        for step in range(MOST_STEPS):
            seat = int(one.actors[0])
            wrong = np.flatnonzero(other.observations[0] != _image(image.observation, one.observations[0]))
            other_legal = (other.action_masks[0] != _image(image.actions, one.action_masks[0])).any()
            if has_drawn and (len(wrong) or other_legal):
                on_note(f"not compared with {config.players} players: images after {step} decisions, as chance drew")
                break
            if len(wrong):
                blocks = [block.name for block in game.observation if block.slice.start <= wrong[0] < block.slice.stop]
                message = f"after the images of the same actions, image {number} has another block {blocks[0]!r}"
                yield Problem("images", message, config.players, seeds[0], step, seat)
                return
            if other_legal:
                message = f"after the images of the same actions, image {number} has other legal actions"
                yield Problem("images", message, config.players, seeds[0], step, seat)
                return
            if seat == NOBODY:
                break
            action, before = pick(one, chosen), one.states["rng"].copy()
            one.step([action])
            other.step([int(image.actions[action])])
            has_drawn = bool((one.states["rng"] != before).any())


def _image(order: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Numbers where `order` says that each goes."""
    turned = np.empty_like(numbers)
    turned[order] = numbers
    return turned
