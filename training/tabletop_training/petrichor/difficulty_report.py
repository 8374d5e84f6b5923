"""The written report of a difficulty study: every sentence is made from the games that were played."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.component_files import KEYS, load_components, own_numbers
from petrichor_env.config import VARIANTS
from petrichor_env.game import GAME
from petrichor_env.state import SOURCE_NAMES
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.text.words import counted, spelled
from tabletop_training.files.provenance import provenance
from tabletop_training.files.tables import (
    Column,
    Table,
    agent_code,
    format_estimate,
    markdown_code,
    markdown_table,
    plain,
    write_json,
    write_rows,
)
from tabletop_training.measure import course
from tabletop_training.measure.changes import ChangeEffect
from tabletop_training.measure.results import Estimate, Results, difference_estimate, mean_estimate
from tabletop_training.petrichor import edition_report, player_report, report_plots
from tabletop_training.petrichor.change_report import change_effects, change_section
from tabletop_training.petrichor.edition_report import all_over_editions
from tabletop_training.petrichor.report_plots import VARIANT_TITLES, set_title, source_title, sources_of, title_at
from tabletop_training.petrichor.study import Study, by_set, complete_sets, study_summaries
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, rows_of, set_name, variants_of, write_summaries
from tabletop_training.petrichor.variant_effects import (
    SIGNIFICANCE,
    Effect,
    Sets,
    compare_margins,
    compare_wins,
    contrast,
    effects,
    levels,
    p_values,
    pairing_gain,
    rank_intervals,
    smoothest_path,
    win_rate_effects,
)

_SETS, _VARIANTS = len(ALL_VARIANTS), spelled(len(VARIANTS))
_BASE, _ALL = 0, _SETS - 1
_PLAYER, _NEUTRAL = 0, 1
_TARGETS = (0.9, 0.75, 0.5, 0.25, 0.1)
_NEAR_TARGET = 0.08
_MENTIONED = 0.5
"""Points a game; smaller changes of a source are not mentioned."""


class _Findings:
    """Results of the strongest agent, by mean win rate over the sets."""

    def __init__(self, study: Study, sets: Sequence[Sets]) -> None:
        strength = sorted(sets, key=lambda one: (one.win_rates.mean(), one.margins.mean()), reverse=True)
        self.yardstick = strength[0]
        self.others = strength[1:]
        self.name = agent_code(self.yardstick.agent)
        self.order = self.yardstick.order
        self.wins = compare_wins(self.yardstick)
        self.margins = compare_margins(self.yardstick)
        self.levels = levels(self.order, self.wins)
        self.ranks = rank_intervals(self.yardstick, generator(study.seed, Stream.RANKS))
        self.effects = {effect.variants: effect for effect in effects(self.yardstick.margins)}
        self.win_effects = win_rate_effects(self.yardstick)
        self.main = sorted((self.effects[name,] for name in VARIANTS), key=lambda effect: effect.value)
        self.hardest = int(self.order[-1])
        differs = self.wins.significant[:, self.hardest]
        # the sets whose win rate does not differ significantly from the hardest one's
        self.as_hard_as_the_hardest = [int(one) for one in self.order if one != self.hardest and not differs[one]]

    def mean_points(self, index: int, side: int) -> np.ndarray:
        """(sources,) float64 of a set."""
        return np.asarray(self.yardstick.scored[index, :, side].mean(axis=0))


def write_report(folder: Path, study: Study, played: Sequence[Results]) -> dict[str, Any]:
    """Write pictures, `report.md`, and its figures as CSV and JSON, from all games played so far.

    If no agent has played all sets, the report has only the tables. Returns the content of `difficulty.json`.
    """
    sets, *others = (complete_sets(by_set(played, config.components), study.agents) for config in study.configs)
    summaries = study_summaries(study, played)
    write_summaries(folder, summaries)
    report_plots.plot_heat_map(folder / "heat_map.png", summaries)
    report_plots.plot_difficulty(folder / "difficulty.png", summaries)
    over_editions = all_over_editions(study, played)
    rates = {key: float(one.won[:, 0].mean()) for key, one in by_set(played, study.components).items()}
    if over_editions:
        edition_report.write_tables(folder, over_editions)
        edition_report.plot_editions(folder / "editions.png", over_editions, rates)
        edition_report.plot_look_up(folder / "look_up.png", max(over_editions, key=lambda one: one.won.mean()))
    across = edition_report.section(study, over_editions, rates)
    by_agent = change_effects(study, played)
    changes = [one.row("measure", agent=agent) for agent, own in by_agent.items() for one in own]
    if changes:
        write_rows(folder / "changes.csv", changes, form=".5g")
    changed = _changed(study, summaries, sets, [one for shipped in others for one in shipped], by_agent)
    courses: list[dict[str, Any]] = []
    if sets:
        found = _Findings(study, sets)
        report_plots.plot_ranking(folder / "ranking.png", found.yardstick, found.levels, found.wins, found.margins)
        report_plots.plot_effects(folder / "effects.png", sets)
        report_plots.plot_costs(folder / "costs.png", found.yardstick)
        report_plots.plot_sources(
            folder / "sources.png", found.yardstick, [(), *((name,) for name in VARIANTS), VARIANTS]
        )
        for name, of_agent in (("effects", _effect_rows), ("pairs", _pair_rows), ("sources", _source_rows)):
            write_rows(folder / f"{name}.csv", [row for one in sets for row in of_agent(one)], form=".5g")
        parts = [_in_short(found), across, changed, _each_set(found), _each_variant(found, sets), _together(found)]
        own = by_set(played, study.components)
        two = [(one.agent, index) for one in (found.yardstick, *found.others) for index in (_BASE, found.hardest)]
        courses = course.rows_of((who, title_at(one), own[who, ALL_VARIANTS[one]]) for who, one in two)
        parts += [_good_play(found), player_report.section(sets), course.section(courses), _points(found)]
        parts += [_hardest(found), _ranking(found)]
    else:
        none = f"No agent has played all {_SETS} sets of variants yet: this is a table of what there is."
        parts = [[none, "![Win rates and points ahead of each set and agent](heat_map.png)"], across, changed]
    parts = [["# How hard are the Southern Winds?"], *parts, _all_figures(summaries), _method(study, sets)]
    text = "\n\n".join(block for part in parts for block in part)
    (folder / "report.md").write_text(text + "\n", encoding="utf-8")
    data = {**provenance(study.config, study.seed, study.agents), **asdict(study)}
    data |= {"changed_numbers": own_numbers(study.components), "sets": rows_of(summaries)}
    content: dict[str, Any] = plain({**data, "agents": _as_json(sets, study.seed)})
    if over_editions:
        content |= plain(edition_report.as_json(over_editions))
    if changes:
        content["changes"] = plain(changes)
    if courses:
        content["courses"] = plain(courses)
    write_json(folder / "difficulty.json", content)
    return content


# --- Tables -----------------------------------------------------------------------------------------------------------


def _effect_rows(sets: Sets) -> list[dict[str, Any]]:
    measures = {"margin": sets.margins, "points": sets.points[:, :, 0]}
    measures |= {"neutral_points": sets.points[:, :, 1], "decisions": sets.decisions}
    columns = ("agent", "measure", "variants", "change", "low", "high", "p_holm")
    return [
        dict(zip(columns, (sets.agent, measure, "+".join(one.variants), *one.estimate, one.p), strict=True))
        for measure, values in measures.items()
        for one in effects(values)
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
    columns = ("agent", "variants", "side", "source", "points", "low", "high")
    return [
        dict(zip(columns, (sets.agent, set_name(variants), who, SOURCE_NAMES[source], *points), strict=True))
        for index, variants in enumerate(ALL_VARIANTS)
        for side, who in enumerate(("player", "neutral"))
        for source in sources_of([sets])
        for points in [mean_estimate(sets.scored[index, :, side, source])]
    ]


def _as_json(sets: Sequence[Sets], seed: int) -> list[dict[str, Any]]:
    """Effects and rankings of each agent; `seed` is for the resampling of ranks."""
    return [
        {
            "agent": one.agent,
            "games": one.games,
            "effects": _effect_rows(one),
            "win_rate_effects": win_rate_effects(one),
            "ranking": [set_name(ALL_VARIANTS[index]) for index in one.order],
            "levels": levels(one.order, compare_wins(one))[one.order].tolist(),
            "rank_intervals": rank_intervals(one, generator(seed, Stream.RANKS))[one.order].tolist(),
            "pairing_gain": pairing_gain(one),
        }
        for one in sets
    ]


# --- Words -----------------------------------------------------------------------------------------------------------


_percent = partial(format_estimate, unit="%", interval="to")
_signed = partial(format_estimate, sign="+", interval="to")


def _size(change: Estimate, what: str = "points") -> str:
    """`18.1 points (17.5 to 18.7)`, without a sign: the sentence expresses it."""
    low, high = sorted((abs(change.low), abs(change.high)))
    return format_estimate((abs(change.value), low, high), what, interval="to")


def _moved(change: Estimate, what: str, more: str, less: str) -> str:
    """`3.2 points (2.1 to 4.3) less`; with an interval around 0 `0.3 points less (from 1.0 less to 0.4 more)`."""
    word = more if change.value >= 0 else less
    if change.excludes(0) or not change.has_interval:
        return f"{_size(change, what)} {word}"
    return f"{abs(change.value):.1f} {what} {word} (from {abs(change.low):.1f} {less} to {abs(change.high):.1f} {more})"


def _won_more(change: Estimate) -> str:
    """`42.1 percentage points (40.9 to 43.3) less often`."""
    return _moved(Estimate(*(100 * end for end in change)), "percentage points", "more often", "less often")


def _ahead(margin: Estimate) -> str:
    return _moved(margin, "points", "ahead", "behind")


def _perhaps(effect: Effect, tests: int) -> str:
    """An effect that could be chance, and why if its interval excludes 0."""
    size = _moved(effect.estimate, "points", "higher", "lower")
    if not effect.estimate.excludes(0):
        return size
    reason = f"{tests} effects were tested together, and some of so many exclude it by chance"
    return f"{size}: the interval excludes 0, but {reason}; corrected for their number, p is {effect.p:.2g}"


def _listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    words = list(parts)
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _side_sentence(sets: Sets, weights: np.ndarray, side: int) -> str:
    """A sentence: how this contrast of sets changes a side's points, with the largest sure changes of its sources.

    `The neutral player scores 13.3 points (12.9 to 13.7) more: 4.4 more from idle cards and 2.6 more from Coffee.`
    """
    total = mean_estimate(weights @ sets.points[:, :, side])
    who = ("You score", "The neutral player scores")[side]
    by_seed = np.einsum("v,vgs->gs", weights, sets.scored[:, :, side].astype(float))
    changes = {source: mean_estimate(by_seed[:, source]) for source in sources_of([sets])}
    sure = [one for one, change in changes.items() if abs(change.value) >= _MENTIONED and change.excludes(0)]
    sure.sort(key=lambda one: -abs(changes[one].value))
    parts = [(abs(changes[one].value), changes[one].value > 0, source_title(SOURCE_NAMES[one])) for one in sure[:4]]
    named = _listed(f"{size:.1f} {'more' if more else 'fewer'} from {source}" for size, more, source in parts)
    return f"{who} {_moved(total, 'points', 'more', 'fewer')}{f': {named}' if named else ''}."


# --- Sections: blocks with a blank line between ----------------------------------------------------------------------


def _in_short(found: _Findings) -> list[str]:
    base, hardest = found.yardstick.rate(_BASE), found.yardstick.rate(found.hardest)
    others = len(found.as_hard_as_the_hardest)
    tied = f" (its win rate does not differ significantly from that of {counted(others, 'other')})" if others else ""
    agents = len(found.others) + 1
    who = f"{found.name}, the strongest of {agents} agents measured here," if agents > 1 else found.name
    start = (
        f"You play the Southern Winds alone, against a neutral player that follows cards and dice. {who} wins"
        f" **{_percent(base)}** of the base game and **{_percent(hardest)}** of the hardest of the {_SETS} sets that"
        f" the {_VARIANTS} variants make, **{title_at(found.hardest)}**{tied}. In what follows *you* are"
        f" {found.name}, unless another agent is named. Brackets hold 95 % intervals."
    )
    costly = [f"{_names(one)} {_size(one.estimate)}" for one in found.main if one.significant and one.value < 0]
    helpful = [f"{_names(one)} by {_size(one.estimate)}" for one in found.main if one.significant and one.value > 0]
    unsure = [f"{_names(one)}: {_perhaps(one, len(found.effects))}" for one in found.main if not one.significant]
    pairs = [effect for effect in found.effects.values() if len(effect.variants) == 2 and effect.significant]
    most = max(pairs, key=lambda effect: abs(effect.value), default=None)
    neutral, every = found.mean_points(_BASE, _NEUTRAL), found.mean_points(_ALL, _NEUTRAL).sum()
    even = int(np.argmin(np.abs(found.yardstick.win_rates - 0.5)))
    real = int(np.triu(found.wins.significant, 1).sum())
    points = {
        "What a variant costs": costly and f", averaged over all sets of the other variants: {_listed(costly)}",
        "Easier than it looks": helpful and f": the margin grows with {_listed(helpful)}",
        "What could be chance": unsure and f": how the margin changes with {'; '.join(unsure)}",
        "Together": f": {_interaction(most) if most else 'no pair costs measurably more or less than the sum of both'}",
        "The neutral player": f" scores {neutral.sum():.1f} points in the base game, the most from"
        f" {_listed(_top(neutral, 3))}; with all {_VARIANTS} variants {every:.1f}",
        "Closest to an even game": f": {title_at(even)}, won {_percent(found.yardstick.rate(even))}",
        f"{_SETS} sets, {counted(int(found.levels.max()), 'level')} of difficulty": f": {real} of the"
        f" {math.comb(_SETS, 2)} pairs of sets differ significantly in how often they are won (tests corrected for"
        " their number)",
    }
    return [start, "\n".join(f"- **{point}**{text}." for point, text in points.items() if text)]


def changed_numbers(components: str | None) -> Table:
    """For each key that an overlay file changes: the key, its meaning, the shipped numbers, and those of the file."""
    heads = ("number", "what", "shipped", "here")
    both = (load_components(), load_components(components))
    rows = [
        (key, KEYS[key].meaning, *(", ".join(map(str, numbers[key].values)) or "none" for numbers in both))
        for key in own_numbers(components) or {}
    ]
    note = "All games are played with the shipped numbers, too, and compared."
    columns = [Column(head, head, words=True) for head in heads]
    lines = [dict(zip(heads, row, strict=True)) for row in rows]
    return Table(columns, lines, "Numbers that the overlay file changes", note)


def _changed(
    study: Study,
    summaries: Sequence[Summary],
    sets: Sequence[Sets],
    shipped: Sequence[Sets],
    of_changes: Mapping[str, Sequence[ChangeEffect]],
) -> list[str]:
    """The section about an overlay file's changes; empty without one."""
    numbers = changed_numbers(study.components)
    if not numbers.rows:
        return []
    means = []
    for own in sets:
        for other in [one for one in shipped if one.agent == own.agent]:
            won = difference_estimate((own.won.astype(float) - other.won).mean(axis=0))
            margin = mean_estimate((own.margins - other.margins).mean(axis=0))
            means.append(
                f"- {agent_code(own.agent)} wins {_won_more(won)} than with the shipped numbers, and"
                f" its margin is {_moved(margin, 'points', 'higher', 'lower')}, averaged over the {_SETS} sets."
            )
    rows = []
    for one in summaries:
        if one.win_rate_change and one.margin_change:
            rates = (100 * (one.win_rate.value - one.win_rate_change.value), 100 * one.win_rate.value)
            won_cells = (*(f"{rate:.1f} %" for rate in rates), _signed(one.win_rate_change, factor=100))
            margins = (one.margin.value - one.margin_change.value, one.margin.value)
            cells = (*won_cells, *(f"{value:+.1f}" for value in margins), _signed(one.margin_change))
            rows.append((set_title(variants_of(one.variants)), agent_code(one.agent), *cells))
    head = ("won: shipped", "here", "change, percentage points", "points ahead: shipped", "here", "change, points")
    return [
        "## What the changed numbers do",
        numbers.markdown(),
        *(["\n".join(means)] if means else []),
        "The same agents also played the same seeds with the shipped numbers and are compared seed by seed."
        " Each interval is for its own row: even without any change, about one row in twenty excludes 0 by chance.",
        markdown_table(("set", "agent", *head), rows, left=2),
        *change_section(study, of_changes),
    ]


