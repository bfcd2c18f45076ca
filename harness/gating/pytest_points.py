"""The benchmarks of a pytest suite as points of a gate: a test is a point, and its node id is the name.

Collected by pytest itself in a fresh process on either side's tree. The head's tests measure both sides; those of the
base, as it was before the overlay, are only listed, to name what is gone. Collects and names; measures nothing.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.gating.deadline import NEVER, Deadline
from harness.gating.foresight import what_fits
from harness.gating.gone import Gone, gone_test, uncollected
from harness.gating.points import GatePoints
from harness.jobs.plan import PlannedPoint
from harness.judge.rule import CONFIRM_PAIRS, SCREEN_PAIRS
from harness.measure.answer import Answer
from harness.measure.instrument import INSTRUMENT
from harness.measure.launch import launch
from harness.measure.pytest_fixture import PROBE, RUNTIME
from harness.project import Project
from harness.report.naming import typed
from harness.report.progress import duration
from harness.subject import SubjectError
from harness.subject.build import build
from harness.subject.trees import Sides
from harness.subject.under_test import search_path
from kpis.registry import Catalog
from kpis.terms.kpi import Direction, Estimand, Gate, Kpi, Layer, Seam, Status
from kpis.terms.quantity import Unit

__all__ = ["CATALOG", "Suite", "point_of"]

_SEAM = Seam("pytest/benchmark", "what a test hands to its benchmark fixture")

CATALOG = Catalog((), {_SEAM.name: _SEAM})
"""No KPI and one seam: where tests attach."""

_CONFIGURATION = ".loopladder-pytest"
"""The head's pytest configuration, copied under this name beside where it was found, in each tree."""

_TWO_WORKERS_S = 0.15
"""What a pair takes besides pytest's own start: two interpreters, and a dozen values of 5 to 10 ms."""

_EXIT_NOTHING, _EXIT_USAGE = 5, 4


def point_of(node: str) -> PlannedPoint:
    """The point of one test."""
    kpi = Kpi(
        id=node,
        layer=Layer.SYSCALL,  # the ladder has no floor for tests; no row of a gate shows it
        seam=_SEAM.name,
        question=f"Does {node} take longer?",
        fence="What the test hands to benchmark, with its own arguments.",
        unit=Unit.NS,
        direction=Direction.LOWER,
        estimand=Estimand.CALL_MEAN,
        gate=Gate.TIMED,
        target_status=Status.STANDING,
        origin="pytest",
    )
    return PlannedPoint(kpi, {}, ("pytest", RUNTIME), None, PROBE)


