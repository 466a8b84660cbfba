"""Engines for the models that Mozilla published for Firefox, beside each other."""
