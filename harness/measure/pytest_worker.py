"""The worker's part of ``gate --pytest``: runs pytest in this process for one test, and measures what it hands over.

Who calls whom is turned round: pytest runs the test, the test calls ``benchmark``, and the fixture lets the worker's
ordinary tasks (a pair, a discovery, a leg) work on the slice that it got. What comes after, the asserts and the
tear-down, is part of the answer: a test that fails was not measured. Starts no process and judges nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.measure.opening import Refused, close, open_slice, refusal
from harness.measure.pytest_fixture import Converse
from harness.measure.timing import time_batch

__all__ = ["answer", "run"]


def run(job: Mapping[str, Any]) -> None:
    """One side of a pair; the last line, after ``quit``, says whether the test passed."""
    from harness.measure.pair_worker import Answers, serve

    with os.fdopen(job["go_fd"], "rb", buffering=0) as commands, os.fdopen(job["say_fd"], "wb") as pipe:
        answers = Answers(pipe, job["token"])
        try:
            _run_test(job, lambda: serve(job, commands, answers))
            last: dict[str, Any] = {"ended": True}
        except BaseException as error:
            last = refusal(error)
        # A parent that has heard enough is gone.
        with contextlib.suppress(BrokenPipeError):
            answers.say("quit", last)


def answer(job: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to any other task.

    Raises:
        Refused: there is no pytest, or the test was skipped, failed, or handed nothing over.
    """
    if job["task"] == "collect":
        return _collect(job)
    if job["task"] == "leg:counted":
        # Two processes are subtracted there, and pytest's own part of them differs by more than the calls measured.
        raise Refused("not-offered", "instructions are not counted through pytest, whose own start does not repeat.")
    found: dict[str, Any] = {}
    if job["task"].startswith("leg:"):
        leg = importlib.import_module(f"harness.measure.legs.{job['task'][4:]}")
        _run_test(job, lambda: found.update(leg.run(job)))
        return found
    from harness.measure.touched import Watch

    watch = Watch()
    watch.start()

    def converse() -> None:
        opened = open_slice(job)
        try:
            time_batch(opened.what, 1, opened.loop)
            found.update(slice="batch", engine=opened.what.engine)
        finally:
            close(opened)

    _run_test(job, converse)
    return {**found, "touched": watch.stop(job["roots"]), "spawns": watch.spawned}


def _collect(job: Mapping[str, Any]) -> dict[str, Any]:
    """Node ids of the tests under ``job["pytest"]`` that use ``benchmark``, and errors on the way."""
    plugin = _plugins().Collector()
    with _session(job, "--collect-only", "-q") as arguments:
        code = importlib.import_module("pytest").main(arguments, plugins=[plugin])
    return {
        "nodes": plugin.nodes,
        "errors": plugin.errors,
        "ignored": sorted(plugin.ignored),
        "configuration": plugin.configuration,
        "code": int(code),
    }


def _run_test(job: Mapping[str, Any], converse: Converse) -> None:
    """Run the job's test; ``converse`` is called while it stands in its call of ``benchmark``.

    Raises:
        Refused: it did not pass, or nothing was measured.
    """
    plugin = _plugins().Runner(job["pytest"], Path.cwd(), converse)
    with _session(job) as arguments:
        code = importlib.import_module("pytest").main(arguments, plugins=[plugin])
    handed = plugin.handed
    if handed is not None and handed.refused is not None:
        raise handed.refused
    if plugin.failure is not None:
        raise plugin.failure
    if not plugin.ran:
        raise Refused(
            "error",
            f"pytest did not run the test and ended with exit status {int(code)}. "
            f"Look with: python -m pytest {job['pytest']!r}",
        )
    if handed is None or not handed.measured:
        what = (
            "calls benchmark with what raises" if handed is not None and handed.has_error else "never calls benchmark"
        )
        raise Refused("error", f"The test passes and {what}: there is nothing to measure.")


def _plugins() -> Any:
    try:
        return importlib.import_module("harness.measure.pytest_plugin")
    except ModuleNotFoundError as error:
        if error.name != "pytest":
            raise
        raise Refused("not-installed", "There is no pytest here. Type: python -m pip install pytest") from error


@contextlib.contextmanager
def _session(job: Mapping[str, Any], *more: str) -> Iterator[list[str]]:
    """The arguments of pytest, with everything that it writes in a folder of its own that is removed afterwards."""
    sys.path[:0] = job["path"]
    with tempfile.TemporaryDirectory(dir=job["scratch"], prefix="pytest-", ignore_cleanup_errors=True) as folder:
        # cacheprovider stays on and is moved away: a suite may well have its options (--ff) in addopts.
        arguments = [
            *("-p", "no:benchmark", "-p", "no:pytest_benchmark.plugin", "-o", "required_plugins="),
            *("-o", f"cache_dir={folder}/cache", f"--basetemp={folder}/temp", f"--rootdir={Path.cwd()}"),
            *(("-c", job["configuration"]) if job["configuration"] else ()),
        ]
        if importlib.util.find_spec("pytest_cov") is not None:
            arguments.append("--no-cov")
        yield [*arguments, *more, job["pytest"]]
