"""Compares the splitters of sentences of Python and of browsers."""
