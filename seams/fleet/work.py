"""The work of one worker, as a program of its own: ``python work.py SEED STEPS`` prints where the steps lead.

It is started as a file and imports nothing of ours, so that what is spawned is an interpreter and the work.
"""

from __future__ import annotations

import sys

__all__ = ["stepped"]


def stepped(seed: int, steps: int) -> int:
    """``steps`` steps of the generator that ``seams.contract.fleet_projection`` names, one after the other."""
    for _ in range(steps):
        seed = (1_103_515_245 * seed + 12_345) % 2_147_483_648
    return seed


if __name__ == "__main__":
    print(stepped(*map(int, sys.argv[1:])))  # noqa: T201 - the answer of the program
