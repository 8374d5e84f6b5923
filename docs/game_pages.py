"""A game's pages that come from its modules: the observation, the actions, the state, and for Evergreen the keys.

`docs/generate.py` writes them. One code makes the pages of both games; what is said of one game only stands here as a
text of that game.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType

import evergreen_env.actions
import evergreen_env.config
import evergreen_env.observation
import evergreen_env.state
import evergreen_env.tables
import petrichor_env.actions
import petrichor_env.config
import petrichor_env.observation
import petrichor_env.state
import petrichor_env.tables
from evergreen_env.component_files import COMPONENTS, load_tables
from evergreen_env.state import COLUMNS, ROWS
from tabletop.errors import ComponentsError
from tabletop.overlays import ComponentFile
from tabletop.record import record_table

DOCS = Path(__file__).parent

_FILE = "my-box.toml"
_WIDEST = 70
"""Characters of a value in a table."""


@dataclass(frozen=True)
class GamePages:
    """One game's modules, and what its pages say beside their tables.

    Attributes:
        folder: where the pages are written.
        actions, config, observation, state, tables: the game's modules of these names.
        observed: what the observation is, with {size}, {low} and {high}.
        unobserved: what follows the observation's orders.
        acted: what follows the actions' ranges.
        recorded: what the state is, with {bytes} and {version}.
        numbers: the heading over the record of numbers, and what it is.
    """

    folder: Path
    actions: ModuleType
    config: ModuleType
    observation: ModuleType
    state: ModuleType
    tables: ModuleType
    observed: str
    unobserved: str
    recorded: str
    numbers: str
    acted: str = field(default="")

    def written(self) -> dict[Path, str]:
        """The pages by their files."""
        pages = {"observation": observation_page(self), "state": state_page(self), "actions": actions_page(self)}
        return {self.folder / f"{name}.md": text for name, text in pages.items()}


def observation_page(game: GamePages) -> str:
    layout = game.observation.LAYOUT
    lines = [
        "# The observation",
        "",
        game.observed.format(size=layout.size, low=f"{layout.low:g}", high=f"{layout.high:g}"),
        "",
        "| block | from | to | shape | unit | meaning |",
        "|---|---:|---:|---|---|---|",
    ]
    for block in layout:
        shape = " x ".join(map(str, block.shape))
        last = block.start + block.size - 1
        lines.append(f"| `{block.name}` | {block.start} | {last} | {shape} | {block.unit} | {block.meaning} |")
    lines += ["", "Orders: "]
    lines += [f"- {name}: {', '.join(members)}" for name, members in _orders(game).items()]
    return "\n".join([*lines, game.unobserved]) + "\n"


def _orders(game: GamePages) -> dict[str, tuple[str, ...]]:
    """The names of every order that a block's meaning refers to, as `state.Decision` or `config.VARIANTS`."""
    orders = {}
    meanings = " ".join(block.meaning for block in game.observation.LAYOUT)
    for module, name in re.findall(r"`(state|config)\.(\w+)`", meanings):
        members = getattr({"state": game.state, "config": game.config}[module], name)
        orders[name.lower()] = tuple(member if isinstance(member, str) else member.name.lower() for member in members)
    return orders


def actions_page(game: GamePages) -> str:
    doc = (game.actions.__doc__ or "").strip()
    lines = [f"# The actions\n\n{doc}\n{game.acted}", "| action | name |", "|---:|---|"]
    lines += [f"| {action} | {name} |" for action, name in enumerate(game.actions.ACTION_NAMES)]
    return "\n".join(lines) + "\n"


def state_page(game: GamePages) -> str:
    lines = [
        "# The state",
        "",
        game.recorded.format(bytes=game.state.STATE.itemsize, version=game.state.STATE_VERSION),
        "",
        "A blank value is what the field holds on an empty table, before a game is set up.",
        "",
        *record_table(game.state.State),
        "",
        game.numbers,
        "",
        *record_table(game.tables.Tables),
    ]
    return "\n".join(lines) + "\n"


# --- Component files -------------------------------------------------------------------------------------------------


def keys_table(components: ComponentFile) -> str:
    """Every key of a component file: what it is, what is allowed, what is shipped and where that comes from."""
    lines = ["| key | what it is | allowed | shipped | source |", "|---|---|---|---|---|"]
    shipped = components.load()
    for name, key in components.keys.items():
        value = json.dumps(shipped[name].plain)
        value = f"`{value}`" if len(value) <= _WIDEST else "see the file"
        sources = ", ".join(dict.fromkeys(shipped[name].sources))
        lines.append(f"| `{name}` | {key.meaning} | {key.allowed} | {value} | {sources} |")
    return "\n".join(lines)


