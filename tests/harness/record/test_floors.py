"""Committed floors: written in stable order, read back on their own machine, and else unknown with a reason."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from harness.judge.floor import Floor
from harness.measure import machine
from harness.record.floors import FACTS, calibration_path, facts_of, floors, write_floors

FOUND = {"b_ns[n=2]": Floor(0.00212, 30, 1920, 0.0181, 0.0051), "a_ns": Floor(0.001, 30, 1920, 0.016, 0.002)}
HERE = {name: f"{name} of the box" for name in FACTS} | {"cores": 2, "libc": "glibc 2.36"}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_what_is_written_is_read_with_the_hash_of_the_file(tmp_path: Path) -> None:
    file = write_floors(tmp_path, "box", FOUND, HERE)
    found = floors(tmp_path, "box", HERE, COMMIT)
    assert found.sizes == {"a_ns": 0.001, "b_ns[n=2]": 0.00212}
    assert found.notes == ()
    first = file.read_bytes()
    assert found.sha256 == hashlib.sha256(first).hexdigest()
    assert (found.table("a_ns"), found.table("c_ns")) == (found.sha256, None)
    write_floors(tmp_path, "box", dict(reversed(FOUND.items())), HERE)
    assert file.read_bytes() == first


def test_a_machine_without_a_file_has_none_and_nothing_is_said(tmp_path: Path) -> None:
    write_floors(tmp_path, "box", FOUND, HERE)
    found = floors(tmp_path, "other", HERE, COMMIT)
    assert (found.sizes, found.sha256, found.notes) == ({}, None, ())


@pytest.mark.parametrize("field", FACTS)
def test_a_machine_that_shares_the_name_gets_no_floor_and_reads_what_differs(field: str, tmp_path: Path) -> None:
    write_floors(tmp_path, "box", FOUND, HERE)
    for other in ("something else", None):
        found = floors(tmp_path, "box", {**HERE, field: other}, COMMIT)
        assert (found.sizes, found.sha256) == ({}, None)
        (said,) = found.notes
        assert f"{field} differs: {HERE[field]} on record, {other or 'not stated'} in this run" in said
        assert "Every margin is 2 %" in said
    assert floors(tmp_path, "box", {**HERE, "libc": "musl"}, COMMIT).notes == ()


@pytest.mark.parametrize("field", FACTS)
def test_what_neither_side_can_tell_is_not_taken_for_the_same(field: str, tmp_path: Path) -> None:
    write_floors(tmp_path, "box", FOUND, {**HERE, field: None})
    found = floors(tmp_path, "box", {**HERE, field: None}, COMMIT)
    assert found.sizes == {}
    assert f"{field} cannot be read" in found.notes[0]


def test_a_file_that_names_no_machine_gives_no_floor(tmp_path: Path) -> None:
    file = write_floors(tmp_path, "box", FOUND, None)
    assert json.loads(file.read_bytes())["fingerprint"] is None
    found = floors(tmp_path, "box", HERE, COMMIT)
    assert found.sizes == {}
    assert "does not state the machine" in found.notes[0]


def test_the_facts_are_among_those_of_a_fingerprint() -> None:
    fingerprint = machine.fingerprint()
    assert set(FACTS) <= set(fingerprint)
    assert {"cores", "cpu_model", "kernel", "python"} <= set(FACTS)
    assert facts_of(fingerprint) == {name: fingerprint[name] for name in FACTS}


def test_a_floor_above_five_percent_is_unknown_and_is_named(tmp_path: Path) -> None:
    """A margin of three of it would let a regression of half the time pass in silence."""
    wide = {f"wide{i}_ns": Floor(0.051 + i / 100, 30, 1920, 0.0181, 0.0051) for i in range(7)}
    write_floors(tmp_path, "box", {**FOUND, "edge_ns": Floor(0.05, 30, 1920, 0.0181, 0.0051), **wide}, HERE)
    found = floors(tmp_path, "box", HERE, COMMIT)
    assert found.sizes == {"a_ns": 0.001, "b_ns[n=2]": 0.00212, "edge_ns": 0.05}
    assert found.table("a_ns") == found.sha256 is not None
    assert found.table("wide0_ns") is None
    (said,) = found.notes
    assert said.startswith("The floor of wide0_ns (5.1 %), ")
    assert " and 2 more is above 5 % and is not taken: the margin there is 2 %." in said
    assert said.endswith("Look with: git show 0123456789ab:./baselines/box/calibration.json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"schema": "harness.run/1", "floors": {}}',
        '{"schema": "harness.calibration/1", "floors": {"a": {}}}',
        '{"schema": "harness.calibration/1", "floors": {"a": {"floor": true}}}',
        '{"schema": "harness.calibration/1", "floors": {"a": {"floor": -0.1}}}',
        '{"schema": "harness.calibration/1", "floors": {"a": {"floor": NaN}}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_none_is_named_by_commit_and_path(tmp_path: Path, text: str) -> None:
    """Not by the folder that the base was laid out in, which is gone when the sentence is read."""
    file = calibration_path(tmp_path, "box")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    found = floors(tmp_path, "box", HERE, COMMIT)
    assert (found.sizes, found.sha256) == ({}, None)
    (said,) = found.notes
    assert said.startswith("No floor is taken from baselines/box/calibration.json of the base 0123456789ab: ")
    assert said.endswith("Look with: git show 0123456789ab:./baselines/box/calibration.json")
    assert str(tmp_path) not in said
