"""Explanations of each decision for new players, in our own words."""

from __future__ import annotations

from evergreen_env.config import Config
from evergreen_env.rules.powers import buds_points
from evergreen_env.state import (
    BIOME_NAMES,
    NOBODY,
    NUM_BIOMES,
    NUM_POWERS,
    SEASON_NAMES,
    SUN_NAMES,
    Power,
    State,
)
from evergreen_env.tables import UNLIMITED, Tables, WildFertility
from evergreen_env.words import POWER_WORDS, power_of
from tabletop_engine.decisions import check_table
from tabletop_engine.presentation import Paragraphs
from tabletop_engine.text.words import counted, player_names, win_text

ACTIONS, POWERS = "The four actions", "Powers"
_LIGHT = (
    "A small tree's shadow is one space long, a big one's two. A tree in a shadow is dark, unless it is bigger than "
    "the tree that casts it."
)


def introduction(config: Config, t: Tables) -> Paragraphs:
    """What the game is about, what scores points, how a round goes."""
    solo, rounds = config.solo, int(t.season_rounds.sum())
    drafts, acts = ("you draft", "you do") if solo else ("everybody drafts", "all do, at the same time,")
    yield "Evergreen alone" if solo else "Evergreen", "Rounds and seasons"
    yield (
        "You grow sprouts into small trees and small trees into big ones, on a planet of your own.",
        "Alone you play for as many points as you can." if solo else "The most points win.",
    )
    yield (
        "Every season ends with points: a small tree in the light brings 1, a big one 2, and each space of your "
        "largest forest 1. Trees shade what stands behind them, seen from the sun, which moves on after each season.",
        "At the end each big tree brings the fertility of its biome.",
    )
    yield (
        f"There are {rounds} rounds in four seasons. In each of them {drafts} a card, and the one that is left over "
        f"changes the fertility. Then {acts} one action in the card's biome and use its power, in either order."
    )


# --- Parts of many lessons -------------------------------------------------------------------------------------------


def _where(s: State, t: Tables) -> str:
    """The biome in which the card allows its action, in words."""
    biome = int(s.card[s.actor]) // NUM_POWERS
    if biome < NUM_BIOMES:
        return f"in the biome {BIOME_NAMES[biome]}"
    return "in any biomes, as the card is wild" if t.wild_anywhere else "in one biome, as the card is wild"


def _sun(s: State, t: Tables) -> str:
    """A sentence about the light that counts next."""
    season, left = SEASON_NAMES[s.season], int(t.season_rounds[: s.season + 1].sum()) - int(s.round)
    when = "after this round" if left == 0 else f"after {counted(left, 'more round')}"
    return f"The next light comes from the {SUN_NAMES[s.sun]}, when {season} ends {when}."


def _in_order(t: Tables) -> str:
    if not t.canonical_sets:
        return ""
    freed = ", except those that only now have a piece" if _is_limited(t) else ""
    return f"In words, name the spaces in reading order: earlier ones can't follow{freed}."


def _may_stop(s: State, t: Tables) -> str:
    if not t.partial_actions:
        return "You must do as much as possible."
    return "You may stop here." if s.begun else "You may stop after the first space."


def _supply(t: Tables) -> str:
    return "Pieces are limited; a tree that grows gives the smaller piece back." if _is_limited(t) else ""


def _is_limited(t: Tables) -> bool:
    return bool((t.supply != UNLIMITED).any())


# --- The draft -------------------------------------------------------------------------------------------------------


_WILD_LEFT_OVER = {
    WildFertility.DISCARD: "A wild card that is left over is discarded.",
    WildFertility.ALL_BIOMES: "A wild card's flowers count for every biome.",
    WildFertility.OWN_PILE: "A wild card's flowers count for no biome.",
}
check_table(_WILD_LEFT_OVER, WildFertility)


def draft(s: State, t: Tables) -> Paragraphs:
    alone = s.players == 1
    yield "Take a card", "The Draft"
    yield (
        "The card's biome is where your action happens, unless you take the single action that works anywhere. Using "
        "its power first raises the power's level, so the same power grows stronger every time."
    )
    yield (
        "What nobody takes changes the fertility: flowers raise that of their biome, a skull turns the latest flowers "
        "there face down. The icons of a card that is taken do nothing.",
        _WILD_LEFT_OVER[WildFertility(t.wild_fertility)],
    )
    yield (
        "" if alone else _marker(s, t),
        "So look at both: what you can do with each card, and which one you would like to see left over. Fertility "
        "pays for big trees at the end.",
    )


