"""Recipes: all numbers of a training run, in TOML files, and what such a run costs.

- `recipe`: `Recipe`, which reads and checks them.
- `cost`: parameters, memory and time that a recipe needs.
"""
