"""Mistakes that are planted into the product one at a time, to see whether the tests find them.

    python -m tests.planted [--list] [--folder FOLDER] [NAME …]

Without names all are planted. Each is one change of a copy of the clone's files. The named test files run there up to
the first failing test. That test must pass without the mistake. The exit code is 1 if a mistake is not found.

Most mistakes in rules run in plain Python, as compiling them takes minutes. For others rules are compiled once.
`--folder` keeps the copy and the compiled code, so that a later run starts sooner.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SECONDS = 600
"""The time for the tests of one mistake."""
_GAMES = ("petrichor_env", "evergreen_env")
_DROPPED = ("NUMBA_DISABLE_JIT", "PETRICHOR_THOROUGH", "PYTHONDONTWRITEBYTECODE")


class Planted(NamedTuple):
    """A mistake: the lines `old` become `new` in a file. A test of one of the test files should find it."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]


# Each begins with its name, its file, and test files in `tests`. Then come lines of the file that go (-) and come (+).

_PRODUCT = """
# Petrichor's rules
marker-goes-left petrichor_env/rules/action_phase.py rulebook/test_action_phase
-        s.first_player = (s.actor - 1) % s.players
+        s.first_player = (s.actor + 1) % s.players
sprouting-rice-with-fertilizer petrichor_env/rules/scoring.py rulebook/test_fertilizer
-            return 0  # nobody scores, Fertilizer or not
+            points = 0
neutral-sun-from-the-first-position petrichor_env/rules/southern_winds.py rulebook/test_southern_winds_phases
-    for position in range(POSITIONS - 1, -1, -1):
-        tile = tile_at(position)
+    for position in range(POSITIONS):
+        tile = tile_at(position)
redraw-knows-the-first-pick petrichor_env/rules/hidden.py test_properties
-    if s.actor != seat and s.decision == Decision.DRAFT:
-        s.lowest_card = 0  # it would tell which card was picked first
# Evergreen's rules
ties-go-to-the-lower-seat evergreen_env/rules/seasons.py evergreen/test_end_of_game
-    return (seat - s.first_player) % s.players
+    return seat % s.players
given-back-pieces-are-not-used evergreen_env/rules/card_actions.py evergreen/test_flags evergreen/test_order_of_spaces
-        s.open_spaces &= later_than(place) | (growable(s, t) & ~before)
+        s.open_spaces &= later_than(place)
a-piece-more-than-the-supply evergreen_env/rules/powers.py evergreen/test_flags
-    return ground & ~occupied(s, s.actor) if count_bits(there) < t.supply[piece] else NO_SPACES
+    return ground & ~occupied(s, s.actor) if count_bits(there) <= t.supply[piece] else NO_SPACES
redraw-keeps-earned-points evergreen_env/rules/hidden.py evergreen/test_leaks evergreen/test_properties
-    s.earned[seat] = 0
# the engine
next-step-start-keeps-paid-points tabletop_engine/play/kernels.py test_rewards test_batch
-                paid[i, :] = 0
-        else:
+        else:
mask-stays-with-the-last-agent tabletop_engine/envs/aec.py contract/test_all_seats
-            if asked != agent:
+            if asked == agent:
starts-share-their-chance tabletop_engine/play/batch.py test_starts
-        self.states["rng"][games] = begun["rng"]
final-observation-is-overwritten tabletop_engine/envs/vector.py contract/test_many_games
-            final_obs[game] = self.batch.final_observations[game].copy()
+            final_obs[game] = self.batch.final_observations[game]
result-of-a-replay-is-not-checked tabletop_engine/replays/replay.py test_replays
-            _compare_result(self, now[0])
range-without-its-largest-number tabletop_engine/described/ranges.py test_editions
-    return tuple(range(ends[0], ends[1] + 1))
+    return tuple(range(ends[0], ends[1]))
check-misses-negative-indices-in-pairs tabletop_engine/testing/strict.py test_check
-    for one in index if isinstance(index, tuple) else (index,):
+    for one in (index,):
# keys and decisions that are declared once
seats-that-play-are-absent tabletop_engine/described/fields.py test_fields
-            absent = np.arange(held.shape[1]) >= scope.number_of[self.names][:, None]
+            absent = np.arange(held.shape[1]) > scope.number_of[self.names][:, None]
tables-by-another-axis tabletop_engine/described/fields.py test_fields
-            np.moveaxis(array, self.axis, 0)[row] = entry
+            array[row] = entry
null-is-a-number-out-of-range tabletop_engine/described/fields.py test_fields
-        yield out_of_range(states, field, low if self.none is None else min(low, self.none), high)
+        yield out_of_range(states, field, low, high)
actor-before-the-round petrichor_env/scenarios.py test_scenarios
-    _round,  # from the decision and the phase
-    _actor,  # from the turn order, which needs the phase, the timeline, who is first, who has passed, and tokens
+    _actor,
+    _round,
forecasts-before-the-question petrichor_env/scenarios.py test_scenarios
-    p.fill("forecast", cards[0] if len(cards) == 1 else 0)
wind-weather-clockwise petrichor_env/drawing/decisions.py test_scenarios
-        order=ANTICLOCKWISE,
-        after=Timing.BEFORE_WIND,
-        continues=(Decision.WIND_WEATHER_DROP,),
+        order=CLOCKWISE,
+        after=Timing.BEFORE_WIND,
+        continues=(Decision.WIND_WEATHER_DROP,),
labels-by-the-order-of-rows petrichor_env/keys.py test_new_decision
-_QUESTIONS = [ASKED[decision].label for decision in Decision]
+_QUESTIONS = [row.label for row in ASKED.values()]
# agents and searches
prediction-for-the-wrong-seats agents/tabletop_agents/search/guided_tree.py test_guided_search test_advice
-        team = (own + i) % teams
+        team = i
search-draws-hidden-things-once agents/tabletop_agents/search/tree.py test_agents test_small_games test_advice
-    rules.sample_hidden(stack[0], t, int(root[0].actor), random_bits(root[0]))
+    stack[0].rng = random_bits(root[0])
value-of-a-hint-with-the-wrong-sign agents/tabletop_agents/search/lookahead.py test_advice
-        return margins + pars[:, None], self.words_of_points(decisions)
+        return margins - pars[:, None], self.words_of_points(decisions)
# evaluation, statistics, studies
standard-error-of-the-population training/tabletop_training/measure/results.py test_results test_evaluation
-    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
+    return float(np.std(values) / math.sqrt(len(values)))
holm-without-running-maximum training/tabletop_training/petrichor/variant_effects.py test_difficulty
-    adjusted = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
+    adjusted = np.minimum(p[order] * np.arange(len(p), 0, -1), 1.0)
editions-by-game training/tabletop_training/measure/evaluation.py test_difficulty_editions evergreen/test_balance
-        batch.reset(seeds, editions=seeds % len(batch.editions))
+        batch.reset(seeds, editions=np.arange(games) % len(batch.editions))
# the study: cells, their store, and the settings of a folder
other-seats-are-the-same-games training/tabletop_training/study/store.py test_study
-            "lineups": cell.lineups.tolist(),
games-in-the-order-of-play training/tabletop_training/study/play.py test_study test_difficulty_editions
-    return None if results is None or missing else results.in_order()
+    return None if results is None or missing else results
the-last-block-is-played-again training/tabletop_training/study/play.py test_study contract/test_measuring
-    return results, blocks[ends.index(len(results)) + 1 :]
+    return results, blocks[ends.index(len(results)) :]
blocks-are-numbered-anew training/tabletop_training/study/play.py test_study contract/test_measuring
-        steps += (_Step(cell, number, block) for number, block in enumerate(blocks, len(cell.blocks) - len(blocks)))
+        steps += (_Step(cell, number, block) for number, block in enumerate(blocks))
places-of-any-shape training/tabletop_training/study/store.py test_study
-        "places": (games, config.players),
+        "places": getattr(results.places, "shape", ()),
settings-of-any-command training/tabletop_training/study/settings.py contract/test_measuring
-        if (made_by, of) == (command, game.name):
+        if of == game.name:
code-in-settings-is-trusted training/tabletop_training/study/settings.py contract/test_measuring
-        check_trusted(folder, [asked[name]] if isinstance(asked[name], str) else asked[name], trusted, option=option)
+        check_trusted(folder, [], trusted, option=option)
# the web server
pictures-of-steps-show-all-hands apps/tabletop_play/web/views.py test_web_hidden
-            board = None if state is None else boards.add(session, state, viewer)
+            board = None if state is None else boards.add(session, state, None)
undo-of-what-others-answered apps/tabletop_play/session.py test_together test_web_hidden test_web_server
-        if not within or self.actor not in self.people:
+        if self.actor not in self.people:
undo-skips-the-first-answer apps/tabletop_play/session.py test_together
-        return first if all(self._may_be_taken_back(number) for number in range(first, self.number)) else None
+        return first if all(self._may_be_taken_back(number) for number in range(first + 1, self.number)) else None
answer-behind-the-curtain apps/tabletop_play/web/tables.py test_web_hostile test_web_people test_web_server
-        if self.turn(link) != "you":
+        if self.turn(link) == "others":
# text games for language models
failed-replies-add-up-over-the-game apps/tabletop_text/games.py test_text_games
-                self._failed = 0
+                self._failed += 0
"""

