"""The check of the authority: the truth passes, and each planted fault turns it red by its own name."""

import json
from dataclasses import replace

import pytest

from harness.jobs.authority import PAGE, Written, check, gather, write
from harness.jobs.authority_findings import Fault
from kpis.terms.reading import Distribution
from tests.harness.authority.project import (
    ABSENT,
    EVERY,
    FOLD,
    RATE,
    RETIRED,
    ROWS,
    SEND,
    forged,
    index_of,
    record,
    run_of,
)


def faults(root):
    return [finding.fault for finding in check(root)[1]]


def sentences(root, fault):
    return [finding.sentence for finding in check(root)[1] if finding.fault is fault]


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_truth_has_no_finding(tmp_path, artifact):
    assert check(tmp_path)[1] == []
    assert write(tmp_path) == Written()


def test_a_flipped_byte_of_a_run_file_is_a_hash_that_differs_and_nothing_is_written(tmp_path, artifact):
    blob = artifact.read_bytes()
    at = blob.index(b"1743.0")
    artifact.write_bytes(blob[:at] + b"1643.0" + blob[at + 6 :])
    assert Fault.HASH in faults(tmp_path)
    before = (tmp_path / PAGE).read_bytes()
    done = write(tmp_path)
    assert done.changed == ()
    assert [finding.fault for finding in done.unsound] == [Fault.HASH]
    assert (tmp_path / PAGE).read_bytes() == before


@pytest.mark.parametrize("blob", [b"", b"{", b'{"schema": "harness.run/9"}', b"\xff\xfe"])
def test_a_run_file_that_is_none_is_found_whatever_its_name(tmp_path, artifact, blob):
    from tests.harness.authority.project import record_bytes

    record_bytes(tmp_path, blob)
    assert faults(tmp_path) == [Fault.HASH]


def test_a_run_file_among_those_of_another_machine_is_found(tmp_path, artifact):
    other = tmp_path / "baselines" / "other" / "runs"
    other.mkdir(parents=True)
    artifact.rename(other / artifact.name)
    assert any("lies with those of other" in sentence for sentence in sentences(tmp_path, Fault.HASH))


def test_a_removed_artifact_is_missing_from_the_page_and_from_the_documents(tmp_path, artifact):
    artifact.unlink()
    found = sentences(tmp_path, Fault.MISSING)
    page = (tmp_path / PAGE).read_text().splitlines() + (tmp_path / "docs" / "page.md").read_text().splitlines()
    rows = sum(f"{artifact.name}#" in line for line in page)
    (sentence,) = found
    assert sentence.startswith(f"{rows} rows, the first: {PAGE}, line ")
    assert faults(tmp_path) == [Fault.MISSING]


def test_a_number_that_was_lowered_by_hand_is_found_where_it_stands(tmp_path, artifact):
    edit(tmp_path / PAGE, "[1.743 µs]", "[1.643 µs]")
    (number,) = [sentence for sentence in sentences(tmp_path, Fault.HAND_EDIT) if "shows 1.643 µs" in sentence]
    assert "/readings/0/value is 1.743 µs" in number
    assert number.endswith("run `python -m harness authority` and commit the result.")


def test_a_word_that_was_changed_by_hand_is_found_at_its_line(tmp_path, artifact):
    edit(tmp_path / PAGE, "| clock, synthetic |", "| clock, live |")
    (sentence,) = sentences(tmp_path, Fault.HAND_EDIT)
    line = next(
        number for number, text in enumerate((tmp_path / PAGE).read_text().splitlines(), 1) if "clock, live" in text
    )
    assert sentence.startswith(f"{PAGE}, line {line}, reads ")


@pytest.mark.parametrize("spoil", [lambda text: text + "more\n", lambda text: text.replace("\n", "\r\n")])
def test_more_text_and_other_line_endings_are_hand_edits(tmp_path, artifact, spoil):
    page = tmp_path / PAGE
    page.write_bytes(spoil(page.read_text(encoding="utf-8")).encode())
    assert set(faults(tmp_path)) == {Fault.HAND_EDIT}


