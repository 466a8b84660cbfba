"""Parallel text to train on, runs to compare, and training in processes of its own."""
