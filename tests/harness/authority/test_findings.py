"""One sentence a fault, whatever it spoils; and what is no document, no file or no calibration is said by name."""

import os

import pytest

from harness.cli.exits import Exit
from harness.cli.main import main
from harness.jobs.authority import PAGE, check, write
from harness.jobs.authority_findings import Fault, Finding, told_once
from harness.record.floors import calibration
from harness.record.store import StoreError
from tests.harness.authority.project import SLUG, forged, index_of


def found(root):
    return [(finding.fault, finding.sentence) for finding in check(root)[1]]


def faults(root):
    return [fault for fault, _ in found(root)]


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def rows_of(artifact, *pages):
    return sum(f"{artifact.name}#" in line for page in pages for line in page.read_text("utf-8").splitlines())


def test_a_missing_run_file_is_one_sentence_with_the_number_of_its_rows(tmp_path, artifact):
    artifact.unlink()
    ((fault, sentence),) = found(tmp_path)
    assert fault is Fault.MISSING
    rows = rows_of(artifact, tmp_path / PAGE, tmp_path / "docs" / "page.md")
    assert rows > 5
    assert sentence.startswith(f"{rows} rows, the first: {PAGE}, line ")


def test_a_run_file_of_another_digest_is_one_sentence(tmp_path, artifact):
    artifact.write_bytes(artifact.read_bytes() + b" ")
    ((fault, sentence),) = found(tmp_path)
    assert fault is Fault.HASH
    assert "is not what its name says" in sentence


def test_a_changed_marker_of_a_class_is_one_sentence_with_the_number_of_its_rows(tmp_path, artifact):
    edit(tmp_path / PAGE, "<!-- class: clock", "<!-- class: modeled")
    ((fault, sentence),) = found(tmp_path)
    assert fault is Fault.CLASS
    assert sentence.startswith("2 rows, the first: ")
    assert "in a table of class modeled, and it is clock" in sentence


@pytest.mark.parametrize(("old", "new"), [("[1.743 µs]", "[1.643 µs]"), ("| clock, synthetic |", "| clock, live |")])
@pytest.mark.parametrize("page", [PAGE, "docs/page.md"])
def test_a_row_that_was_edited_once_is_one_sentence(tmp_path, artifact, page, old, new):
    edit(tmp_path / page, old, new)
    ((fault, sentence),) = found(tmp_path)
    assert fault is Fault.HAND_EDIT
    assert sentence.startswith(f"{page}, line ")


def test_two_edited_rows_are_two_sentences(tmp_path, artifact):
    edit(tmp_path / PAGE, "[1.743 µs]", "[1.643 µs]")
    edit(tmp_path / PAGE, "[2.001 µs]", "[2.000 µs]")
    assert faults(tmp_path) == [Fault.HAND_EDIT, Fault.HAND_EDIT]


def test_a_constant_that_was_edited_is_one_sentence(tmp_path, artifact):
    edit(tmp_path / "docs" / "page.md", "-->5 ms<!--", "-->6 ms<!--")
    assert faults(tmp_path) == [Fault.MARK]


def test_a_free_number_hides_no_hand_edit(tmp_path, artifact):
    edit(tmp_path / "docs" / "page.md", "# Page", "# Page of 5 ms")
    assert faults(tmp_path) == [Fault.FREE]
    edit(tmp_path / "docs" / "page.md", "| clock, synthetic |", "| clock, live |")
    assert faults(tmp_path) == [Fault.FREE, Fault.HAND_EDIT]


def test_a_kpi_that_vanished_is_one_sentence_for_its_points(tmp_path, artifact):
    rows = tmp_path / "bench" / "own.toml"
    edit(rows, "[kpi.fold_ns]", "[kpi.wound_ns]")
    vanished = [sentence for fault, sentence in found(tmp_path) if fault is Fault.VANISHED]
    assert len(vanished) == 1
    assert vanished[0].startswith("2 rows, the first: ")


def test_findings_without_a_cause_are_told_one_by_one():
    one, other = Finding(Fault.FREE, "a", row="1"), Finding(Fault.FREE, "b", row="2")
    assert told_once([one, other, one]) == [one, other]
    assert told_once([Finding(Fault.MISSING, "a", "x", "1"), Finding(Fault.CLASS, "b", "x", "2")]) == [
        Finding(Fault.MISSING, "a", "x", "1"),
        Finding(Fault.CLASS, "b", "x", "2"),
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numerator": 0, "denominator": 0}, "denominator: it is 0, and there is a value all the same"),
        ({"workload": "none"}, "workload: it points to nothing"),
    ],
)
def test_a_run_file_that_cannot_be_is_named(tmp_path, artifact, change, words):
    at = index_of(artifact, "hit_rate")
    forged(artifact, lambda run: run["readings"][at].update(change))
    assert words in next(sentence for fault, sentence in found(tmp_path) if fault is Fault.HASH)
    assert write(tmp_path).changed == ()


