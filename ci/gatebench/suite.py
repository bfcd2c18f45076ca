"""How long a gate of forty timed points takes, and what it says of an edit that changes nothing.

    python ci/gatebench/suite.py --edit none-slower|three [--budget 3m]

Lays out a repository of its own in a temporary folder: ``seams/``, ``kpis/`` and ``harness/`` as HEAD has them and the
project in ``ci/gatebench/suite/``, one commit. Then the edit is made and the gate asked. A project in a folder below
this repository could not have the repository's packages as its subject, since a subject lies inside its project's root.
Refuses to measure what is not committed, but for the suite itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from harness.subject.committed import check_out  # noqa: E402
from harness.subject.edits import edited  # noqa: E402
from harness.subject.git import find  # noqa: E402
from harness.subject.revisions import resolve  # noqa: E402
from harness.subject.scratch import scratch  # noqa: E402

PROJECT = ROOT / "ci" / "gatebench" / "suite"

COPIED = ("seams", "kpis", "harness")

EDITS = {"none-slower": "seams/**/*.py", "three": "seams/turn/view.py"}
"""The modules that get one sentence more in their docstring: all that any point touches, or one that three touch."""


def kpi_ids() -> list[str]:
    """The KPIs of the suite."""
    return list(tomllib.loads((PROJECT / "bench" / "kpis.toml").read_text(encoding="utf-8"))["kpi"])


def lay_out(folder: Path) -> Path:
    """A repository in ``folder`` with the suite and the packages that it measures, as one commit."""
    tree, made = folder / "tree", folder / "suite"
    tree.mkdir()
    check_out(find(ROOT), resolve(ROOT, "HEAD").commit, tree, folder)
    shutil.copytree(PROJECT, made, ignore=shutil.ignore_patterns("__pycache__", ".harness"))
    for name in COPIED:
        shutil.move(tree / name, made / name)
    shutil.rmtree(tree)
    (made / ".gitignore").write_text(".harness/\n__pycache__/\n", encoding="ascii")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "suite"]):
        _git(made, *words)
    return made


def _git(root: Path, *words: str) -> None:
    """Run git with no configuration but this: it must work where nobody has told git who they are."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment = {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    settings = ["-c", "user.name=suite", "-c", "user.email=suite@localhost", "-c", "gc.auto=0"]
    subprocess.run(["git", *settings, *words], cwd=root, env=environment, check=True)


def edit(root: Path, name: str) -> int:
    """Make the edit called ``name`` in the tree at ``root``; returns how many modules it changed."""
    modules = sorted(root.glob(EDITS[name]))
    for module in modules:
        module.write_text(edited(module.read_text(encoding="utf-8"), "docstring"), encoding="utf-8")
    return len(modules)


def gate(root: Path, budget: str) -> tuple[int, float, dict[str, Any] | None]:
    """(exit code, seconds, the gate file or None) of one gate over every point of the suite."""
    file = root.parent / "gate.json"
    words = ["--against", "HEAD", "--params", "all", "--budget", budget, "--json", str(file), "--kpi", *kpi_ids()]
    began = time.monotonic()
    code = subprocess.run([sys.executable, "-m", "harness", "gate", *words], cwd=root, check=False).returncode
    seconds = time.monotonic() - began
    return code, seconds, json.loads(file.read_bytes()) if file.is_file() else None


def main(argv: Sequence[str]) -> int:
    """Lay out, edit, gate, and say what came of it; the exit code is the gate's."""
    parser = argparse.ArgumentParser(description="Time a gate of forty points over an edit that changes nothing.")
    parser.add_argument("--edit", choices=list(EDITS), required=True)
    parser.add_argument("--budget", default="3m", help="as of loopladder gate")
    given = parser.parse_args(argv)
    with scratch() as folder:
        root = lay_out(folder)
        modules = edit(root, given.edit)
        before = os.getloadavg()[0]
        code, seconds, file = gate(root, given.budget)
    states = Counter(row["state"] for row in file["rows"]) if file else Counter[str]()
    pairs = sum(row["pairs"] for row in file["rows"]) if file else 0
    shown = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "no row"
    print(f"{given.edit}: {modules} modules edited, {states.total()} points: {shown}; {pairs} pairs.")
    load = f"{before:.1f} to {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"The gate took {seconds:.0f} s and ended with {code}; one-minute load {load}.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
