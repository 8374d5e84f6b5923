"""Games in a browser: a server with one page for all games (the extra `web`)."""
