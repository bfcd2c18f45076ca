"""A machine as the doctor sees it, with nothing to say of it; and an interpreter that starts as fast as it should."""

from __future__ import annotations

from typing import Any

from harness.jobs.startup import StartUp

LINUX = {"system": "Linux", "cores": 4, "clocksource": "tsc"}
QUIET: dict[str, Any] = {
    "affinity": [0, 1, 2, 3],
    "aslr": 2,
    "container": False,
    "governor": "performance",
    "load_average": [0.25, 0.5, 0.75],
    "running": 0,
    "smt": False,
    "steal": 0.0,
    "swap_used": 0,
    "temperature": 45.0,
    "turbo": False,
    "virtual_machine": False,
}

BARE = StartUp("python -c pass", "python -c pass", None, (10_000_000,), site_ns=2e6)
