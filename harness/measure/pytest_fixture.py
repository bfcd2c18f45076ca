"""The ``benchmark`` fixture of a test that the gate measures: pytest-benchmark's interface over the harness's clock.

What a test hands to ``benchmark`` becomes a slice, which the worker measures as it measures any other; then the test
goes on with what the last timed call returned, and its asserts say whether the work was done. How often to call is not
the test's to say: rounds, iterations and warm-ups are taken and not followed. It judges nothing. Standard library only.
"""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Engine, is_async, repeat
from harness.measure.opening import Refused
from harness.measure.pytest_stats import Stats

__all__ = ["PROBE", "RUNTIME", "Benchmark", "Called", "Handed", "Nothing"]

PROBE = "harness.measure.pytest_fixture:Handed"
RUNTIME = "harness.measure.pytest_fixture:Nothing"

Converse = Callable[[], None]
"""Measures the slice that was handed over, and comes back when the test may go on."""


class Called:
    """The benchmarked callable with its arguments, as a slice.

    With ``setup`` or ``teardown`` it is ``afresh``: every round gets its own arguments right before it and is cleared
    away right after it, both outside the clock, because a set-up may as well act on what all rounds share.
    """

    engine: Engine = "none"

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        iterations: int = 1,
    ) -> None:
        self.afresh = setup is not None or teardown is not None
        self.result: Any = None
        self.seconds: list[float] = []
        self._function, self._args, self._kwargs = function, args, kwargs
        self._setup, self._teardown = setup, teardown
        self._iterations = iterations if self.afresh else 1
        self._clear: Callable[[], Any] | None = None
        self._began, self._calls = 0, 1

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` calls; of a slice that is afresh, ``loops`` rounds, where only a single one is clean of set-up."""
        if not self.afresh:
            run = repeat(_bound(self._function, self._args, self._kwargs), loops)
        elif loops == 1:
            run = repeat(self._round(), self._iterations)
        else:
            run = functools.partial(self._rounds, loops)
        self._calls, self._began = loops * self._iterations, time.perf_counter_ns()
        return run

    def check(self, result: object) -> None:
        """Keep the result for the test, whose asserts check it, and clear the round away."""
        self.seconds.append((time.perf_counter_ns() - self._began) / self._calls / 1e9)
        self.result = result
        if self._clear is not None:
            self._clear()
            self._clear = None

    def _round(self) -> Callable[..., Any]:
        """Set one round up; returns its call."""
        args, kwargs = self._args, self._kwargs
        if self._setup is not None and (made := self._setup()):
            if args or kwargs:
                raise TypeError("benchmark.pedantic takes args and kwargs, or a setup that returns them, not both.")
            args, kwargs = made
        if self._teardown is not None:
            self._clear = functools.partial(self._teardown, *args, **kwargs)
        return _bound(self._function, args, kwargs)

    def _rounds(self, loops: int) -> object:
        """Whole rounds in one piece, for the legs that count calls and read no clock."""
        result = None
        for number in range(loops):
            result = repeat(self._round(), self._iterations)()
            if self._clear is not None and number < loops - 1:
                self._clear()
        return result


def _bound(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[..., Any]:
    return functools.partial(function, *args, **kwargs) if args or kwargs else function


class Nothing:
    """The runtime of a test, which needs none."""

    def offer(self, _seam: str, _engine: str) -> None:
        """Nothing is offered."""


class Handed:
    """The probe of a test: it opens what the test has handed over."""

    called: ClassVar[Called | None] = None

    def open(self, kpi: str, _runtime: Any, _workload: Any, _params: Mapping[str, str]) -> Called:
        """The slice of the test that is running; ``kpi`` is its node id."""
        if Handed.called is None:
            raise Refused("error", f"{kpi} has handed nothing over to measure.")
        return Handed.called


class Benchmark:
    """What a test knows as ``benchmark``."""

    disabled, enabled, cprofile = False, True, False

    def __init__(self, node: Any, marked: Mapping[str, Any], converse: Converse) -> None:
        callspec = getattr(node, "callspec", None)
        self.name: str = node.name
        self.fullname: str = node.nodeid
        self.param: str | None = callspec.id if callspec is not None else None
        self.params: dict[str, Any] | None = callspec.params if callspec is not None else None
        self.group: str | None = marked.get("group")
        self.extra_info: dict[str, Any] = dict(marked.get("extra_info") or {})
        self.has_error = self.skipped = False
        self.stats: Stats | None = None
        self.refused: Refused | None = None
        self.measured = False
        self._converse = converse
        self._used = False
        self._undo: list[Callable[[], Any]] = []

    def __call__(self, function_to_benchmark: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Measure calls with these arguments; returns what the last one returned."""
        return self._measure(function_to_benchmark, args, kwargs)

    def pedantic(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Measure calls of ``target``, each after a ``setup`` of its own that may return ``(args, kwargs)``.

        Raises:
            ValueError: a count is not what pytest-benchmark takes.
        """
        for name, count, least in (("iterations", iterations, 1), ("rounds", rounds, 1), ("warmup", warmup_rounds, 0)):
            if not isinstance(count, int) or count < least:
                raise ValueError(f"benchmark.pedantic wants {name} to be an integer of at least {least}.")
        if setup is not None and iterations > 1:
            raise ValueError("benchmark.pedantic cannot repeat a call (iterations) that has a setup of its own.")
        more = {"setup": setup, "teardown": teardown, "iterations": iterations}
        return self._measure(target, args, kwargs or {}, **more)

    def _measure(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], **more: Any
    ) -> Any:
        if self._used:
            raise self._refusal(
                "error", "The test calls benchmark twice, and a test is one benchmark: split it in two."
            )
        self._used = True
        if is_async(function):
            said = f"{getattr(function, '__name__', function)} is a coroutine function, and benchmark awaits nothing"
            raise self._refusal("work-not-done", f"{said}: hand over a function that runs the loop.")
        Handed.called = called = Called(function, args, kwargs, **more)
        try:
            self._converse()
            self.measured = True
        except BaseException:
            self.has_error = True
            raise
        finally:
            Handed.called = None
        self.stats = Stats(self, called.seconds)
        return called.result

    def _refusal(self, reason: str, detail: str) -> Refused:
        self.has_error = True
        self.refused = Refused(reason, detail)
        return self.refused

    def weave(self, target: Any, **kwargs: Any) -> None:
        """Measure ``target`` wherever the test's code calls it; aspectlib does the weaving."""
        aspectlib = importlib.import_module("aspectlib")  # the test's own dependency, as with pytest-benchmark

        def aspect(function: Callable[..., Any]) -> Callable[..., Any]:
            return functools.partial(self, function)

        self._undo.append(aspectlib.weave(target, aspect, **kwargs).rollback)

    patch = weave

    def unweave(self) -> None:
        """Undo what was woven."""
        while self._undo:
            self._undo.pop()()
