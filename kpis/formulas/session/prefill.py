"""Prompt tokens of three ways to serve one session, and what re-reading would cost by a few sampled lengths.

``C`` agents start from one prefix of ``P`` tokens and take ``T`` turns. In each turn an agent decodes ``D`` tokens, and
between two turns it is given a result of ``R``; so before turn ``t`` its context is ``P + t (D + R)``.

* a, stateless: the whole context is read in every turn, by every agent, what it decoded itself included.
* b, one cache an agent: each agent reads the prefix once, and then the results.
* c, one shared prefix: the prefix is read once for all, each agent reads its results.

So a >= b >= c; with one turn a is b, with one agent b is c. Only prompt tokens are counted here: decoding is the same
work in all three. The costs are a model of arm a where it is too long to be run. Units: tokens, and ms for costs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = [
    "SAMPLED_FROM",
    "SESSION",
    "Prefill",
    "Shape",
    "anchor",
    "context",
    "cost",
    "prefill_tokens",
    "ratio",
    "read_again_ms",
    "require_shape",
    "sample_lengths",
]


class Shape(NamedTuple):
    """``P``, ``T``, ``C``, ``D``, ``R``: tokens of the prefix, turns, agents, tokens decoded a turn and of a result."""

    prefix: int
    turns: int
    agents: int
    decode: int
    result: int


class Prefill(NamedTuple):
    """Prompt tokens of each arm."""

    a: int
    b: int
    c: int


SESSION = Shape(prefix=2048, turns=50, agents=5, decode=32, result=64)
"""The session that the token ratios are of: a long prompt, fifty turns, five agents."""

SAMPLED_FROM = 256
"""The shortest prompt that is timed for the cost model of a session of usual size."""

_LEAST_SAMPLE = 16
_QUARTERS = (0.25, 0.5, 0.75, 1.0)


def require_shape(shape: Shape) -> Shape:
    """``shape``, where a session can have it.

    Raises:
        ValueError: there is no turn or no agent, or tokens are below zero; the sentence names what.
    """
    for name, value in shape._asdict().items():
        least = 1 if name in ("turns", "agents") else 0
        if value < least:
            raise ValueError(f"A session with {name} = {value} is none: it takes {least} or more.")
    return shape


def context(shape: Shape, turn: int) -> int:
    """Tokens that an agent holds before ``turn``, which counts from 0."""
    return shape.prefix + turn * (shape.decode + shape.result)


def prefill_tokens(shape: Shape) -> Prefill:
    """Prompt tokens of each arm: the sums of the module's first paragraph, in closed form.

    Raises:
        ValueError: as :func:`require_shape`.
    """
    prefix, turns, agents, decode, result = require_shape(shape)
    results = agents * (turns - 1) * result
    return Prefill(
        a=agents * (turns * prefix + (decode + result) * turns * (turns - 1) // 2),
        b=agents * prefix + results,
        c=prefix + results,
    )


def ratio(numerator: float, denominator: float) -> float | None:
    """One over the other; None where there is nothing below the line."""
    return numerator / denominator if denominator else None


def sample_lengths(shape: Shape, least: int = SAMPLED_FROM) -> list[int]:
    """The prompt lengths to time for :func:`cost`, ascending: ``least``, the prefix, and the quarters from there on.

    They reach to the context that a session of one turn more would have. Lengths under 16 are left out, since of them
    the call itself is timed.
    """
    longest = context(require_shape(shape), shape.turns)
    lengths = {least, shape.prefix}
    if longest > least:
        lengths |= {least + int(part * (longest - least)) for part in _QUARTERS}
    return sorted(length for length in lengths if length >= _LEAST_SAMPLE)


def cost(length: float, lengths: Sequence[float], ms: Sequence[float]) -> float:
    """What reading ``length`` tokens costs by samples: ``ms[i]`` for ``lengths[i]``, which ascend.

    Through the origin below the first, in straight lines between two, by the slope of the last two beyond them; with
    one sample, through the origin everywhere. Without any, nothing is known to cost anything: 0.

    Raises:
        ValueError: the lengths do not ascend from above 0, or there is not one cost for each.
    """
    if not lengths:
        return 0.0
    ascending = all(left < right for left, right in pairwise(lengths))
    if lengths[0] <= 0 or not ascending or len(lengths) != len(ms):
        raise ValueError("Sampled lengths have to ascend from above 0, with one cost for each.")
    if length <= lengths[0] or len(lengths) == 1:
        return ms[0] * length / lengths[0]
    right = min(bisect_left(lengths, length), len(lengths) - 1)
    (x, y), (nextx, nexty) = ((lengths[at], ms[at]) for at in (right - 1, right))
    return y + (nexty - y) * (length - x) / (nextx - x)


def read_again_ms(shape: Shape, lengths: Sequence[float], ms: Sequence[float]) -> float:
    """The prefill of arm a by its cost model, in ms: every agent's every context, each at its :func:`cost`.

    Raises:
        ValueError: as :func:`require_shape` and :func:`cost`.
    """
    require_shape(shape)
    return shape.agents * sum(cost(context(shape, turn), lengths, ms) for turn in range(shape.turns))


def anchor(live_ms: float, modelled_ms: float) -> float:
    """How much slower the machine was while an arm ran than while the samples were taken: the model's drift.

    Of the prefix, which both have: what one agent's read of it took live, over its :func:`cost`. 1 where there is
    nothing to compare. A number far from 1 says that the two were not measured on the same machine, so to speak.
    """
    return live_ms / modelled_ms if live_ms > 0 and modelled_ms > 0 else 1.0
