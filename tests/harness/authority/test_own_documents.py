"""This project's own README and docs: no number in them was typed."""

from harness.jobs.authority import gather, generated
from harness.jobs.authority_faults import document_faults
from harness.jobs.authority_findings import Fault
from harness.report.authority_blocks import document_of
from tests.conftest import REPO


def test_no_number_with_a_unit_is_typed_and_every_constant_is_the_codes():
    state = gather(REPO)
    assert {"README.md", "docs/authority.md", "docs/gate.md"} <= state.documents.keys()
    found = []
    for name, text in state.documents.items():
        found += document_faults(name, document_of(text, state.kinds), {}, state.authority)
    assert [finding.sentence for finding in found if finding.fault in (Fault.FREE, Fault.MARK)] == []
    wanted = generated(state)
    without_blocks = {name for name, text in state.documents.items() if "authority:begin" not in text}
    assert {name for name in without_blocks if state.documents[name] != wanted[name]} == set()
