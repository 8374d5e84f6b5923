"""The written report of a difficulty study: every sentence is made from the games that were played."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.component_files import load_components
from petrichor_env.config import VARIANTS
from petrichor_env.state import SOURCE_NAMES
from tabletop.words import counted
from tabletop_training.evaluation import Estimate, mean_estimate
from tabletop_training.evaluation_files import ends, percentage_points, signed, write_json, write_rows
from tabletop_training.petrichor.report_plots import (
    VARIANT_TITLES,
    plot_costs,
    plot_difficulty,
    plot_effects,
    plot_heat_map,
    plot_ranking,
    plot_sources,
    set_title,
    source_title,
    sources_of,
)
from tabletop_training.petrichor.study import Study
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, set_name
from tabletop_training.petrichor.variant_effects import (
    SIGNIFICANCE,
    Effect,
    Sets,
    compare_margins,
    compare_wins,
    contrast,
    effects,
    holm,
    levels,
    p_of_mean,
    pairing_gain,
    rank_intervals,
    smoothest_path,
    win_rate_effects,
)
from tabletop_training.plots import agent_title

_BASE, _ALL = 0, len(ALL_VARIANTS) - 1
_PLAYER, _NEUTRAL = 0, 1
_TARGETS = (0.9, 0.75, 0.5, 0.25, 0.1)
_NEAR_TARGET = 0.08
_MENTIONED = 0.5
"""Points a game under which a source's change is not worth a word."""


class _Findings:
    """What is worked out once for the yardstick, the strongest agent, by mean win rate over the sets."""

    def __init__(self, study: Study, sets: Sequence[Sets]) -> None:
        strength = sorted(sets, key=lambda one: (one.win_rates.mean(), one.margins.mean()), reverse=True)
        self.yardstick = strength[0]
        self.others = strength[1:]
        self.name = f"`{agent_title(self.yardstick.agent)}`"
        self.order = self.yardstick.order
        self.wins = compare_wins(self.yardstick)
        self.margins = compare_margins(self.yardstick)
        self.levels = levels(self.order, self.wins)
        self.ranks = rank_intervals(self.yardstick, np.random.default_rng(study.seed))
        self.effects = {effect.variants: effect for effect in effects(self.yardstick.margins)}
        self.win_effects = win_rate_effects(self.yardstick)
        self.main = sorted((self.effects[name,] for name in VARIANTS), key=lambda effect: effect.value)
        self.hardest = int(self.order[-1])

    @property
    def as_hard_as_the_hardest(self) -> list[int]:
        """The sets whose win rate is not told from the hardest one's."""
        told = self.wins.significant[:, self.hardest]
        return [int(index) for index in self.order if index != self.hardest and not told[index]]

    def rate(self, index: int) -> Estimate:
        return self.yardstick.rate(index)

    def margin(self, index: int) -> Estimate:
        return mean_estimate(self.yardstick.margins[index])

    def mean_points(self, index: int, side: int) -> np.ndarray:
        """(sources,) float64 of a set."""
        return np.asarray(self.yardstick.scored[index, :, side].mean(axis=0))


def write_report(folder: Path, study: Study, summaries: Sequence[Summary], sets: Sequence[Sets]) -> None:
    """Pictures, `report.md`, and the figures in it as CSV and JSON.

    Arguments:
        summaries: of all sets that were played.
        sets: of the agents that have played all of them; without any, the report is the tables of what there is.
    """
    plot_heat_map(folder / "heat_map.png", summaries)
    plot_difficulty(folder / "difficulty.png", summaries)
    lines = ["# How hard are the Southern Winds?", ""]
    if sets:
        found = _Findings(study, sets)
        plot_ranking(folder / "ranking.png", found.yardstick, found.levels, found.wins, found.margins)
        plot_effects(folder / "effects.png", sets)
        plot_costs(folder / "costs.png", found.yardstick)
        plot_sources(folder / "sources.png", found.yardstick, [(), *((name,) for name in VARIANTS), VARIANTS])
        _write_tables(folder, sets)
        for section in (
            _in_short(study, found),
            _each_set(found),
            _each_variant(found, sets),
            _together(found),
            _good_play(found),
            _points(found),
            _hardest(found),
            _ranking(found),
        ):
            lines += [*section, ""]
    else:
        lines += ["No agent has played all 16 sets of variants yet: this is a table of what there is.", ""]
        lines += ["![Win rates and points ahead of each set and agent](heat_map.png)", ""]
    lines += [*_all_figures(summaries), "", *_method(study, sets), ""]
    (folder / "report.md").write_text("\n".join(lines), encoding="utf-8")
    data = {**asdict(study), "sets": [asdict(summary) for summary in summaries], "agents": _as_json(sets, study.seed)}
    write_json(folder / "difficulty.json", data)