def _top(points: np.ndarray, number: int) -> list[str]:
    best = np.argsort(-points, kind="stable")[:number]
    return [f"{source_title(SOURCE_NAMES[source])} ({points[source]:.1f})" for source in best if points[source] > 0]


def _names(effect: Effect) -> str:
    return _listed(VARIANT_TITLES[name] for name in effect.variants)


def _interaction(effect: Effect, than: str = "the sum of both") -> str:
    return f"{_names(effect)} cost {_size(effect.estimate)} {'more' if effect.value < 0 else 'less'} than {than}"


def _each_set(found: _Findings) -> list[str]:
    own, rates = found.yardstick, found.yardstick.win_rates
    blocks = [
        f"## {_SETS} games in one edition",
        "Each row is a set of variants; a filled dot marks a variant that is used. Each column is an agent. The left"
        " half shows how many games of a hundred the agent wins, the right half by how many points it is ahead of the"
        " neutral player on average. The sets are sorted by the mean over all agents, the easiest at the top.",
        "![Win rates and points ahead of each set and agent](heat_map.png)",
    ]
    nearest = {target: int(np.argmin(np.abs(rates - target))) for target in _TARGETS}
    wanted = {index: goal for goal, index in nearest.items() if abs(rates[index] - goal) <= _NEAR_TARGET}
    if wanted:
        rows = [(f"{100 * goal:.0f} %", title_at(at), _percent(own.rate(at))) for at, goal in wanted.items()]
        blocks.append(f"To choose a set by how often {found.name} should win:")
        blocks.append(markdown_table(("wanted", "set", "won"), rows, left=2))
        missed = [f"{100 * target:.0f} %" for target in _TARGETS if target not in wanted.values()]
        blocks += [f"No set has a win rate near {' or '.join(missed)}."] if missed else []
    path = smoothest_path(rates)
    steps = [f"{title_at(path[0])} {100 * rates[path[0]]:.0f} %"]
    for before, after in pairwise(path):
        (new,) = set(ALL_VARIANTS[after]) - set(ALL_VARIANTS[before])
        steps.append(f"{VARIANT_TITLES[new]} {100 * rates[after]:.0f} %")
    climb = (
        "The gentlest order in which to add the variants, one at a time (in any other order, the largest drop of the"
        f" win rate is at least as large): {' → '.join(steps)}."
    )
    return [*blocks, climb]