_LEARNER = """
rewards-of-others-are-forgotten training/tabletop_training/learn/ppo.py test_seat_games
-        pending.scatter_(1, seat, torch.where(deciding, 0.0, gained))
+        pending.masked_fill_(deciding, 0.0)
advantage-from-the-next-game training/tabletop_training/learn/ppo.py test_seat_games
-        for array in (value, advantage, pending):
+        for array in (value, pending):
no-mask-in-the-loss training/tabletop_training/learn/ppo.py test_seat_games
-            logits = logits.float() + penalties.index_select(0, chosen)
+            logits = logits.float()
clipping-the-ratio-alone training/tabletop_training/learn/ppo.py test_seat_games
-            policy_loss = -torch.minimum(better * ratio, better * bounded).mean()
+            policy_loss = -(better * torch.minimum(ratio, bounded)).mean()
resumed-games-are-paid-again training/tabletop_training/learn/games.py test_learner
-            batch.paid[:] = saved["paid"]
curriculum-never-forgets training/tabletop_training/learn/curriculum.py test_curriculum
-            self.win_rates[i] += (victory - self.win_rates[i]) / min(self.games[i], _MEMORY)
+            self.win_rates[i] += (victory - self.win_rates[i]) / self.games[i]
dropped-members-return training/tabletop_training/learn/opponents.py test_opponents test_learner test_train_command
-            member.ahead, member.games, member.active = saved["ahead"], saved["games"], saved["active"]
+            member.ahead, member.games = saved["ahead"], saved["games"]
best-is-better-than-the-one-before training/tabletop_training/learn/learner.py test_learner
-        if self.logs.best == self.evaluations[-1]:
+        if evaluated.score >= self.evaluations[-2:][0][1].score:
gradients-are-not-averaged training/tabletop_training/learn/ppo.py test_group
-            logits, values, outputs = learning(seen, own["shortfalls"].float())
+            logits, values, outputs = network(seen, own["shortfalls"].float())
rates-do-not-fall training/tabletop_training/learn/learner.py test_learner
-        left = 1.0 - self._used * (1.0 - settings.final)
+        left = 1.0
resumed-with-other-numbers training/tabletop_training/learn/learner.py test_learner test_train_command
-        if state["tables"].tobytes() != self.table.batches[0].tables.tobytes():
+        if state["tables"].shape != self.table.batches[0].tables.shape:
settings-for-fewer-players training/tabletop_training/learn/plan.py test_train_command test_settings
-        file = f"selfplay_{max(smaller, default=min(numbers, default=0))}p"
+        file = f"selfplay_{min(smaller, default=min(numbers, default=0))}p"
evaluated-against-greedy training/tabletop_training/learn/plan.py test_train_command
-            evaluation=replace(plan.evaluation, against=(name,)),
win-rates-without-their-share training/tabletop_training/learn/task.py test_learner test_train_command test_seat_games
-            won = (rates + 1e-6 * margins) * (number_of_teams(configs[0]) if len(ways) > 1 else 1)
+            won = rates + 1e-6 * margins
workers-may-fail-five-times-in-all training/tabletop_training/learn/parallel.py test_parallel
-                saved, tries = last.saved_steps, 0
+                saved = last.saved_steps
results-counted-anticlockwise training/tabletop_training/learn/targets.py test_distil
-    onwards = (teams[game, actor][:, None] + np.arange(number)) % number
+    onwards = (teams[game, actor][:, None] - np.arange(number)) % number
"""


