"""The verdict as a model: that of an evaluation, in which gates, ratchets and replays answer as well.

It refuses what contradicts itself: a layer that says what it never says, a pass that is because of something, a risk
outside of its interval. What a JSON Schema can say of that the published one says too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import ConfigDict, model_validator

from harness.record.evaluation_parts import Open, Share
from kpis.terms.claim import Confidence, VerdictState

__all__ = ["STATES", "Basis", "Verdict"]

Basis = Literal[
    "policy_gate",
    "detector_veto",
    "critical_unknown",
    "required_evidence_missing",
    "risk_over_loss",
    "score_below_threshold",
    "clean",
    "no_rules",
]


class Risk(Open):
    """The probability that an output is bad, with its 95 % interval, which holds it: lo <= pBad <= hi.

    JSON Schema compares no two members of an object; a reader who wants that held reads through this model.
    """

    pBad: Share  # noqa: N815
    lo: Share
    hi: Share

    @model_validator(mode="after")
    def _holds(self) -> Self:
        if not self.lo <= self.pBad <= self.hi:
            raise ValueError("the interval of a risk holds it: lo <= pBad <= hi")
        return self


_PASS, _FAIL, _UNKNOWN = VerdictState.PASS, VerdictState.FAIL, VerdictState.UNKNOWN
STATES: Mapping[Basis, tuple[VerdictState, ...]] = {
    "policy_gate": (_FAIL,),
    "detector_veto": (_FAIL,),
    "critical_unknown": (_UNKNOWN, _FAIL),
    "required_evidence_missing": (_UNKNOWN,),
    "risk_over_loss": (_FAIL,),
    "score_below_threshold": (_FAIL,),
    "clean": (_PASS,),
    "no_rules": (_UNKNOWN,),
}
"""By the layer that decided: what it can say. So a pass is clean, and what is clean is a pass."""


def _where(key: str, value: str, then: dict[str, Any], otherwise: dict[str, Any] | None = None) -> dict[str, Any]:
    """Of an object whose ``key`` is ``value`` (else: of any other) the members have to be so."""
    held = {"if": {"properties": {key: {"const": value}}, "required": [key]}, "then": {"properties": then}}
    return held if otherwise is None else {**held, "else": {"properties": otherwise}}


_AGREES = {
    "allOf": [
        _where("state", _PASS.value, {"passed": {"const": True}}, {"passed": {"const": False}}),
        *(_where("basis", basis, {"state": {"enum": [each.value for each in may]}}) for basis, may in STATES.items()),
        _where("basis", "clean", {"by": {"maxItems": 0}}),
        _where("basis", "risk_over_loss", {"risk": {"type": "object"}}),
    ]
}


class Verdict(Open):
    """Pass, fail or unknown; the layer that decided; because of what; the risk, where it was consulted.

    Each layer has its states. A clean pass is because of nothing, and a fail by risk tells the risk.
    """

    model_config = ConfigDict(json_schema_extra=_AGREES)  # type: ignore[typeddict-item]

    state: VerdictState
    passed: bool
    basis: Basis
    by: list[str]
    risk: Risk | None
    confidence: Confidence | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.passed is not (self.state is VerdictState.PASS):
            raise ValueError("passed says that the state is pass, and nothing else")
        if self.state not in STATES[self.basis]:
            raise ValueError(f"{self.basis} is never {self.state.value}")
        if self.basis == "clean" and self.by:
            raise ValueError("a verdict that is clean is because of nothing")
        if self.basis == "risk_over_loss" and self.risk is None:
            raise ValueError("risk_over_loss tells the risk")
        return self
