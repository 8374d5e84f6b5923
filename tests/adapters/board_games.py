"""The two lines that verifiers' users write; see tabletop_text/verifiers_taskset.py."""

from tabletop_text.verifiers_taskset import *  # noqa: F403
from tabletop_text.verifiers_taskset import __all__  # noqa: F401