def test_a_page_that_is_not_there_is_found(tmp_path, artifact):
    (tmp_path / PAGE).unlink()
    assert faults(tmp_path) == [Fault.HAND_EDIT]


def test_arms_that_were_swapped_on_the_page_are_found(tmp_path, artifact):
    page = tmp_path / PAGE
    at = f"#/readings/{index_of(artifact, 'hit_rate')}"
    edit(page, f"[91](baselines/{artifact.parents[1].name}/runs/{artifact.name}{at}/numerator)", "@")
    edit(page, f"[247](baselines/{artifact.parents[1].name}/runs/{artifact.name}{at}/denominator)", "#")
    text = page.read_text(encoding="utf-8")
    link = f"baselines/{artifact.parents[1].name}/runs/{artifact.name}{at}"
    page.write_text(text.replace("@", f"[247]({link}/denominator)").replace("| # |", f"| [91]({link}/numerator) |"))
    found = sentences(tmp_path, Fault.ARM)
    assert [("as numerator" in sentence, "as denominator" in sentence) for sentence in found] == [
        (True, False),
        (False, True),
    ]


def test_texts_of_arms_that_were_swapped_are_found(tmp_path, artifact):
    page = tmp_path / "docs" / "page.md"
    edit(page, "[91](", "[@](")
    edit(page, "[247](", "[91](")
    edit(page, "[@](", "[247](")
    assert faults(tmp_path).count(Fault.ARM) == 2


def test_arms_that_were_swapped_in_a_run_file_are_found(tmp_path, artifact):
    at = index_of(artifact, "hit_rate")
    forged(artifact, lambda run: run["readings"][at].update(numerator=247, denominator=91))
    (sentence,) = sentences(tmp_path, Fault.ARM)
    assert "its arms are swapped" in sentence
    done = write(tmp_path)
    assert (done.changed, [finding.fault for finding in done.unsound]) == ((), [Fault.ARM])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numerator": 92}, "it is not 92 over 247"),
        ({"denominator": None}, "without both of its arms"),
    ],
)
def test_a_ratio_that_is_not_its_arms_is_found(tmp_path, artifact, change, words):
    at = index_of(artifact, "hit_rate")
    forged(artifact, lambda run: run["readings"][at].update(change))
    assert words in sentences(tmp_path, Fault.ARM)[0]


def test_a_row_that_was_moved_to_the_table_of_another_class_is_found(tmp_path, artifact):
    page = tmp_path / PAGE
    lines = page.read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith("| `saved_tok`"))
    lines.remove(row)
    lines.insert(next(at for at, line in enumerate(lines) if line.startswith("| `fold_ns`")), row)
    page.write_text("\n".join(lines) + "\n")
    found = sentences(tmp_path, Fault.CLASS)
    assert found
    assert all("in a table of class clock, and it is modeled" in sentence for sentence in found)


@pytest.mark.parametrize(
    ("kpi", "change", "words"),
    [
        ("saved_tok", {"basis": "count", "kind": "count", "knobs": None}, "its KPI is a model with knobs"),
        ("hit_rate", {"basis": "model", "kind": "modeled", "knobs": {"a": 1.0}}, "its KPI is no model"),
        ("hit_rate", {"basis": "clock"}, "its KPI is a rate"),
        ("fold_ns", {"basis": "count"}, "which only a clock has"),
        ("fold_ns", {"basis": "count", "distribution": None}, "its KPI is a call-mean"),
        ("send_ns", {"source": "live"}, "has source live and was taken from a recording"),
    ],
)
def test_a_mislabelled_class_in_a_run_file_is_found(tmp_path, artifact, kpi, change, words):
    at = index_of(artifact, kpi)
    forged(artifact, lambda run: run["readings"][at].update(change))
    (sentence,) = sentences(tmp_path, Fault.CLASS)
    assert words in sentence
    assert write(tmp_path).changed == ()


def test_an_authored_input_makes_a_synthetic_number(tmp_path, artifact):
    forged(artifact, lambda run: run["workloads"]["mine"].update(source="synthetic"))
    assert all("taken from an authored input" in sentence for sentence in sentences(tmp_path, Fault.CLASS))
    assert faults(tmp_path).count(Fault.CLASS) == 2