def _each_variant(found: _Findings, sets: Sequence[Sets]) -> list[str]:
    names = [effect.variants[0] for effect in found.main]
    points, rates = [], []
    for one in sets:
        own = {effect.variants: effect.estimate for effect in effects(one.margins)}
        won = win_rate_effects(one)
        points.append((agent_code(one.agent), *(_signed(own[name,]) for name in names)))
        rates.append((agent_code(one.agent), *(_signed(won[name], factor=100) for name in names)))
    titles = [VARIANT_TITLES[name] for name in names]
    return [
        "## What each variant costs",
        "How much each variant changes the margin (points ahead of the neutral player), averaged over all sets of"
        " the other variants. The right half of the picture shows how much each pair changes it beyond the sum"
        " of both.",
        "![Effects of the variants on the margin](effects.png)",
        markdown_table(("change of the margin, points", *titles), points),
        markdown_table(("change of the win rate, percentage points", *titles), rates),
        f"![What each variant changes for both sides, source by source, when {found.name} plays](costs.png)",
        *(_variant_paragraph(found, effect) for effect in found.main),
    ]


def _variant_paragraph(found: _Findings, effect: Effect) -> str:
    (name,) = effect.variants
    sets, weights = found.yardstick, contrast((name,))
    if effect.significant:
        verdict = f"{'costs' if effect.value < 0 else 'gives'} {_size(effect.estimate)}"
    else:
        verdict = f"may change nothing: the margin is {_perhaps(effect, len(found.effects))}"
    sentences = [
        f"**{VARIANT_TITLES[name]}** {verdict}. You win {_won_more(found.win_effects[name])}.",
        *(_side_sentence(sets, weights, side) for side in (_NEUTRAL, _PLAYER)),
    ]
    longer = mean_estimate(weights @ sets.decisions)
    if longer.excludes(0):
        more = "more" if longer.value > 0 else "fewer"
        sentences.append(f"A game asks you for {abs(longer.value):.1f} {more} decisions.")
    return " ".join(sentences)


