"""Random models against oracles: `python -m gecc.debug.smith --count 100 --seed 0`."""
