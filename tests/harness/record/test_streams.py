"""Streams of trials: appended to, never rewritten; torn lines; another machine's; and what a gate reads of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judge.rates import at_most
from harness.record.floors import SCHEMA, calibration, facts_of
from harness.record.observed import CALIBRATE, observed, per_cent_at_most
from harness.record.store import StoreError
from harness.record.streams import append, read_machine, streams_path
from harness.record.trials import Kind, LoadState, Trial, TrialError, brief, line_of, whole_suites

SLUG = "linux-test-2c"
FACTS = facts_of(
    {"architecture": "x86_64", "cores": 2, "cpu_flags_sha256": "ab", "cpu_model": "T", "kernel": "6", "python": "3.11"}
)


def trial(kpi: str = "a", kind: Kind = Kind.NULL, seed: int = 1, **more: object) -> Trial:
    pairs = tuple((brief(5e6 + at), brief(5e6 - at)) for at in range(20))
    made = Trial(kpi, kind, 1.0, seed, SLUG, "0.1 to 0.2 on 2 cores", pairs, planned=20, fingerprint=FACTS)
    return replace(made, **more)  # type: ignore[arg-type]


def test_what_is_appended_is_read_again_in_order(tmp_path: Path) -> None:
    made = [trial(seed=seed, state=LoadState.ONE, suite=1, delta=0.01) for seed in range(3)]
    files = {append(tmp_path, each) for each in made}
    assert files == {streams_path(tmp_path, SLUG) / "null.jsonl"}
    assert read_machine(tmp_path, SLUG) == made


def test_a_time_has_five_significant_digits_and_no_more_space_than_that() -> None:
    assert [brief(value) for value in (5120749.4, 0.123456, 99999.6)] == [5120700.0, 0.12346, 100000.0]
    small = trial(pairs=((0.12346, 123.45),), planned=1)
    assert json.loads(line_of(small))["pairs"] == [[0.12346, 123.45]]


def test_a_torn_last_line_is_passed_over_and_cut_off_by_the_next(tmp_path: Path) -> None:
    file = append(tmp_path, trial())
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:100])
    assert read_machine(tmp_path, SLUG) == [trial()]
    append(tmp_path, trial(seed=2))
    assert read_machine(tmp_path, SLUG) == [trial(), trial(seed=2)]
    assert file.read_bytes().startswith(whole)


def test_a_last_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    file = append(tmp_path, trial())
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    append(tmp_path, trial(seed=2))
    assert read_machine(tmp_path, SLUG) == [trial(), trial(seed=2)]


@pytest.mark.parametrize("planted", ["<<<<<<< HEAD\n", "{\n", "[" * 100_000 + "\n", '{"kpi":"a"}\n'])
def test_a_line_that_is_no_trial_is_refused_by_file_and_line(planted: str, tmp_path: Path) -> None:
    file = append(tmp_path, trial())
    file.write_text(file.read_text() + planted + line_of(trial()) + "\n")
    with pytest.raises(TrialError, match=r"null\.jsonl, line 2: .* Look: sed -n 2p"):
        read_machine(tmp_path, SLUG)


def test_a_stream_of_another_machine_is_refused(tmp_path: Path) -> None:
    file = append(tmp_path, trial())
    file.write_text(file.read_text() + line_of(trial(machine="another")) + "\n")
    with pytest.raises(TrialError, match=r"null\.jsonl, line 2: it was recorded on 'another'"):
        read_machine(tmp_path, SLUG)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = streams_path(tmp_path, SLUG)
    folder.mkdir(parents=True)
    (tmp_path / "mine").write_text("")
    (folder / "null.jsonl").symlink_to(tmp_path / "mine")
    with pytest.raises(StoreError):
        append(tmp_path, trial())
    assert (tmp_path / "mine").read_text() == ""


def test_a_suite_is_as_large_as_it_says() -> None:
    old = [trial("a", seed=1), trial("b", seed=1), trial("a", seed=2)]
    new = [trial("c", seed=3, suite=1), trial("c", seed=4, suite=2), trial("d", seed=5, suite=1, void="gone")]
    assert [[each.kpi for each in members] for members in whole_suites([*old, *new])] == [["a", "b"], ["c"]]


# What a gate prints


def file_of(red: int, of: int, /, **more: object) -> bytes:
    suites = {"red": red, "of": of, "at_most": round(at_most(red, of), 4)}
    return calibration(SLUG, {}, FACTS, {"suites": {**suites, **more}})


def test_the_gate_reads_the_count_and_its_bound() -> None:
    said = observed(file_of(0, 40), FACTS)
    assert said == "observed: 0 of 40 independent suites red on this machine (at most 7.3 %)"
    assert per_cent_at_most(1 - 0.05 ** (1 / 60)) == "4.9 %"
    assert per_cent_at_most(0.05001) == "5.1 %", "a bound is never rounded down"


def test_without_a_record_the_gate_names_the_command() -> None:
    for blob in (None, file_of(0, 0), calibration(SLUG, {}, FACTS)):
        assert observed(blob, FACTS).endswith(f"record some with: {CALIBRATE}")


@pytest.mark.parametrize(
    ("blob", "why"),
    [
        (b"{", "does not hold here"),
        (b"[]", f"not a {SCHEMA} file"),
        (json.dumps({"schema": "harness.calibration/2"}).encode(), f"not a {SCHEMA} file"),
        (calibration(SLUG, {}, None), "does not state its machine"),
        (calibration(SLUG, {}, {**FACTS, "kernel": "7"}), "another machine's: kernel differs"),
        (file_of(0, 40, of=400), "the bound of its suites is not that of 0 of 400"),
        (file_of(3, 40, red=-1), "no counts"),
        (file_of(3, 40, of="many"), "no counts"),
        (calibration(SLUG, {}, FACTS, {"suites": 7}), "no counts"),
    ],
)
def test_a_file_that_was_edited_or_is_anothers_is_not_repeated(blob: bytes, why: str) -> None:
    said = observed(blob, FACTS)
    assert why in said
    assert said.endswith(CALIBRATE)
    assert "independent suites red" not in said