def _together(found: _Findings) -> list[str]:
    sure = [effect for effect in found.effects.values() if len(effect.variants) > 1 and effect.significant]
    pairs = sorted((effect for effect in sure if len(effect.variants) == 2), key=lambda effect: -abs(effect.value))
    number = math.comb(len(VARIANTS), 2)
    points = [_interaction(effect) for effect in pairs]
    if len(pairs) < number:
        rest = f"the other {counted(number - len(pairs), 'pair')}" if pairs else f"all {number} pairs"
        points.append(f"For {rest} of variants these games show no difference from the sum")
    points += [_interaction(effect, than="their pairs explain") for effect in sure if len(effect.variants) > 2]
    margins = found.yardstick.margins.astype(float)
    singles = [ALL_VARIANTS.index((name,)) for name in VARIANTS]
    all_at_once = margins[_BASE] - margins[_ALL]
    one_by_one = len(singles) * margins[_BASE] - margins[singles].sum(axis=0)
    beyond = _moved(mean_estimate(all_at_once - one_by_one), "points", "more", "less")
    return [
        "## Together",
        "\n".join(f"- {point}." for point in points),
        f"Each added alone to the base game, the {_VARIANTS} variants cost {one_by_one.mean():.1f} points in all."
        f" All {_VARIANTS} together cost {all_at_once.mean():.1f}: {beyond} than the sum. Win rates do not add up"
        " like this, because they cannot fall below zero.",
    ]