def _marker(s: State, t: Tables) -> str:
    nobody = "the next player clockwise is" if t.next_player_first else "the first player stays first"
    if s.actor == s.first_player:
        return (
            "After your choice the marker goes on the leftmost card: who takes that one is first next round. If nobody "
            f"does, {nobody}."
        )
    if s.next_first != NOBODY:
        return ""
    return f"Who takes the card with the marker is first in the next round. If nobody does, {nobody}."


# --- The turn --------------------------------------------------------------------------------------------------------


def turn(s: State, t: Tables) -> Paragraphs:
    power, level = power_of(s), min(int(s.level[s.actor, power_of(s)]) + 1, int(t.power_cap))
    whole = s.action_open and s.power_open
    yield "Your turn" if whole else "The rest of your turn", ACTIONS if s.action_open else POWERS
    if whole:
        stands = "Do one action, and use the card's power before or after it, never in between."
        advice = "What the first half plants, the second half may grow: choose the order by that."
    elif s.action_open:
        stands = "Your action is still open."
        advice = "You may also end your turn without an action." if t.voluntary_pass else ""
    else:
        stands = "Your action is done."
        advice = "The level rises even if you stop before all uses. Without the power it stays as it is."
    actions = (
        f"Actions are: {_where(s, t)} plant up to three sprouts, grow two different spaces, or plant one sprout and "
        "grow another space; or plant or grow once, anywhere."
    )
    yield stands, actions if s.action_open else ""
    if s.power_open:
        reached = f"The power {POWER_WORDS[power]} would reach level {level}"
        if power == Power.BUDS:
            yield f"{reached} and bring {counted(buds_points(t, level), 'point')}."
        else:
            yield f"{reached}: that many uses, in any biome. It keeps that level."
    yield _sun(s, t), advice


def plant(s: State, t: Tables) -> Paragraphs:
    yield "Plant sprouts", ACTIONS
    yield (
        f"You plant up to {counted(s.plants_left, 'more sprout' if s.begun else 'sprout')} in empty spaces "
        f"{_where(s, t)}. Nothing is planted in ravines.",
        _may_stop(s, t),
        _in_order(t),
    )
    yield (
        "A sprout scores nothing, gives no shade and is in no forest yet. It takes two growths to become a big tree.",
        _supply(t),
    )
    yield (
        "So think of what it will be: beside your largest forest it will join it, and in line with the sun trees stand "
        "in each other's light."
    )


def grow(s: State, t: Tables) -> Paragraphs:
    yield "Grow trees", ACTIONS
    yield (
        f"A sprout becomes a small tree, a small tree a big one, {_where(s, t)}. You have "
        f"{counted(s.growths_left, 'growth')} left, each in another space.",
        _may_stop(s, t),
        _in_order(t),
    )
    yield _LIGHT, _sun(s, t)
    yield "Small trees join forests. Big ones bring more light, and the fertility of their biome at the end."


def plant_and_grow(s: State, t: Tables) -> Paragraphs:
    if s.plants_left and s.growths_left:
        what = "You plant one sprout and grow another space once"
        unless = ", unless that gives you a sprout to plant" if _is_limited(t) else ""
        order = f"The sprout comes first: if you grow first, nothing is planted{unless}." if t.canonical_sets else ""
    elif s.plants_left:
        what, order = "You may still plant one sprout", ""
    else:
        what, order = "You may still grow one space, but not the sprout that you have just planted", ""
    yield "Plant one and grow one", ACTIONS
    yield f"{what}, {_where(s, t)}.", order, _may_stop(s, t)
    yield _LIGHT, _sun(s, t)
    yield "A sprout scores nothing yet: look first what the growth brings, and plant for a later round."