# --- Tables -----------------------------------------------------------------------------------------------------------


def _effect_rows(sets: Sets) -> list[dict[str, Any]]:
    measures = {
        "margin": sets.margins,
        "points": sets.points[:, :, 0],
        "neutral_points": sets.points[:, :, 1],
        "decisions": sets.decisions,
    }
    return [
        {
            "agent": sets.agent,
            "measure": measure,
            "variants": "+".join(effect.variants),
            "change": effect.value,
            "low": effect.low,
            "high": effect.high,
            "p_holm": effect.p,
        }
        for measure, values in measures.items()
        for effect in effects(values)
    ]


def _pair_rows(sets: Sets) -> list[dict[str, Any]]:
    wins, margins = compare_wins(sets), compare_margins(sets)
    return [
        {
            "agent": sets.agent,
            "easier": set_name(ALL_VARIANTS[easier]),
            "harder": set_name(ALL_VARIANTS[harder]),
            "win_rate_difference": wins.differences[easier, harder],
            "p_holm_wins": wins.p[easier, harder],
            "margin_difference": margins.differences[easier, harder],
            "p_holm_margins": margins.p[easier, harder],
        }
        for easier, harder in combinations(sets.order, 2)
    ]


def _source_rows(sets: Sets) -> list[dict[str, Any]]:
    return [
        {
            "agent": sets.agent,
            "variants": set_name(variants),
            "side": who,
            "source": SOURCE_NAMES[source],
            **dict(zip(("points", "low", "high"), mean_estimate(sets.scored[index, :, side, source]), strict=True)),
        }
        for index, variants in enumerate(ALL_VARIANTS)
        for side, who in enumerate(("player", "neutral"))
        for source in sources_of([sets])
    ]


def _write_tables(folder: Path, sets: Sequence[Sets]) -> None:
    """`effects.csv`, `pairs.csv` and `sources.csv`, numbers to five digits, nothing where an interval has no ends."""
    for name, of_agent in (("effects", _effect_rows), ("pairs", _pair_rows), ("sources", _source_rows)):
        write_rows(folder / f"{name}.csv", [row for one in sets for row in of_agent(one)], form=".5g")


def _as_json(sets: Sequence[Sets], seed: int) -> list[dict[str, Any]]:
    """Effects and rankings, agent by agent; `seed` is of the resampling of ranks."""
    return [
        {
            "agent": one.agent,
            "games": one.games,
            "effects": _effect_rows(one),
            "win_rate_effects": win_rate_effects(one),
            "ranking": [set_name(ALL_VARIANTS[index]) for index in one.order],
            "levels": levels(one.order, compare_wins(one))[one.order].tolist(),
            "rank_intervals": rank_intervals(one, np.random.default_rng(seed))[one.order].tolist(),
            "pairing_gain": pairing_gain(one),
        }
        for one in sets
    ]


# --- Words -----------------------------------------------------------------------------------------------------------


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def _size(effect: Estimate) -> str:
    """`18.1 points (17.5 to 18.7)`, without the sign, which the sentence tells."""
    low, high = (effect.low, effect.high) if effect.value >= 0 else (-effect.high, -effect.low)
    return f"{abs(effect.value):.1f} points {ends(low, high, sign='')}"


