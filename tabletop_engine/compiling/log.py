"""The logger `tabletop`, which says what is compiled: on stderr, unless the program has handlers of its own.

`logging.getLogger("tabletop").setLevel("WARNING")` leaves out the progress, and so does `TABLETOP_LOG=warning` in the
environment. The levels are INFO (default), WARNING and ERROR.
"""

from __future__ import annotations

import logging
import os
import sys

log = logging.getLogger("tabletop")


class _ToStderr(logging.Handler):
    """Writes to the stderr of the moment. On a terminal the next line overwrites one of progress."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is None or logging.root.handlers:
            return
        text, end = f"tabletop: {record.getMessage()}", "\n"
        if sys.stderr.isatty():
            text, end = f"\r{text:<100}", "" if getattr(record, "is_progress", False) else "\n"
        print(text, end=end, file=sys.stderr, flush=True)


def log_progress(text: str) -> None:
    """Log what goes on until the next record."""
    log.info(text, extra={"is_progress": True})


log.addHandler(_ToStderr())
_level = os.environ.get("TABLETOP_LOG", "").upper()
log.setLevel(_level if _level in logging.getLevelNamesMapping() else "INFO")