def _good_play(found: _Findings) -> list[str]:
    title = "## What good play is worth"
    if not found.others:
        return [title, "This takes at least two agents."]
    rows = []
    for one in (found.yardstick, *found.others):
        won = (_percent(one.rate(_BASE)), _percent(one.rate(found.hardest)), f"{100 * one.win_rates.mean():.1f} %")
        rows.append((agent_code(one.agent), *won, _signed(mean_estimate(one.margins.mean(axis=0)))))
    mean = f"mean of {_SETS} sets"
    head = ("agent", "base game", title_at(found.hardest), mean, f"points ahead, {mean}")
    other = found.others[0]
    games = min(found.yardstick.games, other.games)
    gaps = (found.yardstick.margins[:, :games] - other.margins[:, :games]).astype(float)
    gap = _moved(mean_estimate(gaps.mean(axis=0)), "points", "ahead of", "behind")
    shifts = []
    by_seed = [contrast((name,)) @ gaps for name in VARIANTS]
    for name, values, p in zip(VARIANTS, by_seed, p_values(by_seed), strict=True):
        change = mean_estimate(values)
        gains = found.name if change.value > 0 else agent_code(other.agent)
        if p < SIGNIFICANCE:
            shifts.append(f"{VARIANT_TITLES[name]} shifts this lead by {_size(change)} in favour of {gains}.")
    return [
        title,
        markdown_table(head, rows),
        f"Does a variant leave room for good play? Averaged over the sets, {found.name} ends {gap} the next strongest,"
        f" {agent_code(other.agent)}, on the {counted(games, 'seed')} that both played."
        f" {' '.join(shifts) or 'No variant changes this lead by more than chance.'}",
    ]


