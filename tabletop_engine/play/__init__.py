"""Games that are played: one by one, many at once, and by agents."""
