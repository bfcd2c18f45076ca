"""Probe of ``syscall/resolver``: one put of a body that the store has not seen, and one resolve of its handle.

Each call has a body of its own, numbered through all batches, so that no put is answered by what is held already. A
body of 256 bytes stays inside its handle where the store keeps such ones inline; then the pair is a digest and nothing
is stored. Digests are computed here again, and after the clock bodies are read back by them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from itertools import count
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Undefined, Workload, WorkNotDoneError, is_async, repeat
from harness.probes._set_up import now
from harness.probes.syscall._trace import another, offered
from seams.contract.store import Ref, StoreStats

__all__ = ["Probe", "PutsAndGets", "body_of"]

_SMALL = 256
"""A body of so many bytes or fewer may travel inside its handle; a larger one is the store's to hold."""


def body_of(number: int, size: int) -> bytes:
    """Body ``number`` of ``size`` bytes, no text and like no other: its number, again and again."""
    return (number.to_bytes(8, "big") * (size // 8 + 1))[:size]


class PutsAndGets:
    """Bodies of one size, each put and read back once, in a store that is offered afresh for every batch."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, another: Callable[[], Any], size: int) -> None:
        self._another = another
        self._size = size
        self._numbers = count(1)
        self._bodies: list[bytes] = []
        self._store: Any = None
        self._before = StoreStats()

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` puts, each followed by its resolve; the result is the last handle and what came back for it."""
        self._store = store = self._another()
        self._bodies = [body_of(next(self._numbers), self._size) for _ in range(loops)]
        self._before = self._stats()
        put, resolve, following = store.put, store.resolve, iter(self._bodies).__next__
        waits_put, waits_resolve = is_async(put), is_async(resolve)
        if waits_put or waits_resolve:

            async def one_async() -> object:
                ref = await put(following()) if waits_put else put(following())
                return ref, await resolve(ref) if waits_resolve else resolve(ref)

            return repeat(one_async, loops)

        def one() -> object:
            ref = put(following())
            return ref, resolve(ref)

        return repeat(one, loops)

    def check(self, result: Any) -> None:
        """The last body must have come back under its own digest, and the store must have taken in every body.

        Where a small body travels inside its handle, nothing may have reached the store.
        """
        last, told = self._bodies[-1], self._stats()
        ref, came = result if isinstance(result, tuple) and len(result) == 2 else (None, None)
        if not isinstance(ref, Ref) or (ref.digest, ref.size) != (_digest(last), len(last)):
            raise WorkNotDoneError(f"the last handle is not the one of the {len(last)} bytes that were put")
        if came != last:
            raise WorkNotDoneError(f"other bytes came back than the {len(last)} that were put last")
        inline = ref.inline is not None
        if inline and len(last) > _SMALL:
            raise WorkNotDoneError(f"the store holds nothing: the handle of {len(last)} bytes carries them itself")
        if inline and ref.inline != last:
            raise WorkNotDoneError(f"the last handle carries other bytes than the {len(last)} that were put last")
        due = 0 if inline else len(self._bodies)
        puts, hits, resolves = (getattr(told, key) - getattr(self._before, key) for key in ("puts", "hits", "resolves"))
        if (puts, hits, resolves) != (due, 0, due):
            raise WorkNotDoneError(
                f"of {len(self._bodies)} bodies {due} were due in the store, which counts {puts} puts, {hits} of them "
                f"of bodies it held already, and {resolves} resolves"
            )
        if not inline and not is_async(self._store.resolve):  # what has to be awaited was awaited inside the clock only
            kept = told.evictions == self._before.evictions
            self._require_held([self._bodies[0], last] if kept else [last])

    def _require_held(self, bodies: list[bytes]) -> None:
        """Refuse a store that does not hold these bodies under the digests computed here."""
        for body in bodies:
            if self._store.resolve(Ref(_digest(body), len(body))) != body:
                raise WorkNotDoneError(f"the store does not hold a body of {len(body)} bytes under its digest")

    def _stats(self) -> Any:
        return now(self._store.stats())


def _digest(body: bytes) -> str:
    return sha256(body).hexdigest()


class Probe:
    """Opens the puts and resolves of one size."""

    kpis: ClassVar[frozenset[str]] = frozenset({"resolver_put_get_ns"})

    def open(
        self,
        kpi: str,  # noqa: ARG002
        runtime: Any,
        workload: Workload | None,  # noqa: ARG002 - the bodies are authored here
        params: Mapping[str, str],
    ) -> Slice | Undefined:
        """The slice, or why there is none."""
        store = offered(runtime, "syscall/resolver", "none", "default")
        if isinstance(store, Undefined):
            return store
        return PutsAndGets(another(runtime, "syscall/resolver", "none", "default", store), int(params["bytes"]))