def _points(found: _Findings) -> list[str]:
    base, everything = ([found.mean_points(index, side) for side in (_PLAYER, _NEUTRAL)] for index in (_BASE, _ALL))
    dice = SOURCE_NAMES.index("dice")
    sentences = []
    for points, who in zip(base, ("You score", "The neutral player scores"), strict=True):
        share = 100 * points[:dice].sum() / max(points.sum(), 1e-9)
        sentences.append(
            f"{who} {points.sum():.1f} points in the base game, {share:.0f} % of them by harvesting crops; the most"
            f" from {_listed(_top(points, 3))}."
        )
    lead = base[_PLAYER] - base[_NEUTRAL]
    for where, ahead in (("You score more than it from", lead), ("It scores more than you from", -lead)):
        if sources := _top(np.where(ahead >= _MENTIONED, ahead, 0), 4):
            sentences.append(f"{where} {_listed(sources)}; the differences are in brackets.")
    columns = [*base, *everything]
    rows = [
        (source_title(SOURCE_NAMES[source]), *(f"{points[source]:.1f}" for points in columns))
        for source in sources_of([found.yardstick])
    ]
    totals = ("**all**", *(f"**{points.sum():.1f}**" for points in columns))
    head = ("source", "base: you", "base: neutral", f"all {_VARIANTS}: you", f"all {_VARIANTS}: neutral")
    return [
        "## Where the points come from",
        "The points of a crop are those of its Harvests. *Idle cards* are the points that the neutral player gets when"
        " a card has no valid target, or when it has no vote left to place (with the forecasts module, your forecast"
        " cards can give it such points, too).",
        f"![Mean points a game by source, when {found.name} plays](sources.png)",
        " ".join(sentences),
        markdown_table(head, [*rows, totals]),
    ]


