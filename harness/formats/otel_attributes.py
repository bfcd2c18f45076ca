"""The names under which instrumentations of model calls write one fact: a table of aliases, the current name first.

The conventions of OpenTelemetry for generative models are renamed every half year and programs keep writing the old
names; OpenInference, the Vercel SDK, OpenLLMetry and Claude Code have names of their own. This module knows names and
nothing else: what a counter includes is :mod:`harness.formats.span_usage`'s question.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from harness.formats.span_tree import SpanKind
from harness.formats.span_usage import Usage
from harness.formats.span_values import Numbers, text_of

__all__ = ["ALIASES", "MARKS", "first", "kind_of", "text", "usage_of"]

MARKS = (b"gen_ai.", b"openinference.span.kind", b"llm.token_count.", b"ai.operationId", b"claude_code.")
"""Names that stand in no file but one of these."""

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "input": (
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
            "ai.usage.tokens",
            "llm.usage.prompt_tokens",
        ),
        "output": (
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
            "llm.usage.completion_tokens",
        ),
        "read": (
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.cached_input_tokens",
            "gen_ai.usage.input_tokens.cached",
            "gen_ai.usage.details.cache_read_tokens",
            "llm.token_count.prompt_details.cache_read",
            "ai.usage.inputTokenDetails.cacheReadTokens",
            "ai.usage.cachedInputTokens",
        ),
        "write": (
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_input_tokens",
            "gen_ai.usage.details.cache_write_tokens",
            "llm.token_count.prompt_details.cache_write",
            "ai.usage.inputTokenDetails.cacheWriteTokens",
        ),
        "reasoning": (
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.output_tokens.reasoning",
            "gen_ai.usage.details.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
            "ai.usage.outputTokenDetails.reasoningTokens",
            "ai.usage.reasoningTokens",
        ),
        "total": (
            "gen_ai.usage.total_tokens",
            "llm.token_count.total",
            "ai.usage.totalTokens",
            "llm.usage.total_tokens",
        ),
        "uncached": ("ai.usage.inputTokenDetails.noCacheTokens",),
        "model": (
            "gen_ai.response.model",
            "ai.response.model",
            "llm.model_name",
            "embedding.model_name",
            "gen_ai.request.model",
            "ai.model.id",
        ),
        "provider": ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"),
        "response": ("gen_ai.response.id", "ai.response.id", "llm.response.id"),
        "stop": (
            "gen_ai.response.finish_reasons",
            "ai.response.finishReason",
            "llm.finish_reason",
            "gen_ai.completion.0.finish_reason",
        ),
        "conversation": ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id"),
        "agent": ("gen_ai.agent.name", "agent.name", "gen_ai.agent.id", "traceloop.entity.name"),
        "tool": ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"),
        "call": ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"),
        "arguments": (
            "gen_ai.tool.call.arguments",
            "ai.toolCall.args",
            "input.value",
            "tool.parameters",
            "traceloop.entity.input",
        ),
        "result": ("gen_ai.tool.call.result", "ai.toolCall.result", "output.value", "traceloop.entity.output"),
        "cost": ("gen_ai.usage.cost", "llm.cost.total", "operation.cost"),
        "error": ("error.type", "exception.type"),
    }
)

# The same facts on the spans and events of Claude Code, whose names stand without a prefix. Its counters are disjoint.
_CLAUDE = MappingProxyType(
    {
        "input": ("input_tokens",),
        "output": ("output_tokens",),
        "read": ("cache_read_tokens",),
        "write": ("cache_creation_tokens",),
        "model": ("model",),
        "provider": ("gen_ai.system",),
        "response": ("request_id",),
        "stop": ("stop_reason",),
        "conversation": ("session.id",),
        "tool": ("tool_name",),
        "call": ("tool_use_id",),
        "arguments": ("tool_input", "tool_parameters"),
        "cost": ("cost_usd",),
        "error": ("error_type", "error.type"),
    }
)

_KINDS: Mapping[str, Mapping[str, SpanKind]] = MappingProxyType(
    {
        "openinference.span.kind": {
            "llm": SpanKind.MODEL,
            "embedding": SpanKind.MODEL,
            "tool": SpanKind.TOOL,
            "agent": SpanKind.AGENT,
        },
        "gen_ai.operation.name": {
            "chat": SpanKind.MODEL,
            "text_completion": SpanKind.MODEL,
            "generate_content": SpanKind.MODEL,
            "embeddings": SpanKind.MODEL,
            "execute_tool": SpanKind.TOOL,
            "invoke_agent": SpanKind.AGENT,
        },
        "traceloop.span.kind": {"tool": SpanKind.TOOL, "agent": SpanKind.AGENT},
        "langsmith.span.kind": {"llm": SpanKind.MODEL, "tool": SpanKind.TOOL},
        "llm.request.type": {"chat": SpanKind.MODEL, "completion": SpanKind.MODEL, "embedding": SpanKind.MODEL},
    }
)
_SAID_TO_BE_OTHER = tuple(name for name in _KINDS if name != "llm.request.type")
_CLAUDE_SPANS = {"claude_code.llm_request": SpanKind.MODEL, "claude_code.tool": SpanKind.TOOL}


_COUNTED = ("input", "output", "read", "write", "reasoning", "total", "uncached")
_COUNTERS = {name: (fact, rank) for fact in _COUNTED for rank, name in enumerate(ALIASES[fact])}
_CLAUDE_COUNTERS = {name: (fact, rank) for fact in _COUNTED for rank, name in enumerate(_CLAUDE.get(fact, ()))}


def _names(fact: str, claude: bool) -> tuple[str, ...]:
    return _CLAUDE.get(fact, ()) if claude else ALIASES[fact]


def first(attributes: Mapping[str, Any], fact: str, claude: bool = False) -> Any:
    """The value of ``fact`` under the first of its names that has one."""
    for name in _names(fact, claude):
        value = attributes.get(name)
        if value is not None and value != "":
            return value
    return None


def text(attributes: Mapping[str, Any], fact: str, claude: bool = False) -> str | None:
    """As :func:`first`, where it is text; of a list the first entry."""
    value = first(attributes, fact, claude)
    if isinstance(value, list):
        value = value[0] if value else None
    return text_of(value)


def kind_of(name: str | None, attributes: Mapping[str, Any]) -> tuple[SpanKind, str | None]:
    """What a span is about, and the operation that a wrapper and its calls share."""
    if name in _CLAUDE_SPANS:
        return _CLAUDE_SPANS[name], None
    operation = attributes.get("ai.operationId")
    if isinstance(operation, str):
        outer, _, inner = operation.rpartition(".")
        family = f"{attributes.get('ai.telemetry.functionId')}|"
        if operation == "ai.toolCall":
            return SpanKind.TOOL, None
        if inner.startswith("do") and inner[2:3].isupper():
            return SpanKind.MODEL, family + outer
        return SpanKind.WRAPPER, family + operation
    for key, kinds in _KINDS.items():
        told = attributes.get(key)
        if isinstance(told, str) and told.lower() in kinds:
            return kinds[told.lower()], None
    counts = first(attributes, "input") is not None or first(attributes, "output") is not None
    if counts and text(attributes, "model") and not any(attributes.get(key) for key in _SAID_TO_BE_OTHER):
        return SpanKind.MODEL, None
    return SpanKind.OTHER, None


def usage_of(attributes: Mapping[str, Any], numbers: Numbers, program: str, claude: bool = False) -> Usage | None:
    """The counters of a span; None where it has none."""
    usage = Usage(program=program, disjoint=claude)
    ranks: dict[str, int] = {}
    counters = _CLAUDE_COUNTERS if claude else _COUNTERS
    for name, value in attributes.items():
        named = counters.get(name)
        number = None if named is None else numbers.count(value)
        if named is None or number is None:
            continue
        fact, rank = named
        usage.twins = usage.twins or (fact in ranks and getattr(usage, fact) != number)
        if rank < ranks.get(fact, len(counters)):
            ranks[fact] = rank
            setattr(usage, fact, number)
    return None if usage.empty else usage