def read(text: str) -> dict[str, Planted]:
    """Mistakes by name, from a text such as `_PRODUCT`."""
    mistakes: dict[str, Planted] = {}
    name = ""
    for line in text.strip().splitlines():
        if line[0] == "-":
            mistakes[name] = mistakes[name]._replace(old=f"{mistakes[name].old}{line[1:]}\n")
        elif line[0] == "+":
            mistakes[name] = mistakes[name]._replace(new=f"{mistakes[name].new}{line[1:]}\n")
        elif line[0] != "#":
            name, file, *tests = line.split()
            mistakes[name] = Planted(file, "", "", tuple(f"tests/{test}.py" for test in tests))
    return mistakes


PRODUCT, LEARNER = read(_PRODUCT), read(_LEARNER)
"""Mistakes all over the product, and in what learns, by name."""
PLANTED = {**PRODUCT, **LEARNER}


_COMPILED = {"tests/test_properties.py", "tests/evergreen/test_leaks.py"}
"""Tests that need compiled rules: plain ones take minutes, or warn where a number overflows in a drawing."""


def is_plain(mistake: Planted) -> bool:
    """Whether the tests run in plain Python, as the rules of a game would have to be compiled anew."""
    is_in_rules = "/rules/" in mistake.file or mistake.file == "tabletop_engine/play/kernels.py"
    return is_in_rules and not _COMPILED & {*mistake.tests}


