"""Drives the fan-out: what a clone costs, and how many of them may be believed.

A timed call is one sibling: a batch spawns them by groups, the last group holding what is left. Groups live on while
others come, and the oldest of several makes room for the newest, from one batch to the next, as in a server that has
been running for a while: were all of them dropped at once, the allocator would give their memory back now and then, and
asking for it again would be most of what is timed. Those of the last group are looked at row by row.

Of every sibling all arrays of its cache are taken while the clock runs, so that a cache which copies when it is asked
for one pays for it; the copies of the last group have to lie in memory that is neither the prefix's nor each other's.

Before anything is timed or credited, clones are shown to go on as a full prefill does
(:mod:`harness.probes.fleet._siblings`); what a sibling saves is credited up to the number that was shown there, and not
beyond.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from harness.measure.clock import Engine, Slice, Tally, Undefined, Workload, WorkNotDoneError, is_async
from harness.probes._awaiting import awaits, finish, settled
from harness.probes.fleet._siblings import prefixed, same_rows, witnessed
from harness.probes.turn.kv import Rows, rows_of
from kpis.formulas.fleet.fanout import prefix_tokens
from kpis.formulas.fleet.share import expected_uplift
from kpis.formulas.fleet.topology import BASELINE, search, valued
from seams.contract.fleet_fanout import Agent, Fanout

__all__ = ["ALIVE", "PREFIX", "RESERVE", "SHOWN", "SIBLINGS", "SPAWNED_FROM", "Probe", "Spawns"]

SPAWNED_FROM, RESERVE = 128, 32
"""Positions of the prefix that is cloned on the clock, and those that each clone has room for besides."""

ALIVE = 64
"""Siblings that live at a time."""

SIBLINGS, SHOWN = 1024, 16
"""The fan-out that savings are asked of, and the number of siblings that are spawned and looked at."""

PREFIX, SUFFIX = 64, 8
"""Positions of the prefix that is saved, and of what each sibling reads behind it."""

_PROOF = 3
_FEWEST = 4
"""Groups that live at a time, however large they are."""
_GRID = (1, 2, 4, 8, 16)
_RESEARCH = (0.55, 8, 4)
"""The sub-agents of the shapes that are searched: chance of a shared read, routes, routes that the plan has read."""


class Spawns:
    """Siblings in groups of ``siblings``, off one prefix."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, fanout: Fanout, prefix: Agent, rows: Rows, alive: Sequence[Sequence[Agent]]) -> None:
        self._fanout = fanout
        self._prefix = prefix
        self._rows = rows
        self._siblings = siblings = len(alive[0])
        self._loops = 0
        self._layers = range(len(prefix.cache.thetas))
        self._alive: deque[Any] = deque(alive, maxlen=len(alive))
        self.work = {
            "siblings of a group": siblings,
            "positions copied": len(rows.positions),
            "bytes copied": sum(each.nbytes for each in rows),
            "bytes that the sibling holds": int(alive[0][0].nbytes),
        }

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` siblings; the result is how many came, the last group of them, and the arrays of their caches."""
        self._loops = loops
        whole, rest = divmod(loops, self._siblings)
        groups = [self._siblings] * whole + [rest] * bool(rest)
        spawn: Callable[..., Any] = self._fanout.spawn
        prefix, alive, layers = self._prefix, self._alive, self._layers
        if is_async(spawn):

            async def run_async() -> object:
                came, taken = 0, []
                for siblings in groups:
                    alive.append(await spawn(prefix, siblings, RESERVE))
                    taken = [_arrays(sibling, layers) for sibling in alive[-1]]
                    came += len(taken)
                return came, alive[-1], taken

            return run_async

        def run() -> object:
            came, taken = 0, []
            for siblings in groups:
                alive.append(spawn(prefix, siblings, RESERVE))
                taken = [_arrays(sibling, layers) for sibling in alive[-1]]
                came += len(taken)
            return came, alive[-1], taken

        return run

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless all came, and each of the last group is its own and holds all of the prefix."""
        came, group, taken = result
        self._verify_taken(taken)
        caches = {id(each.cache) for each in (self._prefix, *group)}
        if came != self._loops or len(caches) != len(group) + 1:
            raise WorkNotDoneError(f"{self._loops} siblings were asked for, and as many of their own did not come")
        if not all(same_rows(rows_of(sibling.cache), self._rows) for sibling in group):
            raise WorkNotDoneError("a sibling does not hold, to the bit, what its prefix holds")

    def _verify_taken(self, taken: Sequence[Sequence[Any]]) -> None:
        """Hold what was taken while the clock ran against the prefix, before a sibling is looked at again."""
        kinds = (self._rows.keys, self._rows.raw, self._rows.values)
        wanted = [rows[layer] for layer in self._layers for rows in kinds]
        for arrays in taken:
            if not all(type(array) is np.ndarray for array in arrays):
                raise WorkNotDoneError("a sibling's cache gave back what is no array of numpy")
            if [array.tobytes() for array in arrays] != [rows.tobytes() for rows in wanted]:
                raise WorkNotDoneError("a sibling did not hold, to the bit, what its prefix holds when it was spawned")
        for one, other in combinations([*taken, _arrays(self._prefix, self._layers)], 2):
            if any(np.shares_memory(mine, theirs) for mine, theirs in zip(one, other, strict=True)):
                raise WorkNotDoneError("a sibling shares memory with its prefix or with another one: it was not copied")


def _arrays(agent: Agent, layers: Sequence[int]) -> list[Any]:
    """The keys, raw keys and values of each layer, as views of the memory in which they lie."""
    cache = agent.cache
    return [of(layer) for layer in layers for of in (cache.keys, cache.raw_keys, cache.values)]


class Probe:
    """Opens the time of a spawn, or the tokens that siblings save."""

    kpis: ClassVar[frozenset[str]] = frozenset({"fanout_spawn_ns", "prefix_tokens_saved"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice, a Tally or Undefined; of an asynchronous runtime, the coroutine that returns it."""
        fanout: Fanout | None = runtime.offer("fleet/fanout", "none")
        if fanout is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no fan-out off a prefix.")
        opening = _saved(fanout, params["part"]) if kpi == "prefix_tokens_saved" else _spawns(fanout, int(params["n"]))
        agents_wait = not awaits(fanout, "agent") and awaits(fanout.agent(), "prefill")
        return finish(opening, waits=agents_wait or awaits(fanout, "agent", "spawn"))


async def _spawns(fanout: Fanout, siblings: int) -> Slice:
    """The slice, once a few clones were shown.

    Raises:
        WorkNotDoneError: one of them was not.
    """
    shown = await witnessed(fanout, _PROOF, SUFFIX, SUFFIX)
    if shown < _PROOF:
        raise WorkNotDoneError(f"of {_PROOF} clones {shown} went on as a full prefill does")
    prefix, rows = await prefixed(fanout, SPAWNED_FROM)
    groups = max(ALIVE // siblings, _FEWEST)
    alive = [await settled(fanout.spawn(prefix, siblings, RESERVE)) for _ in range(groups)]
    return Spawns(fanout, prefix, rows, alive)


async def _saved(fanout: Fanout, part: str) -> Tally:
    shown = await witnessed(fanout, SHOWN, PREFIX, SUFFIX)
    found = prefix_tokens(SIBLINGS, PREFIX, shown)
    evidence = (
        f"{shown} of {SHOWN} siblings went on, to the bit, as a full prefill of {PREFIX} + {SUFFIX} positions does",
        f"of {SIBLINGS} siblings' {SIBLINGS - 1} prefixes: credited {found.credited}, refused {found.refused}",
        *_shapes(shown),
    )
    return Tally(getattr(found, part), basis="formula", source="synthetic", evidence=evidence)


def _shapes(shown: int) -> tuple[str, ...]:
    """The best shape of a fan-out as far as was shown, beside the usual one; re-reads saved are an expectation."""
    if shown < 1:
        return ()
    shared, pool, primed = _RESEARCH

    def dedup(width: int) -> int:
        return round(expected_uplift(shared, pool, BASELINE.sub_turns, width, primed))

    best, usual = search(_GRID, _GRID, shown, PREFIX, dedup).best, valued(BASELINE, shown, PREFIX, dedup)
    return (
        f"of shapes up to {max(_GRID)} wide the best is {best.shape.name}: {best.credited} credited, "
        f"{best.collisions} pairs of workers on one tree; {usual.shape.name} has {usual.credited} and "
        f"{usual.collisions}",
    )
