"""Recipes: all numbers of a training run, in TOML files, and the cost of such a run.

- `recipe`: `Recipe`, which reads and checks them.
- `noise_rates`: the names and rates of noise, as a recipe has them.
- `pace`: batches and epochs for the size of a text, the steps of a run and its warm-up.
- `cost`: estimates of parameters, memory and time.
"""