class Copy:
    """A copy of the clone's files in a folder, beside the compiled code."""

    def __init__(self, folder: Path) -> None:
        self.clone, self.cache, self.output = folder / "clone", folder / "cache", folder / "output.txt"
        self._is_compiled = False
        shutil.rmtree(self.clone, ignore_errors=True)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
        for name in listed.stdout.split("\0"):
            if (ROOT / name).is_file():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.clone / name)  # with its time, which Numba's cache compares

    def run(self, *words: str, plain: bool = False) -> tuple[int | None, str]:
        """The exit code of Python with these arguments, None if it takes too long, and what it prints."""
        environment = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        paths = os.pathsep.join(str(self.clone / name) for name in ("", "agents", "training", "apps"))
        environment |= {"PYTHONPATH": paths, "PETRICHOR_QUICK": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"TABLETOP_CACHE_DIR": str(self.cache), **({"NUMBA_DISABLE_JIT": "1"} if plain else {})}
        with self.output.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=self.clone,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code: int | None = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)  # with the processes that tests have started
                    process.wait()
        return code, self.output.read_text(encoding="utf-8", errors="replace")

    def test(self, *tests: str, plain: bool) -> tuple[int | None, str]:
        """Run tests up to the first failing one."""
        return self.run("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests, plain=plain)

    def find(self, mistake: Planted) -> tuple[bool, str]:
        """Whether a test finds the mistake, and which one, or what happened instead."""
        plain = is_plain(mistake)
        if not plain and not self._is_compiled:
            for game in _GAMES:
                self.run("-m", game, "compile")
            self._is_compiled = True
        path, kept = self.clone / mistake.file, self.clone / (mistake.file + ".kept")
        shutil.copy2(path, kept)
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(text.replace(mistake.old, mistake.new), encoding="utf-8")
            code, output = self.test(*mistake.tests, plain=plain)
        finally:
            kept.replace(path)
        if code != 1:
            return False, f"more than {SECONDS} s" if code is None else f"pytest's exit code is {code}"
        failed = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR ")) and "::" in line]
        if not failed:
            return False, "an error, but no failing test"
        test = failed[0].partition(" ")[2].partition(" - ")[0]
        if self.test(test, plain=plain)[0] != 0:
            return False, f"{test} fails without the mistake, too"
        return True, test


def main() -> None:
    """Plant mistakes, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="only list the mistakes")
    parser.add_argument("--folder", type=Path, help="keep the copy and the compiled code here")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in PLANTED]:
        parser.error(f"no such mistake: {', '.join(unknown)}")
    names = options.names or list(PLANTED)
    if options.list:
        for name in names:
            print(f"{name}: {PLANTED[name].file}")
        return
    found = 0
    with tempfile.TemporaryDirectory(prefix="planted-") as temporary:
        copy = Copy((options.folder or Path(temporary)).resolve())
        for name in names:
            start = time.monotonic()
            is_found, told = copy.find(PLANTED[name])
            found += is_found
            print(
                f"{'found' if is_found else 'NOT found'} {name}: {told} ({time.monotonic() - start:.0f} s)", flush=True
            )
    print(f"{found} of {len(names)} mistakes found")
    sys.exit(found < len(names))


if __name__ == "__main__":
    main()
