"""Our plug-in for pytest, in the place of pytest-benchmark's: it takes that one's options, marks and hooks.

A suite's configuration is used as it stands, so whatever pytest-benchmark understands is understood and, where it says
how to measure or to report, not followed. :class:`Collector` lists the tests that use ``benchmark``; :class:`Runner`
runs one of them and says why it could not be measured. Neither reads a clock.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.measure import pytest_hooks
from harness.measure.clock import WorkNotDoneError
from harness.measure.opening import Refused
from harness.measure.pytest_fixture import Benchmark, Converse

__all__ = ["Collector", "Runner"]

_FLAGS = ("disable-gc", "skip", "disable", "enable", "only", "autosave", "save-data", "verbose", "quiet")
_VALUES = (
    *("min-time", "max-time", "min-rounds", "precision", "confidence", "timer", "calibration-precision"),
    *("warmup-iterations", "save", "json", "cprofile", "cprofile-loops", "cprofile-top", "storage"),
    *("sort", "group-by", "columns", "name", "time-unit"),
)
_MAYBE_VALUES = ("warmup", "compare", "histogram", "csv", "netrc", "cprofile-dump")

_ALONE = {"numprocesses": 0, "dist": "no", "tx": [], "reruns": 0, "count": 1}
"""Options of xdist, rerunfailures and repeat under which a test would run elsewhere or again: it runs here, once."""

_FOLLOWED = frozenset({"group", "extra_info"})
"""What a mark ``benchmark`` says that is taken over; the rest says how to measure."""


def _last_line(report: pytest.CollectReport) -> str:
    lines = [line.removeprefix("E").strip() for line in report.longreprtext.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


class _StandIn:
    """What pytest-benchmark's plug-in is to a suite's configuration."""

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        """Take every option of pytest-benchmark."""
        group = parser.getgroup("benchmark")
        for name in _FLAGS:
            group.addoption(f"--benchmark-{name}", action="store_true", help="taken, and not followed by the gate")
        for name in _VALUES:
            group.addoption(f"--benchmark-{name}", metavar="X", help="likewise")
        for name in _MAYBE_VALUES:
            group.addoption(f"--benchmark-{name}", metavar="X", nargs="?", help="likewise")
        group.addoption("--benchmark-compare-fail", metavar="X", nargs="+", help="likewise")

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        """Know the hooks of pytest-benchmark."""
        pluginmanager.add_hookspecs(pytest_hooks)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> Generator[None, Any, None]:
        """Keep other plug-ins from running the test elsewhere or again."""
        for name, value in _ALONE.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        yield

    def pytest_configure(self, config: pytest.Config) -> None:
        """Know the mark, for suites with --strict-markers."""
        config.addinivalue_line("markers", "benchmark: how pytest-benchmark is to measure the test")


class Collector(_StandIn):
    """Lists the tests that use ``benchmark``, and what went wrong on the way."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.errors: list[str] = []
        self.ignored: set[str] = set()
        self.configuration: str | None = None

    @pytest.fixture
    def benchmark(self) -> None:
        """Declared only: nothing runs while tests are collected."""

    @pytest.fixture
    def benchmark_weave(self, benchmark: None) -> None:
        """Likewise."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the last line of what a file that cannot be imported says."""
        if report.failed:
            self.errors.append(f"{report.nodeid or 'conftest.py'}: {_last_line(report)}")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the benchmarks."""
        self.configuration = str(config.inipath) if config.inipath is not None else None
        items[:] = [item for item in items if "benchmark" in getattr(item, "fixturenames", ())]
        self.nodes = [item.nodeid for item in items]
        for item in items:
            for mark in item.iter_markers("benchmark"):
                self.ignored |= mark.kwargs.keys() - _FOLLOWED


class Runner(_StandIn):
    """Runs the test ``node`` alone; ``converse`` measures what it hands over.

    ``failure`` is why the test did not pass, as the first of its phases told; None where it passed.
    """

    def __init__(self, node: str, root: Path, converse: Converse) -> None:
        self.failure: Refused | None = None
        self.handed: Benchmark | None = None
        self.ran = False
        self._node, self._root, self._converse = node, root, converse

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> Iterator[Benchmark]:
        """The fixture itself."""
        mark = request.node.get_closest_marker("benchmark")
        self.handed = Benchmark(request.node, mark.kwargs if mark is not None else {}, self._converse)
        yield self.handed
        self.handed.unweave()

    @pytest.fixture
    def benchmark_weave(self, benchmark: Benchmark) -> Any:
        """What weaves the fixture into the code under test."""
        return benchmark.weave

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the one test, once, whatever else made more of it."""
        items[:] = [item for item in items if item.nodeid == self._node][:1]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported."""
        if report.failed and self.failure is None:
            self.failure = Refused("error", f"pytest cannot collect it: {_last_line(report)}.")

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """What ended pytest itself, in the middle of a phase, which then has no report."""
        if self.failure is None:
            error = excinfo.value
            said = next(iter(str(error).strip().splitlines()), "")[:500] or "no reason given"
            named = f"pytest.exit ({said})" if isinstance(error, pytest.exit.Exception) else type(error).__name__
            self.failure = Refused("error", f"{named} ended pytest before the test did{self._place(excinfo)}.")

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self) -> bool:
        """No time limit of pytest-timeout's: the test waits for the other side, and the gate has a limit of its own."""
        return True

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Keep why the first phase that did not pass did not."""
        outcome = yield
        report = outcome.get_result()
        self.ran = True
        if not report.passed and self.failure is None:
            self.failure = self._why(report, call.excinfo)

    def _why(self, report: pytest.TestReport, found: pytest.ExceptionInfo[BaseException] | None) -> Refused:
        if hasattr(report, "wasxfail"):
            return Refused("work-not-done", f"The test is marked to fail ({report.wasxfail or 'no reason given'}).")
        if report.skipped:
            said = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            return Refused("not-offered", f"The test is skipped ({said.removeprefix('Skipped: ')}).")
        if found is None:
            return Refused("error", f"{report.longreprtext.strip()[:500]}.")
        error = found.value
        if isinstance(error, Refused):
            return error
        if isinstance(error, WorkNotDoneError):
            return Refused("work-not-done", f"The expected work was not done: {error}.")
        said = next(iter(str(error).strip().splitlines()), "")[:500]
        named = f"{type(error).__name__}: {said}" if said else type(error).__name__
        if isinstance(error, AssertionError) and report.when == "call":
            return Refused("work-not-done", f"The expected work was not done: {said or named}{self._place(found)}.")
        return Refused("error", f"The {report.when} of the test failed: {named}{self._place(found)}.")

    def _place(self, found: pytest.ExceptionInfo[BaseException]) -> str:
        """The innermost line of the project's that the error went through."""
        for entry in reversed(found.traceback):
            path = Path(entry.path)
            if path.is_relative_to(self._root):
                return f" ({path.relative_to(self._root).as_posix()}, line {entry.lineno + 1})"
        return ""
