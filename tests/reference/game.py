"""A whole game: setup, rounds of four phases, the end; and the game as something that asks questions."""

from __future__ import annotations

from typing import Any

from petrichor_env.config import Config
from tests.reference.actions import action_phase
from tests.reference.chance import Chance
from tests.reference.cleanup import cleanup_phase, end_game, winners
from tests.reference.harvest import harvest_phase
from tests.reference.setup import set_up
from tests.reference.table import Drops, Question, Steps, Table, Tile
from tests.reference.weather import weather_phase
from tests.reference.words import WEATHERS, counts

ALWAYS_ASKED = ("draft", "pay", "optional_action", "discard")
"""Decisions that others would learn from if they were left out, so they are asked even with one legal answer."""


def play_game(table: Table) -> Steps[None]:
    """Game Flow: 4 or 6 rounds of Action, Weather, Harvest and Clean-up Phase, then the end."""
    yield from set_up(table)
    while True:
        yield from action_phase(table)
        yield from weather_phase(table)
        yield from harvest_phase(table)
        if table.final_round:
            break
        yield from cleanup_phase(table)
    end_game(table)


class Game:
    """One game, question by question.

    Arguments:
        config: what is played.
        chance: is asked for everything that is up to chance.

    Attributes:
        question: what is asked now; None when the game is over.
        table: everything on the table.
    """

    def __init__(self, config: Config, chance: Chance) -> None:
        self.table = Table(config, chance)
        self.question: Question | None = None
        self._flow = play_game(self.table)
        self._play_on(None)

    def answer(self, name: str) -> None:
        """Answer the question, and play on to the next one.

        Raises:
            ValueError: the game is over, or this is not a legal answer.
        """
        if self.question is None:
            raise ValueError("the game is over")
        if name not in self.question.options:
            raise ValueError(f"{name!r} does not answer {self.question}")
        self._play_on(name)

    def _play_on(self, answer: str | None) -> None:
        while True:
            try:
                question = next(self._flow) if answer is None else self._flow.send(answer)
            except StopIteration:
                self.question = None
                return
            assert question.options and len(set(question.options)) == len(question.options), question
            if len(question.options) > 1 or self._shows_something_hidden(question):
                self.question = question
                return
            answer = question.options[0]

    def _shows_something_hidden(self, question: Question) -> bool:
        """Whether others would learn from a skipped question, such as that no forecast card can be played."""
        holds_forecasts = question.decision == "turn" and self.table.players[question.seat].forecasts
        return len(self.table.players) > 1 and (question.decision in ALWAYS_ASKED or bool(holds_forecasts))

    # --- How it ended ---

    def final_scores(self) -> dict[str, int]:
        """Points by name, in solo the neutral player's too; final when the game is over."""
        return {player.name: player.points for player in self.table.owners}

    def winners(self) -> list[str]:
        """Who has won, several if they share the victory; in solo you or "neutral". None until the game is over."""
        return [player.name for player in winners(self.table)] if self.question is None else []

    # --- Everything as plain data ---

    def describe(self) -> dict[str, Any]:
        """The table as plain data, in the format of docs/scenarios.md; keys of modules only with the module.

        In addition, "supply" and "vote_supply" are the drops and votes in each personal supply.
        """
        table, question = self.table, self.question
        modules = table.config.modules
        described: dict[str, Any] = {
            "players": table.config.players,
            "rounds": table.config.rounds,
            "drafting": table.config.drafting,
            "variants": list(table.config.variants),
            "round": table.round,
            "phase": table.phase,
            "first_player": table.first_player.name,
            "passed": table.passed.name if table.passed else None,
            "harvested": table.harvested,
            "decision": question.decision if question else "game_over",
            "actor": table.players[question.seat].name if question else None,
            "field": {self._position(tile): self._tile(tile) for tile in table.tiles.values()},
            "hands": {player.name: counts(player.hand) for player in table.players},
            "packs": {player.name: counts(player.pack) for player in table.players},
            "deck": counts(table.deck),
            "discards": counts(table.discards),
            "votes": {weather: self._owned(table.votes[weather]) for weather in WEATHERS},
            "dice": sorted(table.dice, key=lambda die: 0 if isinstance(die, str) else die),
            "points": {player.name: player.points for player in table.owners},
            "scored": self._scored(),
            "voting_wins": {player.name: player.voting_wins for player in table.owners},
            "wheat_tokens": {player.name: player.wheat_tokens for player in table.owners},
            "supply": {player.name: player.supply for player in table.owners},
            "vote_supply": {player.name: player.votes for player in table.owners},
        }
        if modules:
            described["modules"] = list(modules)
        if table.config.readings:
            described["readings"] = list(table.config.readings)
        if table.config.solo:
            described["southern_winds"] = {"deck": sorted(table.southern_winds)}
        if "flower_tiles" in modules:
            described["controller"] = table.controller.name if table.controller else None
        if "powers" in modules:
            described["power"] = {player.name: player.power for player in table.players}
        if "forecasts" in modules:
            described["forecasts"] = {player.name: sorted(player.forecasts) for player in table.players}
            described["forecasts_played"] = sorted(table.forecasts_played)
        return described

    def _position(self, tile: Tile) -> str:
        return f"P{1 + list(self.table.tiles).index(tile.name)}" if self.table.config.solo else tile.name

    def _tile(self, tile: Tile) -> dict[str, Any]:
        described: dict[str, Any] = {"crop": tile.crop or "face_down"}
        if tile.growing != "none":
            described["growing"] = tile.growing
        if tile.total:
            described["drops"] = self._owned(tile.drops)
        if tile.cloud:
            kind = "thunder" if tile.cloud.thunder else "light"
            described["cloud"] = {"kind": kind, "drops": self._owned(tile.cloud.drops)}
        if tile.fertilizer:
            described["fertilizer"] = True
        if tile.pod:
            described["pod"] = True
        if tile.blooms:
            described["blooms"] = tile.blooms
        return described

    def _scored(self) -> dict[str, dict[str, int]]:
        """Points by source and player, without zeros."""
        sources = {source for player in self.table.owners for source in +player.scored}
        return {
            source: {player.name: player.scored[source] for player in self.table.owners if player.scored[source]}
            for source in sources
        }

    def _owned(self, pieces: Drops) -> dict[str, int]:
        return {player.name: pieces[player.seat] for player in self.table.owners if pieces[player.seat]}