# Pipes, folders and links in the place of documents


@pytest.mark.parametrize("name", ["README.md", "docs/page.md", "docs/deep/er.md"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_document_is_named_and_the_rest_is_written(tmp_path, artifact, name, make, monkeypatch, capsys):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    make(path)
    (sentence,) = (sentence for fault, sentence in found(tmp_path) if fault is Fault.MARK)
    assert sentence.startswith(f"{name} cannot be read (")
    (tmp_path / PAGE).unlink()
    monkeypatch.chdir(tmp_path)
    assert main(["authority"]) == Exit.PARTLY_READ
    out = capsys.readouterr().out
    assert f"broken-mark: {name} cannot be read (" in out
    assert f"Written: {PAGE}; commit them." in out


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_page_that_is_no_file_is_refused_and_not_waited_for(tmp_path, artifact, make, monkeypatch, capsys):
    (tmp_path / PAGE).unlink()
    make(tmp_path / PAGE)
    assert faults(tmp_path) == [Fault.HAND_EDIT]
    monkeypatch.chdir(tmp_path)
    assert main(["authority"]) == Exit.UNUSABLE
    assert "it is no regular file; see what it is: `ls -ld" in capsys.readouterr().err


def test_a_folder_that_is_a_link_is_named(tmp_path, artifact, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "page.md").write_text("It takes 5 ms.\n")
    (tmp_path / "docs" / "sub").symlink_to(elsewhere)
    ((fault, sentence),) = found(tmp_path)
    assert fault is Fault.MARK
    assert sentence.startswith("docs/sub is a link to a folder, so that no page behind it is checked")


@pytest.mark.parametrize("name", [PAGE, "docs/page.md", "README.md"])
def test_nothing_is_written_through_a_link_that_leads_out(tmp_path, artifact, tmp_path_factory, name):
    outside = tmp_path_factory.mktemp("outside") / "theirs.md"
    outside.write_text("<!-- authority:begin x kpis=fold_ns -->\n<!-- authority:end -->\n")
    before = outside.read_bytes()
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to(outside)
    with pytest.raises(StoreError, match="is a link that leads out of the project, to "):
        write(tmp_path)
    assert outside.read_bytes() == before


def test_a_link_inside_the_project_is_written_through(tmp_path, artifact):
    (tmp_path / "page.md").write_text("old")
    (tmp_path / PAGE).unlink()
    (tmp_path / PAGE).symlink_to("page.md")
    assert write(tmp_path).changed == (PAGE,)
    assert (tmp_path / "page.md").read_text().startswith("# Benchmark authority")


# Blocks that others fill, where they fill them


@pytest.mark.parametrize("kind", ["gatebench", "peers"])
def test_a_block_of_another_command_is_exempt_in_its_own_document_alone(tmp_path, artifact, kind):
    script = {"gatebench": "ci/gatebench/score.py", "peers": "ci/peers.py"}[kind]
    own = {"gatebench": "docs/gate.md", "peers": "docs/floors.md"}[kind]
    (tmp_path / script).parent.mkdir(parents=True)
    (tmp_path / script).touch()
    block = f"<!-- {kind}:begin -->\n5 ms\n<!-- {kind}:end -->\n"
    (tmp_path / own).write_text(block)
    assert found(tmp_path) == []
    (tmp_path / "README.md").write_text(block)
    assert faults(tmp_path) == [Fault.FREE]
    (tmp_path / "README.md").unlink()
    (tmp_path / own).write_text(block * 2)
    ((fault, sentence),) = found(tmp_path)
    assert (fault, f"a second block {kind}, which no command fills" in sentence) == (Fault.MARK, True)


# Calibrations


@pytest.mark.parametrize(
    ("blob", "why"),
    [
        (b"{", "Expecting property name"),
        (b"[]", "it is not a harness.calibration/1 file"),
        (b"\xff", "invalid start byte"),
        (b'{"schema": "harness.calibration/1", "floors": {"a": {"floor": 2}}}', "the floor of a is 2"),
        (calibration("other", {}, None), "it is of the machine 'other', and lies with those of"),
    ],
)
def test_a_calibration_that_no_gate_could_use_is_red(tmp_path, artifact, blob, why):
    path = tmp_path / "baselines" / SLUG / "calibration.json"
    path.write_bytes(calibration(SLUG, {}, None))
    assert found(tmp_path) == []
    path.write_bytes(blob)
    ((fault, sentence),) = found(tmp_path)
    assert fault is Fault.CALIBRATION
    assert sentence.startswith(f"baselines/{SLUG}/calibration.json cannot be used: ")
    assert why in sentence


def test_a_calibration_that_is_a_pipe_is_red(tmp_path, artifact):
    os.mkfifo(tmp_path / "baselines" / SLUG / "calibration.json")
    assert faults(tmp_path) == [Fault.CALIBRATION]
