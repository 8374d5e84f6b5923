"""The pages of a game that come from its modules: the observation, the actions, the state, and Evergreen's keys.

`docs/generate.py` writes them. The same code makes the pages of both games. Texts about one game only are with that
game below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from types import ModuleType

import evergreen_env.actions
import evergreen_env.config
import evergreen_env.numbers
import evergreen_env.observation
import evergreen_env.state
import petrichor_env.actions
import petrichor_env.config
import petrichor_env.numbers
import petrichor_env.observation
import petrichor_env.state
from evergreen_env.component_files import COMPONENTS, load_tables
from evergreen_env.state import COLUMNS, ROWS
from tabletop_engine.described.overlays import ComponentFile
from tabletop_engine.observation import Layout
from tabletop_engine.record import record_table

DOCS = Path(__file__).parent

_BLOCKS = """\
`from` and `to` are the first and the last number of a block. A block of shape `4 x 5` is an array of 4 rows with 5
numbers each. Its meaning says what its rows stand for, and then what the numbers in a row stand for. The units are:

- `one-hot`: one of the numbers is 1, and its place, from 0, is the value. The others are 0. With two axes this holds
  for each row.
- `0/1`: each number is 0 or 1, and several may be 1.
- `drops / 5`: a count, here of drops, divided by 5."""
_OBSERVATION = """\
This page is for those who write or read networks. An observation is what one player, the viewer, may know. It is one
flat `float32` vector of {size} numbers between {low} and {high}, made of named blocks. All configurations have the same
layout."""
_STATE = """\
This page is for those who look into a game: tests, rewards, searches. The state of a game is one NumPy record,
`{package}.state.STATE`, of {bytes} bytes. It holds all of the game, what is hidden and the random stream, too. Two
equal games are equal bytes. This is version {version} of the layout.

`batch.states` has one record for each game: `batch.states["points"]` is a field of all games, and
`batch.states[0].points` is that field of the first game. Names in capitals, such as NOBODY, and names of classes, such
as Decision, are in `{package}.state`."""
_TABLES = """\
## {heading}

These are one record for all games of a batch, `{package}.tables.TABLES`, whose fields
[tables.py]({to_docs}../{package}/tables.py) declares. It is filled from the component files
([components](components.md))."""
_AS_OBSERVED = "The table is read like that of [Petrichor's observation]({to_docs}observation.md#blocks)."
_LISTS = """\
Some meanings refer to a list, such as `state.Decision`. `state` and `config` are modules of `{package}`. The places in
such a block stand for the members of the list, in this order:"""
_ACTIONS = """\
This page is for those who write agents, and for those who read what agents did. An action is a whole number. All
configurations have the same space, `Discrete({size})`. At each decision some of its actions are legal; the
environments' action masks say which.

Each action has a name: `ACTIONS["{name}"]` is {number}, and `ACTION_NAMES[{number}]` is `"{name}"`. Both are in
`{module}`."""
_NUMBERS = """\
This page is for those who train networks that read the numbers on the pieces. [Components](components.md) says how to
change these numbers.

The numbers on the pieces are one flat `float32` vector of {size} numbers between {low} and {high}, made of named
blocks. With `observe_numbers=True` this vector follows the observation. `Batch.numbers` has it for each game. A network
that reads it can play with any edition ([many editions]({to_docs}editions.md)).

