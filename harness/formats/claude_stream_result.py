"""The lines that only a stream of Claude Code has: its result, and what a response settled on in the end.

A result is the client's own account of the run: it knows models that no answer of the stream names. This module refuses
to spread it over requests: what it says stays beside them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.formats.claude_run_lines import Count, RunUsage
from harness.formats.claude_run_tokens import tokens_of
from harness.formats.pseudonym import safe_name
from kpis.terms.trace import ModelUsage, RunFacts, Tokens

__all__ = ["Result", "Settled", "facts_of", "result_of", "settled_of"]


class _OfModel(msgspec.Struct, gc=False, rename="camel"):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cost_usd: float | None = msgspec.field(name="costUSD", default=None)
    context_window: Count | None = None


class _Denial(msgspec.Struct, gc=False):
    tool_use_id: str | None = None


class Result(msgspec.Struct, gc=False):
    """The last line of a run. ``usage`` is of the main model, ``model_usage`` of every model."""

    subtype: str | None = None
    duration_ms: int | float | None = None
    duration_api_ms: int | float | None = None
    num_turns: Count | None = None
    total_cost_usd: float | None = None
    cost_usd: float | None = None
    usage: RunUsage | None = None
    model_usage: dict[str, _OfModel] | None = msgspec.field(name="modelUsage", default=None)
    permission_denials: list[_Denial] | None = None


class _Start(msgspec.Struct, gc=False):
    id: str | None = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    message: _Start | None = None
    usage: RunUsage | None = None


class Settled(msgspec.Struct, gc=False):
    """A part of a response as it streams: its beginning names the message, its end the final usage."""

    event: _Event | None = None
    parent_tool_use_id: str | None = None


_result = msgspec.json.Decoder(Result).decode
_settled = msgspec.json.Decoder(Settled).decode


def result_of(raw: bytes) -> Result | None:
    """The result in a line; fields of other shapes are left out one by one. None where nothing can be read."""
    try:
        return _result(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        plain: dict[str, Any] = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    kept = Result()
    for field in msgspec.structs.fields(Result):
        try:
            setattr(kept, field.name, msgspec.convert(plain.get(field.encode_name), field.type))
        except msgspec.ValidationError:
            continue
    return kept


def settled_of(raw: bytes) -> _Event | None:
    """What a streamed part settles; None for the many that carry only text."""
    if b'"message_start"' not in raw and b'"message_delta"' not in raw:
        return None
    try:
        return _settled(raw).event
    except (msgspec.DecodeError, RecursionError):
        return None


def facts_of(results: Sequence[Result], model: str | None, file: str) -> RunFacts | None:
    """What the results of one file report together; each further one counts the money and the models anew from 0.

    ``model`` names the usage of a client that does not break it down.
    """
    if not results:
        return None
    last = results[-1]
    by_model = tuple(
        ModelUsage(safe_name(name), _tokens(of), cost_usd=of.cost_usd)
        for name, of in sorted((last.model_usage or {}).items())
    )
    if not by_model and last.usage is not None:
        by_model = (ModelUsage(model or "(main)", tokens_of(last.usage)),)
    costs = [cost for each in results if (cost := _cost(each)) is not None]
    return RunFacts(
        by_model,
        max(costs, default=None),
        _sum([each.duration_ms for each in results]),
        _sum([each.duration_api_ms for each in results]),
        _sum([each.num_turns for each in results]),
        outcome=None if last.subtype is None else safe_name(last.subtype, 40),
        denied=sum(len(each.permission_denials or ()) for each in results)
        if any(each.permission_denials is not None for each in results)
        else None,
        file=file,
    )


def _cost(result: Result) -> float | None:
    cost = result.cost_usd if result.total_cost_usd is None else result.total_cost_usd
    return cost if cost is not None and 0 <= cost < 1e12 else None


def _sum(clocks: Sequence[int | float | None]) -> int | None:
    known = [clock for clock in clocks if clock is not None and 0 <= clock < 1e13]
    return round(sum(known)) if known else None


def _tokens(of: _OfModel) -> Tokens:
    return Tokens(
        fresh_in=of.input_tokens,
        cache_read=of.cache_read_input_tokens,
        cache_write_other=of.cache_creation_input_tokens,
        out_total=of.output_tokens,
    )
