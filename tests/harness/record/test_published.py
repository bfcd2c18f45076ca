"""The published schemas describe the files that are written and committed, and refuse what their readers refuse."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from harness.cli.main import main
from harness.cli.schema import NAMES
from harness.record.baseline_read import BaselineError, decode
from harness.record.floors import write_floors
from harness.record.gate import encode as encode_gate
from harness.record.ratchet import encode
from kpis.terms.comparison import State
from tests.harness.gating.test_gate_page import CLEAN
from tests.harness.gating.test_gate_page import file as gate_of
from tests.harness.gating.test_gate_page import row as gate_row
from tests.harness.jobs.recorded import SLUG, Lab
from tests.schema_check import faults

Printed = Callable[[str], dict[str, Any]]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """A schema as the command prints it."""

    def call(name: str) -> dict[str, Any]:
        assert main(["schema", name]) == 0
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    return call


def toml(blob: bytes) -> dict[str, Any]:
    """A TOML file as JSON values: its dates are texts."""
    document: dict[str, Any] = json.loads(json.dumps(tomllib.loads(blob.decode()), default=date.isoformat))
    return document


@pytest.mark.parametrize("name", NAMES)
def test_each_name_prints_a_schema_that_says_what_it_is_of(printed: Printed, name: str) -> None:
    document = printed(name)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["title"].startswith(("harness.", "loopladder "))


def test_the_committed_files_are_as_published(printed: Printed, repo: Path) -> None:
    machines = [path for path in (repo / "baselines").iterdir() if path.is_dir()]
    layers = [path for machine in machines for path in machine.glob("*.toml")]
    calibrations = [path for machine in machines for path in machine.glob("calibration.json")]
    assert layers
    assert calibrations
    schema = printed("baseline")
    assert {path.name: faults(toml(path.read_bytes()), schema) for path in layers} == {path.name: [] for path in layers}
    schema = printed("calibration")
    for path in calibrations:
        document = json.loads(path.read_bytes())
        assert faults(document, schema) == []
        assert document.keys() <= schema["$defs"]["CalibrationFile"]["properties"].keys(), "each table is described"


def test_a_calibration_without_trials_is_as_published(printed: Printed, tmp_path: Path) -> None:
    document = json.loads(write_floors(tmp_path, "m", {}, None).read_bytes())
    assert document["fingerprint"] is None
    assert faults(document, printed("calibration")) == []
    assert faults({**document, "schema": "harness.run/1"}, printed("calibration")) != []
    assert faults({**document, "floors": {"a": {"floor": "1 %"}}}, printed("calibration")) != []


def test_a_gate_file_holds_every_key_and_known_words(printed: Printed) -> None:
    schema = printed("gate")
    document = json.loads(encode_gate(gate_of([gate_row(State.REGRESSED, ratio=1.1), gate_row(State.VOID)], CLEAN)))
    assert faults(document, schema) == []
    for key in document:
        assert faults({name: value for name, value in document.items() if name != key}, schema) == [f"$ has no {key}"]
    for key in document["rows"][0]:
        spoilt = copy.deepcopy(document)
        del spoilt["rows"][0][key]
        assert faults(spoilt, schema) == [f"$.rows[0] has no {key}"]
    document["rows"][1]["state"] = "fine"
    assert faults(document, schema) == ["$.rows[1].state is 'fine'"]


def test_each_ratchet_file_is_as_published(printed: Printed, tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    schema = printed("ratchet")
    nothing = json.loads(encode(lab.check(lab.run(0))))
    assert nothing["notes"], "there is no record"
    assert faults(nothing, schema) == []
    lab.sessions(5)
    document = json.loads(encode(lab.check(lab.run(6, {"denies": 13}))))
    assert document["verdict"]["passed"] is False
    assert faults(document, schema) == []
    for key in document:
        assert faults({name: value for name, value in document.items() if name != key}, schema) == [f"$ has no {key}"]
    spoilt = copy.deepcopy(document)
    spoilt["rows"][0]["state"] = "fine"
    assert faults(spoilt, schema) == ["$.rows[0].state is 'fine'"]


def without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda row: row.pop(key)


def with_(**more: Any) -> Callable[[dict[str, Any]], object]:
    return lambda row: row.update(more)


COUNT, TIME = "denies", "tool_call_p50_ns"


@pytest.mark.parametrize(
    ("kpi", "spoil", "sound"),
    [
        (COUNT, lambda _: None, True),
        (TIME, with_(limit=5200.5), True),
        (COUNT, with_(waiver={"why": "Known.", "until": date(2099, 12, 31)}), True),
        (COUNT, with_(moved={"why": "Meant.", "on": date(2031, 1, 1)}), True),
        (COUNT, without("limit"), False),
        (COUNT, without("sessions"), False),
        (COUNT, with_(sessions=[]), False),
        (COUNT, with_(limt=3), False),
        (COUNT, with_(limit="3"), False),
        (COUNT, with_(gate="report"), False),
        (COUNT, with_(unit="seconds"), False),
        (COUNT, with_(waiver={"why": "Known."}), False),
        (COUNT, with_(estimand="rate"), False),
        (TIME, without("mode"), False),
        (TIME, lambda row: row["sessions"][0].pop("median"), False),
        (TIME, lambda row: row.update(sessions=row["sessions"] * 21), False),
    ],
)
def test_the_schema_and_the_reader_of_a_baseline_agree(
    printed: Printed, tmp_path: Path, kpi: str, spoil: Callable[[dict[str, Any]], object], sound: bool
) -> None:
    lab = Lab(tmp_path)
    lab.sessions(1)
    file = next(path for path in (tmp_path / "baselines" / SLUG).glob("*.toml") if f"[kpi.{kpi}]" in path.read_text())
    document = tomllib.loads(file.read_text())
    spoil(document["kpi"][kpi])
    blob = tomli_w.dumps(document).encode()
    assert (faults(toml(blob), printed("baseline")) == []) is sound
    if sound:
        decode(blob, file.name)
    else:
        with pytest.raises(BaselineError):
            decode(blob, file.name)


def test_the_file_of_a_release_is_as_published(printed: Printed, tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.accept(lab.run(0), release="v1")
    document = toml((tmp_path / "baselines" / SLUG / "release.toml").read_bytes())
    assert document["tag"] == "v1"
    assert faults(document, printed("baseline")) == []


def test_a_schema_with_an_unknown_word_is_not_held() -> None:
    with pytest.raises(NotImplementedError, match="multipleOf"):
        faults(3, {"multipleOf": 2})
    assert faults(3, {"maximum": 2}) == ["$ is 3, out of bounds"]
    assert faults(3, {"oneOf": [{"type": "integer"}, {"type": "number"}]}) == ["$ is 3, 2 of 2 kinds"]
    assert faults(True, {"type": "integer"}) == ["$ is True, no integer"]
