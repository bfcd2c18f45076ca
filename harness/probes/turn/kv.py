"""Drives the cache: what it costs to take a span out and to rotate what stood behind it into place.

Three segments are prefilled once: a head, the span, and the survivors. Each eviction gets a clone of its own, made and
looked at outside the clock, so that none finds a cache that another has shortened. The runtime is believed in one
thing: the raw keys and values that it had before. That the rotated keys follow from them, before and after, and that
everything else stayed as it was, is computed here by a rotation of the probe's own and compared to the bit. What this
cannot see is a cache that only notes what has to go and does the work when it is read, and, since all clones are alike,
one that remembers what an eviction left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.measure.clock import Engine, Slice, Undefined, Workload, WorkNotDoneError, is_async, repeat
from harness.probes._awaiting import finish, settled
from seams.contract.kv import Cache, Kv

__all__ = ["HEAD", "SPAN", "Evictions", "Probe", "Rows", "rotated", "rows_of"]

HEAD, SPAN = 8, 16
"""Positions before the span, which no eviction may touch, and those of the span itself."""

_EVICTED = "span"
_VOCAB = 48


class Rows(NamedTuple):
    """All of a cache at one moment: ``positions`` (n,), the others (layers, kv_heads, n, head_dim)."""

    positions: NDArray[np.int64]
    keys: NDArray[np.float64]
    raw: NDArray[np.float64]
    values: NDArray[np.float64]


def rows_of(cache: Cache) -> Rows:
    """A copy of what ``cache`` holds.

    Raises:
        WorkNotDoneError: it does not hold the same number of rows everywhere, or its arrays are no arrays of float64.
    """
    layers = range(len(cache.thetas))
    try:
        parts = [np.array([of(layer) for layer in layers]) for of in (cache.keys, cache.raw_keys, cache.values)]
        positions = np.array(cache.positions)
    except (TypeError, ValueError, LookupError) as error:
        raise WorkNotDoneError("the cache gives back what makes no arrays of one shape") from error
    shapes = {(each.ndim, each.shape[2:3]) for each in parts}
    if shapes != {(4, (len(cache),))} or positions.shape != (len(cache),):
        raise WorkNotDoneError(f"the cache says that it holds {len(cache)} rows and its arrays do not")
    if any(each.dtype != np.float64 for each in parts) or positions.dtype.kind != "i":
        raise WorkNotDoneError("the cache's rows are not of float64, or its positions are no integers")
    return Rows(positions.astype(np.int64), *parts)


def rotated(raw: NDArray[np.float64], thetas: tuple[float, ...]) -> NDArray[np.float64]:
    """``raw`` (layers, kv_heads, n, head_dim), row ``i`` rotated by position ``i``: the rule of ``seams.contract.kv``.

    Written out over pairs and without a table, so that it shares nothing with a runtime but the rule.
    """
    turned = np.empty_like(raw)
    count, head_dim = raw.shape[-2:]
    half = head_dim // 2
    for layer, theta in enumerate(thetas):
        for i in range(half):
            angles = [position * theta ** (-2 * i / head_dim) for position in range(count)]
            cos, sin = (np.array([of(angle) for angle in angles]) for of in (math.cos, math.sin))
            a, b = raw[layer, :, :, i], raw[layer, :, :, half + i]
            turned[layer, :, :, i] = a * cos - b * sin
            turned[layer, :, :, half + i] = b * cos + a * sin
    return turned


def _require(found: Rows, wanted: Rows, when: str) -> None:
    """Every bit of every row.

    Raises:
        WorkNotDoneError: one is another, or there are more or fewer rows.
    """
    if len(found.positions) != len(wanted.positions):
        raise WorkNotDoneError(f"{when} the cache holds {len(found.positions)} rows, not {len(wanted.positions)}")
    for name, rows in wanted._asdict().items():
        if getattr(found, name).tobytes() != rows.tobytes():
            raise WorkNotDoneError(f"{when} the cache's {name} are not, to the bit, what they have to be")


class Evictions:
    """Evictions of the same span, each from a clone of the same context."""

    engine: Engine = "none"
    source = "synthetic"
    afresh = True

    def __init__(self, context: Kv, before: Rows, after: Rows) -> None:
        self._context = context
        self._before = before
        self._after = after
        self._clones: list[Kv] = []

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` evictions, each with its clone."""
        self._clones = [self._context.clone() for _ in range(loops)]
        for clone in self._clones:
            _require(rows_of(clone.cache), self._before, "before an eviction")
        following = iter([clone.quarantine for clone in self._clones]).__next__
        if is_async(self._context.quarantine):

            async def one_async() -> object:
                return await following()(_EVICTED)  # type: ignore[misc]

            return repeat(one_async, loops)
        return repeat(lambda: following()(_EVICTED), loops)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the span left every clone, survivors rotated once and the rest as it was."""
        if getattr(result, "positions", None) != SPAN or result.ok is not True:
            raise WorkNotDoneError(f"the last eviction did not say that {SPAN} positions left")
        for clone in self._clones:
            _require(rows_of(clone.cache), self._after, "after an eviction")


class Probe:
    """Opens the KPI of ``turn/kv``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"kv_evict_ns"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice or Undefined; of an asynchronous runtime, the coroutine that returns it."""
        context: Kv | None = runtime.offer("turn/kv", "none")
        if context is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no cache of keys and values.")
        return finish(_opened(context, int(params["survivors"])), context.append, context.quarantine)


async def _opened(context: Kv, survivors: int) -> Slice:
    """Prefill the three segments, and know beforehand what an eviction has to leave.

    Raises:
        WorkNotDoneError: the cache is not what was prefilled, or its keys are not the raw ones rotated; or a survivor's
            key would be the same in its new place, so that nobody could tell whether it was rotated.
    """
    ids = [(7 * step + 3) % _VOCAB for step in range(HEAD + SPAN + survivors)]
    await settled(context.append("head", "system", ids[:HEAD]))
    await settled(context.append(_EVICTED, "fetch", ids[HEAD : HEAD + SPAN]))
    await settled(context.append("rest", "assistant", ids[HEAD + SPAN :]))
    found = rows_of(context.cache)
    thetas = tuple(context.cache.thetas)
    places = np.arange(len(ids))
    before = found._replace(positions=places)
    if len(found.positions) == len(ids):
        before = before._replace(keys=rotated(found.raw, thetas))
    _require(found, before, "after the prefill")
    raw, values = (np.delete(rows, slice(HEAD, HEAD + SPAN), axis=2) for rows in (found.raw, found.values))
    after = Rows(places[:-SPAN], rotated(raw, thetas), raw, values)
    moved = (after.keys[:, :, HEAD:] != found.keys[:, :, HEAD + SPAN :]).any(axis=(1, 3))
    if not moved.all():
        raise WorkNotDoneError("a survivor's key is the same in its old place and in its new one")
    return Evictions(context, before, after)