`{package}.numbers.NUMBERS` has each block by its name, and `GAME.write_numbers(tables)` makes the plain counts."""
_FIELDS = "`blank` is the value of the field on an empty table, before a game is set up."

_WIDEST = 70
"""The most characters of a value in a table."""


@dataclass(frozen=True)
class GamePages:
    """One game's modules, and the texts of its pages beside their tables.

    Attributes:
        name: of the game, in the titles.
        folder: where the pages are written.
        actions, config, observation, state: the game's modules of these names.
        observed: what stands before the blocks of the observation, after what all games say.
        unobserved: what follows the lists that the observation refers to.
        acted: what stands between the ranges of the actions and the list of all actions.
        tables: the heading above the record of numbers.
        read: the game's module `numbers`, the layout of the numbers for networks.
    """

    name: str
    folder: Path
    actions: ModuleType
    config: ModuleType
    observation: ModuleType
    state: ModuleType
    observed: str
    unobserved: str
    tables: str
    acted: str
    read: ModuleType

    @property
    def words(self) -> dict[str, str]:
        """What the texts of all games leave open: the package, and the way to `docs/` from the game's pages."""
        return {"package": self.state.__package__ or "", "to_docs": "" if self.folder == DOCS else "../"}

    def written(self) -> dict[Path, str]:
        """The pages by their files."""
        pages = {
            "observation": observation_page(self),
            "numbers": numbers_page(self),
            "actions": actions_page(self),
            "state": state_page(self),
        }
        return {self.folder / f"{name}.md": text for name, text in pages.items()}


def observation_page(game: GamePages) -> str:
    layout = game.observation.LAYOUT
    parts = (
        f"# Observation of {game.name}",
        _OBSERVATION.format(**_bounds(layout)),
        game.observed,
        "## Blocks",
        _AS_OBSERVED.format(**game.words) if game.words["to_docs"] else _BLOCKS,
        "\n".join(_blocks(layout)),
        "## Lists",
        _LISTS.format(**game.words),
        "\n".join(f"- `{name}`: {_numbered(members)}" for name, members in _lists(game).items()),
    )
    return "\n\n".join(parts) + f"\n{game.unobserved}\n"


def numbers_page(game: GamePages) -> str:
    layout = game.read.NUMBERS
    parts = (
        f"# Numbers of {game.name} as inputs",
        _NUMBERS.format(**_bounds(layout), **game.words),
        _rest_of_docstring(game.read),
        "## Blocks",
        _AS_OBSERVED.format(**game.words),
        "\n".join(_blocks(layout)),
    )
    return "\n\n".join(parts) + "\n"


def _bounds(layout: Layout) -> dict[str, str]:
    return {"size": f"{layout.size}", "low": f"{layout.low:g}", "high": f"{layout.high:g}"}


def _blocks(layout: Layout) -> list[str]:
    """The table of a layout's blocks."""
    lines = ["| block | from | to | shape | unit | meaning |", "|---|---:|---:|---|---|---|"]
    for block in layout:
        shape = " x ".join(map(str, block.shape))
        last = block.start + block.size - 1
        lines.append(f"| `{block.name}` | {block.start} | {last} | {shape} | {block.unit} | {block.meaning} |")
    return lines


def _lists(game: GamePages) -> dict[str, tuple[str, ...]]:
    """The names in every list that a block's meaning refers to, such as `state.Decision` or `config.VARIANTS`."""
    lists = {}
    meanings = " ".join(block.meaning for block in game.observation.LAYOUT)
    for module, name in re.findall(r"`(state|config)\.(\w+)`", meanings):
        members = getattr({"state": game.state, "config": game.config}[module], name)
        lists[f"{module}.{name}"] = tuple(
            member if isinstance(member, str) else member.name.lower() for member in members
        )
    return lists


def _numbered(names: Sequence[str]) -> str:
    return ", ".join(f"{number} {name}" for number, name in enumerate(names))


def actions_page(game: GamePages) -> str:
    names = game.actions.ACTION_NAMES
    number = len(names) // 10
    said = _ACTIONS.format(size=len(names), name=names[number], number=number, module=game.actions.__name__)
    lines = [f"# Actions of {game.name}\n\n{said}\n\n## Ranges\n\n{_rest_of_docstring(game.actions)}\n\n{game.acted}"]
    lines += ["", "## All actions", "", "By range, in the order of their numbers:", ""]
    for word, run in groupby(enumerate(names), lambda one: one[1].partition(" ")[0]):
        (first, name), *rest = run
        rests = [one.partition(" ")[2] for one in (name, *(one for _, one in rest))]
        lines.append(f"- `{word}`, {first} to {rest[-1][0]}: {_names_in(rests)}" if rest else f"- `{name}`, {first}")
    return "\n".join(lines) + "\n"