def _listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    words = list(parts)
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _title(index: int) -> str:
    return set_title(ALL_VARIANTS[index])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """The first `left` columns are words."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * left + "---:|" * (len(head) - left)]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _side_sentence(sets: Sets, weights: np.ndarray, side: int) -> str:
    """How sets weighted so change a side's points, and the sources of which that is sure, the greatest change first.

    `The neutral player scores 13.3 points more: idle cards +4.4, Coffee +2.6 and Cotton +2.5.`
    """
    total = mean_estimate(weights @ sets.points[:, :, side])
    who = ("You score", "The neutral player scores")[side]
    if total.excludes(0):
        sentence = f"{who} {abs(total.value):.1f} points {'more' if total.value > 0 else 'less'}"
    else:
        sentence = f"{who} as many points as without, within chance {ends(total.low, total.high)}"
    by_seed = np.einsum("v,vgs->gs", weights, sets.scored[:, :, side].astype(float))
    changes = {source: mean_estimate(by_seed[:, source]) for source in sources_of([sets])}
    sure = [one for one, change in changes.items() if abs(change.value) >= _MENTIONED and change.excludes(0)]
    sure.sort(key=lambda one: -abs(changes[one].value))
    named = _listed(f"{source_title(SOURCE_NAMES[one])} {changes[one].value:+.1f}" for one in sure[:4])
    return f"{sentence}: {named}." if named else f"{sentence}."


# --- Sections --------------------------------------------------------------------------------------------------------


def _in_short(study: Study, found: _Findings) -> list[str]:
    base, hardest = found.rate(_BASE), found.rate(found.hardest)
    others = len(found.as_hard_as_the_hardest)
    tied = f" (by wins not told from {counted(others, 'other')})" if others else ""
    agents = len(found.others) + 1
    who = f"{found.name}, the strongest of {agents} agents measured here," if agents > 1 else f"{found.name}"
    lines = [
        f"The Southern Winds are played alone, against a neutral player that follows cards and dice. {who} wins",
        f"**{_percent(base)}** of the base game and **{_percent(hardest)}** of the hardest of the 16 sets that",
        f"the four variants make, **{_title(found.hardest)}**{tied}. *You* are {found.name} in what follows,",
        "unless another agent is named; 95 % intervals are in brackets.",
        "",
    ]
    costly = [effect for effect in found.main if effect.significant and effect.value < 0]
    helpful = [effect for effect in found.main if effect.significant and effect.value > 0]
    unsure = [effect for effect in found.main if not effect.significant]
    if costly:
        costs = _listed(f"{_names(effect)} {_size(effect.estimate)}" for effect in costly)
        lines.append(f"- **What a variant costs**, averaged over all sets of the others: {costs}.")
    if helpful:
        gains = _listed(f"{_names(effect)} by {_size(effect.estimate)}" for effect in helpful)
        lines.append(f"- **Easier than it looks**: the margin grows with {gains}.")
    if unsure:
        names = _listed(f"{_names(effect)} {ends(effect.low, effect.high)}" for effect in unsure)
        lines.append(f"- **What could be chance**: the change of the margin, in points, with {names}.")
    pairs = [effect for effect in found.effects.values() if len(effect.variants) == 2 and effect.significant]
    most = max(pairs, key=lambda effect: abs(effect.value), default=None)
    together = "no two variants do measurably more or less than their sum" if most is None else _interaction(most)
    lines.append(f"- **Together**: {together}.")
    neutral = found.mean_points(_BASE, _NEUTRAL)
    lines.append(
        f"- **The neutral player** scores {neutral.sum():.1f} points in the base game, the most from"
        f" {_listed(_top(neutral, 3))}; with all four variants {found.mean_points(_ALL, _NEUTRAL).sum():.1f}."
    )
    even = int(np.argmin(np.abs(found.yardstick.win_rates - 0.5)))
    lines.append(f"- **Closest to an even game**: {_title(even)}, won {_percent(found.rate(even))}.")
    real = int(np.triu(found.wins.significant, 1).sum())
    lines.append(
        f"- **Sixteen sets, {counted(int(found.levels.max()), 'level')} of difficulty**: of the 120 pairs of sets,"
        f" {real} differ in how often they are won by more than chance (tests corrected for their number)."
    )
    return lines


def _top(points: np.ndarray, number: int) -> list[str]:
    best = np.argsort(-points, kind="stable")[:number]
    return [f"{source_title(SOURCE_NAMES[source])} ({points[source]:.1f})" for source in best if points[source] > 0]


def _names(effect: Effect) -> str:
    return _listed(VARIANT_TITLES[name] for name in effect.variants)


def _interaction(effect: Effect, than: str = "the sum of both") -> str:
    return f"{_names(effect)} cost {_size(effect.estimate)} {'more' if effect.value < 0 else 'less'} than {than}"


def _each_set(found: _Findings) -> list[str]:
    rates = found.yardstick.win_rates
    lines = [
        "## Sixteen games in one box",
        "",
        "Each row is a set of variants (a filled dot: played with), each column an agent. Left, how many games of a",
        "hundred it wins, right, by how many points it is ahead of the neutral player on average. The easiest set by",
        "the mean over all agents is on top.",
        "",
        "![Win rates and points ahead of each set and agent](heat_map.png)",
        "",
    ]
    wanted = {}
    for target in _TARGETS:
        nearest = int(np.argmin(np.abs(rates - target)))
        if abs(rates[nearest] - target) <= _NEAR_TARGET:
            wanted[nearest] = target
    if wanted:
        rows = [(f"{100 * goal:.0f} %", _title(index), _percent(found.rate(index))) for index, goal in wanted.items()]
        lines += [f"To choose a set by how often {found.name} should win:", ""]
        lines += [*_table(("wanted", "set", "won"), rows, left=2), ""]
        missed = [f"{100 * target:.0f} %" for target in _TARGETS if target not in wanted.values()]
        lines += [f"No set is near {' or '.join(missed)}.", ""] if missed else []
    path = smoothest_path(rates)
    steps = [f"{_title(path[0])} {100 * rates[path[0]]:.0f} %"]
    for before, after in pairwise(path):
        (new,) = set(ALL_VARIANTS[after]) - set(ALL_VARIANTS[before])
        steps.append(f"{VARIANT_TITLES[new]} {100 * rates[after]:.0f} %")
    lines += [
        "The gentlest climb, adding the variants one at a time so that the greatest drop of the win rate is as small",
        f"as any order allows: {' → '.join(steps)}.",
    ]
    return lines


def _each_variant(found: _Findings, sets: Sequence[Sets]) -> list[str]:
    lines = [
        "## What each variant costs",
        "",
        "The change of the margin (points ahead of the neutral player) that a variant brings, averaged over the eight",
        "sets of the other three. On the right is what each two change beyond the sum of both.",
        "",
        "![Effects of the variants on the margin](effects.png)",
        "",
    ]
    names = [effect.variants[0] for effect in found.main]
    points, rates = [], []
    for one in sets:
        own = {effect.variants: effect for effect in effects(one.margins)}
        won = win_rate_effects(one)
        points.append((f"`{agent_title(one.agent)}`", *(signed(own[name,].estimate) for name in names)))
        rates.append((f"`{agent_title(one.agent)}`", *(percentage_points(won[name]) for name in names)))
    titles = [VARIANT_TITLES[name] for name in names]
    lines += [*_table(("change of the margin, points", *titles), points), ""]
    lines += [*_table(("change of the win rate, percentage points", *titles), rates), ""]
    lines += [f"![What each variant changes for both sides, source by source, when {found.name} plays](costs.png)", ""]
    for effect in found.main:
        lines += [_variant_paragraph(found, effect), ""]
    return lines[:-1]


def _variant_paragraph(found: _Findings, effect: Effect) -> str:
    (name,) = effect.variants
    sets, weights = found.yardstick, contrast((name,))
    verdict = f"changes the margin by {signed(effect.estimate)} points, which may be chance"
    if effect.significant:
        verdict = f"{'costs' if effect.value < 0 else 'gives'} {_size(effect.estimate)}"
    win = percentage_points(found.win_effects[name])
    sentences = [
        f"**{VARIANT_TITLES[name]}** {verdict}, and changes the win rate by {win} percentage points.",
        *(_side_sentence(sets, weights, side) for side in (_NEUTRAL, _PLAYER)),
    ]
    longer = mean_estimate(weights @ sets.decisions)
    if longer.excludes(0):
        more = "more" if longer.value > 0 else "fewer"
        sentences.append(f"A game asks you for {abs(longer.value):.1f} {more} decisions.")
    return " ".join(sentences)


def _together(found: _Findings) -> list[str]:
    lines = ["## Together", ""]
    several = [effect for effect in found.effects.values() if len(effect.variants) > 1]
    pairs = sorted((e for e in several if len(e.variants) == 2 and e.significant), key=lambda e: -abs(e.value))
    number = math.comb(len(VARIANTS), 2)
    lines += [f"- {_interaction(effect)}." for effect in pairs]
    if len(pairs) < number:
        rest = f"The other {counted(number - len(pairs), 'pair')}" if pairs else f"All {number} pairs"
        lines.append(f"- {rest} of variants add up, as far as these games can tell.")
    for effect in several:
        if len(effect.variants) > 2 and effect.significant:
            lines.append(f"- {_interaction(effect, than='they do two by two')}.")
    margins = found.yardstick.margins.astype(float)
    singles = [ALL_VARIANTS.index((name,)) for name in VARIANTS]
    all_at_once = margins[_BASE] - margins[_ALL]
    one_by_one = len(singles) * margins[_BASE] - margins[singles].sum(axis=0)
    beyond = mean_estimate(all_at_once - one_by_one)
    verdict = "no more and no less than their sum, within chance"
    if beyond.excludes(0):
        verdict = f"{_size(beyond)} {'more' if beyond.value > 0 else 'less'} than their sum"
    lines += [
        "",
        f"One at a time, from the base game on, the four variants cost {one_by_one.mean():.1f} points in all; all four"
        f" at once cost {all_at_once.mean():.1f}: {verdict}."
        " Win rates don't add up in this way: they can't fall below zero.",
    ]
    return lines


def _good_play(found: _Findings) -> list[str]:
    lines = ["## What good play is worth", ""]
    if not found.others:
        return [*lines, "This takes at least two agents."]
    rows = [
        (
            f"`{agent_title(one.agent)}`",
            *(_percent(one.rate(index)) for index in (_BASE, found.hardest)),
            f"{100 * one.win_rates.mean():.1f} %",
            signed(mean_estimate(one.margins.mean(axis=0))),
        )
        for one in (found.yardstick, *found.others)
    ]
    head = ("agent", "base game", f"{_title(found.hardest)}", "mean of 16 sets", "points ahead, mean of 16 sets")
    lines += [*_table(head, rows), ""]
    other = found.others[0]
    games = min(found.yardstick.games, other.games)
    gaps = (found.yardstick.margins[:, :games] - other.margins[:, :games]).astype(float)
    by_seed = {name: contrast((name,)) @ gaps for name in VARIANTS}
    p_values = dict(zip(VARIANTS, holm(np.array([p_of_mean(by_seed[name]) for name in VARIANTS])), strict=True))
    gap = mean_estimate(gaps.mean(axis=0))
    where = "ahead of" if gap.value >= 0 else "behind"
    lines.append(
        f"Does a variant leave room for good play? {found.name} ends {_size(gap)} {where} the next strongest,"
        f" `{agent_title(other.agent)}`, on average of the sets, on the {counted(games, 'seed')} that both have played."
    )
    shifting = [name for name in VARIANTS if p_values[name] < SIGNIFICANCE]
    for name in shifting:
        change = mean_estimate(by_seed[name])
        gains = found.name if change.value > 0 else f"`{agent_title(other.agent)}`"
        lines.append(f"{VARIANT_TITLES[name]} shifts this by {_size(change)} in favour of {gains}.")
    return lines if shifting else [*lines, "No variant changes this beyond chance."]


def _points(found: _Findings) -> list[str]:
    sources = sources_of([found.yardstick])
    base, everything = ([found.mean_points(index, side) for side in (_PLAYER, _NEUTRAL)] for index in (_BASE, _ALL))
    dice = SOURCE_NAMES.index("dice")
    lines = [
        "## Where the points come from",
        "",
        "Crops are points of their Harvests. *Idle cards* are the points that the neutral player takes where a card",
        "finds no valid target or it has no vote left to place (with the forecasts module, your forecast cards, too).",
        "",
        f"![Mean points a game by source, when {found.name} plays](sources.png)",
        "",
    ]
    for side, who in ((_PLAYER, "You score"), (_NEUTRAL, "The neutral player scores")):
        points = base[side]
        share = 100 * points[:dice].sum() / max(points.sum(), 1e-9)
        lines.append(
            f"{who} {points.sum():.1f} points in the base game, {share:.0f} % of them by harvesting crops; the most"
            f" from {_listed(_top(points, 3))}."
        )
    lead = base[_PLAYER] - base[_NEUTRAL]
    order = np.argsort(-lead, kind="stable")
    ahead = [f"{source_title(SOURCE_NAMES[s])} ({lead[s]:+.1f})" for s in order if lead[s] >= _MENTIONED][:4]
    behind = [f"{source_title(SOURCE_NAMES[s])} ({lead[s]:+.1f})" for s in order[::-1] if lead[s] <= -_MENTIONED][:4]
    if ahead:
        lines.append(f"You outscore it with {_listed(ahead)}.")
    if behind:
        lines.append(f"It outscores you with {_listed(behind)}.")
    columns = [*base, *everything]
    rows = [(source_title(SOURCE_NAMES[one]), *(f"{points[one]:.1f}" for points in columns)) for one in sources]
    totals = [f"**{points.sum():.1f}**" for points in columns]
    head = ("source", "base: you", "base: neutral", "all four: you", "all four: neutral")
    return [*lines, "", *_table(head, [*rows, ("**all**", *totals)])]


def _hardest(found: _Findings) -> list[str]:
    hardest, sets = found.hardest, found.yardstick
    lines = ["## The hardest, and why", ""]
    if not found.wins.significant[_BASE, hardest]:
        return [*lines, f"No set is won significantly less often than the base game by {found.name}."]
    tied, title = found.as_hard_as_the_hardest, _title(hardest)
    lines.append(
        f"**{title[0].upper()}{title[1:]}**: won {_percent(found.rate(hardest))}, with a mean margin of"
        f" {signed(found.margin(hardest))} points. The base game: won {_percent(found.rate(_BASE))}, with"
        f" {signed(found.margin(_BASE))}."
    )
    if tied:
        lines.append(f"By wins it can't be told from {_listed(map(_title, tied))}.")
        lowest = min([hardest, *tied], key=lambda index: sets.margins[index].mean())
        if lowest != hardest:
            lines.append(f"By points the lowest of these is {_title(lowest)}, {signed(found.margin(lowest))}.")
    weights = np.zeros(len(ALL_VARIANTS))
    weights[[hardest, _BASE]] = 1, -1
    neutral, player = (_side_sentence(sets, weights, side) for side in (_NEUTRAL, _PLAYER))
    lines += [f"Against the base game: {neutral[0].lower()}{neutral[1:]}", player]
    chosen = ALL_VARIANTS[hardest]
    if len(chosen) > 1:
        without = []
        for name in chosen:
            easier = ALL_VARIANTS.index(tuple(other for other in chosen if other != name))
            gain = float((sets.margins[easier] - sets.margins[hardest]).mean())
            without.append((gain, f"{VARIANT_TITLES[name]} {gain:+.1f} ({100 * sets.win_rates[easier]:.0f} % won)"))
        without.sort(reverse=True)
        lines.append(f"Taking one variant away changes the margin by: {_listed(text for _, text in without)}.")
    return lines


def _ranking(found: _Findings) -> list[str]:
    lines = [
        "## The ranking",
        "",
        f"By how often {found.name} wins. A level ends where a set is significantly harder than the level's first;",
        "within a level the order may be chance. *Could be* is where the rank lies in 95 % of resamples of the seeds.",
        "",
    ]
    rows = [
        (
            str(rank),
            str(found.levels[index]),
            _title(int(index)),
            _percent(found.rate(int(index))),
            signed(found.margin(int(index))),
            "{} to {}".format(*found.ranks[index]) if found.yardstick.games > 1 else "–",
        )
        for rank, index in enumerate(found.order, 1)
    ]
    lines += _table(("rank", "level", "set", "won", "points ahead", "could be"), rows, left=3)
    spreads = found.yardstick.margins.std(axis=1)
    return [
        *lines,
        "",
        "![Ranking, how games end, and which differences are more than chance](ranking.png)",
        "",
        f"One game is no measure: within a set, the points ahead have a standard deviation of {spreads.min():.1f} to"
        f" {spreads.max():.1f}.",
    ]


def _all_figures(summaries: Sequence[Summary]) -> list[str]:
    lines = ["## All figures", "", "![Win rates and margins with 95 % intervals](difficulty.png)", ""]
    rows = [
        (
            set_title(summary.variant_names),
            agent_title(summary.agent),
            f"{summary.games:,}",
            _percent(summary.won),
            signed(summary.ahead),
            f"{summary.points:.1f}",
            f"{summary.neutral_points:.1f}",
            f"{summary.decisions:.0f}",
        )
        for summary in summaries
    ]
    head = ("set", "agent", "games", "won", "points ahead", "your points", "neutral points", "decisions")
    return [*lines, *_table(head, rows, left=2)]


def _method(study: Study, sets: Sequence[Sets]) -> list[str]:
    components = load_components(study.components)
    sources = [source for numbers in components.values() for source in numbers.sources[: len(numbers.values)]]
    games = _listed(f"{number:,} of `{agent_title(agent)}`" for agent, number in study.agents.items())
    modules = f", with {_listed(study.modules)}" if study.modules else ""
    overlay = ", some of them replaced by an overlay file" if study.components is not None else ""
    lines = [
        "## How this was measured",
        "",
        f"- Games of each set: {games}; seeds from {study.seed}{modules}. petrichor-env {study.package_version},"
        f" state version {study.state_version}.",
        "- A win rate is of these agents, not of the game: somebody who plays better wins more. Differences between",
        "  sets carry further, but also depend on who plays.",
        f"- {sources.count('assumed')} of the {len(sources)} numbers on the pieces are assumed, as the rule texts lack",
        f"  them{overlay} (`petrichor components`). With the box, measure again with an overlay file.",
        "- Win rates have Wilson intervals, means Student's. A seed starts the same game in every set and for every",
        "  agent, as far as the same tiles are in the pile, so sets and agents are compared seed by seed; seeds are",
        "  the unit of every test.",
    ]
    if sets:
        gains = _listed(f"{-100 * pairing_gain(one):+.0f} % for `{agent_title(one.agent)}`" for one in sets)
        lines.append(f"  Pairing changed the variance of a difference of two sets' margins by {gains}.")
    lines += [
        "- Two sets: McNemar's exact test of wins, the paired t test of margins, each with Holm's correction for an",
        "  agent's 120 pairs. Effects: contrasts of the 2 x 2 x 2 x 2 sets by seed, t tests with Holm's correction for",
        "  an agent's 15 effects. The strongest agent's lead over the next: t tests of what each of the 4 variants",
        "  changes of it, with Holm's correction for these. Significant: below 5 % after correction. Intervals are for",
        "  one figure each, and not corrected.",
        "- Changes of single sources are named where they reach half a point and their interval excludes 0.",
        "- Files: `games.csv` (every game), `difficulty.csv` (sets), `effects.csv`, `pairs.csv`, `sources.csv`,",
        "  `difficulty.json` (sets, effects, rankings), `settings.json`.",
    ]
    lines.append(f"- To play them again: {', then '.join(f'`{command}`' for command in study.commands)}.")
    return lines
