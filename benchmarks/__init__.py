"""Speed, measured against the field's own environments. `petrichor bench` and `evergreen bench` run them all."""