def _hardest(found: _Findings) -> list[str]:
    hardest, sets = found.hardest, found.yardstick
    heading = "## The hardest, and why"
    if not found.wins.significant[_BASE, hardest]:
        return [heading, f"No set is won significantly less often than the base game by {found.name}."]
    tied, title = found.as_hard_as_the_hardest, title_at(hardest)
    sentences = [
        f"**{title[0].upper()}{title[1:]}**: won {_percent(sets.rate(hardest))}; on average you end"
        f" {_ahead(sets.margin(hardest))}. The base game: won {_percent(sets.rate(_BASE))}, and you end"
        f" {_ahead(sets.margin(_BASE))}."
    ]
    if tied:
        sentences.append(
            f"The hardest set's win rate does not differ significantly from that of {_listed(map(title_at, tied))}."
        )
        lowest = min([hardest, *tied], key=lambda index: sets.margins[index].mean())
        if lowest != hardest:
            end = _ahead(sets.margin(lowest))
            sentences.append(f"Of these, {title_at(lowest)} has the lowest margin: there you end {end}.")
    weights = np.zeros(len(ALL_VARIANTS))
    weights[[hardest, _BASE]] = 1, -1
    neutral, player = (_side_sentence(sets, weights, side) for side in (_NEUTRAL, _PLAYER))
    sentences += [f"Compared with the base game {neutral[0].lower()}{neutral[1:]}", player]
    chosen, without = ALL_VARIANTS[hardest], []
    for name in chosen if len(chosen) > 1 else ():
        easier = ALL_VARIANTS.index(tuple(other for other in chosen if other != name))
        gain = float((sets.margins[easier] - sets.margins[hardest]).mean())
        text = f"{abs(gain):.1f} points {'higher' if gain > 0 else 'lower'} without {VARIANT_TITLES[name]}"
        without.append((gain, f"{text} ({100 * sets.win_rates[easier]:.0f} % won)"))
    if without:
        texts = _listed(text for _, text in sorted(without, reverse=True))
        sentences.append(f"With one variant fewer, the margin is {texts}.")
    return [heading, " ".join(sentences)]


