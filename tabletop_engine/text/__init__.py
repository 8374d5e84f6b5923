"""Games in words: what is asked, what happened, and how a terminal shows it."""
