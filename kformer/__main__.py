"""`python -m kformer` is the `kformer` command."""

from kformer.cli import main

main()
