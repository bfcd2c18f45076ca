"""The grammar rung: repairs a misrouted call on the spot, where leaving it would cost the model a turn.

Two repairs, each only if it makes the call complete: rename synonyms to their parameters, or give positional values
their names. Half a repair is none: where a parameter would still be missing, the call stays as it is and is refused.
A tool without a grammar is none of its business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seams.contract import Engine
from seams.contract.arguments import NAMED
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.canonical import canonical

__all__ = ["Grammar", "GrammarRung", "Param", "offer"]

_DEFER = Verdict(VerdictKind.DEFER, ReasonCode.NONE, "grammar")
_DENY = Verdict(VerdictKind.DENY, ReasonCode.MISROUTE, "grammar")


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter, in its place of the signature."""

    name: str
    type: str = "string"
    required: bool = True


@dataclass(frozen=True, slots=True)
class Grammar:
    """The signature of one tool; ``aliases`` map a synonym to its parameter."""

    params: tuple[Param, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_schema(cls, schema: Mapping[str, Any], aliases: Mapping[str, str] | None = None) -> Grammar:
        """From a JSON Schema of an object: properties in alphabetical order, ``required`` as it says."""
        required = frozenset(schema.get("required", ()))
        properties = schema.get("properties", {})
        params = (Param(name, str(properties[name].get("type", "")), name in required) for name in sorted(properties))
        return cls(tuple(params), dict(aliases or {}))


class GrammarRung:
    """The rung of rank 5. ``repairs`` and ``denies`` count submitted calls only."""

    __slots__ = ("_grammars", "_required", "denies", "repairs", "tools")

    name = "grammar"
    rank = 5

    def __init__(self, grammars: Mapping[str, Grammar]) -> None:
        self._grammars = dict(grammars)
        self._required = {
            tool: tuple((p.name, f"{NAMED}{p.name}") for p in grammar.params if p.required)
            for tool, grammar in grammars.items()
        }
        self.tools: frozenset[str] | None = frozenset(grammars)
        self.repairs = 0
        self.denies = 0

    def adjudicate(self, call: ToolCall) -> Verdict:
        """DEFER for a complete call, TRANSFORM (MISROUTE) for a repaired one, else DENY (MISROUTE)."""
        required = self._required.get(call.tool)
        if required is None:
            return _DEFER
        args = call.arguments() or {}
        if not _missing(args, required):
            return _DEFER
        grammar = self._grammars[call.tool]
        repaired = _renamed(args, grammar, required)
        if repaired is None:
            repaired = _named(args, grammar)
        if repaired is None:
            self.denies += call.seq != 0
            return _DENY
        self.repairs += call.seq != 0
        return Verdict(VerdictKind.TRANSFORM, ReasonCode.MISROUTE, "grammar", canonical(repaired))


def _missing(args: Mapping[str, Any], required: tuple[tuple[str, str], ...]) -> bool:
    return any(name not in args and named not in args for name, named in required)


def _renamed(args: Mapping[str, Any], grammar: Grammar, required: tuple[tuple[str, str], ...]) -> dict[str, Any] | None:
    """The arguments with synonyms renamed, or None where that does not make them complete."""
    renamed = dict(args)
    for alias in args:
        target = grammar.aliases.get(alias)
        if target is not None and target not in renamed:
            renamed[target] = renamed.pop(alias)
    return None if _missing(renamed, required) else renamed


def _named(args: Mapping[str, Any], grammar: Grammar) -> dict[str, Any] | None:
    """The positional values under the names of all parameters, or None where their number differs."""
    values = args.get("_positional")
    if not isinstance(values, list) or len(values) != len(grammar.params):
        return None
    return {param.name: value for param, value in zip(grammar.params, values, strict=True)}


def offer(engine: Engine) -> GrammarRung | None:
    """The rung with the grammars of the airline world; it needs no engine, so only ``none`` is answered."""
    if engine != "none":
        return None
    from seams.syscall.worlds import AIRLINE  # here, because the worlds are written in this module's terms

    return GrammarRung(AIRLINE.grammars)
