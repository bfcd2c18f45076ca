"""The closed vocabulary of refusals, and what may be added to it."""

from __future__ import annotations

import pytest

from seams.contract.verdict import Disposition, ReasonCode
from seams.syscall import reasons
from seams.syscall.reasons import (
    UnknownReasonError,
    disposition,
    reason_code,
    reason_name,
    reason_names,
    register_reason,
)


@pytest.fixture(autouse=True)
def unregistered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasons, "_registered", {})


def test_codes_are_numbered_for_good() -> None:
    words = """NONE DEFAULT_DENY POLICY_BLOCK SELF_MODIFY LEASE_HELD TRUST_VIOLATION MALFORMED MISROUTE RATE_LIMITED
    SECRET_EXFIL UNWITNESSED OVERSIZE UNKNOWN_TOOL RESULT_SECRET_DISCOVERED"""
    assert [code.name for code in sorted(ReasonCode)] == words.split()
    assert [code.value for code in sorted(ReasonCode)] == list(range(14))


@pytest.mark.parametrize("code", list(ReasonCode))
def test_a_name_leads_back_to_its_code(code: ReasonCode) -> None:
    assert reason_code(reason_name(code)) == code


def test_dispositions() -> None:
    by_kind = {how: {code.name for code in ReasonCode if code and disposition(code) is how} for how in Disposition}
    assert by_kind[Disposition.RETRYABLE] == {"MISROUTE", "MALFORMED"}
    assert by_kind[Disposition.WAIT] == {"RATE_LIMITED", "LEASE_HELD"}
    assert by_kind[Disposition.ESCALATE] == {"SELF_MODIFY", "TRUST_VIOLATION"}
    assert len(by_kind[Disposition.TERMINAL]) == 7
    assert disposition(31_337) is Disposition.TERMINAL


def test_an_unknown_code_has_a_name_and_an_unknown_name_no_code() -> None:
    assert reason_name(31_337) == "REASON_31337"
    for name in ("REASON_31337", "policy_block", "", "EGRESS_BLOCK"):
        with pytest.raises(UnknownReasonError, match="known ones are"):
            reason_code(name)


def test_a_registered_reason_is_known_both_ways() -> None:
    register_reason(1024, "EGRESS_BLOCK", Disposition.ESCALATE)
    register_reason(1024, "EGRESS_BLOCK", Disposition.ESCALATE)
    assert (reason_name(1024), reason_code("EGRESS_BLOCK")) == ("EGRESS_BLOCK", 1024)
    assert disposition(1024) is Disposition.ESCALATE
    assert reason_names() == tuple(sorted({*(code.name for code in ReasonCode if code), "EGRESS_BLOCK"}))


@pytest.mark.parametrize(
    ("code", "name"),
    [(14, "EARLY"), (1025, "POLICY_BLOCK"), (1025, "REASON_1025"), (1025, "lower"), (1025, "NONE"), (1024, "OTHER")],
)
def test_a_registration_that_would_change_a_meaning_is_refused(code: int, name: str) -> None:
    register_reason(1024, "EGRESS_BLOCK")
    with pytest.raises(UnknownReasonError):
        register_reason(code, name)
