"""This project's own README and docs: no number in them was typed."""

import re
import shutil

from harness.jobs.authority import check, gather, generated, kinds_in, write
from harness.jobs.authority_faults import document_faults
from harness.jobs.authority_findings import Fault
from harness.report.authority_blocks import AUTHORITY, document_of
from harness.report.authority_select import kpis_of
from tests.conftest import REPO


def test_no_number_with_a_unit_is_typed_and_every_constant_is_the_codes():
    state = gather(REPO)
    assert {"README.md", "docs/authority.md", "docs/gate.md"} <= state.documents.keys()
    found = []
    for name, text in state.documents.items():
        found += document_faults(name, document_of(text, kinds_in(name, state.kinds)), {}, state.authority)
    assert [finding.sentence for finding in found if finding.fault in (Fault.FREE, Fault.MARK)] == []
    wanted = generated(state)
    without_blocks = {name for name, text in state.documents.items() if "authority:begin" not in text}
    assert {name for name in without_blocks if state.documents[name] != wanted[name]} == set()


def test_the_first_page_shows_headline_numbers_and_a_hand_edit_of_them_is_found(tmp_path):
    (block,) = (each for each in document_of((REPO / "README.md").read_text("utf-8"), [AUTHORITY]).blocks)
    assert 6 <= len(kpis_of(block)) <= 8
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(REPO / name, tmp_path / name)
    shutil.copytree(REPO / "baselines", tmp_path / "baselines")
    assert write(tmp_path).unsound == ()  # whatever is stale here stands in the block as such
    assert [finding for finding in check(tmp_path)[1] if finding.fault is not Fault.STALE] == []
    page = tmp_path / "README.md"
    text = page.read_text("utf-8")
    number = re.search(r"\| \[(\d)(?=[\d.]* (?:ns|µs|ms)\]\(baselines/)", text)
    assert number is not None
    page.write_text(f"{text[: number.start(1)]}{(int(number[1]) + 1) % 10}{text[number.end(1) :]}", "utf-8")
    found = [finding for finding in check(tmp_path)[1] if finding.fault is not Fault.STALE]
    assert found
    assert all("README.md" in finding.sentence for finding in found)
