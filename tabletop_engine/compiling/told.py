"""What is told while rules are compiled: records of the logger `tabletop`, on stderr unless the program logs itself.

`logging.getLogger("tabletop").setLevel("WARNING")` leaves out the progress, and so does `TABLETOP_LOG=warning` in the
environment.
"""

from __future__ import annotations

import logging
import os
import sys

LEVEL_VARIABLE = "TABLETOP_LOG"
"""The environment variable with the least level that is told: INFO (default), WARNING or ERROR."""

log = logging.getLogger("tabletop")


class _ToStderr(logging.Handler):
    """Writes to the stderr of the moment. On a terminal the next line overwrites one of progress."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is None or logging.root.handlers:  # the program has handlers of its own
            return
        text, end = f"tabletop: {record.getMessage()}", "\n"
        if sys.stderr.isatty():
            text, end = f"\r{text:<100}", "" if getattr(record, "continues_answer", False) else "\n"
        print(text, end=end, file=sys.stderr, flush=True)


def tell_progress(text: str) -> None:
    """Tell what goes on until the next record."""
    log.info(text, extra={"continues_answer": True})


log.addHandler(_ToStderr())
_level = os.environ.get(LEVEL_VARIABLE, "").upper()
log.setLevel(_level if _level in logging.getLevelNamesMapping() else "INFO")
