"""What is measured, as opposed to tested: nothing here runs in `make test`."""