def _names_in(rests: Sequence[str]) -> str:
    """What follows the first word in the names of a range; of names in two parts, such as tile and owner, each once."""
    if rests == [str(number) for number in range(1, len(rests) + 1)]:
        return f"1 to {len(rests)}"
    parts = [rest.partition(" ")[::2] for rest in rests]
    first, second = (list(dict.fromkeys(own)) for own in zip(*parts, strict=True))
    if len(second) > 1 and [(a, b) for a in first for b in second] == parts:
        return f"for each of {', '.join(first)} in this order: {', '.join(second)}"
    return ", ".join(rests)


def state_page(game: GamePages) -> str:
    parts = (
        f"# State of {game.name}",
        _STATE.format(bytes=game.state.STATE.itemsize, version=game.state.STATE_VERSION, **game.words),
        _rest_of_docstring(game.state),
        "## Fields",
        _FIELDS,
        "\n".join(record_table(game.state.State)),
        _TABLES.format(heading=game.tables, **game.words),
    )
    return "\n\n".join(parts) + "\n"


def _rest_of_docstring(module: ModuleType) -> str:
    """The module's docstring without its first line."""
    return (module.__doc__ or "").partition("\n\n")[2].strip()


# --- Component files -------------------------------------------------------------------------------------------------


def keys_table(components: ComponentFile) -> str:
    """Every key of a component file: its meaning, what is allowed, what is shipped, and the source of that."""
    lines = ["| key | what it is | allowed | shipped | source |", "|---|---|---|---|---|"]
    shipped, before = components.load(), ""
    for name, key in components.keys.items():
        value = json.dumps(shipped[name].plain)
        value = f"`{value}`" if len(value) <= _WIDEST else "see the file"
        sources = ", ".join(dict.fromkeys(shipped[name].sources))
        allowed, before = "as above" if key.allowed == before else key.allowed, key.allowed
        lines.append(f"| `{name}` | {key.meaning} | {allowed} | {value} | {sources} |")
    return "\n".join(lines)


# --- The games -------------------------------------------------------------------------------------------------------

