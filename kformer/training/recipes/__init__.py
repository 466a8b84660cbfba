"""Recipes: all numbers of a training run, in TOML files, and the cost of such a run.

- `recipe`: `Recipe`, which reads and checks them.
- `cost`: estimates of parameters, memory and time.
"""
