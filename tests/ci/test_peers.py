"""The table beside a compiled peer: what it says, what it leaves open, and what it refuses in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ci import peers
from ci.marks import marks
from kpis.registry import load

BEGIN, END = marks("peers")
RUN: dict[str, Any] = {
    "id": "r1",
    "machine": {"slug": "m"},
    "readings": [
        {"kpi": "turn_reap_ns", "params": {"bytes": "1"}, "leg": "main", "value": 44_000.0},
        {"kpi": "page_fault_latency_ns", "params": {}, "leg": "main", "value": None},
    ],
}
PEER = {"what": "a reap", "us": 4.4, "kpi": "turn_reap_ns", "params": {"bytes": "1"}}


def test_a_row_has_our_time_and_the_ratio_or_a_dash() -> None:
    lines = peers.table(RUN, [PEER, {"what": "a fault", "us": 22, "kpi": "page_fault_latency_ns"}]).splitlines()
    assert lines[2] == "| a reap | `turn_reap_ns[bytes=1]` | 4.4 µs | 44.0 µs | 10.0 |  |"
    assert lines[3] == "| a fault | `page_fault_latency_ns` | 22 µs | - | - |  |"
    assert "run `r1`, m" in lines[-1]


def test_the_quoted_figures_name_points_of_the_catalog(repo: Path) -> None:
    catalog = load()
    figures = peers.quoted(repo / "ci" / "peers.toml")
    assert figures
    for figure in figures:
        assert figure.get("params", {}) in catalog.get(figure["kpi"]).points(), figure


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(peers, "ROOT", tmp_path)
    monkeypatch.setattr(peers, "PAGE", tmp_path / "floors.md")
    monkeypatch.setattr(peers, "PEERS", tmp_path / "peers.toml")
    monkeypatch.setattr(peers, "committed_runs", lambda root: sorted(root.glob("*.run.json")))
    (tmp_path / "floors.md").write_text(f"Before.\n{BEGIN}\nold\n{END}\nAfter.\n")
    (tmp_path / "peers.toml").write_text('[[peer]]\nwhat = "a reap"\nus = 4.4\nkpi = "turn_reap_ns"\n')
    (tmp_path / "1.run.json").write_text(json.dumps({**RUN, "created": "2027-01-01T00:00:00Z"}))
    (tmp_path / "2.run.json").write_text(json.dumps({**RUN, "id": "r2", "created": "2027-01-02T00:00:00Z"}))
    return tmp_path


def test_the_page_is_written_from_the_newest_run_and_checked(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert peers.main(["--check"]) == 1
    assert capsys.readouterr().err.endswith("type: python ci/peers.py --markdown\n")
    assert peers.main(["--markdown"]) == 0
    text = (place / "floors.md").read_text()
    assert text.startswith(f"Before.\n{BEGIN}\n| slice |")
    assert text.endswith(f"{END}\nAfter.\n")
    assert "run `r2`" in text
    assert peers.main(["--check"]) == 0


@pytest.mark.parametrize(
    ("file", "text", "says", "ends"),
    [
        ("floors.md", None, "floors.md cannot be read: No such file", "Look with: git status"),
        ("floors.md", "no marks", f"needs a line {BEGIN}", "python ci/peers.py --markdown"),
        ("peers.toml", None, "peers.toml cannot be read: No such file", "Look with: git status"),
        ("peers.toml", "[[peer", "is not valid TOML", "python ci/peers.py --markdown"),
        ("peers.toml", '[[peer]]\nwhat = "x"\nus = 1\n', "entry 1, has no kpi", "python ci/peers.py --markdown"),
        ("*.run.json", None, "No run is committed", "python ci/record_run.py"),
    ],
)
def test_what_cannot_be_used_gets_one_sentence_that_ends_with_a_command(
    file: str, text: str | None, says: str, ends: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in place.glob(file):
        path.unlink() if text is None else path.write_text(text)
    assert peers.main(["--markdown"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert says in said
    assert said.endswith(ends)