@dataclass(slots=True)
class Suite:
    """The tests at ``path`` (a folder, a file or a node id, relative to the root) on both sides.

    ``say`` takes sentences for the user, as they come. Collecting, too, ends at the ``deadline``.

    Raises:
        SubjectError: of both ways to collect: there is no pytest, or the budget ended before the tests were known.
    """

    project: Project
    sides: Sides
    path: str
    scratch: Path
    limit: float
    say: Callable[[str], None]
    deadline: Deadline = NEVER
    _configuration: str | None = None
    _unlisted: str | None = None
    _of_base: dict[str, bytes] = field(default_factory=dict)

    @property
    def tests(self) -> Path:
        """The file or folder of the tests, relative to the root."""
        return Path(self.path.partition("::")[0])

    def of_base(self) -> list[str]:
        """Node ids of the base's own tests. To be called before the overlay; builds the base if it has to be.

        What cannot be collected leaves a note, and the gate open: what is gone can then not be named.
        """
        root = self.sides.base[0]
        self._of_base = _sources(root, self.tests)
        if not (root / self.tests).exists():
            return []
        if self.project.build:
            build(self.project.build, root)
        answer = self._ask(root)
        said = _fault(answer)
        if said is not None:
            self.say(f"The base's own tests cannot be collected, so none that is gone is named: {said}")
            self._unlisted = said
            return []
        return list(answer.result["nodes"])

    def gone(self, before: list[str], now: Collection[str]) -> list[Gone]:
        """What the base has and the head has not, of the node ids of both; or that this is not known."""
        if self._unlisted is not None:
            return [uncollected(self.path, self._unlisted)]
        return [gone_test(node) for node in before if node not in now]

    def hidden(self, node: str) -> str | None:
        """Why a test that is skipped on both sides is not simply left out; None where its files are as on the base.

        The head's tests measure both sides, so that a skip of the head's is seen on both: one mark more would hide a
        regression.
        """
        own = node.partition("::")[0]
        now = _sources(self.sides.head[0], self.tests)
        moved = [name for name in sorted({*now, *self._of_base}) if now.get(name) != self._of_base.get(name)]
        seen = [name for name in moved if name == own or Path(name).name == "conftest.py"]
        if not seen:
            return None
        return f"the head skips it, and {seen[0]} is not what it is on the base: whether it got slower is not known"

    def of_head(self) -> list[str]:
        """Node ids of the head's tests, after the overlay; its pytest configuration is laid out in every tree.

        Raises:
            SubjectError: pytest cannot collect them.
        """
        root = self.sides.head[0]
        answer = self._ask(root)
        said = _fault(answer)
        if said is not None:
            raise SubjectError(
                f"pytest cannot collect the tests at {self.path}: {said} "
                f"Look with: python -m pytest --collect-only {self.path}"
            )
        self._configuration = self._share(answer.result["configuration"])
        nodes = list(dict.fromkeys(answer.result["nodes"]))
        self._tell(nodes, answer)
        return nodes

    def extra(self, node: str) -> Mapping[str, Any]:
        """What the job of a test says besides."""
        return {"pytest": node, "configuration": self._configuration, "scratch": str(self.scratch)}

    def points(self, nodes: list[str]) -> GatePoints:
        """The points of a gate over these tests."""
        return GatePoints(tuple(point_of(node) for node in nodes), (), (), ())

    def _ask(self, root: Path) -> Answer:
        limit = max(self.deadline.left(self.limit), 0.0)
        job = {
            "task": "collect",
            "pytest": self.path,
            "path": [str(place) for place in search_path(root)],
            "configuration": None,
            "scratch": str(self.scratch),
            "limit": limit,
        }
        answer = launch(job, seed=1, limit=limit, folder=self.scratch, cwd=root, instrument=INSTRUMENT)
        why = answer.undefined[0] if answer.undefined is not None else None
        if why == "not-installed":
            python = typed(sys.executable)
            raise SubjectError(
                f"There is no pytest beside loopladder, in {python}. Type: {python} -m pip install pytest"
            )
        if why == "timeout" and self.deadline.over():
            raise SubjectError(
                f"The budget of {self.deadline.budget_s:g} s ended before pytest had collected the tests at "
                f"{self.path}, so nothing could be compared. Give the same command with more: --budget 3m"
            )
        return answer

    def _share(self, found: str | None) -> str:
        """Lay the head's configuration out in all trees; its name relative to the root.

        A copy under another name, because pyproject.toml itself is the subject's and stays as each side has it. With
        none, an empty one, so that no side looks for one further up.
        """
        head = self.sides.head[0]
        file = Path(found) if found is not None else None
        if file is not None and not file.is_relative_to(self.sides.folder):
            return str(file)
        folder = os.path.relpath(file.parent, head) if file is not None else "."
        text = file.read_bytes() if file is not None else b"[pytest]\n"
        name = os.path.normpath(f"{folder}/{_CONFIGURATION}{file.suffix if file is not None else '.ini'}")
        for root in self.sides.roots:
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
        return name

    def _tell(self, nodes: list[str], answer: Answer) -> None:
        if not nodes:
            self.say(f"No test at {self.path} uses the fixture benchmark: there is nothing to compare.")
            return
        count = len(nodes)
        pair = answer.seconds + _TWO_WORKERS_S
        # Tried once on either side, one after the other; then the pairs of the screen.
        screens = count * (2 * answer.seconds + SCREEN_PAIRS * pair)
        suspect = CONFIRM_PAIRS * pair
        what = "benchmark takes" if count == 1 else "benchmarks take"
        budget = self.deadline.budget_s
        self.say(
            f"A pair lasts about {pair:.1f} s here, so {count} {what} up to {duration(screens)} if nothing moved, and "
            f"each suspect {duration(suspect)} more. "
            + (
                "--budget 3m ends it where it is by then."
                if budget is None
                else what_fits(count, screens, suspect, budget, self.deadline.spent())
            )
        )
        if ignored := answer.result["ignored"]:
            names = ", ".join(ignored)
            self.say(f"Marks say {names}: how to measure is the gate's to say, so this is not followed.")


def _sources(root: Path, tests: Path) -> dict[str, bytes]:
    """The digest of every Python file of the tests and of the conftest files above them, by path."""
    place = root / tests
    files = [*place.rglob("*.py")] if place.is_dir() else [place]
    files += [parent / "conftest.py" for parent in place.parents if parent.is_relative_to(root)]
    there = [file for file in files if file.is_file()]
    return {file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).digest() for file in there}


def _fault(answer: Answer) -> str | None:
    """Why tests could not be collected; None where they were, be it none."""
    if answer.undefined is not None:
        return answer.undefined[1]
    if answer.result["errors"]:
        return str(answer.result["errors"][0]).rstrip(".") + "."
    code = answer.result["code"]
    if code in (0, _EXIT_NOTHING):
        return None
    said = [line for line in answer.output.splitlines() if line.startswith(("ERROR:", "INTERNALERROR>"))]
    if code == _EXIT_USAGE and said and "not found" in said[0]:
        return said[0].removeprefix("ERROR:").strip() + "."
    return f"it ended with exit status {code}" + (f" ({said[-1]})." if said else ".")