def mistakes_table(components: ComponentFile, overlays: Mapping[str, str]) -> str:
    """What an overlay is refused for, and the message, by what the table says of it: each is a file's text."""
    lines = ["| in the overlay | message: what is wrong | and what is allowed |", "|---|---|---|"]
    for shown, overlay in overlays.items():
        try:
            components.read(overlay, _FILE, components.load())
        except ComponentsError as error:
            wrong, _, allowed = str(error).removeprefix(f"{_FILE}: ").partition("; allowed: ")
            lines.append(f"| {shown} | {wrong} | {allowed} |")
        else:
            raise ValueError(f"{overlay!r} is not refused")
    return "\n".join(lines)


# --- The games -------------------------------------------------------------------------------------------------------

PETRICHOR = GamePages(
    folder=DOCS,
    actions=petrichor_env.actions,
    config=petrichor_env.config,
    observation=petrichor_env.observation,
    state=petrichor_env.state,
    tables=petrichor_env.tables,
    observed="""\
One flat `float32` vector of {size} numbers between {low} and {high}, the same for every
configuration: what one player may know, with seats counted clockwise from that player (0 is the viewer, in
solo 1 is the neutral player). Unused seats and tiles are 0. In code: `petrichor_env.observation.LAYOUT`, and
`observation[LAYOUT["hand"].slice]` takes a block out.

With `observation_dtype="int8"` the same numbers are the counts as they are, not divided (`drops / 5`: plain
drops), at most 127. Rollout buffers shrink to a quarter, and a step takes less time.""",
    unobserved="""\
- weather: frost, sun, wind, rain; tiles: a1, b1, c1, d1, a2 to d4 (solo: P1 is a1, P2 b1, P3 a2 to P6 b3)

What is hidden is not in it: other players' hands, packs and forecast cards, who is asked for one of these,
the order of decks, the random stream.""",
    recorded="""\
A game is one NumPy record of `petrichor_env.state.STATE`, {bytes} bytes. It holds all of the
game, hidden cards and the random stream included; equal games are equal bytes. `batch.states` has a record
for each game: `batch.states["points"]` is a field of all games, `batch.states[0].points` that of the first.
Names in capitals and those of classes are in `petrichor_env.state`. Seats are numbered clockwise; in solo
seat 0 is the player and seat 1 the neutral player. This is version {version} of the layout.""",
    numbers="""\
## The numbers on the pieces

`petrichor_env.tables.TABLES`, one record for all games of a batch, filled from the component files.""",
)


def _shipped_spaces() -> str:
    """The numbers of the shipped planet's spaces, as they lie."""
    numbers = load_tables()[0]["number_of"].reshape(ROWS, COLUMNS)
    cells = [[f"{number + 1:4}" if number >= 0 else "   ." for number in row] for row in numbers.tolist()]
    names = "".join(f"{letter:>4}" for letter in "abcdefg")
    return "\n".join([f" {names}", *(f"{row}{''.join(own)}" for row, own in enumerate(cells, start=1))])


