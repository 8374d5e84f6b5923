"""One player's view of a game as a flat vector of counts with a named layout.

Seats are counted clockwise from the viewer: 0 is the viewer, and in solo 1 is the neutral player. The observation
leaves out what the viewer may not know: other hands, packs and forecast cards, the order of decks, the random stream.
While a player is asked for a forecast card at a point of the timeline, the others do not see who it is. All
configurations have the same layout, so that one network can play all of them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from petrichor_env.state import (
    MAX_PLAYERS,
    NO_SPACE,
    NO_TILE,
    NOBODY,
    NUM_FORECASTS,
    NUM_KINDS,
    NUM_TILES,
    PLAYED,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    Power,
    State,
    Timing,
    Variant,
)
from petrichor_env.tables import NEVER, Tables
from tabletop_engine.compiling.compiled import rule, shared_rule
from tabletop_engine.observation import Layout

NUM_CROPS = len(Crop)
NUM_TOKENS = len(Growing) - 1
NUM_POWERS = len(Power) - 1
NUM_TIMINGS = len(Timing) - 1


_BLOCKS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    (
        "decision",
        (len(Decision),),
        "one-hot",
        "the decision that is asked, as `state.Decision`; all 0 while another player is asked for a forecast card",
    ),
    ("actor", (MAX_PLAYERS,), "one-hot", "the seat that is asked; all 0 in the same case, and when the game is over"),
    ("phase", (len(Phase),), "one-hot", "the phase, as `state.Phase`"),
    ("players", (MAX_PLAYERS,), "one-hot", "number of players - 1; 0 is solo"),
    ("drafting", (1,), "0/1", "1 if the drafting variant is played"),
    ("variants", (len(Variant),), "0/1", "solo variants that are played, as `config.VARIANTS`"),
    ("modules", (len(Module),), "0/1", "promos and Flowers modules that are played, as `config.MODULES`"),
    ("rounds_left", (1,), "rounds / 6", "rounds after this one"),
    ("first_player", (MAX_PLAYERS,), "one-hot", "the seat with the First Player marker; all 0 in solo"),
    (
        "passed",
        (MAX_PLAYERS,),
        "one-hot",
        "the seat that passed first in this Action Phase or, after it, in the last one; all 0 while nobody has passed",
    ),
    ("first_turn", (1,), "0/1", "1 while players take their first turn of the round, which cannot be a pass"),
    ("last_turns", (1,), "turns / 4", "turns left in this Action Phase after somebody has passed, this one included"),
    ("points", (MAX_PLAYERS,), "points / 50", "by seat: Victory Points"),
    ("voting_wins", (MAX_PLAYERS,), "wins / 10", "by seat: Voting Wins"),
    ("wheat_tokens", (MAX_PLAYERS,), "tokens / 5", "by seat: Wheat tokens"),
    ("supply", (MAX_PLAYERS,), "drops / 20", "by seat: drops in the personal supply"),
    ("vote_supply", (MAX_PLAYERS,), "votes / 12", "by seat: votes in the personal supply"),
    ("votes", (NUM_KINDS, MAX_PLAYERS), "votes / 6", "by weather space, as `state.Weather`, and seat: votes"),
    ("dice", (5,), "dice / 3", "number of Harvest dice that show Harvest, 1, 2, 3 and 4 votes"),
    ("hand", (NUM_KINDS,), "cards / 5", "by kind, as `state.Weather`: cards in the viewer's hand"),
    ("hand_sizes", (MAX_PLAYERS,), "cards / 10", "by seat: cards in the hand"),
    ("pack", (NUM_KINDS,), "cards / 5", "by kind: cards in the pack that the viewer drafts from"),
    ("draft_step", (4,), "one-hot", "how often packs have been passed on; all 0 outside a draft"),
    ("discards", (NUM_KINDS,), "cards / 10", "by kind: cards in the discard pile"),
    (
        "unseen",
        (NUM_KINDS,),
        "cards / 10",
        "by kind: cards in the deck and in the other players' hands and packs together",
    ),
    ("winds_deck", (9,), "0/1", "by card number - 1: Southern Winds cards that are still in the deck"),
    ("card", (NUM_KINDS,), "one-hot", "the action that is carried out, as `state.Weather`; all 0 if there is none"),
    ("optional", (1,), "0/1", "1 during the optional second action"),
    (
        "cards_left",
        (1,),
        "cards / 4",
        "cards that the actor still has to name; in a payment a card of the action's own kind counts as two",
    ),
    ("selected", (NUM_KINDS,), "0/1", "weather spaces that are selected to be resolved, as `state.Weather`"),
    ("weather", (NUM_KINDS,), "one-hot", "the weather that is resolved, as `state.Weather`; all 0 if there is none"),
    ("target_vote", (NUM_KINDS,), "one-hot", "the weather space that a moved vote goes to, as `state.Weather`"),
    ("target_owner", (MAX_PLAYERS,), "one-hot", "the seat whose drop was chosen last in this effect"),
    ("powers", (MAX_PLAYERS, NUM_POWERS), "one-hot", "by seat: the power, as `config.POWERS`; all 0 for none"),
    ("forecasts", (NUM_FORECASTS,), "0/1", "by card number - 1: the viewer's forecast cards"),
    ("forecasts_held", (MAX_PLAYERS,), "cards / 3", "by seat: number of forecast cards held"),
    ("forecasts_played", (NUM_FORECASTS,), "0/1", "by card number - 1: forecast cards that are out of the game"),
    (
        "forecast",
        (NUM_FORECASTS,),
        "one-hot",
        "number - 1 of the forecast card that is carried out; all 0 if there is none",
    ),
    (
        "timing",
        (NUM_TIMINGS,),
        "one-hot",
        "the point of the round's timeline: its number in `state.Timing` - 1; all 0 before its first point",
    ),
    ("choices_left", (1,), "choices / 3", "drops or tiles that the actor still has to choose in this effect"),
    (
        "chosen_drops",
        (MAX_PLAYERS,),
        "drops / 3",
        "by seat: drops that have been chosen so far on the target tile (forecast card 11)",
    ),
    (
        "counts_clouds",
        (MAX_PLAYERS,),
        "0/1",
        "by seat: 1 if the player's drops in clouds count in this Harvest (forecast card 3)",
    ),
    ("controller", (MAX_PLAYERS,), "one-hot", "the seat that controls the Primrose; all 0 if nobody does"),
    (
        "tile_crop",
        (NUM_TILES, NUM_CROPS),
        "one-hot",
        "by tile: the crop, as `state.Crop`; all 0 outside the Fields, and while tiles lie face down",
    ),
    (
        "tile_missing",
        (NUM_TILES,),
        "drops / 5",
        "by tile: drops that are missing for its crop to grow; 0 for Lake and Primrose",
    ),
    (
        "tile_growing",
        (NUM_TILES, NUM_TOKENS),
        "one-hot",
        "by tile: the growing token: its number in `state.Growing` - 1; all 0 without a token",
    ),
    ("tile_fertilizer", (NUM_TILES,), "0/1", "by tile: 1 with a Fertilizer token"),
    ("tile_pods", (NUM_TILES,), "0/1", "by tile: 1 with one of the Dandelion's pods"),
    ("tile_blooms", (NUM_TILES,), "tokens / 4", "by tile: bloom tokens, on Snowdrop and Primrose"),
    (
        "tile_scored",
        (NUM_TILES,),
        "drops / 5",
        "by tile: the viewer's drops that this Harvest scored, kept until its end",
    ),
    ("tile_target", (NUM_TILES,), "0/1", "1 for the tile or cloud that was chosen last in this effect"),
    ("tile_drops", (NUM_TILES, MAX_PLAYERS), "drops / 5", "by tile and seat: drops on the tile"),
    ("tile_cloud", (NUM_TILES, 2), "one-hot", "by tile: light cloud, thundercloud; all 0 without a cloud"),
    ("cloud_drops", (NUM_TILES, MAX_PLAYERS), "drops / 5", "by tile and seat: drops in the cloud above the tile"),
)


LAYOUT = Layout.of(_BLOCKS, high=20.0)
"""The blocks of the observation."""

OBSERVATION_SIZE = LAYOUT.size
"""The number of values in an observation, in every configuration."""
LOW, HIGH = LAYOUT.low, LAYOUT.high
"""The bounds of every value of a float32 observation."""


def _starts() -> Any:
    return IntEnum("At", {block.name: block.start for block in LAYOUT})


At = _starts()
"""Where each block starts, as `At.points`. It is an enumeration because compiled code can read one."""
_NUM_MODULES, _NUM_VARIANTS = len(Module), len(Variant)


@shared_rule
def observe(s: State, t: Tables, viewer: int, out: np.ndarray) -> None:
    """Write what the player on seat `viewer` sees into `out`, (LAYOUT.size,) int16 zeros. Counts are not divided."""
    _observe_progress(s, viewer, out)
    _observe_players(s, viewer, out)
    _observe_cards(s, viewer, out)
    _observe_effect(s, viewer, out)
    _observe_fields(s, t, viewer, out)
    _observe_modules(s, viewer, out)


@rule
def _from_viewer(s: State, viewer: int, seat: int) -> int:
    return (seat - viewer) % s.owners


@rule
def _observe_progress(s: State, viewer: int, out: np.ndarray) -> None:
    if s.decision != Decision.FORECAST or s.actor == viewer:
        out[At.decision + s.decision] = 1
    if s.actor != NOBODY and (s.decision != Decision.FORECAST or s.actor == viewer):
        out[At.actor + _from_viewer(s, viewer, s.actor)] = 1
    out[At.phase + s.phase] = 1
    out[At.players + s.players - 1] = 1
    out[At.drafting] = s.drafting
    for i in range(_NUM_VARIANTS):
        out[At.variants + i] = s.variants[i]
    out[At.rounds_left] = s.rounds - s.round
    if s.players > 1:
        out[At.first_player + _from_viewer(s, viewer, s.first_player)] = 1
    if s.passed != NOBODY:
        out[At.passed + _from_viewer(s, viewer, s.passed)] = 1
    if s.phase == Phase.ACTION and s.turns < s.players:
        out[At.first_turn] = 1
    out[At.last_turns] = s.last_turns
    for die in range(3):
        out[At.dice + int(s.dice[die])] += 1
    for i in range(9):
        out[At.winds_deck + i] = s.winds_deck[i]


@rule
def _observe_players(s: State, viewer: int, out: np.ndarray) -> None:
    owners = s.owners
    for i in range(owners):
        seat = (viewer + i) % owners
        out[At.points + i] = s.points[seat]
        out[At.voting_wins + i] = s.voting_wins[seat]
        out[At.wheat_tokens + i] = s.wheat_tokens[seat]
        out[At.supply + i] = s.supply[seat]
        out[At.vote_supply + i] = s.vote_supply[seat]
        for space in range(NUM_KINDS):
            out[At.votes + space * MAX_PLAYERS + i] = s.votes[space, seat]


@rule
def _observe_cards(s: State, viewer: int, out: np.ndarray) -> None:
    for kind in range(NUM_KINDS):
        out[At.hand + kind] = s.hand[viewer, kind]
        out[At.pack + kind] = s.pack[viewer, kind]
        out[At.discards + kind] = s.discards[kind]
        unseen = int(s.deck[kind])
        for seat in range(s.players):
            if seat != viewer:
                unseen += int(s.hand[seat, kind]) + int(s.pack[seat, kind])
        out[At.unseen + kind] = unseen
    for i in range(s.players):
        seat = (viewer + i) % s.players
        cards = 0
        for kind in range(NUM_KINDS):
            cards += int(s.hand[seat, kind])
        out[At.hand_sizes + i] = cards
    if s.draft_step >= 0:
        out[At.draft_step + s.draft_step] = 1


@rule
def _observe_effect(s: State, viewer: int, out: np.ndarray) -> None:
    if s.card >= 0:
        out[At.card + s.card] = 1
    out[At.optional] = s.optional
    out[At.cards_left] = s.cards_left
    for space in range(NUM_KINDS):
        out[At.selected + space] = s.selected[space]
    if s.weather >= 0:
        out[At.weather + s.weather] = 1
    if s.target_space != NO_SPACE:
        out[At.target_vote + s.target_space] = 1
    if s.target != NO_TILE:
        out[At.tile_target + s.target] = 1
    if s.target_owner != NOBODY:
        out[At.target_owner + _from_viewer(s, viewer, s.target_owner)] = 1


@rule
def _observe_fields(s: State, t: Tables, viewer: int, out: np.ndarray) -> None:
    owners = s.owners
    for tile in range(NUM_TILES):
        crop = int(s.crop[tile])
        if crop < 0:
            continue
        out[At.tile_crop + tile * NUM_CROPS + crop] = 1
        missing = int(t.drops_to_grow[crop])
        for i in range(owners):
            seat = viewer + i
            if seat >= owners:
                seat -= owners
            drops = int(s.drops[tile, seat])
            missing -= drops
            out[At.tile_drops + tile * MAX_PLAYERS + i] = drops
            out[At.cloud_drops + tile * MAX_PLAYERS + i] = s.cloud_drops[tile, seat]
        if t.drops_to_grow[crop] != NEVER:
            out[At.tile_missing + tile] = max(missing, 0)
        if s.growing[tile] != Growing.NONE:
            out[At.tile_growing + tile * NUM_TOKENS + int(s.growing[tile]) - 1] = 1
        if s.cloud[tile] != 0:
            out[At.tile_cloud + tile * 2 + int(s.cloud[tile]) - 1] = 1


@rule
def _observe_modules(s: State, viewer: int, out: np.ndarray) -> None:
    """What promos and Flowers add to the observation. Nothing without modules."""
    played = 0
    for module in range(_NUM_MODULES):
        out[At.modules + module] = s.modules[module]
        played += int(s.modules[module])
    if played == 0:
        return
    for tile in range(NUM_TILES):
        out[At.tile_fertilizer + tile] = s.fertilizer[tile]
        out[At.tile_pods + tile] = s.pods[tile]
        out[At.tile_blooms + tile] = s.blooms[tile]
        out[At.tile_scored + tile] = s.scored_drops[tile, viewer]
    if s.controller != NOBODY:
        out[At.controller + _from_viewer(s, viewer, s.controller)] = 1
    if s.timing > 0:
        out[At.timing + s.timing - 1] = 1
    out[At.choices_left] = s.choices_left
    for i in range(s.players):
        seat = (viewer + i) % s.players
        if s.power[seat] > 0:
            out[At.powers + i * NUM_POWERS + int(s.power[seat]) - 1] = 1
        out[At.counts_clouds + i] = s.counts_clouds[seat]
    if s.modules[Module.FORECASTS] == 1:
        _observe_forecasts(s, viewer, out)


@rule
def _observe_forecasts(s: State, viewer: int, out: np.ndarray) -> None:
    for card in range(NUM_FORECASTS):
        holder = int(s.forecast_holder[card])
        if holder == viewer:
            out[At.forecasts + card] = 1
        if holder == PLAYED:
            out[At.forecasts_played + card] = 1
        elif holder != NOBODY:
            out[At.forecasts_held + _from_viewer(s, viewer, holder)] += 1
    if s.forecast > 0:
        out[At.forecast + s.forecast - 1] = 1
    for seat in range(s.owners):
        out[At.chosen_drops + _from_viewer(s, viewer, seat)] = s.chosen_drops[seat]