def retire(root, text=RETIRED, rows=ROWS):
    (root / "bench" / "own.toml").write_text(rows + text)


def test_a_retired_kpi_is_struck_through_with_its_last_number(tmp_path, artifact):
    artifact.unlink()
    retire(tmp_path)
    taken = Distribution("process values", 12, 1500.0, None, None, None)
    spooled = replace(FOLD, kpi="spool_ns", params={}, value=1500.0, distribution=taken)
    record(tmp_path, run_of(tmp_path, [*EVERY, spooled]))
    write(tmp_path)
    assert check(tmp_path)[1] == []
    lines = [line for line in (tmp_path / PAGE).read_text().splitlines() if "`spool_ns`" in line]
    (line,) = lines
    assert line.startswith("| ~~`spool_ns`~~ | 2026-12-01 | It timed the engine. | `fold_ns` | ~~[1.500 µs](")


@pytest.mark.parametrize(
    ("rows", "text", "words"),
    [
        (ROWS + ROWS.split("\n\n")[2].replace("fold_ns", "spool_ns"), RETIRED, "in the catalog again"),
        (ROWS, RETIRED.replace('"fold_ns"', '"new_ns"'), "which is no KPI of the catalog"),
        (
            ROWS,
            RETIRED.replace('"fold_ns"', '"reel_ns"') + RETIRED.replace("spool_ns", "reel_ns"),
            "names reel_ns in its place, which is retired itself",
        ),
    ],
    ids=["alive again", "unknown", "retired itself"],
)
def test_a_tombstone_that_the_catalog_undoes_is_found(tmp_path, artifact, rows, text, words):
    retire(tmp_path, text, rows)
    write(tmp_path)
    (sentence,) = sentences(tmp_path, Fault.TOMBSTONE)
    assert words in sentence


def test_a_retired_kpi_that_a_later_run_measures_is_found(tmp_path, artifact):
    retire(tmp_path)
    later = replace(run_of(tmp_path, [replace(FOLD, kpi="spool_ns", params={})]), created="2026-12-02T00:00:00Z")
    record(tmp_path, later)
    write(tmp_path)
    (sentence,) = sentences(tmp_path, Fault.TOMBSTONE)
    assert "measured it on 2026-12-02" in sentence


def test_a_document_that_goes_on_showing_a_retired_number_is_found(tmp_path, artifact):
    retire(tmp_path, RETIRED.replace("spool_ns", "send_ns"), ROWS.replace("[kpi.send_ns]", "[kpi.sent_ns]"))
    page = tmp_path / "docs" / "page.md"
    number = f"[5.400 µs](../{artifact.relative_to(tmp_path).as_posix()}#/readings/2/value)"
    page.write_text(f"# Page\n\nIt took {number}.\n")
    assert any(
        sentence.startswith("docs/page.md, line 3 shows a number of send_ns")
        for sentence in sentences(tmp_path, Fault.TOMBSTONE)
    )
    page.write_text("# Page\n\n<!-- authority:begin x kpis=fold_ns -->\n| send_ns | 5.4 µs |\n<!-- authority:end -->\n")
    assert any(sentence.startswith("docs/page.md, line 4 shows") for sentence in sentences(tmp_path, Fault.TOMBSTONE))
    page.write_text("# Page\n\n~~send_ns~~ is no more.\n")
    write(tmp_path)
    assert sentences(tmp_path, Fault.TOMBSTONE) == []


def test_a_block_strikes_a_retired_kpi_through_and_shows_no_number_of_it(tmp_path, artifact):
    retire(tmp_path, RETIRED.replace("spool_ns", "hit_rate"), ROWS.replace("[kpi.hit_rate]", "[kpi.hits]"))
    write(tmp_path)
    page = (tmp_path / "docs" / "page.md").read_text()
    assert "- ~~`hit_rate`~~ is retired since 2026-12-01: It timed the engine. read fold_ns" in page
    assert "/numerator" not in page


