"""Saved games and positions: bytes with a header that says what they are of, their content, and a checksum of both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.errors import StateError
from tabletop_engine.game import Config


class Header(NamedTuple):
    """What saved bytes are of. text: their first part, magic and length included. facts: what it says."""

    text: bytes
    facts: dict[str, Any]


class Format(NamedTuple):
    """A kind of saved bytes: magic, length of the header's JSON (4 bytes), JSON, content, checksum.

    magic: the first bytes. what: the bytes in words, and who writes them. checksum: of all bytes before it; `size`: its
    length in bytes.
    """

    magic: bytes
    what: str
    checksum: Callable[[bytes], bytes]
    size: int

    def header(self, config: Config, tables: np.ndarray, **more: Any) -> Header:
        """The header for games of a configuration that are played with these printed numbers, (1,)."""
        game = config.game
        facts = {
            "game": game.name,
            "state_version": game.state_version,
            "state_layout": game.layout_hash,
            "components": hashlib.sha256(tables.tobytes()).hexdigest()[:16],
            **{key: value for key, value in asdict(config).items() if key != "components"},
            **more,
        }
        text = json.dumps(facts, sort_keys=True).encode()
        return Header(self.magic + len(text).to_bytes(4, "little") + text, facts)

    def sealed(self, body: bytes) -> bytes:
        """The text of a header and the content, with their checksum: bytes for `unpack`."""
        return body + self.checksum(body)

    def unpack(self, data: bytes, header: Header, free: Collection[str] = ()) -> tuple[dict[str, Any], bytes]:
        """The facts of the header and the content of bytes that `sealed` gave for an equal header.

        The facts named in `free` may differ. Raises StateError for other bytes.
        """
        body = data[: -self.size]
        intact = self.checksum(body) == data[-self.size :]
        if intact and body.startswith(header.text):
            return header.facts, body[len(header.text) :]
        if not data.startswith(self.magic):
            raise StateError(f"these bytes are not {self.what} wrote")
        if not intact:
            raise StateError("the saved data is damaged: its checksum does not match (cut off, or changed)")
        start = len(self.magic) + 4
        end = start + int.from_bytes(body[start - 4 : start], "little")
        try:
            there = json.loads(body[start:end])
        except (ValueError, RecursionError):
            raise StateError("the saved data is damaged: its header is not JSON") from None
        here = json.loads(json.dumps(header.facts))  # with lists for tuples
        if not isinstance(there, dict) or there.keys() != here.keys():
            raise StateError(f"the saved data is of another version: its header is not {sorted(here)}")
        for key, value in here.items():
            if key not in free and there[key] != value:
                raise StateError(f"the saved data has {key} {there[key]!r:.80}; here it is {value!r}")
        return there, body[end:]


def as_bytes(data: Any) -> bytes:
    """The data as bytes. Raises StateError for anything but bytes, a bytearray or a memoryview."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise StateError(f"saved data is bytes, not {type(data).__name__}")
    return bytes(data)
