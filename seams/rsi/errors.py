"""The one error of the loop: it cannot begin, or cannot go on, and one sentence says why and what to type next."""

__all__ = ["LoopError"]


class LoopError(ValueError):
    """Nothing was lost, and nothing was left behind."""
