"""A game as tools with texts, and the command `mcp` without the package that it needs."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from tabletop_cli import evergreen, petrichor
from tabletop_engine.errors import TabletopError
from tabletop_play.catalogue import Catalogue
from tabletop_text.tools import Player, Players, Said, refused, tools_of

CATALOGUE = Catalogue(["petrichor_env.game", "evergreen_env.game"])


def player_of(name: str, **settings: Any) -> tuple[Player, str]:
    """A client with a game, and its first message."""
    player = Player(CATALOGUE, CATALOGUE.game(name))
    said = player.call("new_game", {"seed": 1, **settings})
    assert not said.is_error, said.text
    return player, said.text


@pytest.mark.parametrize("app", [petrichor.app, evergreen.app])
def test_without_the_extra_the_command_says_what_to_install(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "tabletop_text.mcp_server", raising=False)
    with pytest.raises(TabletopError, match=r'mcp is not installed: pip install "petrichor-env\[mcp\]"'):
        CliRunner().invoke(app, ["mcp"], catch_exceptions=False)


def test_options_of_the_other_transport() -> None:
    for option in ("--port", "--games"):
        with pytest.raises(TabletopError, match=rf"{option} 5: only with --http"):
            CliRunner().invoke(petrichor.app, ["mcp", option, "5"], catch_exceptions=False)


def test_agents_that_a_client_may_name() -> None:
    """The same ones as on the web page."""
    player = Player(CATALOGUE, CATALOGUE.game("petrichor"))
    paths = ("policy:/etc/passwd", "search:x.zip", "policy:../versus")
    for name in (*paths, "os:system", "model:os:system", "openspiel-mcts-9", ""):
        said = player.call("new_game", {"players": 2, "opponents": [name]})
        assert said.is_error and "not available here" in said.text and not player.has_game
    for name in ("random", "greedy", "ismcts-20"):
        player_of("evergreen", players=2, opponents=[name])


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("nothing", {}, "unknown tool nothing; there are new_game, rules, look, legal, act, undo."),
        ("look", {"seat": 1}, "unknown argument seat; look takes none."),
        ("act", {}, "answer: missing"),
        ("act", {"answer": None}, "answer: missing"),
        ("act", {"answer": 1.5}, "answer: must be a text, a whole number or a list of up to 100"),
        ("act", {"answer": True}, "answer: must be"),
        ("act", {"answer": 10**5000}, "answer: must be"),
        ("act", {"answer": ["1"] * 101}, "answer: must be"),
        ("act", {"answer": [["1"]]}, "answer: must be"),
        ("new_game", {"players": True}, "players: must be 1, 2, 3, 4 or 5."),
        ("new_game", {"players": 1.0}, "players: must be 1, 2, 3, 4 or 5."),
        ("new_game", {"options": ["modules"]}, "options: must be an object."),
        ("new_game", {"options": {"components": "/etc/passwd"}}, "options: unknown components"),
        ("new_game", {"options": {"components": {"pieces.clouds": 9}}}, "options: unknown components"),
        ("new_game", {"options": {"drafting": "yes"}}, "drafting: one of true or false."),
        ("new_game", {"options": {"modules": ["lake"]}}, "the Lake is not used in solo play"),
        ("new_game", {"opponents": "greedy"}, "opponents: must be a list of up to 20, each a text."),
        ("new_game", {"seat": "first"}, "seat: must be a whole number or random."),
        ("new_game", {"seed": 2**32}, "seed=4294967296"),
        ("new_game", {"rules": 1}, "rules: must be true or false."),
        ("undo", {}, None),
    ],
)
def test_what_does_not_fit_is_answered_in_words(tool: str, arguments: dict[str, Any], text: str | None) -> None:
    """The game stays as before."""
    player, _ = player_of("petrichor")
    before = player.call("look", {})
    said = player.call(tool, arguments)
    assert said.is_error == (text is not None) and (text or "There is nothing to take back.") in said.text
    assert player.call("look", {}) == before


def test_a_refused_new_game_keeps_the_game_before() -> None:
    """Many bad answers lose no game either."""
    player, _ = player_of("evergreen")
    player.call("act", {"answer": 1})
    before = player.call("look", {})
    assert player.call("new_game", {"players": 2, "opponents": ["greedy"] * 3}).is_error
    assert player.call("look", {}) == before
    for _ in range(250):
        assert player.call("act", {"answer": "no such answer"}).is_error
    assert player.call("look", {}) == before


def test_without_a_game() -> None:
    player = Player(CATALOGUE, CATALOGUE.game("evergreen"))
    for tool, arguments in (("look", {}), ("legal", {}), ("act", {"answer": 1}), ("undo", {})):
        assert player.call(tool, arguments) == Said("there is no game: new_game starts one.", True)
    assert player.call("rules", {}).text.startswith("# ")


def test_the_first_message_alone_has_the_rules() -> None:
    player, first = player_of("petrichor", players=2)
    rules = player.call("rules", {}).text
    assert first.startswith(rules) and "Answer with the tool act" in first and "The seed" not in first
    assert rules not in player.call("look", {}).text
    assert rules not in player_of("petrichor", rules=False)[1]


def test_the_seed_is_told_at_the_end() -> None:
    """Before the end, it would show the others' hands to whoever starts the same game in another seat."""
    player = Player(CATALOGUE, CATALOGUE.game("evergreen"))
    said = [player.call("new_game", {"players": 2, "opponents": ["random"]}).text]
    while "The game is over." not in said[-1]:
        said += [player.call(tool, {}).text for tool in ("look", "legal")]
        said.append(player.call("act", {"answer": 1}).text)
    assert not any("seed was" in text for text in said[:-1])
    assert player._table is not None
    for text in (said[-1], player.call("look", {}).text):
        assert text.endswith(f"The seed was {player._table.session.seed}.")


