"""The old place of `tabletop_agents.search.guided_search`, until version 0.4.0."""

from __future__ import annotations

import warnings

from tabletop_agents.search.guided_search import DEFAULT_SETTINGS as DEFAULT_SETTINGS
from tabletop_agents.search.guided_search import GuidedSearchAgent as GuidedSearchAgent

warnings.warn(
    f"{__name__} is tabletop_agents.search.guided_search since 0.3.0; the old name will be gone in 0.4.0",
    DeprecationWarning,
    stacklevel=2,
)
