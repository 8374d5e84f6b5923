"""Speed, compared with well-known environments. `petrichor bench` and `evergreen bench` run them all."""
