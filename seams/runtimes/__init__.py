"""Runtimes behind the contract: the reference runtime, and adapters for other people's."""
