"""The page: where each number comes from, what stands beside it, and that the order of inputs does not show."""

import hashlib
import random
import re
from dataclasses import replace
from pathlib import Path

from harness.jobs.authority import PAGE, Written, gather, generated, state_of, write
from harness.jobs.authority_artifacts import artifacts_of
from harness.jobs.authority_sources import Sources
from harness.project import load_project
from harness.report.authority import authority_markdown
from harness.report.authority_lint import numbers_in
from harness.report.authority_numbers import links_in, reading_index, text_at
from harness.report.authority_rows import Table, table_of
from kpis.registry import Catalog
from tests.harness.authority.project import EVERY, FOLD, RATE, RETIRED, ROWS, SLUG, record, run_of

LINK = re.compile(r"\[(?:[^\[\]\\]|\\.)*\]\([^)]*\)")


def page_of(root):
    return (root / PAGE).read_text(encoding="utf-8")


def row_of(root, name):
    return next(line for line in page_of(root).splitlines() if line.startswith(f"| `{name}`")).split(" | ")


def test_every_number_is_a_link_into_a_run_file_whose_hash_is_in_it(tmp_path, artifact):
    state = gather(tmp_path)
    by_hash = {one.hash: one for one in state.authority.artifacts}
    shown = list(links_in(page_of(tmp_path)))
    assert len(shown) > len(EVERY)
    for number in shown:
        blob = (tmp_path / number.path).read_bytes()
        assert hashlib.sha256(blob).hexdigest()[:16] == number.hash
        assert text_at(by_hash[number.hash].document, number.pointer) == number.text
    assert numbers_in(LINK.sub("", page_of(tmp_path))) == []


def test_links_of_a_document_lead_from_where_it_lies(tmp_path, artifact):
    text = (tmp_path / "docs" / "page.md").read_text()
    targets = {number.path for number in links_in(text)}
    assert targets == {f"../{artifact.relative_to(tmp_path).as_posix()}"}


def test_no_table_holds_two_classes(tmp_path, artifact):
    by_hash = {one.hash: one.run for one in gather(tmp_path).authority.artifacts}
    parts = page_of(tmp_path).split("<!-- class: ")[1:]
    assert [part.split()[0] for part in parts] == [table.value for table in Table]
    for part in parts:
        table = part.split("\n## ")[0]
        classes = {
            table_of(by_hash[number.hash].readings[reading_index(number.pointer)]).value for number in links_in(table)
        }
        assert classes == {part.split()[0]}


def test_a_timed_row_has_all_that_makes_it_honest(tmp_path, artifact):
    cells = row_of(tmp_path, "fold_ns")
    numbers = [number.text for cell in cells for number in links_in(cell)]
    assert numbers == ["1.743 µs", "1.723 to 1.762 µs", "12"]
    at = f"`{artifact.stem}#/readings/0`"
    assert cells[5:10] == ["clock, synthetic", "none", SLUG, "default", at]
    assert "python -m harness authority repro fold_ns --param n=9 --runtime app.made:make" in cells[10]


def test_a_ratio_has_both_arms_and_what_they_are_made_of(tmp_path, artifact):
    numbers = [number.text for cell in row_of(tmp_path, "hit_rate") for number in links_in(cell)]
    assert numbers == ["0.3684", "91", "247", "0", "a\\|b 60, c 31"]


def test_a_model_shows_its_knobs_and_a_replayed_one_asks_for_its_recording(tmp_path, artifact):
    assert any("[per_turn=1320](" in cell for cell in row_of(tmp_path, "saved_tok"))
    assert any("--workload FILE`" in cell for cell in row_of(tmp_path, "send_ns"))


def test_parameters_are_in_the_order_of_numbers(tmp_path, artifact):
    rows = [line for line in page_of(tmp_path).splitlines() if line.startswith("| `fold_ns`")]
    assert [re.search(r"n=(\d+)", row)[1] for row in rows] == ["9", "10"]


def test_a_block_shows_the_gate_point_of_what_is_timed_unless_it_asks_for_all(tmp_path, artifact):
    page = tmp_path / "docs" / "page.md"
    assert page.read_text().count("| `fold_ns`") == 1
    page.write_text(page.read_text().replace("kpis=fold_ns,hit_rate,saved_tok", "kpis=fold_ns points=all"))
    write(tmp_path)
    assert page.read_text().count("| `fold_ns`") == 2
    page.write_text(page.read_text().replace("points=all", "machine=other"))
    write(tmp_path)
    assert "- `fold_ns` is pending: no committed run holds it at the points and machine asked for" in page.read_text()


def test_the_bytes_do_not_depend_on_the_order_of_anything(tmp_path, artifact):
    (tmp_path / "bench" / "own.toml").write_text(ROWS + RETIRED + RETIRED.replace("spool_ns", "reel_ns"))
    for number, second in enumerate(("31", "31", "32")):  # two of one second: their hashes decide
        readings = [replace(each, evidence=[f"run {number}"]) for each in EVERY[number:]]
        record(tmp_path, run_of(tmp_path, readings, created=f"2026-12-01T05:20:{second}Z"))
    other = run_of(tmp_path, [FOLD, RATE, replace(FOLD, kpi="spool_ns", params={})])
    record(tmp_path, replace(other, machine=replace(other.machine, slug="linux-arm64-4c-test")))
    state = gather(tmp_path)
    project, catalog = load_project(tmp_path), state.catalog
    artifacts, _ = artifacts_of(tmp_path)
    assert len(artifacts) == 5
    wanted = authority_markdown(state.authority)
    draw = random.Random(7)
    for _ in range(20):
        shuffled = Catalog(
            tuple(draw.sample(catalog.kpis, len(catalog.kpis))), catalog.seams, tuple(draw.sample(catalog.retired, 2))
        )
        mixed = draw.sample(artifacts, len(artifacts))
        assert authority_markdown(state_of(mixed, shuffled, Sources(project, shuffled))) == wanted


def test_what_was_generated_is_generated_again(tmp_path, artifact):
    assert generated(gather(tmp_path))[PAGE] == page_of(tmp_path)
    assert write(tmp_path) == Written()


def test_text_of_others_cannot_forge_a_row(tmp_path, artifact):
    artifact.unlink()
    evil = replace(FOLD, params={"n": "9"}, evidence=["a | b\n| `x` | [1](y) <!-- class: modeled -->"])
    record(tmp_path, run_of(tmp_path, [evil]))
    write(tmp_path)
    lines = [line for line in page_of(tmp_path).splitlines() if "class: modeled" in line]
    (line,) = lines
    assert line.startswith("| `fold_ns`")
    assert "<!-- class: modeled" not in line
    assert Path(tmp_path / PAGE).read_bytes().decode() == generated(gather(tmp_path))[PAGE]
