"""Where the instrument lies, and the environment in which its workers find it before anything else.

Refuses to take the subject's packages for its own: its folder comes first on the path.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["INSTRUMENT", "worker_environment"]

INSTRUMENT = str(Path(__file__).resolve().parents[2])
"""The folder that holds the packages of the instrument: harness, kpis, seams."""


def worker_environment(seed: int, *, instrument: str = INSTRUMENT) -> dict[str, str]:
    """The parent's environment with the instrument first on the path and the hash seed set.

    The path comes by PYTHONPATH and not by -I or -E, which would drop the hash seed with it.
    """
    environment = dict(os.environ)
    inherited = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([instrument, inherited] if inherited else [instrument])
    environment["PYTHONHASHSEED"] = str(seed)
    if sys.flags.utf8_mode:
        environment.setdefault("PYTHONUTF8", "1")  # `python -X utf8` is the parent's alone
    for name in ("PYTHONSAFEPATH", "PYTHONPYCACHEPREFIX"):  # -P is given; compiled files lie beside their sources
        environment.pop(name, None)
    return environment
