"""Rows of a user's own TOML, and the names that tests of the command line share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]

Command = Callable[..., subprocess.CompletedProcess[str]]

Said = tuple[int, str, str]
"""Exit code, standard output, standard error."""

SEAM = '[seam."own/turn"]\ntitle = "A turn of our own"\n\n'


def row(name: str, probe: str, *, estimand: str = "call-mean", unit: str = "ns") -> str:
    """One row of a user's TOML."""
    gate = "timed" if estimand.startswith("call") else "exact"
    pairs = {
        "layer": "turn",
        "seam": "own/turn",
        "probe": probe,
        "question": "What?",
        "fence": "A test.",
        "unit": unit,
        "direction": "lower",
        "estimand": estimand,
        "gate": gate,
        "target_status": "standing",
    }
    return f"[kpi.{name}]\n" + "".join(f'{key} = "{value}"\n' for key, value in pairs.items()) + "\n"