def test_a_kpi_that_left_the_catalog_without_a_tombstone_is_found(tmp_path, artifact):
    retire(tmp_path, "", ROWS.replace("[kpi.send_ns]", "[kpi.sent_ns]"))
    (sentence,) = sentences(tmp_path, Fault.VANISHED)
    assert "send_ns, which the catalog does not know" in sentence
    retire(tmp_path, "", ROWS.replace("[kpi.send_ns]", '[kpi.sent_ns]\naliases = ["send_ns"]'))
    assert sentences(tmp_path, Fault.VANISHED) == []
    write(tmp_path)
    assert "`sent_ns` runtime=app.made:make (as send_ns) on mine |" in (tmp_path / PAGE).read_text()


@pytest.mark.parametrize("name", ["README.md", "docs/page.md", "docs/deep/er.md"])
def test_a_number_that_was_typed_into_a_document_is_found_by_file_and_line(tmp_path, artifact, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    before = path.read_text()
    path.write_text(before + "\nA turn takes 2.1 ms here.\n")
    (sentence,) = sentences(tmp_path, Fault.FREE)
    line = before.count("\n") + 2
    assert sentence.startswith(f"{name}, line {line}: the number '2.1 ms' is typed by hand")


def test_a_block_that_was_edited_by_hand_is_found(tmp_path, artifact):
    edit(tmp_path / "docs" / "page.md", "| clock, synthetic |", "| clock, live |")
    (sentence,) = sentences(tmp_path, Fault.HAND_EDIT)
    assert sentence.startswith("docs/page.md, line ")


def test_a_constant_that_is_not_the_codes_is_found_and_written(tmp_path, artifact):
    page = tmp_path / "docs" / "page.md"
    assert "-->5 ms<!--=-->" in page.read_text()
    edit(page, "-->5 ms<!--", "-->6 ms<!--")
    assert "reads '6 ms' where harness.jobs.modes:MIN_TIME_S is '5 ms'" in sentences(tmp_path, Fault.MARK)[0]
    write(tmp_path)
    assert faults(tmp_path) == []


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("<!-- authority:begin x kpis=fold_n -->\n<!-- authority:end -->", "names fold_n, which the catalog does not"),
        ("<!-- authority:begin x -->\n<!-- authority:end -->", "the mark names no KPI"),
        ("<!-- authority:begin kpis=fold_ns -->\n<!-- authority:end -->", "the mark has no name"),
        ("<!-- authority:begin x kpis=fold_ns point=all -->\n<!-- authority:end -->", "the mark has 'point=all'"),
        ("<!-- authority:begin x kpis=fold_ns points=2 -->\n<!-- authority:end -->", "points=2 is neither"),
        ("<!-- authority:begin x kpis=fold_ns -->", "the block authority has no end"),
        ("<!-- authority:end -->", "ends that has not begun"),
        ("<!--=kpis.growth:LEAST_POINTS-->3", "without its beginning or end"),
        ("<!--=app.made:make-->3<!--=-->", "there is no constant app.made:make"),
        ("<!--=kpis.growth:LEAST-->3<!--=-->", "there is no constant kpis.growth:LEAST"),
        ("<!--=kpis.growth:HISTORY-->3<!--=-->", "is no number"),
        ("<!--=kpis.growth:LEAST_POINTS parsec-->3<!--=-->", "there is no format parsec"),
    ],
)
def test_a_mark_that_says_nothing_is_found(tmp_path, artifact, mark, words):
    (tmp_path / "README.md").write_text(f"# Mine\n\n{mark}\n")
    assert any(
        words in sentence and sentence.startswith("README.md, line 3") for sentence in sentences(tmp_path, Fault.MARK)
    )


def test_a_changed_source_makes_exactly_its_rows_stale_and_they_lead_no_table(tmp_path, artifact):
    (tmp_path / "app" / "sending.py").write_text("# changed\n")
    state, findings = check(tmp_path)
    stale = {row.kpi for row in state.authority.rows if row.stale}
    assert stale == {"send_ns"}, "what stands below TYPE_CHECKING is not loaded"
    assert [finding.fault for finding in findings].count(Fault.STALE) == 1
    write(tmp_path)
    assert faults(tmp_path) == [Fault.STALE]
    lead, _, out = (tmp_path / PAGE).read_text().partition("## Out of the tables above")
    assert "| `send_ns`" not in lead
    assert "stale: app/sending.py changed |" in out


