"""A project's first gate: the table, a first KPI with its probe for one named function, and a workflow to copy.

Nothing that exists is overwritten: every file is checked first and all are written, or none. The function is looked
for in the source and never imported here; what it needs to be called is read from its signature. It is called in two
processes of its own, to see whether its result can be checked.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.jobs.init_args import InitError, require_fit
from harness.record.store import write_atomic
from harness.report.inert import inert
from harness.templates import first, trial

__all__ = ["Check", "InitError", "Target", "check_for", "files_for", "find_target", "require_absent", "write_files"]

_LIMIT_S = 20
"""Seconds that two calls may take: what is slower is no slice to call thousands of times."""

_WRITTEN = ("bench/__init__.py", "bench/probes.py", "bench/kpis/first.toml", ".github/workflows/gate.yml")


@dataclass(frozen=True, slots=True)
class Target:
    """The function to measure: where it is, whether it is a coroutine function, and the arguments to give it."""

    module: str
    name: str
    asynchronous: bool
    arguments: str

    @property
    def kpi(self) -> str:
        """The id of the first KPI."""
        return f"{self.name.lower().strip('_')}_ns"


@dataclass(frozen=True, slots=True)
class Check:
    """An expression over ``result`` that proves the work done, and what it compares with; or why there is none."""

    expression: str | None
    why: str


def find_target(root: Path, reference: str, arguments: str) -> Target:
    """The function that ``package.module:function`` names in the tree at ``root``.

    Raises:
        InitError: there is none, it is no plain function, or ``arguments`` do not fit its signature.
    """
    module, _, name = reference.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise InitError(f"{reference!r} names no function; write package.module:function, as in: init shop.cart:total")
    inside = Path(*module.split("."))
    places = [base / file for base in (root / "src", root) for file in (f"{inside}.py", inside / "__init__.py")]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise InitError(f"There is no module {module} in {root.name}/ or its src/. Look with: ls {inside.parent}")
    try:
        tree = ast.parse(found.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        raise InitError(
            f"{found.relative_to(root)} cannot be parsed: {error}. Mend it, then run init again."
        ) from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            require_fit(node, arguments, reference)
            return Target(module, name, isinstance(node, ast.AsyncFunctionDef), arguments)
    raise InitError(f"{found.relative_to(root)} defines no function {name}. Look with: grep -n 'def ' {found.name}")


def check_for(root: Path, target: Target) -> Check:
    """Call the function twice in each of two processes with different hash seeds, and see what can be checked.

    A short plain result is held as it is; what is only equal to itself is compared with another call, where that
    needs no event loop.
    """
    answers = [_tried(root, target, seed) for seed in ("1", "2")]
    failed = next((answer["failed"] for answer in answers if "failed" in answer), None)
    if failed is not None:
        return Check(None, f"a call failed when this was written ({inert(failed)})")
    shown = {text for answer in answers for text in answer["shown"]}
    if shown == {"None"}:
        return Check(None, f"{target.name} returns None, so look at what it leaves behind")
    if len(shown) == 1 and answers[0]["plain"]:
        return Check(f"result == {shown.pop()}", "what was returned when this was written: change it with the function")
    if not all(answer["equal"] for answer in answers):
        return Check(None, "two calls with the same arguments returned what is not equal")
    if target.asynchronous:
        return Check(None, "the result of another call would have to be awaited")
    return Check(
        f"result == {target.name}({target.arguments})", "what one more call returns: make it stricter if you can"
    )


def _tried(root: Path, target: Target, seed: str) -> dict[str, Any]:
    path = os.pathsep.join(map(str, (root / "src", root)))
    with tempfile.TemporaryDirectory(prefix="loopladder-init-") as folder:
        out = Path(folder) / "answer.json"
        words = [path, target.module, target.name, target.arguments, str(out)]
        try:
            subprocess.run(
                [sys.executable, "-P", "-B", trial.__file__, *words],
                cwd=root,
                env={**os.environ, "PYTHONHASHSEED": seed},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_LIMIT_S,
                check=False,
            )
            answer: dict[str, Any] = json.loads(out.read_bytes())
        except subprocess.TimeoutExpired:
            return {"failed": f"it did not end within {_LIMIT_S} s"}
        except (OSError, ValueError):
            return {"failed": "its process ended before it answered"}
    return answer


def files_for(target: Target, check: Check) -> dict[str, str]:
    """Every file to write, by its path below the root; ``pyproject.toml`` holds what is appended to it."""
    probes = first.probes_text(
        target.module,
        target.name,
        target.arguments,
        asynchronous=target.asynchronous,
        check=check.expression,
        why=check.why,
    )
    return {
        "bench/__init__.py": "",
        "bench/probes.py": probes,
        "bench/kpis/first.toml": first.row_text(target.module, target.name, target.kpi),
        ".github/workflows/gate.yml": first.workflow_text(),
        "pyproject.toml": first.table_text(target.module),
    }


def require_absent(root: Path) -> None:
    """Refuse to begin where a file that would be written exists.

    Raises:
        InitError: one does.
    """
    there = [name for name in _WRITTEN if (root / name).exists()]
    if there:
        raise InitError(f"{', '.join(there)} exists already and is left as it is. Move it away, then run init again.")


def write_files(root: Path, files: dict[str, str]) -> list[str]:
    """Write ``files`` below ``root``; pyproject.toml is appended to. Returns what was written.

    Raises:
        InitError: one of them exists already; nothing was written.
        StoreError: a file cannot be written.
    """
    require_absent(root)
    pyproject = root / "pyproject.toml"
    text = pyproject.read_text(encoding="utf-8") if pyproject.is_file() else ""
    for name, content in files.items():
        target = root / name
        blob = (text + content if text else content.lstrip()) if name == "pyproject.toml" else content
        write_atomic(target, blob.encode("utf-8"), within=root)
    return list(files)