EVERGREEN = GamePages(
    folder=DOCS / "evergreen",
    actions=evergreen_env.actions,
    config=evergreen_env.config,
    observation=evergreen_env.observation,
    state=evergreen_env.state,
    tables=evergreen_env.tables,
    observed="""\
One flat `float32` vector of {size} numbers between {low} and {high}, the same for every configuration. It is what one
player, the viewer, may know. Seats are counted clockwise from the viewer, who is 0. Blocks of absent players are 0.
In code: `evergreen_env.observation.LAYOUT`, and `observation[LAYOUT["planets"].slice]` takes a block out.

With `observation_dtype="int8"` the numbers are the counts as they are, not divided (`levels / 5`: plain levels), at
most 127. Rollout buffers shrink to a quarter. Points above 127 are seen as 127 then.""",
    unobserved="""\
- types of cards: meadow, flowers, grain, rock, swamp, snow, wild; biomes: the first six of them
- powers: sprout, small_tree, big_tree, bush, lake, buds

## What is not in it

- What is hidden: what the deck brings, the random stream, and what other players have done since the draft. Until the
  round ends, their planets, levels and points are those of the end of the last round. `decision` and `actor` are 0
  while another player takes a turn.
- What is the same in all games of a configuration: the map of the biomes, the icons of cards that don't lie in the
  market, the flags. A network that is to play with several overlays needs them besides; the map is below.
- The order of the cards in the fertility zone. `fertility` and `next_flip` say what matters of it, up to the next
  aridity of each biome. With the flag `aridity_empty = "pending"`, the flips that wait are not observed.

## Planes

`planets`, `lit_trees`, `largest_forest` and `choices` are planes of 7 x 7, with rows from the north and columns from
the west. They stand side by side, so that one slice takes them all: five planes for each of four seats, and three more.

```python
import numpy as np

from evergreen_env import Batch, Config
from evergreen_env.actions import NUM_ACTIONS, SPACE
from evergreen_env.component_files import load_tables
from evergreen_env.observation import LAYOUT

batch = Batch(Config(players=2), num_games=8, seed=0)
first, last = LAYOUT["planets"].slice.start, LAYOUT["choices"].slice.stop
planes = batch.observations[:, first:last].reshape(8, 23, 7, 7)
own_sprouts, own_lakes, next_players_sprouts = planes[:, 0], planes[:, 4], planes[:, 5]
```

The action `space k` is the k-th space of the planet in reading order, and not every place of the grid is a space.
`place_of` has the place of each space, 7 * row + column. With it a number for each place, from a network, becomes a
number for each action, and the mask of the actions becomes a plane:

```python
tables = load_tables(None)[0]  # or load_tables("my-box.toml"), for another planet
places = tables["place_of"][tables["place_of"] >= 0]  # (41,) on the shipped planet
by_place = np.zeros((8, 49), np.float32)  # what the network says
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
    acted=f"""
What is asked, and what answers it:

| decision | asked | answers |
|---|---|---|
| `draft` | which card to take | `draft k`, for each slot with a card |
| `turn` | what to do next | until one is taken, the actions that can begin; until it is used, `power`; `done` |
| `plant` | the next sprout of `plant three` | spaces of the card's biome; `done` once there is one |
| `grow` | the next growth of `grow two` | the same |
| `plant_and_grow` | the next space of `plant and grow` | the same; an empty space is planted, anything else grows |
| `anywhere` | the space of `anywhere` | any space that can be planted or can grow |
| `power` | the next use of the power | spaces, and `done` |
| `lake` | the next growth beside the lake just placed | spaces beside it, and `done` |

A decision with one legal answer is not asked. The flags `partial_actions`, `voluntary_pass` and `lake_growth` change
where `done` is legal, and `canonical_sets` which spaces are ([rules](rules.md)).

The numbers of `space k` on the shipped planet, whose spaces are called by column and row, as `c1` or `d5`:

```text
{_shipped_spaces()}
```

Another planet has other numbers, and where it has fewer than 41 spaces, the actions of the others are never legal.
""",
    recorded=f"""\
A game is one NumPy record of `evergreen_env.state.STATE`, {{bytes}} bytes. It holds all of the game, the random stream
included; equal games are equal bytes. `batch.states` has a record for each game: `batch.states["points"]` is a field of
all games, `batch.states[0].points` that of the first. Names in capitals and those of classes are in
`evergreen_env.state`. This is version {{version}} of the layout.

{(evergreen_env.state.__doc__ or "").partition(chr(10) * 2)[2].strip()}""",
    numbers="""\
## Board, deck and flags

`evergreen_env.tables.TABLES`, one record for all games of a batch, filled from the component files
([components](components.md)).""",
)

GAMES = (PETRICHOR, EVERGREEN)

_BARREN = "\n".join(f"deck.{name} = [0, 0, 0, 0, 0, 0]" for name in evergreen_env.state.BIOME_NAMES)
_THIN = "\n".join(f"deck.{name} = {['missing'] * 6}" for name in ("rock", "swamp", "snow"))
_REFUSED = (
    'board.rows = ["MFGRWN", "MFG"]',
    'board.rows = ["MFGRW", "MFGRW"]',
    'board.rows = ["MFGRWX"]',
    "deck.meadow = [2, 1, 1, 1, 0]",
    'deck.meadow = [4, 1, 1, 1, 0, "skull"]',
    "deck.wood = [1, 1, 1, 1, 1, 1]",
    'flags.sun_start = "noon"',
    "flags.partial_actions = 1",
    "flags.power_cap = 15",
    "flags.season_rounds = [5, 4, 3, 3]",
    "flags = {supply = [9, 9, 9, 9, 9], partial_actions = false}",
    'flags = {supply = [9, 9, 9, 9, 9], lake_growth = "mandatory"}',
    'flags.source.sun_start = "printed"',
)
EVERGREEN_MISTAKES = {
    **{f"`{overlay}`": overlay for overlay in _REFUSED},
    "seven rows `MFGRWNN`": f"board.rows = {['MFGRWNN'] * ROWS}",
    "no flowers on any card": _BARREN,
    "three types of cards are missing": _THIN,
}


EVERGREEN_BLOCKS: Mapping[str, Callable[[], str]] = {
    "keys": partial(keys_table, COMPONENTS),
    "mistakes": partial(mistakes_table, COMPONENTS, EVERGREEN_MISTAKES),
}
"""The generated parts of docs/evergreen/components.md, by the name of their markers."""