def anywhere(s: State, t: Tables) -> Paragraphs:
    yield "Plant or grow once, anywhere", ACTIONS
    yield "Plant one sprout, or grow one sprout or one small tree, in any biome. Then your action is done.", _supply(t)
    yield _LIGHT, _sun(s, t)
    yield (
        "It is the smallest action, but the only one outside the card's biome: take the space that matters most, such "
        "as one that joins two forests or becomes a big tree where fertility is high."
    )


# --- Powers ----------------------------------------------------------------------------------------------------------

_USES = {
    Power.SPROUT: (
        "Plant sprouts",
        "You plant sprouts in empty spaces",
        "Sprouts score nothing yet. If your action is still open, it may grow them in this very turn, where it reaches "
        "them.",
    ),
    Power.SMALL_TREE: (
        "Sprouts become small trees",
        "You grow sprouts into small trees",
        "Each may join your largest forest and stand in the light. Mind what it will shade.",
    ),
    Power.BIG_TREE: (
        "Small trees become big trees",
        "You grow small trees into big ones",
        "A big tree brings 2 in the light, and at the end the fertility of its biome: look where that is high. Its "
        "shadow is two spaces long.",
    ),
    Power.BUSH: (
        "Place bushes",
        "You place bushes in empty spaces",
        "A bush counts in a forest and joins what touches it, but neither gives shade nor collects light. It stays for "
        "good, so that nothing else ever stands there.",
    ),
    Power.LAKE: (
        "Place a lake",
        "You place lakes in empty spaces",
        "Up to two sprouts or small trees beside a new lake grow at once, by one step each. The lake stays for good "
        "and is in no forest. Place it where sprouts or small trees touch its sides.",
    ),
}
"""For each power that is used on spaces: a title, what to do, and what matters."""
check_table(_USES, set(Power) - {Power.BUDS})


def power(s: State, t: Tables) -> Paragraphs:
    title, what, matters = _USES[Power(power_of(s))]
    ordered = "" if power_of(s) == Power.LAKE else _in_order(t)
    yield f"Power: {title[0].lower()}{title[1:]}", POWERS
    yield (
        f"{what}, in any biome{_ground(s, t)}. You have {counted(s.uses_left, 'use')} left, and you may stop at any "
        "time.",
        ordered,
    )
    yield matters, _supply(t)
    yield _sun(s, t)


def _ground(s: State, t: Tables) -> str:
    """A sentence about bushes and lakes in ravines."""
    ground = {Power.BUSH: t.bush_ground, Power.LAKE: t.lake_ground}.get(Power(power_of(s)))
    if ground is None:
        return ""
    return " and in ravines" if int(ground) & int(t.ravines) else ", but not in ravines"


def lake(s: State, t: Tables) -> Paragraphs:
    must = "As many of them as can must grow." if t.lake_growth_mandatory else "You may stop, too."
    yield "What grows beside the lake", POWERS
    yield (
        "Sprouts and small trees at the sides of the new lake grow by one step, in whatever biome they are. You have "
        f"{counted(s.growths_left, 'growth')} left, each in another space.",
        must,
        _in_order(t),
    )
    yield _LIGHT, _sun(s, t)
    yield (
        "A sprout that becomes a small tree can join your forest; a small tree that becomes big counts for the "
        "fertility of its biome."
    )


# --- The end ---------------------------------------------------------------------------------------------------------


def game_over(s: State, t: Tables) -> Paragraphs:
    names, won = player_names(int(s.players)), Config().game.winners(s)
    so = f"So {win_text([names[seat] for seat in won])}." if won else ""
    yield "The game is over", "End of Game"
    if s.forfeited != NOBODY:
        yield f"{names[s.forfeited]} chose an action that the rules don't allow. That ends the game, and loses it."
        yield so
        return
    points = ", ".join(f"{name} {s.points[seat]}" for seat, name in enumerate(names))
    tied = int((s.points[: s.players] == s.points[: s.players].max()).sum()) > 1
    yield (
        "After winter's light and forests every big tree has brought the fertility of its biome.",
        f"Points: {points}.",
    )
    if s.players == 1:
        yield "Alone there is nobody to beat: your points are the result."
    elif tied:
        yield "Several have the most points: of them the one who came first in the last round's order wins.", so
    else:
        yield "The most points win. Of equal ones the first in the last round's order would have won.", so
