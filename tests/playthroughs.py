"""Golden playthroughs: whole games as text that a person with the rulebook can follow line by line.

    python -m tests.playthroughs --write              # writes tests/playthroughs/*.txt anew
    python -m tests.playthroughs --write --to FOLDER  # elsewhere

The games run as plain Python (NUMBA_DISABLE_JIT=1), so that a profile hook sees each rule being carried out and can
tell what it changed. Players choose at random (`choose`); Python's own `random` draws for them, since its numbers are
the same in every version.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

if __name__ == "__main__":
    os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

from petrichor_env import VARIANTS, Config, rules
from petrichor_env.actions import ACTION_NAMES, CARD, DECLINE, DIE, PASS, PLAY, SUBSTITUTE, VOTE, WEATHER
from petrichor_env.component_files import load_tables
from petrichor_env.config import MODULES
from petrichor_env.drawing.card_texts import power_text
from petrichor_env.drawing.decisions import action_text, question
from petrichor_env.drawing.text import dice_text, text_blocks
from petrichor_env.game import GAME
from petrichor_env.rules import flower_tiles, scoring
from petrichor_env.rules import points as points_rules
from petrichor_env.state import (
    CROP_NAMES,
    FACE_DOWN,
    HARVEST,
    NOBODY,
    STATE,
    Crop,
    Decision,
    Module,
    State,
    Weather,
)
from petrichor_env.words import GROWING_NAMES, WEATHER_WORDS, owner_names, tile_name
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.drawing.lines import joined
from tabletop_engine.legal import NOTHING_ASKED
from tabletop_engine.play.batch import game_seed, legal_actions
from tests.support.changes import changes
from tests.support.configurations import SOLO_MODULES

FOLDER = Path(__file__).parent / "playthroughs"
GAMES = {
    config.name if len(config.variants) < len(VARIANTS) else "solo-all-variants": config
    for config in (
        *(Config(players=players, drafting=drafting) for drafting in (False, True) for players in (2, 3, 4)),
        *(Config(players=players, rounds=6) for players in (2, 3, 4)),
        Config(),
        *(Config(variants=(variant,)) for variant in VARIANTS),
        Config(variants=VARIANTS),
    )
} | {
    "5p": Config(players=5),
    "5p-all-modules": Config(players=5, modules=MODULES),
    "4p-draft+fertilizer+cactus+powers": Config(
        players=4, drafting=True, modules=("fertilizer", "cactus", "powers"), powers=("harvest", "sun", "rain", "frost")
    ),
    "3p+lake+forecasts": Config(players=3, modules=("lake", "forecasts")),
    "2p+flower_tiles": Config(players=2, modules=("flower_tiles",)),
    "solo-all-modules": Config(modules=SOLO_MODULES),
}
"""The configurations that are played through, by the name of their file."""
SEEDS = dict.fromkeys(GAMES, 85) | {
    "5p": 87,
    "5p-all-modules": 147,
    "4p-draft+fertilizer+cactus+powers": 8,
    "3p+lake+forecasts": 158,
    "2p+flower_tiles": 99,
    "solo-all-modules": 18,
}
"""With these games every kind of decision comes up, and every forecast card is played."""

_RULES = str(Path(rules.__file__).parent)


def playthrough(name: str) -> str:
    """A whole game of `GAMES` as text. Only without compilation: raises RuntimeError otherwise."""
    if JIT:
        raise RuntimeError("playthroughs are told in plain Python: set NUMBA_DISABLE_JIT=1")
    return _Teller(name, GAMES[name], SEEDS[name]).tell()


def choose(state: State, player: random.Random, frugal: bool = False) -> int:
    """A random legal action with a taste for playing cards.

    Frugal players make the most votes of their cards, so that votes and drops run out: they play single cards, seldom
    pass or decrease dice, and spread their votes.
    """
    weights = dict.fromkeys(range(SUBSTITUTE, CARD), 1 if frugal else 2)
    weights.update(dict.fromkeys(range(PLAY, SUBSTITUTE), 6))
    weights.update(dict.fromkeys(range(DIE, WEATHER), 1 if frugal else 2))
    weights.update({PASS: 1, DECLINE: 3} if frugal else {PASS: 4, DECLINE: 3})
    if frugal and state["decision"] == Decision.OPTIONAL_ACTION:
        weights[DECLINE] = 60
    if frugal and state["decision"] == Decision.VOTE:
        crowd = state["votes"].sum(axis=1)
        weights.update({VOTE + kind: 60 // (1 + int(crowd[kind])) for kind in range(4)})
    legal = [int(action) for action in legal_actions(state)]
    tickets = [action for action in legal for _ in range(weights.get(action, 3))]
    return tickets[int(player.random() * len(tickets))]


class _Teller:
    """Plays one game and writes down what each rule changes as it is carried out."""

    def __init__(self, name: str, config: Config, seed: int):
        self.name, self.config, self.seed = name, config, seed
        self.tables = load_tables(config.components)
        self.numbers = self.tables[0]
        self.states = np.zeros(1, STATE)
        self.game = self.states[0]
        self.told = self.states.copy()  # what the lines so far add up to
        self.names = owner_names(config.players)
        self.lines: list[str] = []
        self.rules: list[str] = []  # the rules being carried out whose changes are told separately
        self.scores: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(config.owners, np.int64))
        self.weather_told = -1
        self.harvest_told = 0
        self.card_line = 0

    def tell(self) -> str:
        self.set_switches()
        player = random.Random(self.seed)
        self.heading(f"{self.name}: {self.kind()}, seed {self.seed}", "=")
        decision = 0
        with np.errstate(over="ignore"):  # the random stream counts modulo 2**64
            self.watch(partial(rules.reset, self.game, self.numbers))
            while self.game["actor"] != NOBODY:
                decision += 1
                action = choose(self.game, player, frugal=self.config.rounds == 6)
                self.ask(decision, action)
                self.watch(partial(rules.step, self.game, self.numbers, action))
        self.final_scores()
        text = "\n".join(line.rstrip() for line in self.lines) + "\n"
        return re.sub(r"\n{3,}", "\n\n", text)

    def set_switches(self) -> None:
        self.config.write_switches(self.states)
        self.states["rng"] = game_seed(self.seed)

    def kind(self) -> str:
        config = self.config
        if config.solo:
            return "the Southern Winds" + self.with_(*config.variants, *config.modules)
        form = "short form" if config.rounds == 4 else "long form"
        drafting = ", drafting" if config.drafting else ""
        return f"{config.players} players, {form}{drafting}{self.with_(*config.modules)}"

    def with_(self, *names: str) -> str:
        return f" with {', '.join(names)}" if names else ""

    def plays_with(self, module: Module) -> bool:
        return MODULES[module] in self.config.modules

    # --- writing

    def heading(self, text: str, line: str = "-") -> None:
        self.lines += ["", text, line * len(text), ""] if self.lines else [text, line * len(text), ""]

    def note(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def board(self) -> None:
        self.lines += [joined(text_blocks(self.states[0], tables=self.tables, asked=False)[1:]), ""]

    def ask(self, number: int, action: int) -> None:
        s = self.states[0]
        if s["decision"] in (Decision.SETUP_CLOUD, Decision.FERTILIZER_TILE) and s["turn_index"] == 0:
            self.board()
        self.lines.append(f"{number}. {self.names[s['actor']]} is asked {question(s)}.")
        self.lines.append(f"    > {action_text(s, action)}  [{ACTION_NAMES[action]}]")

    # --- watching the rules

    def watch(self, run: Callable[[], Any]) -> None:
        sys.setprofile(self.on_event)
        try:
            run()
        finally:
            sys.setprofile(None)
        self.tell_changes()

    def on_event(self, frame: FrameType, event: str, result: Any) -> None:
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(_RULES):
            return
        rule = frame.f_code.co_name
        if event == "return" and rule == "is_harvest":
            self.tell_harvest(bool(result))
        if rule in _WITH_MODULES and not self.config.modules:
            return
        if rule not in _APART and not hasattr(self, f"before_{rule}"):
            return
        self.tell_changes()
        if event == "call":
            self.rules.append(rule)
            getattr(self, f"before_{rule}", lambda _: None)(frame)
        else:
            self.rules.pop()
            getattr(self, f"after_{rule}", lambda: None)()

    def tell_changes(self) -> None:
        if self.told.tobytes() == self.states.tobytes():
            return
        before, after = self.told[0], self.states[0]
        if self.rules and self.rules[-1] not in _LAID_OUT:
            for line in changes(before, after, tables=self.tables):
                self.note(f"- {line}")
        points = (after["points"].astype(np.int64) - before["points"])[: self.config.owners]
        if points.any():
            source = next(_SCORED_IN[rule] for rule in reversed(self.rules) if rule in _SCORED_IN)
            self.scores[source] += points
        self.told = self.states.copy()

    # --- what a rule is about, before it is carried out

    def before_answer(self, frame: FrameType) -> None:
        if frame.f_back is not None and frame.f_back.f_code.co_name == "go_on":
            s = self.states[0]
            self.note(f"{self.names[s['actor']]} has no choice: {action_text(s, frame.f_locals['action'])}.")

    def before_clear(self, frame: FrameType) -> None:
        self.heading("Setup")

    def after_set_up(self) -> None:
        if self.config.powers:
            self.note("The powers have been chosen.")
            for name, power in zip(self.names, self.states[0]["power"], strict=False):
                self.note(f"- {name} has the {power_text(power)}.")
        if not self.config.solo and not self.plays_with(Module.FERTILIZER):
            self.tell_dice()

    def before_ask_fertilizer_tile(self, frame: FrameType) -> None:
        s = self.states[0]
        if not self.config.solo and s["turn_index"] == 0:
            self.tell_first_player()

    def tell_first_player(self) -> None:
        self.note(f"The first player is {self.names[self.states[0]['first_player']]}.")

    def before_lay_fields(self, frame: FrameType) -> None:
        if (self.states[0]["crop"] == FACE_DOWN).any():
            self.note("All Fertilizer tokens lie: the tiles are turned face up.")

    def after_deal_and_roll(self) -> None:
        if not self.config.solo and self.plays_with(Module.FERTILIZER):
            self.tell_dice()

    def before_deal_powers(self, frame: FrameType) -> None:
        if self.plays_with(Module.POWERS) and not self.config.powers:
            self.note("Powers are dealt.")

    def before_deal_forecasts(self, frame: FrameType) -> None:
        if self.plays_with(Module.FORECASTS):
            self.note("Forecast cards are dealt.")

    def tell_dice(self) -> None:
        self.note(f"The Harvest dice show {dice_text(self.states[0]['dice'])}.")
        self.lines.append("")

    def after_start_action(self) -> None:
        if self.states[0]["decision"] == NOTHING_ASKED:
            self.note("It cannot be resolved and is skipped.")

    def before_deal(self, frame: FrameType) -> None:
        s = self.states[0]
        if s["round"] == 1 and not self.config.solo and not self.plays_with(Module.FERTILIZER):
            self.tell_first_player()
        self.note(f"Cards are dealt{', to be drafted' if self.config.drafting else ''}.")

    def before_deal_extra_card(self, frame: FrameType) -> None:
        if self.config.players == 2:
            self.note("The second player gets one more card.")

    def before_pass_packs(self, frame: FrameType) -> None:
        self.note("All have picked: the packs are passed on clockwise.")

    def before_start_action_phase(self, frame: FrameType) -> None:
        s = self.states[0]
        if self.config.solo and s["round"] == 1:
            self.tell_dice()
        self.heading(f"Round {s['round']}: Action Phase")
        self.board()

    def before_neutral_turn(self, frame: FrameType) -> None:
        self.note("Neutral turn:")

    def before_resolve_card(self, frame: FrameType) -> None:
        self.card_line = len(self.lines)

    def after_resolve_card(self) -> None:
        """The rules log the card after its effect, but a reader should see it first."""
        told = self.lines[self.card_line :]
        self.lines[self.card_line :] = sorted(told, key=lambda line: not line.startswith("    - Southern Winds card"))

    def before_resolve_icons(self, frame: FrameType) -> None:
        self.note("The card's icons:")

    def before_take_first_player_marker(self, frame: FrameType) -> None:
        self.note("Who passes first takes the First Player marker; if it is theirs already, it goes to their right.")

    def before_continue_weather_phase(self, frame: FrameType) -> None:
        s = self.states[0]
        if s["weather"] < 0 and not s["selected"].any() and self.weather_told != -1 - s["round"]:
            self.weather_told = -1 - s["round"]
            self.heading(f"Round {s['round']}: Weather Phase")
            if self.config.rounds == 4:  # long games are long enough
                self.board()

    def before_continue_weather(self, frame: FrameType) -> None:
        if not self.plays_with(Module.FORECASTS) or self.states[0]["weather"] in (Weather.FROST, Weather.SUN):
            self.tell_weather()  # else after the forecast cards that come before it

    def before_continue_wind_weather(self, frame: FrameType) -> None:
        self.tell_weather()

    def before_rain_weather(self, frame: FrameType) -> None:
        self.tell_weather()

    def tell_weather(self) -> None:
        weather = int(self.states[0]["weather"])
        if self.weather_told != weather:
            self.weather_told = weather
            self.note(f"{WEATHER_WORDS[weather]} weather is resolved.")

    def before_neutral_sun_weather(self, frame: FrameType) -> None:
        self.note("The neutral player doubles its drops, from P6 to P1, as far as its supply goes:")

    def before_southern_wind_weather(self, frame: FrameType) -> None:
        self.note("The southern wind blows a drop of player_0 north from each of P3 to P6:")

    def before_win_vote(self, frame: FrameType) -> None:
        space = frame.f_locals["space"]
        votes = self.states[0]["votes"][space][: self.config.owners]
        counted = ", ".join(f"{name} {number}" for name, number in zip(self.names, votes, strict=True))
        self.note(f"Votes on {WEATHER_WORDS[space]}: {counted}.")

    def before_change_first_player(self, frame: FrameType) -> None:
        s = self.states[0]
        left = ", ".join(f"{name} {s['votes'][:, seat].sum()}" for seat, name in enumerate(self.names))
        self.note(f"{self.names[s['first_player']]} stays first player only with more votes left on the board: {left}.")

    def tell_harvest(self, is_harvest: bool) -> None:
        s = self.states[0]
        if self.harvest_told == s["round"]:  # a question of the Harvest Phase has been answered
            return
        self.harvest_told = int(s["round"])
        self.tell_changes()
        self.heading(f"Round {s['round']}: Harvest Phase")
        if not is_harvest:
            self.note(f"No Harvest: the dice show {dice_text(s['dice'])}.")
        elif s["round"] == s["rounds"]:
            self.note("There is a Harvest: it is the final round.")
        elif (s["dice"] == HARVEST).all():
            self.note("There is a Harvest: all three dice show it.")
        else:
            self.note("There is a Harvest: the neutral player's supply is empty.")

    def before_score_tile(self, frame: FrameType) -> None:
        s, tile = self.game, int(frame.f_locals["tile"])
        crop, growing = int(s["crop"][tile]), int(s["growing"][tile])
        name = f"{CROP_NAMES[crop].capitalize()} on {tile_name(self.config.players, tile)}"
        self.note(f"{name} ({GROWING_NAMES[growing]}) is harvested.")
        for seat, owner in enumerate(self.names):
            drops = int(s["drops"][tile, seat])
            if drops:
                points = scoring.tile_points(s, self.numbers, tile, seat, growing)
                self.note(f"  {owner}: {self.standing(crop, tile, seat, drops)}: {points} points.")

    def standing(self, crop: int, tile: int, seat: int, drops: int) -> str:
        """What a player's points on a tile depend on."""
        s = self.game
        parts = [f"{drops} drop{'' if drops == 1 else 's'}"]
        if s["counts_clouds"][seat] and s["cloud_drops"][tile, seat]:
            parts.append(f"{s['cloud_drops'][tile, seat]} of them in the cloud")
        if crop == Crop.CORN:
            parts.append(f"players present {points_rules.players_present(s, tile)}")
        elif crop == Crop.RICE:
            parts.append("which are what counts")
        else:
            parts.append(f"place {points_rules.place(s, tile, seat)}")
        if crop == Crop.DANDELION:
            parts.append(f"{s['pods'].sum()} pods on other tiles")
        parts += [word for word, field in (("Fertilizer", "fertilizer"), ("a pod", "pods")) if s[field][tile]]
        return ", ".join(parts)

    def before_next_controller(self, frame: FrameType) -> None:
        s, tile = self.game, int(frame.f_locals["tile"])
        seat = flower_tiles.next_controller(s, tile)
        if seat != NOBODY:
            number = f"{s['blooms'][tile]} bloom{'' if s['blooms'][tile] == 1 else 's'}"
            fertilizer = ", Fertilizer" if s["fertilizer"][tile] else ""
            than = "than its controller" if s["controller"] != NOBODY else "than anybody else"
            self.note(f"{self.names[seat]} has more drops on the Primrose {than}: {number}{fertilizer}.")

    def before_end_game(self, frame: FrameType) -> None:
        s = self.game
        self.heading("Game End")
        for seat, name in enumerate(self.names):
            track = scoring.voting_wins_points(s, self.numbers, seat)
            bonus = int(self.numbers["wheat_bonus"]) if scoring.has_most_wheat(s, seat) else 0
            self.scores["Voting Wins"][seat] += track
            self.scores["most Wheat tokens"][seat] += bonus
            self.note(f"{name}: {s['voting_wins'][seat]} Voting Wins: {track} points.")
            self.note(f"{name}: {s['wheat_tokens'][seat]} Wheat tokens: {bonus} points.")

    def before_continue_cleanup_phase(self, frame: FrameType) -> None:
        s = self.states[0]
        if s["draft_step"] < 0:
            self.heading(f"Round {s['round']}: Clean-up Phase")

    def before_roll_dice_again(self, frame: FrameType) -> None:
        harvested = self.states[0]["harvested"]
        self.note(f"The Harvest dice are rolled again{', all three' if harvested else ' unless they show Harvest'}.")

    # --- the end

    def final_scores(self) -> None:
        s = self.states[0]
        self.heading("Final scores")
        self.board()
        del self.scores[_AT_THE_END]
        width = max(len(source) for source in self.scores)
        self.lines.append(" " * width + "".join(f"{name:>10}" for name in self.names))
        for source, points in self.scores.items():
            self.lines.append(f"{source:<{width}}" + "".join(f"{number:10}" for number in points))
        totals = np.sum(list(self.scores.values()), axis=0)
        assert (totals == s["points"][: self.config.owners]).all(), "points that no rule gave"
        self.lines.append(f"{'total':<{width}}" + "".join(f"{number:10}" for number in totals))
        winners = [self.names[owner] for owner in GAME.winners(s)]
        self.lines += ["", f"{' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'}."]


