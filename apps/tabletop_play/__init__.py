"""Games that people play: the session, and the terminal around it."""
