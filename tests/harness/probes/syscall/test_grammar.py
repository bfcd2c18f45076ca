"""The probe of the repair rung."""

from __future__ import annotations

from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_batch
from harness.probes.syscall.grammar import Probe, Repairs
from kpis.registry import load
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.grammar import offer
from tests.harness.probes.syscall.traces import Offers

FORMS = ("alias", "positional")


def opened(runtime: Any, form: str = "alias") -> Any:
    return Probe().open("transform_repair_ns", runtime, None, {"form": form})


def test_the_forms_are_those_of_the_catalog() -> None:
    assert load().get("transform_repair_ns").params["form"] == FORMS


@pytest.mark.parametrize("form", FORMS)
def test_every_loop_is_one_repair_of_a_call_of_its_own(form: str) -> None:
    seen: list[ToolCall] = []
    rung = offer("none")
    assert rung is not None

    class Notes:
        def adjudicate(self, call: ToolCall) -> Verdict:
            assert call._read is None, "the rung decodes it"
            seen.append(call)
            return rung.adjudicate(call)

    measured = opened(Offers(Notes()), form)
    assert (measured.engine, measured.source) == ("none", "synthetic")
    assert time_batch(measured, 9, Loop()).loops == 9
    assert len({call.args for call in seen}) == len({id(call) for call in seen}) == 9
    assert (rung.repairs, rung.denies) == (0, 0), "nothing is submitted, so nothing is counted"


@pytest.mark.parametrize("form", FORMS)
def test_the_reference_rung_repairs(form: str) -> None:
    assert time_batch(opened(Reference(), form), 33, Loop()).loops == 33


class Says:
    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict

    def adjudicate(self, call: ToolCall) -> Any:
        return self.verdict


@pytest.mark.parametrize(
    "verdict",
    [
        None,
        Verdict(VerdictKind.DEFER),
        Verdict(VerdictKind.DENY, ReasonCode.MISROUTE),
        Verdict(VerdictKind.TRANSFORM),
        Verdict(VerdictKind.TRANSFORM, new_args=b"{oops"),
        Verdict(VerdictKind.TRANSFORM, new_args=b'{"amount":5,"from":"USD","to":"EUR"}'),
        Verdict(VerdictKind.TRANSFORM, new_args=b'{"amount":1,"from_currency":"USD","to_currency":"EUR"}'),
    ],
)
def test_a_constant_or_a_rung_that_is_off_is_found_out(verdict: Any) -> None:
    with pytest.raises(WorkNotDoneError):
        time_batch(opened(Offers(Says(verdict))), 5, Loop())


def test_an_awaited_rung_is_measured() -> None:
    rung = offer("none")
    assert rung is not None

    class Waits:
        async def adjudicate(self, call: ToolCall) -> Verdict:
            return rung.adjudicate(call)

    loop = Loop()
    measured = opened(Offers(Waits()))
    assert isinstance(measured, Repairs)
    assert time_batch(measured, 4, loop).loops == 4
    loop.close()


def test_nothing_offered() -> None:
    answer = opened(Offers(None))
    assert isinstance(answer, Undefined)
    assert answer.reason == "not-offered"
