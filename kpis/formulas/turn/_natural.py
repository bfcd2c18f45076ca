"""What the closed forms of this floor ask of their arguments."""

from __future__ import annotations

__all__ = ["natural"]


def natural(**named: float) -> None:
    """Raise ValueError where one of the values is below zero, naming it."""
    for name, value in named.items():
        if value < 0:
            raise ValueError(f"{name} is {value}; it counts something, so it is 0 or more.")
