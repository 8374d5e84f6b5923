"""Playing a game oneself: the session, and the terminal around it."""
