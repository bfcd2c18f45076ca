"""Runners that check the project against case files: `python -m tests.conformance.<name> FILE ...`."""
