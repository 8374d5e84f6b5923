"""Speed, measured against the field's own environments. `petrichor bench` runs them all."""