_AT_THE_END = "at the end"
_SCORED_IN = {
    "decrease_die": "decreasing Harvest dice",
    "score_tile": "Harvests",
    "resolve_card": "no valid target",
    "resolve_icons": "votes it did not have",
    "end_game": _AT_THE_END,
    "play_forecast": "forecast cards",
    "choose_forecast_tile": "forecast cards",
    "settle_control": "the Primrose",
}
_LAID_OUT = {
    *("set_up", "clear", "lay_face_down", "lay_fields", "lay_fields_by_priority", "deal_and_roll"),
    *("lower_cloud_drops", "raise_cloud_drops"),
}
"""The effects of these rules are on the board that is drawn afterwards, or told when a tile is harvested."""
_WITH_MODULES = {
    *("deal_and_roll", "deal_powers", "deal_forecasts", "ask_fertilizer_tile", "continue_wind_weather"),
    *("lower_cloud_drops", "raise_cloud_drops", "play_forecast", "choose_forecast_tile", "settle_control"),
    *("open_snowdrop", "close_snowdrop", "end_harvest_of_flowers", "fill_clouds", "put_drop", "move_up"),
    "next_controller",
}
"""Rules whose changes are told separately only with a module, so that other games' texts stay the same."""
_APART = {
    *_SCORED_IN,
    *_LAID_OUT,
    *("answer", "go_on", "start_action", "set_up_southern_winds"),
    *("reveal_card", "perform", "move_cloud", "add_to_cloud", "new_cloud", "pour", "settle_clouds", "develop"),
    *("frost_weather", "rain_weather", "continue_selection", "return_votes", "clear_tile", "move_drop", "discard_hand"),
    *_WITH_MODULES,
}
"""Rules whose changes are told separately, besides those that have a text before them."""


def write(folder: Path, names: Iterable[str]) -> None:
    """Write these playthroughs, and delete files that are none."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.txt"):
        if path.stem not in GAMES:
            path.unlink()
    for name in names:
        (folder / f"{name}.txt").write_text(playthrough(name), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.playthroughs", description="Golden playthroughs.")
    parser.add_argument("--write", action="store_true", help="write the files anew; without it the games are printed")
    parser.add_argument("--to", type=Path, default=FOLDER, help="folder to write to")
    parser.add_argument("--games", nargs="+", choices=list(GAMES), default=list(GAMES), help="which; without it all")
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.to, arguments.games)
    else:
        print(*map(playthrough, arguments.games), sep="\n")


if __name__ == "__main__":
    main()
