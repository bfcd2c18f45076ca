"""Committed floors: written in stable order, read back, refused by name where they are not what they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.judge.floor import Floor
from harness.record.floors import FloorError, calibration_path, floors, write_floors

FOUND = {"b_ns[n=2]": Floor(0.00212, 30, 1920, 0.0181, 0.0051), "a_ns": Floor(0.001, 30, 1920, 0.016, 0.002)}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = write_floors(tmp_path, "box", FOUND)
    assert floors(tmp_path, "box") == {"a_ns": 0.001, "b_ns[n=2]": 0.00212}
    first = file.read_bytes()
    write_floors(tmp_path, "box", dict(reversed(FOUND.items())))
    assert file.read_bytes() == first


def test_another_machine_has_none(tmp_path: Path) -> None:
    write_floors(tmp_path, "box", FOUND)
    assert floors(tmp_path, "other") == {}


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
def test_a_file_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    file = calibration_path(tmp_path, "box")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(FloorError, match=r"calibration\.json.*git checkout"):
        floors(tmp_path, "box")
