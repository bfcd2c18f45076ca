"""Whether a clone really is what it says: it goes on, to the bit, as one that had read everything itself.

A sibling is shown where, behind its own suffix, every row of its cache and what the model says are those of a full
prefill by an agent that never was a clone; and where neither the prefix nor any other sibling has moved for it. The
full prefills are the runtime's own, each from nothing, since only its model can say what it would have computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.turn.kv import Rows, rows_of
from seams.contract.fleet_fanout import Agent, Fanout

__all__ = ["ids_of", "prefixed", "same_rows", "witnessed"]

_VOCAB = 48
"""Ids are below this, the smallest vocabulary that the contract's caches come with."""


def ids_of(length: int, stream: int = 0) -> list[int]:
    """``length`` ids, other ones for another ``stream``."""
    return [(7 * step + 11 * stream + 3 + step * step * (stream + 1)) % _VOCAB for step in range(length)]


def same_rows(one: Rows, other: Rows) -> bool:
    """Whether all rows are the same, to the bit."""
    return all(a.tobytes() == b.tobytes() and a.shape == b.shape for a, b in zip(one, other, strict=True))


async def prefixed(fanout: Fanout, length: int) -> tuple[Agent, Rows]:
    """An agent that has read a prefix of that length, and its rows.

    Raises:
        WorkNotDoneError: it holds another number of rows.
    """
    agent: Agent = await settled(fanout.agent())
    await settled(agent.prefill(ids_of(length)))
    rows = rows_of(agent.cache)
    if len(rows.positions) != length:
        raise WorkNotDoneError(f"an agent that has read {length} ids holds {len(rows.positions)} rows")
    return agent, rows


async def witnessed(fanout: Fanout, siblings: int, prefix: int, suffix: int) -> int:
    """How many of ``siblings`` off a prefix of that length were shown to be what a full prefill makes.

    Raises:
        WorkNotDoneError: another number was spawned, or what was spawned is no agent.
    """
    parent, before = await prefixed(fanout, prefix)
    spawned: Sequence[Any] = await settled(fanout.spawn(parent, siblings, suffix))
    if len(spawned) != siblings or len({id(each) for each in spawned}) != siblings:
        raise WorkNotDoneError(f"of {siblings} siblings {len(spawned)} were spawned, or one of them twice")
    shown = 0
    for number, sibling in enumerate(spawned):
        if not same_rows(rows_of(sibling.cache), before):  # as yet nobody else's suffix may be in it
            continue
        own = ids_of(suffix, number + 1)
        said = await settled(sibling.prefill(own))
        alone: Agent = await settled(fanout.agent())
        wanted = await settled(alone.prefill(ids_of(prefix) + own))
        alike = same_rows(rows_of(sibling.cache), rows_of(alone.cache))
        shown += alike and said.logits.tobytes() == wanted.logits.tobytes()
    return shown if same_rows(rows_of(parent.cache), before) else 0
