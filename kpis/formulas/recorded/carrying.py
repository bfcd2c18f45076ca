"""Follows tool results through a conversation: in which prompts each still stood, and what of their cost is its own.

A result enters with the request after its call and leaves with a compaction, or where the prompt fell by more than
half. In between it is part of every prompt. Only sums by key are kept, and they are brought up to date when a key
changes, so that a conversation costs as much as it has results and not results times requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kpis.formulas.recorded.compaction import BYTES_PER_TOKEN
from kpis.formulas.recorded.flow import Flow, flows
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.shares import split
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import ToolCall

__all__ = ["carry"]

_SCALE = 1 << 20
"""Rates of money a token are kept in this fraction of a picodollar; what rounding leaves is split at the end."""

_VALUES = 8
"""Values of a row."""


@dataclass(slots=True)
class _Held:
    """A key: tokens in the context now, since which count of requests and sum of rates, and what it has gathered."""

    tokens: int = 0
    seen: int = 0
    rated: int = 0
    calls: int = 0
    initial: int = 0
    initial_cost: int = 0
    carried: int = 0
    weight: int = 0
    unsized: int = 0


class _Context:
    """What stands in one conversation's prompt, and the sums of those who pay for it."""

    def __init__(self) -> None:
        self.held: dict[str, _Held] = {}
        self.requests = 0
        self.rates = 0

    def settle(self, held: _Held) -> None:
        held.carried += held.tokens * (self.requests - held.seen)
        held.weight += held.tokens * (self.rates - held.rated)
        held.seen, held.rated = self.requests, self.rates

    def of(self, key: str) -> _Held:
        held = self.held.get(key)
        if held is None:
            held = self.held[key] = _Held(seen=self.requests, rated=self.rates)
        return held

    def cut(self, room: int) -> None:
        """Make what is held fit ``room`` tokens, each key in proportion."""
        holders = [held for held in self.held.values() if held.tokens]
        if sum(held.tokens for held in holders) > room:
            for held, tokens in zip(holders, split(room, [held.tokens for held in holders]), strict=True):
                self.settle(held)
                held.tokens = tokens


def carry(view: RunView, table: PriceTable, key_of: Callable[[ToolCall], str], residual: str) -> dict[str, list[int]]:
    """For each key of a call, and for ``residual``: the values of a row, in the order of its fields.

    That is calls, new and carried tokens, output, the three costs, and the calls whose result has no known size.
    """
    calls: dict[str, list[ToolCall]] = {}
    for call in view.run.calls:
        if call.request_id is not None and call.in_conversation:
            calls.setdefault(call.request_id, []).append(call)
    rows: dict[str, list[int]] = {}
    for chain, requests in flows(view, table):
        context = _Context()
        rest = [0] * _VALUES
        paid = [flow for flow in requests if not flow.request.copied]
        weights = _follow(context, requests, calls if chain.conversation else {}, key_of)
        carried_cost = sum(flow.carried_cost for flow in paid)
        keys = list(context.held)
        shares = split(carried_cost, [*(context.held[key].weight for key in keys), weights])
        if not any((*(context.held[key].weight for key in keys), weights)):
            shares[-1] = carried_cost
        for key, cost in zip(keys, shares, strict=False):
            held = context.held[key]
            _add(rows, key, [held.calls, held.initial, held.carried, 0, held.initial_cost, cost, 0, held.unsized])
        rest[1] = sum(flow.new for flow in paid) - sum(held.initial for held in context.held.values())
        rest[2] = sum(flow.carried for flow in paid) - sum(held.carried for held in context.held.values())
        rest[3] = sum(flow.out for flow in paid)
        rest[4] = sum(flow.new_cost for flow in paid) - sum(held.initial_cost for held in context.held.values())
        rest[5] = shares[-1]
        rest[6] = sum(flow.out_cost for flow in paid)
        _add(rows, residual, rest)
    return rows


def _add(rows: dict[str, list[int]], key: str, values: Sequence[int]) -> None:
    row = rows.setdefault(key, [0] * _VALUES)
    for at, value in enumerate(values):
        row[at] += value


def _follow(
    context: _Context, requests: Sequence[Flow], calls: dict[str, list[ToolCall]], key_of: Callable[[ToolCall], str]
) -> int:
    """Walk one conversation; return the weight of what is nobody's, for the split of the carried cost."""
    waiting: list[ToolCall] = []
    sent = 0  # of those that wait, how many were sent with a prompt that is not known
    dark = False  # the prompt before is not known, and so is the growth over it
    written = 0
    whole = 0
    for flow in requests:
        if flow.fresh:
            _untold(context, waiting if dark else waiting[:sent], key_of)
            waiting = []
            context.cut(0)
        elif flow.prompt is not None:
            context.cut(flow.carried)
        if not flow.request.copied and flow.prompt is not None:
            rate = flow.carried_cost * _SCALE // flow.carried if flow.carried else 0
            context.requests += 1
            context.rates += rate
            whole += flow.carried * rate
        if flow.prompt is not None:
            _enter(context, flow, waiting, written, key_of)
            waiting = []
            sent = written = 0
        else:
            sent = len(waiting)
        dark = flow.prompt is None
        mine = calls.get(flow.request.request_id, [])
        waiting += mine
        written += _visible(flow)
        for call in mine:
            held = context.of(key_of(call))
            held.calls += not call.copied
    _untold(context, waiting[:sent], key_of)
    context_weight = 0
    for held in context.held.values():
        context.settle(held)
        context_weight += held.weight
    return whole - context_weight


def _enter(
    context: _Context, flow: Flow, waiting: Sequence[ToolCall], written: int, key_of: Callable[[ToolCall], str]
) -> None:
    """Let the results that waited into the context with this request, no larger than the prompt's growth allows."""
    if not waiting or flow.grown is None:
        return
    sizes = [-(-(call.result_bytes or 0) // BYTES_PER_TOKEN) for call in waiting]
    room = max(0, flow.grown - written)
    tokens = sizes if sum(sizes) <= room else split(room, sizes)
    costs = split(flow.new_cost, [*tokens, flow.new - sum(tokens)])
    for call, size, cost in zip(waiting, tokens, costs, strict=False):
        held = context.of(key_of(call))
        held.unsized += call.result_bytes is None and not call.copied
        context.settle(held)
        held.tokens += size
        if not flow.request.copied:
            held.initial += size
            held.initial_cost += cost


def _untold(context: _Context, calls: Sequence[ToolCall], key_of: Callable[[ToolCall], str]) -> None:
    """What these brought is a part of prompts, and nothing says how large a part."""
    for call in calls:
        context.of(key_of(call)).unsized += not call.copied


def _visible(flow: Flow) -> int:
    """Tokens of an answer that stay in the context: what is visible of it. Hidden reasoning is not sent again."""
    tokens = flow.request.tokens
    if tokens.out_visible is not None:
        return tokens.out_visible
    return (flow.request.visible_chars or 0) // BYTES_PER_TOKEN
