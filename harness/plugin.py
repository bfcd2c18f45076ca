"""The one name that authors of probes import: ``from harness import probe``.

``probe`` turns a function into a probe class. The function takes the parameters of the point by name (as strings),
and ``runtime`` or ``workload`` if it wants them. It prepares what it needs and hands back something to call without
arguments (a coroutine function as well), or a ``Tally``; it may itself be a coroutine function. Imported by workers:
standard library and the clock.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat as repeat_item
from typing import Any, ClassVar, overload

from harness.measure.clock import Engine, Tally, Undefined, Workload, WorkNotDoneError, repeat

__all__ = ["Called", "Tally", "Undefined", "WorkNotDoneError", "probe"]

Check = Callable[[Any], object]


class Called:
    """A slice made of one callable: in batches, and call by call.

    An attribute ``work`` of the callable, names to whole numbers, is what one call does, counted exactly.
    """

    def __init__(self, call: Callable[[], object], engine: Engine, check: Check | None, source: str | None) -> None:
        self.engine = engine
        self.source = source
        self.checked = check is not None
        self.work: Mapping[str, int] | None = getattr(call, "work", None)
        self._call = call
        self._check = check

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` calls in one go."""
        return repeat(self._call, loops)

    def calls(self, n: int) -> Iterator[Callable[[], object]]:
        """The callable, ``n`` times."""
        return repeat_item(self._call, n)

    def check(self, result: object) -> None:
        """Ask the author's check: whatever is false, but for None, means that the work was not done."""
        said = None if self._check is None else self._check(result)
        if said is not None and not said:
            raise WorkNotDoneError(f"the check refused a result of type {type(result).__name__}")


@overload
def probe(function: Callable[..., Any], /) -> type: ...
@overload
def probe(
    *, engine: Engine = "none", check: Check | None = None, source: str | None = None
) -> Callable[[Callable[..., Any]], type]: ...
def probe(
    function: Callable[..., Any] | None = None,
    /,
    *,
    engine: Engine = "none",
    check: Check | None = None,
    source: str | None = None,
) -> type | Callable[[Callable[..., Any]], type]:
    """Build a probe class from a function, bare or with keywords.

    ``engine`` names what completed the call in the place of a model (a frozen-sync seam refuses ``none``); ``check``
    gets each result after the clock and returns something false, or raises, where the expected work was not done;
    ``source`` is ``synthetic`` or ``replay`` where the function makes up its input (``live`` otherwise).
    """
    if function is None:
        return lambda found: _build(found, engine, check, source)
    return _build(function, engine, check, source)


def _build(function: Callable[..., Any], engine: Engine, check: Check | None, source: str | None) -> type:
    names = inspect.signature(function).parameters

    def given(runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> dict[str, Any]:
        offered = {**params, "runtime": runtime, "workload": workload}
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in names.values()):
            return offered
        strange = [name for name in params if name not in names]
        if strange:
            # Passed over in silence, two points of the parameter would be one measurement under two labels.
            raise TypeError(f"the probe {function.__name__} does not take the parameter {', '.join(strange)}")
        return {name: value for name, value in offered.items() if name in names}

    def as_slice(made: Any) -> Any:
        if callable(made) and not hasattr(made, "batch") and not hasattr(made, "calls"):
            return Called(made, engine, check, source)
        return made

    class FunctionProbe:
        """What ``probe`` made of a function."""

        kpis: ClassVar[frozenset[str]] = frozenset()

        def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
            """Call the function with what it asks for."""
            made = function(**given(runtime, workload, params))
            return _settled(made) if inspect.isawaitable(made) else as_slice(made)

    async def _settled(made: Any) -> Any:
        return as_slice(await made)

    FunctionProbe.__name__ = FunctionProbe.__qualname__ = function.__name__
    FunctionProbe.__doc__ = function.__doc__
    FunctionProbe.__module__ = function.__module__
    return FunctionProbe