def test_a_source_that_several_rows_share_makes_them_all_stale(tmp_path, artifact):
    (tmp_path / "app" / "words.py").unlink()
    assert {row.kpi for row in check(tmp_path)[0].authority.rows if not row.stale} == {"send_ns"}


def test_a_touched_file_that_nobody_imports_concerns_every_row(tmp_path, artifact):
    (tmp_path / "app" / "by_name.py").write_text("# changed\n")
    assert all(row.stale for row in check(tmp_path)[0].authority.rows)


def test_a_point_that_the_catalog_dropped_is_stale(tmp_path, artifact):
    (tmp_path / "bench" / "own.toml").write_text(ROWS.replace('["9", "10"]', '["10"]'))
    (row,) = [row for row in check(tmp_path)[0].authority.rows if row.stale]
    assert row.reading.params == {"n": "9"}
    assert row.marks == ("stale: the catalog has no such point by now",)


@pytest.mark.parametrize("name", ["quick", "incomplete"])
def test_a_thin_run_leads_no_table_and_a_whole_one_goes_before_it(tmp_path, artifact, name):
    from harness.record.run import Mode

    changes = {"mode": Mode.QUICK} if name == "quick" else {"complete": False}
    later = {"created": "2026-12-30T00:00:00Z", **changes}
    record(tmp_path, run_of(tmp_path, [replace(FOLD, value=1.0), replace(RATE, params={})], **later))
    rows = {(row.kpi, *row.reading.params.values()): row for row in check(tmp_path)[0].authority.rows}
    assert rows["fold_ns", "9"].reading.value == 1743.0
    artifact.unlink()
    assert all(row.marks for row in check(tmp_path)[0].authority.rows)


def test_the_newest_run_decides_even_if_it_has_no_number(tmp_path, artifact):
    record(tmp_path, run_of(tmp_path, [ABSENT], created="2026-12-30T00:00:00Z"))
    write(tmp_path)
    page = (tmp_path / PAGE).read_text()
    assert "| `send_ns` runtime=app.made:make on mine | not-offered | There is no own/send. |" in page
    assert "[5.400 µs]" not in page


def test_without_a_run_file_everything_is_pending(tmp_path, artifact):
    artifact.unlink()
    write(tmp_path)
    state, findings = check(tmp_path)
    assert findings == []
    assert state.authority.rows == []
    assert "| `fold_ns` | a probe emits it; a run that is committed is missing |" in (tmp_path / PAGE).read_text()
    assert "- `fold_ns` is pending" in (tmp_path / "docs" / "page.md").read_text()


def test_a_distribution_of_two_processes_has_no_interval(tmp_path, artifact):
    thin = replace(SEND, distribution=Distribution("process values", 3, 5400.0, None, None, None))
    artifact.unlink()
    path = record(tmp_path, run_of(tmp_path, [thin]))
    write(tmp_path)
    assert json.loads(path.read_bytes())["readings"][0]["distribution"]["ci95"] is None
    row = next(line for line in (tmp_path / PAGE).read_text().splitlines() if line.startswith("| `send_ns`"))
    assert row.split(" | ")[2] == "-"
    assert faults(tmp_path) == []


def test_a_tombstone_is_remembered_with_the_rows_of_its_file(tmp_path, artifact):
    (tmp_path / ".harness").mkdir()
    retire(tmp_path)
    first = gather(tmp_path).catalog
    assert (tmp_path / ".harness" / "rows.json").is_file()
    assert [stone.id for stone in first.retired] == ["spool_ns"]
    assert gather(tmp_path).catalog.retired == first.retired


def test_a_growth_row_goes_with_the_kpi_that_it_is_read_from(tmp_path, artifact):
    retire(tmp_path)
    record(tmp_path, run_of(tmp_path, [replace(RATE, kpi="spool_ns_growth")]))
    assert sentences(tmp_path, Fault.VANISHED) == []
