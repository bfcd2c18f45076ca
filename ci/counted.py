"""What the tree counts now at one point: the number that an entry of ``ci/accepted.toml`` bounds.

A gate's file has the words for a count that got worse, and a ratio; the number itself is had where it is made, from one
more run. Decides nothing, and takes no words apart.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ci.accepted import Count

__all__ = ["counted"]


def counted(root: Path, kpi: str, params: Mapping[str, str]) -> Count | None:
    """The number, or the histogram, of ``kpi`` at ``params`` in the project at ``root``; None where there is none."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        words = ["run", "--kpi", kpi, "--quick", "--json", str(file)]
        for key, value in params.items():
            words += ["--param", f"{key}={value}"]
        command = [sys.executable, "-m", "harness", *words]
        done = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
        if not file.is_file():
            print(done.stderr, file=sys.stderr, end="")
            return None
        readings = json.loads(file.read_bytes())["readings"]
    for reading in readings:
        if (reading["kpi"], reading["params"], reading["leg"]) == (kpi, dict(params), "main"):
            found: Count | None = reading["histogram"] if reading["estimand"] == "histogram" else reading["value"]
            return found
    return None