PETRICHOR = GamePages(
    name="Petrichor",
    folder=DOCS,
    actions=petrichor_env.actions,
    config=petrichor_env.config,
    observation=petrichor_env.observation,
    state=petrichor_env.state,
    read=petrichor_env.numbers,
    observed="""\
`LAYOUT` has each block by its name. For example, your own votes on the weather space Sun:

```python
from petrichor_env import Batch, Config
from petrichor_env.observation import LAYOUT
from petrichor_env.state import Weather

batch = Batch(Config(players=2), num_games=1, seed=0)
observation = batch.observations[0]
block = LAYOUT["votes"]
votes = observation[block.slice].reshape(block.shape)  # (4, 5): by weather space and seat
own_on_sun = votes[Weather.SUN, 0] * block.divisor
```

Seats are counted clockwise from the viewer: 0 is the viewer, 1 the next player to the left. In solo 1 is the neutral
player. The numbers of seats and tiles that a game does not have are 0.

Tiles are numbered as in [the state](state.md). In solo P1 to P6 have the numbers 0, 1, 4, 5, 8 and 9.

With `observation_dtype="int8"` the numbers are the counts themselves, not divided, and at most 127: with the unit
`drops / 5`, plain drops. Rollout buffers shrink to a quarter, and a step takes less time.""",
    unobserved="""
## What is not in it

An observation leaves out what is hidden from the viewer:

- the hands, packs and forecast cards of other players;
- which player is asked for a forecast card at a point of the timeline
  ([what the order of play tells](environments.md#what-the-order-of-play-tells));
- the order of decks, and the random stream.

With the reading `forecasts_end_actions`, it does not say which other players can play no action cards any more in this
round.""",
    acted="""\
## Decisions

At each decision one player is asked, and these actions may be legal:

| decision | what is asked | answers |
|---|---|---|
| `fertilizer_tile` | the tile for the next Fertilizer token | `tile t` |
| `draft` | the next card to keep from the pack | `card w` |
| `setup_cloud` | the tile for the own cloud of the setup | `tile t` |
| `turn` | what to do in this turn | `play w`, `substitute w`, `forecast n`, `pass` |
| `optional_action` | whether to do the optional second action | `play w`, `substitute w`, `decline` |
| `pay` | the next of the cards that stand for others | `card w` |
| `frost_tile` | the tile for the new cloud of a Frost action | `tile t`; `decline` with a short supply |
| `frost_cloud` | with five players and all clouds out: the cloud that gets the drop of a Frost action | `tile t`; \
`decline` with a short supply |
| `frost_power` | whether to put a second drop into the new cloud | `power`, `decline` |
| `sun_cloud` | the cloud of a Sun action | `tile t`; `decline` with a short supply |
| `rain_drop` | the drop that falls in a Rain action, the first of two | `drop t o`; with the Rain power also \
`tile t`, and `decline` if no normal rain is possible |
| `rain_second_drop` | a drop from another cloud | `drop t o`, `decline` |
| `wind_cloud` | the cloud that a Wind action moves | `tile t` |
| `wind_direction` | where it moves | `move d` |
| `wind_tile` | where it moves, with the Wind power or away from the Lake | `tile t` |
| `take_drop` | the tile that gives a drop for a short supply | `tile t` |
| `vote` | the vote after an action | `vote w`, `die k` |
| `move_vote` | the weather space that gives a vote for an empty supply | `weather w` |
| `discard` | the next card to discard down to the hand limit | `card w` |
| `choose_weather` | which of the tied weather spaces is selected | `weather w` |
| `sun_weather_cloud` | the cloud to double | `tile t`; `decline` if the supply alone can double none |
| `wind_weather_drop` | the drop to move | `drop t o` |
| `wind_weather_direction` | where it moves | `move d` |
| `pod_tile` | the tile for the next pod | `tile t` |
| `forecast` | which forecast card to play at this point of the timeline | `forecast n`, `decline` |
| `forecast_tile` | the tile or cloud of a forecast card | `tile t` |
| `forecast_drop` | the drop of card 8, 11 or 15 | `drop t o` |
| `forecast_direction` | where the drop of card 8 moves | `move d` |
| `forecast_vote` | the weather space of card 5 | `vote w` |
| `keep_drop` | the tile where the Harvest power keeps a drop | `tile t`, `decline` |

A decision with one legal answer is not asked, unless that would show something hidden ([rules](rules.md)).""",
    tables="The numbers on the pieces",
)


def _shipped_spaces() -> str:
    """The numbers of the shipped planet's spaces, drawn as they lie."""
    numbers = load_tables()[0]["number_of"].reshape(ROWS, COLUMNS)
    cells = [[f"{number + 1:4}" if number >= 0 else "   ." for number in row] for row in numbers.tolist()]
    names = "".join(f"{letter:>4}" for letter in "abcdefg")
    return "\n".join([f" {names}", *(f"{row}{''.join(own)}" for row, own in enumerate(cells, start=1))])


