"""Checks of the progress of a game: phases, turns, the actor, the Weather Phase and the draft."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from petrichor_env.drawing.decisions import CLOCKWISE
from petrichor_env.invariants.checks import asked, is_running, is_settled, player
from petrichor_env.invariants.decisions import PHASES_OF, WEATHER_OF, WEATHER_OF_TIMING, is_window, turn_order
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.drafting import CARDS_DEALT, PACKS_PASSED, PICKS
from petrichor_env.rules.weather import RESOLVED_SPACES
from petrichor_env.state import (
    MAX_PLAYERS,
    NOBODY,
    NOT_DRAFTING,
    NUM_KINDS,
    NUM_TILES,
    PHASE_NAMES,
    WEATHER_NAMES,
    Decision,
    Phase,
    Timing,
    Weather,
)
from tabletop_engine.described.invariants import Check, among, breaks
from tabletop_engine.text.words import name_or_none

_CARDS_PICKED = np.cumsum([0, *PICKS])
"""The number of cards chosen when packs have been passed on 0, 1, 2, 3 times."""


def broken_progress(s: np.ndarray) -> Iterator[Check]:
    """Game Flow: the phase and round of each decision."""
    decision, phase, players = s["decision"], s["phase"], s["players"]

    def phase_of(i: int) -> str:
        return f"phase {PHASE_NAMES[phase[i]]!r}"

    def misplaced(i: int) -> str:
        allowed = " and ".join(repr(PHASE_NAMES[p]) for p in np.flatnonzero(PHASES_OF[decision[i]]))
        return f"{asked(s, i)} in {phase_of(i)}; it belongs to {allowed}"

    yield breaks(~PHASES_OF[decision, phase], misplaced)
    over = decision == Decision.GAME_OVER
    bad = over != (s["actor"] == NOBODY)
    yield breaks(bad, lambda i: f"{asked(s, i)} of {'nobody' if s['actor'][i] < 0 else 'somebody'}")
    finished = over & (s["forfeited"] == NOBODY)
    yield breaks(~over & (s["forfeited"] != NOBODY), lambda i: f"{asked(s, i)} in a game that was forfeited")
    yield breaks(finished & (s["round"] != s["rounds"]), lambda i: f"over in round {s['round'][i]} of {s['rounds'][i]}")
    bad = finished & (s["votes"].any(axis=(1, 2)) | (s["harvested"] == 0))
    yield breaks(bad, "over, but there are votes on weather spaces, or there was no Harvest in the final round")
    bad = np.where(s["round"] == 1, phase == Phase.CLEANUP, phase == Phase.SETUP)
    allowed = "setup is in round 1, clean-up's deal in a later"
    yield breaks(bad, lambda i: f"{phase_of(i)} in round {s['round'][i]}; {allowed}")
    solo_never = (Decision.DRAFT, Decision.SETUP_CLOUD, Decision.DISCARD)
    yield breaks((players == 1) & among(decision, solo_never), lambda i: f"{asked(s, i)} is never asked in solo")
    yield breaks((decision == Decision.DRAFT) & (s["drafting"] == 0), lambda i: f"{asked(s, i)} without drafting")
    early = among(phase, (Phase.SETUP, Phase.ACTION, Phase.WEATHER)) & (s["harvested"] == 1)
    yield breaks(early, lambda i: f"harvested in {phase_of(i)}; the Harvest comes later in the round")


def broken_turns(s: np.ndarray) -> Iterator[Check]:
    """Phase 1 (turns and passing), and the actor by turn order."""
    decision, phase, players = s["decision"], s["phase"], s["players"].astype(np.int64)
    actor, first, passed = (s[field].astype(np.int64) for field in ("actor", "first_player", "passed"))
    turns, last_turns, turn_index = s["turns"], s["last_turns"], s["turn_index"] + s["pod_turns"]

    running = is_running(s)
    acting = (phase == Phase.ACTION) & (decision != Decision.DISCARD)
    has_ended = running & ~acting & (phase != Phase.SETUP)
    bad = running & np.where(phase == Phase.SETUP, turns != 0, (turns != players) & ~acting)
    yield breaks(bad, lambda i: f"turns is {turns[i]} in phase {PHASE_NAMES[phase[i]]!r}")
    somebody = passed != NOBODY
    too_early = (phase == Phase.SETUP) | (acting & ((turns < players) | (players == 1)))
    bad = running & somebody & too_early
    yield breaks(bad, lambda i: f"{player(passed[i])} has passed; nobody can have yet")
    yield breaks(has_ended & ~somebody, "nobody has passed, but the Action Phase is over")
    marker = (first == passed) | (first == (passed - 1) % players)

    def elsewhere(i: int) -> str:
        there = f"{player(passed[i])} has passed and {player(first[i])} is first player"
        return f"{there}; who passes takes the marker (Passing)"

    yield breaks(running & somebody & (players > 2) & ~marker, elsewhere)
    closing = acting & somebody
    bad = running & np.where(closing, last_turns == 0, last_turns != 0)
    yield breaks(bad, lambda i: f"last_turns is {last_turns[i]} when {player(passed[i])} has passed")
    expected = np.full(len(s), NOBODY, np.int64)
    first_round = acting & ~somebody & (turns < players)
    expected = np.where(first_round, (first + turns) % players, expected)
    expected = np.where(closing, (passed - last_turns) % players, expected)
    expected = np.where(decision == Decision.CHOOSE_WEATHER, first, expected)
    order = turn_order(s)
    offered = is_window(decision, s["forecast"]) & (s["timing"] != Timing.SUN_TURN)
    expected = np.where(offered, (first + s["timing_index"]) % players, expected)
    offset = np.where((players == 1) & (phase == Phase.WEATHER) & (order == CLOCKWISE), 1, 0)
    placing = decision == Decision.POD_TILE
    offset = np.where(placing, players, offset)
    bad = running & np.where(placing, s["turn_index"] != players, s["pod_turns"] > 0)
    yield breaks(bad, lambda i: f"turn_index is {s['turn_index'][i]} for {asked(s, i)}")
    last = np.where(decision == Decision.FERTILIZER_TILE, NUM_TILES, players) + offset
    bad = running & np.where(order == 0, turn_index != 0, (turn_index < offset) | (turn_index >= last))
    yield breaks(bad, lambda i: f"turn_index is {turn_index[i]} for {asked(s, i)}")
    start = np.where(order == CLOCKWISE, first, first - 1)
    expected = np.where(order != 0, (start + order * (turn_index - offset)) % players, expected)
    bad = running & (expected != NOBODY) & (actor != expected)
    yield breaks(bad, lambda i: f"the actor is {player(actor[i])}, but it is {player(expected[i])}'s turn to be asked")


def broken_weather(s: np.ndarray) -> Iterator[Check]:
    """Resolving Weather Spaces: the selected spaces, and the one that is resolved now."""
    decision, weather = s["decision"], s["weather"].astype(np.int64)
    in_weather = is_running(s) & (s["phase"] == Phase.WEATHER)
    selected = s["selected"] == 1
    bad = is_settled(s) & ~in_weather & (selected.any(axis=1) | (weather >= 0))
    yield breaks(bad, "pending.selected and weather belong to the weather phase")
    choosing = decision == Decision.CHOOSE_WEATHER
    wanted = WEATHER_OF[decision]
    wanted[in_weather & (decision == Decision.TAKE_DROP)] = Weather.SUN
    window = in_weather & is_window(decision, s["forecast"])
    for timing, resolved in WEATHER_OF_TIMING.items():
        wanted[window & (s["timing"] == timing)] = resolved
    bad = in_weather & (weather != wanted)
    yield breaks(
        bad, lambda i: f"pending.weather is {name_or_none(WEATHER_NAMES, int(weather[i]))!r} for {asked(s, i)}"
    )
    votes = s["votes"].sum(axis=2, dtype=np.int64)
    final = s["round"] == s["rounds"]
    number = selected.sum(axis=1)
    best_open = np.where(selected, -1, votes).max(axis=1)
    tied = (~selected & (votes == best_open[:, None])).sum(axis=1)
    lost = selected & (votes < best_open[:, None])
    no_tie = (tied <= RESOLVED_SPACES - number) | (number >= RESOLVED_SPACES) | (final & (best_open == 0))

    def nothing_to_break(i: int) -> str:
        there = f"{votes[i].tolist()} votes and {number[i]} spaces selected"
        return f"{asked(s, i)}: with {there} there is no tie to break"

    yield breaks(choosing & (lost.any(axis=1) | no_tie), nothing_to_break)
    before = window & (s["timing"] == Timing.START_OF_WEATHER)
    yield breaks(before & (number > 0), lambda i: f"{asked(s, i)} at the start of the weather, but spaces are selected")
    resolving = in_weather & ~choosing & ~before
    bad = resolving & np.where(final, number > RESOLVED_SPACES, number != RESOLVED_SPACES)
    yield breaks(bad, lambda i: f"pending.selected names {number[i]} spaces; {RESOLVED_SPACES} are selected")
    done = np.arange(NUM_KINDS) < weather[:, None]
    resolved = selected | final[:, None]
    bad = resolving[:, None] & done & resolved & (votes > 0)
    back = "which has been resolved: they are back with their owners"
    yield breaks(bad, lambda i, kind: f"votes on {WEATHER_NAMES[kind]}, {back}")
    current = np.where(final[:, None], votes > 0, selected)[np.arange(len(s)), weather]
    otherwise = "it is not selected (in the final round: has no votes)"
    yield breaks(resolving & ~current, lambda i: f"{WEATHER_NAMES[weather[i]]} is being resolved, but {otherwise}")
    lost |= selected & final[:, None] & (votes == 0)
    yield breaks(
        resolving[:, None] & ~done & lost,
        lambda i, kind: f"{WEATHER_NAMES[kind]} is selected, but another weather space has more votes, or it has none",
    )


def broken_draft(s: np.ndarray) -> Iterator[Check]:
    """Official Drafting Variant: the numbers of picked cards and the sizes of the packs."""
    drafting = s["decision"] == Decision.DRAFT
    over = s["decision"] == Decision.GAME_OVER
    players = s["players"].astype(np.int64)
    packs = s["pack"].sum(axis=2, dtype=np.int64)
    bad = ~drafting & ~over & (packs.any(axis=1) | (s["draft_step"] != NOT_DRAFTING))
    yield breaks(bad, "packs of cards outside a draft")
    step, passed_on, left = s["draft_step"], PACKS_PASSED[players], s["cards_left"]
    bad = drafting & ((step < 0) | (step >= passed_on))
    yield breaks(bad, lambda i: f"pending.draft_step is {step[i]}; packs are passed on {passed_on[i]} times")
    picks = PICKS[step].astype(np.int64)
    bad = drafting & ((left < 1) | (left > picks))
    yield breaks(bad, lambda i: f"pending.cards_left is {left[i]}; {picks[i]} cards are picked from this pack")
    bad = drafting & (left == picks) & (s["lowest_card"] != 0)
    yield breaks(bad, "pending.lowest_card, but no card of this pack has been picked yet")
    place = (np.arange(MAX_PLAYERS) - s["first_player"][:, None]) % np.maximum(players, 1)[:, None]
    in_draft = drafting[:, None] & (np.arange(MAX_PLAYERS) < players[:, None])
    done = np.where(place < s["turn_index"][:, None], picks[:, None], 0)
    done = np.where(place == s["turn_index"][:, None], (picks - left)[:, None], done)
    picked = _CARDS_PICKED[step][:, None] + done
    size, now = CARDS_DEALT[players][:, None] - picked, "at this point of the draft"
    bad = in_draft & (packs != size)
    yield breaks(bad, lambda i, seat: f"the pack of player_{seat} has {packs[i, seat]} cards; {now} {size[i, seat]}")
    hands = s["hand"].sum(axis=2, dtype=np.int64)
    kept = np.where(s["round"] == 1, 0, HAND_LIMIT)
    most = picked + kept[:, None]

    def not_as_many(i: int, seat: int) -> str:
        cards = f"with {picked[i, seat]} picked and up to {kept[i]} kept that is {picked[i, seat]} to {most[i, seat]}"
        return f"player_{seat} holds {hands[i, seat]} cards; {cards}"

    yield breaks(in_draft & ((hands < picked) | (hands > most)), not_as_many)
