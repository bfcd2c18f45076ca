"""What a tool result costs after it was sent: initial and carried tokens, by tool or by file, adding up to all prompts.

A result is sent once and then again with every later request of its conversation until a compaction. How many tokens it
is, no log says. Its bytes / 4 are taken, cut in proportion to what the prompt really grew by where they claim more; so
no result is larger than the growth that it came with. A prompt is then its results plus a residual that is named: the
system prompt, tool schemas, and what people and the model wrote. Money follows tokens: what is new in a request is
priced as what it did not read from cache, as far as that goes, the rest as an average of the remainder.

All splits are whole numbers and add up exactly. Refuses to spread the residual over tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from kpis.formulas.recorded.carrying import carry
from kpis.formulas.recorded.cost import request_cost
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.request_keys import REQUEST_KEYS, agent_kind, keyed_requests
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import ToolCall, ToolOp

__all__ = ["BY", "NO_FILE", "NO_NAME", "RESIDUAL", "CarriedParts", "CarriedRow", "by_kind", "carried_parts"]

RESIDUAL = "(system prompt, tool schemas, user and assistant text)"
NO_NAME = "(no tool named)"
NO_FILE = "(no file)"

_CALL_KEYS: Mapping[str, Callable[[ToolCall], str]] = {
    "tool": lambda call: call.name or NO_NAME,
    "file": lambda call: (call.target if call.op in (ToolOp.READ, ToolOp.WRITE, ToolOp.LIST) else None) or NO_FILE,
}

BY = (*_CALL_KEYS, *REQUEST_KEYS)
"""What can be asked for: tool, file, agent, model, project, branch, day."""


@dataclass(frozen=True, slots=True)
class CarriedRow(Summed):
    """One key: how many calls or requests it stands for, prompt tokens first sent and sent again, output, money.

    Money is picodollars of the lower bound, 0 where the model has no price. ``calls`` counts tool calls by tool and by
    file, and requests otherwise. ``unsized`` of them brought a result whose size is not recorded, or went into a
    prompt whose size is not: what it took of a prompt is in the residual.
    """

    calls: int = 0
    initial: int = 0
    carried: int = 0
    output: int = 0
    initial_cost: int = 0
    carried_cost: int = 0
    output_cost: int = 0
    unsized: int = 0


@dataclass(frozen=True, slots=True)
class CarriedParts(Summed):
    """The rows by key. Their prompts add up to ``prompt``, their outputs to ``output``, their costs to ``cost``.

    ``unpriced`` requests have no price and ``unknown`` ones no known prompt: neither is in the rows' money or tokens.
    ``derived`` tokens are split by a model rather than counted. ``unsized`` is the sum of the rows'.
    """

    rows: dict[str, CarriedRow] = field(default_factory=dict)
    prompt: int = 0
    output: int = 0
    cost: int = 0
    derived: int = 0
    unpriced: int = 0
    unknown: int = 0
    unsized: int = 0


def carried_parts(view: RunView, table: PriceTable, by: str) -> CarriedParts:
    """Attribute the run's prompts, outputs and cost by one of :data:`BY`.

    Raises:
        ValueError: ``by`` is not one of them.
    """
    if by not in BY:
        raise ValueError(f"{by!r} is nothing to attribute by: it is one of {', '.join(BY)}.")
    costs = [request_cost(request, table) for request in view.billed]
    known = sum(prompt for prompt in view.prompts if prompt is not None)
    rows = carry(view, table, _CALL_KEYS[by], RESIDUAL) if by in _CALL_KEYS else keyed_requests(view, table, by)
    built = {key: CarriedRow(*row) for key, row in rows.items()}
    derived = sum(row.initial + row.carried for key, row in built.items() if key != RESIDUAL) if by in _CALL_KEYS else 0
    return CarriedParts(
        rows=built,
        prompt=known,
        output=view.sums.out_total,
        cost=sum(cost.low for cost in costs if cost is not None),
        derived=derived,
        unpriced=costs.count(None),
        unknown=view.prompts.count(None),
        unsized=sum(row.unsized for row in built.values()),
    )


def by_kind(parts: CarriedParts) -> CarriedParts:
    """``parts`` by agent with all sub-agents of a kind as one row: of many runs nobody reads each by its name."""
    rows: dict[str, CarriedRow] = {}
    for key, row in parts.rows.items():
        kind = agent_kind(key)
        rows[kind] = rows[kind] + row if kind in rows else row
    return replace(parts, rows=rows)