EVERGREEN = GamePages(
    name="Evergreen",
    folder=DOCS / "evergreen",
    actions=evergreen_env.actions,
    config=evergreen_env.config,
    observation=evergreen_env.observation,
    state=evergreen_env.state,
    read=evergreen_env.numbers,
    observed="""\
`LAYOUT` has each block by its name. For example, your own level of the power lake:

```python
from evergreen_env import Batch, Config
from evergreen_env.observation import LAYOUT
from evergreen_env.state import Power

batch = Batch(Config(players=2), num_games=8, seed=0)
observation = batch.observations[0]  # of the first game
block = LAYOUT["levels"]
levels = observation[block.slice].reshape(block.shape)  # (4, 6): by seat and power
own_lakes = levels[0, Power.LAKE] * block.divisor
```

Seats are counted clockwise from the viewer: 0 is the viewer, 1 the next player to the left. The numbers of absent
players are 0. The number of a card is 6 * type + power.

With `observation_dtype="int8"` the numbers are the counts themselves, not divided, and at most 127: with the unit
`levels / 5`, plain levels. Points above 127 are seen as 127. Rollout buffers shrink to a quarter.""",
    unobserved="""
A card's type is one of the seven of `state.Biome`. The biomes are the first six.

## What is not in it

- What is hidden: the cards that the deck brings, the random stream, and what other players have done since the draft.
  Until the round ends, their planets, levels and points are those of the end of the last round. `decision` and `actor`
  are 0 while another player takes a turn.
- What is the same in all games of a configuration: the map of the biomes, the icons of cards that are not in the
  market, the flags. `observe_numbers=True` appends them ([numbers](numbers.md)); the map is below.
- The order of the cards in the fertility zone. `fertility` and `next_flip` say what matters of it, up to the next
  aridity of each biome. With the flag `aridity_empty = "pending"`, the flips that wait are not observed.

## Planes

`planets`, `lit_trees`, `largest_forest` and `choices` are planes of 7 x 7, with rows from the north and columns from
the west. They stand side by side, so one slice takes them all: five planes for each of four seats, and three more.

```python
first, last = LAYOUT["planets"].slice.start, LAYOUT["choices"].slice.stop
planes = batch.observations[:, first:last].reshape(8, 23, 7, 7)
own_sprouts, own_lakes, next_players_sprouts = planes[:, 0], planes[:, 4], planes[:, 5]
```

The action `space k` is the k-th space of the planet in reading order, but not every place of the grid is a space.
`place_of` has the place of each space, 7 * row + column. With it, the numbers that a network gives for places become
numbers for actions, and the mask of the legal actions becomes a plane:

```python
import numpy as np

from evergreen_env.actions import NUM_ACTIONS, SPACE
from evergreen_env.component_files import load_tables

tables = load_tables(None)[0]  # or load_tables("my-edition.toml"), for another planet
places = tables["place_of"][tables["place_of"] >= 0]  # (41,) on the shipped planet
by_place = np.zeros((8, 49), np.float32)  # what the network gives
logits = np.zeros((8, NUM_ACTIONS), np.float32)
logits[:, SPACE : SPACE + len(places)] = by_place[:, places]

legal_places = np.zeros((8, 49), bool)
legal_places[:, places] = batch.action_masks[:, SPACE : SPACE + len(places)]
legal_places = legal_places.reshape(8, 7, 7)
```

The map in the same form, six planes of biomes and one of ravines:

```python
spaces = np.array([*tables["biome"], tables["ravines"]], np.uint64)
biomes = (spaces[:, None] >> np.arange(49, dtype=np.uint64) & np.uint64(1)).reshape(7, 7, 7)
```""",
    acted=f"""\
## Decisions

At each decision one player is asked, and these actions may be legal:

| decision | what is asked | answers |
|---|---|---|
| `draft` | which card to take | `draft k`, for each slot with a card |
| `turn` | what to do next | the actions that can begin, until one is taken; `power`, until it is used; `done` |
| `plant` | the next sprout of `plant three` | spaces of the card's biome; `done` after the first one |
| `grow` | the next growth of `grow two` | spaces of the card's biome; `done` after the first one |
| `plant_and_grow` | the next space of `plant and grow` | spaces of the card's biome: an empty one is planted, any \
other grows; `done` after the first one |
| `anywhere` | the space of `anywhere` | any space that can be planted or can grow |
| `power` | the next use of the power | spaces where it can be used, `done` |
| `lake` | the next growth beside the lake just placed | spaces beside it, `done` |

A decision with one legal answer is not asked. The flags `partial_actions`, `voluntary_pass` and `lake_growth` change
when `done` is legal, and `canonical_sets` changes which spaces are ([rules](rules.md)).

## Spaces

A space has the name of its column and row, such as `c1` or `d5`. These are the numbers k of `space k` on the shipped
planet:

```text
{_shipped_spaces()}
```

Another planet has other numbers. Where it has fewer than 41 spaces, the other actions `space k` are never legal.""",
    tables="Board, deck and flags",
)

GAMES = (PETRICHOR, EVERGREEN)

EVERGREEN_BLOCKS: Mapping[str, Callable[[], str]] = {
    "keys": partial(keys_table, COMPONENTS),
}
"""The generated parts of docs/evergreen/components.md, by the name of their markers."""