def test_answers_in_all_forms() -> None:
    """A number, words, JSON and lists play the same, and `legal` lists what messages hide."""
    texts = []
    for form in ("number", "words", "json", "list"):
        player, first = player_of("evergreen", players=2, opponents=["random"], answers="hidden", board="none")
        listed = player.call("legal", {}).text.splitlines()
        assert listed[1] not in first
        word = listed[1].removeprefix("1. ")
        given = {"number": 1, "words": word, "json": f'{{"answer": "{word}"}}', "list": [word]}[form]
        said = player.call("act", {"answer": given})
        assert not said.is_error
        texts.append((said.text, player.call("look", {}).text))
    assert len(set(texts)) == 1
    assert len(texts[0][1]) > len(texts[0][0]) / 2


def test_what_was_played_of_a_list_is_no_error() -> None:
    player, _ = player_of("petrichor")
    word = player.call("legal", {}).text.splitlines()[1].removeprefix("1. ")
    said = player.call("act", {"answer": [word, "no such answer"]})
    assert not said.is_error and "1 of 2 answers" in said.text
    assert player.call("undo", {}).text.count("Play a card") == 1


def test_old_games_are_dropped() -> None:
    players = Players(CATALOGUE, CATALOGUE.game("evergreen"), 2)
    for key in ("a", "b", "c", "a"):
        player = players.of(key)
        players.keep(key, player)
    assert len(players) == 0, "nothing was started"
    for key in ("a", "b", "a", "c"):
        player = players.of(key)
        if not player.has_game:
            player.call("new_game", {"seed": 1})
        players.keep(key, player)
    assert len(players) == 2
    assert [players.of(key).has_game for key in ("a", "b", "c")] == [True, False, True]


def test_refusals_are_one_short_line() -> None:
    assert refused("\x1b[2J\nx" * 10_000).text.isprintable()
    assert len(refused("x" * 1_000_000).text) < 2000


def test_schemas_name_what_can_be_chosen() -> None:
    tools = tools_of(CATALOGUE, CATALOGUE.game("petrichor"))
    schema = tools["new_game"].schema()
    assert schema["properties"]["players"]["enum"] == [1, 2, 3, 4, 5]
    assert set(schema["properties"]["options"]["properties"]) == {
        *("rounds", "drafting", "variants", "modules", "readings"),
    }
    assert "greedy" in schema["properties"]["opponents"]["description"]
    named = tools["act"].schema({"game": {"type": "string"}})
    assert named["required"] == ["game", "answer"] and list(named["properties"]) == ["game", "answer"]
