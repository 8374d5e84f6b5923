"""The frame of everything that is measured: games that are played, kept and gone on with."""