def _ranking(found: _Findings) -> list[str]:
    sets = found.yardstick
    rows = []
    for rank, index in enumerate(map(int, found.order), 1):
        could_be = "{} to {}".format(*found.ranks[index]) if sets.games > 1 else "–"
        measured = (_percent(sets.rate(index)), _signed(sets.margin(index)), could_be)
        rows.append((str(rank), str(found.levels[index]), title_at(index), *measured))
    spreads = sets.margins.std(axis=1)
    return [
        "## The ranking",
        f"The sets, ordered by how often {found.name} wins them. A new level starts at a set that is significantly"
        " harder than the first set of the level before. Within a level, the order may be chance. *Could be* gives the"
        " ranks of a set in 95 % of resamples of the seeds.",
        markdown_table(("rank", "level", "set", "won", "points ahead", "could be"), rows, left=3),
        "![Ranking, how games end, and which differences are more than chance](ranking.png)",
        f"One game says little: within a set, the points ahead have a standard deviation of {spreads.min():.1f} to"
        f" {spreads.max():.1f}.",
    ]


def _all_figures(summaries: Sequence[Summary]) -> list[str]:
    rows = []
    for one in summaries:
        means = (f"{one.points:.1f}", f"{one.neutral_points:.1f}", f"{one.decisions:.0f}")
        measured = (f"{one.games:,}", _percent(one.win_rate), _signed(one.margin), *means)
        rows.append((set_title(variants_of(one.variants)), agent_code(one.agent), *measured))
    head = ("set", "agent", "games", "won", "points ahead", "your points", "neutral points", "decisions")
    picture = "![Win rates and margins with 95 % intervals](difficulty.png)"
    return ["## All figures", picture, markdown_table(head, rows, left=2)]


def _method(study: Study, sets: Sequence[Sets]) -> list[str]:
    components = load_components(study.components)
    sources = [source for numbers in components.values() for source in numbers.sources[: len(numbers.values)]]
    games = _listed(f"{number:,} of {agent_code(agent)}" for agent, number in study.agents.items())
    modules = f", with {_listed(study.modules)}" if study.modules else ""
    overlay = ", some of them replaced by an overlay file" if study.components is not None else ""
    gains = [(pairing_gain(one), agent_code(one.agent)) for one in sets]
    sizes = [f"{100 * abs(gain):.0f} % {'smaller' if gain >= 0 else 'larger'} for {name}" for gain, name in gains]
    pairing = (
        f" Pairing made the variance of the difference between two sets' margins {_listed(sizes)}." if sets else ""
    )
    points = [
        f"Games of each set: {games}; seeds from {study.seed}{modules}. petrichor-env {GAME.version}, rules"
        f" version {GAME.rules_version}.",
        "A win rate is that of an agent: somebody who plays better wins more often. The differences between sets depend"
        " less on who plays, but they do depend on it.",
        f"{sources.count('assumed')} of the {len(sources)} numbers on the pieces are assumed, as the rulebook lacks"
        f" them{overlay} (`petrichor components`). With the box, measure again with an overlay file.",
        "Win rates have Wilson intervals, means Student's. The same seed starts the same game in every set and for"
        " every agent, as far as the pile has the same tiles. Sets and agents are therefore compared seed by seed, and"
        f" seeds are the unit of every test.{pairing}",
        "Two sets are compared by McNemar's exact test (wins) and by the paired t test (margins), each with Holm's"
        f" correction for an agent's {math.comb(_SETS, 2)} pairs. Effects are contrasts of the sets by seed, with t"
        f" tests and Holm's correction for an agent's {_SETS - 1} effects. T tests with Holm's correction also say how"
        " each variant changes the strongest agent's lead over the next. *Significant* means below 5 % after"
        " correction. An interval is for one figure and is not corrected.",
        "*Who plays*: a doubling's gain is the slope of a seed's mean margin by log2 of the simulations, by least"
        " squares; a soft player draws its actions with the policy's logits divided by its number; correlations have"
        " Fisher's interval.",
        "The change of a single source is named if it is at least half a point and its interval excludes 0.",
        "Files: `games.csv` (every game), `difficulty.csv` (sets), `effects.csv`, `pairs.csv`, `sources.csv`,"
        " `difficulty.json` (sets, effects, rankings), `settings.json`.",
        f"To measure it again: {', then '.join(map(markdown_code, study.commands))}.",
    ]
    return ["## How this was measured", "\n".join(f"- {point}" for point in points)]
