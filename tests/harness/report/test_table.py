"""A run on a page: whole where it matters, apart where numbers differ in kind, and inert whatever it is called."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.record.run import Mode, Run, SourceTree, WorkloadRecord
from harness.report.page import console_on
from harness.report.table import render_run
from kpis.terms.kpi import Layer, Status
from kpis.terms.quantity import QuantityError, Unit
from kpis.terms.reading import Distribution, Leg, Notice, Reason, Undefined, Warn
from tests.harness.record.example import ABSENT, HISTOGRAM, IDENTITY, MODELED, RATE, REPORTED, TIMED, example

FENCE = (
    "The hook is a process of its own; this says nothing of the path inside one, which has a KPI of its own to say it."
)
ESCAPE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@dataclass
class Row:
    id: str
    fence: str


@dataclass
class Catalog:
    kpis: Any


CATALOG = Catalog({TIMED.kpi: Row(TIMED.kpi, FENCE), MODELED.kpi: Row(MODELED.kpi, "A price list, not a bill.")})


def page(run: Run, width: int = 80, path: Path | None = None, encoding: str = "utf-8", terminal: bool = False) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = (
        console_on(stream, width)
        if not terminal
        else Console(file=stream, width=width, force_terminal=True, highlight=False)
    )
    render_run(run, CATALOG, console, path)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_a_layer_has_one_table_a_kind_of_number_and_a_heading_each() -> None:
    text = page(example())
    headings = re.findall(r"^(\w+: (?:measured|modeled|reported).*)$", text, re.MULTILINE)
    assert headings == [
        "syscall: measured",
        "turn: measured",
        "turn: modeled, not measured",
        "turn: reported by others",
    ]
    modeled = text.index("turn: modeled")
    assert text.index(MODELED.kpi) > modeled > text.index(ABSENT.kpi)
    assert text.index(REPORTED.kpi) > text.index("turn: reported")


@pytest.mark.parametrize("width", [40, 60, 80, 99, 100, 120, 200])
def test_ids_values_and_intervals_are_whole_at_every_width(width: int) -> None:
    longest = replace(
        TIMED,
        kpi="k" * 30,
        params={"objective": "coverage", "n": "1000"},
        value=999.4,
        distribution=Distribution("process values", 12, 999.4, (989.5, 1099.0), None, None),
    )
    text = page(example(readings=[TIMED, RATE, HISTOGRAM, longest]), width)
    for whole in (
        TIMED.kpi,
        "1.235 ms",
        "[1.201, 1.310] ms",
        "0.7500",
        "1,200 of 1,600",
        "k" * 30,
        "999.4 ns",
        "[989.5, 1,099] ns",
    ):
        assert whole in text
    body = text.split("Next:")[0]
    assert all(len(line) <= width for line in body.splitlines())
    assert all(line == line.rstrip() for line in text.splitlines())


def test_an_undefined_row_gives_its_reason_and_detail_and_never_a_zero() -> None:
    crashed = replace(ABSENT, kpi="other_ns", undefined=ABSENT.undefined)
    text = page(example(readings=[ABSENT, crashed]))
    assert re.search(r"planner_plan_ns +not-offered +- ", text)
    assert "undefined, not-offered: This runtime offers no turn/planner. (planner_plan_ns," in text
    assert text.count("This runtime offers no turn/planner.") == 1
    assert not re.search(r"\s0(\.0+)?\s", text)


def test_equal_warnings_are_one_sentence_and_name_their_kpis() -> None:
    many = [replace(RATE, kpi=f"rate_{index}") for index in range(5)]
    other = replace(RATE, warnings=[Notice(Warn.SPREAD, "Values spread widely.")])
    text = " ".join(page(example(readings=[*many, other])).split())
    assert text.count("The load average was 3.2 on 2 cores.") == 1
    assert "warning, loaded: The load average was 3.2 on 2 cores. (rate_0, rate_1, rate_2 and 2 more)" in text
    assert "warning, spread: Values spread widely. (vdso_hit_rate)" in text


def test_parts_of_a_number_are_named() -> None:
    text = page(example())
    assert "verdict_reason_distribution: allowed 1,200, denied 400" in text
    assert "vdso_hit_rate arm=isolated: 3 excluded from the denominator" in text
    assert "turn_cost_usd: knobs usd_per_mtok=3" in text


def test_a_fence_has_a_line_below_a_hundred_columns_and_stands_in_the_row_from_there() -> None:
    narrow, wide = page(example(), 80), page(example(), 140)
    assert f"fence, {TIMED.kpi}: The hook is a process" in narrow
    assert f"fence, {TIMED.kpi}" not in wide
    row = next(line for line in wide.splitlines() if line.startswith(TIMED.kpi))
    assert "The hook is a process" in row
    assert row.endswith("…")


def test_a_catalog_may_be_a_tuple_of_rows() -> None:
    stream = io.StringIO()
    render_run(example(), Catalog((Row(TIMED.kpi, "A fence."),)), console_on(stream, 80))
    assert f"fence, {TIMED.kpi}: A fence." in stream.getvalue()


def test_legs_runtimes_and_workloads_are_named_where_they_tell_rows_apart() -> None:
    one = page(example(readings=[TIMED, replace(TIMED, leg=Leg.CPU)]))
    assert "leg=cpu" in one
    assert "runtime=" not in one
    two = page(example(readings=[RATE, replace(RATE, runtime="theirs", workload="other")]))
    assert "arm=isolated runtime=theirs workload=other" in two


def test_a_reading_that_claims_what_its_basis_forbids_is_refused() -> None:
    with pytest.raises(QuantityError, match="Milliseconds are modeled or reported only"):
        page(example(readings=[replace(TIMED, unit=Unit.MS)]))


def test_workloads_are_listed_with_digest_trace_and_facts() -> None:
    record = WorkloadRecord(
        sha256="ab" * 32, kind="session", source="replay", hash="cd" * 8, facts={"turns": 12, "calls": 40}
    )
    text = " ".join(page(example(workloads={"night": record})).split())
    assert f"workload night: session, replay, sha256 {'ab' * 8}, trace {'cd' * 8}, calls 40, turns 12" in text
    assert "ab" * 9 not in text


def test_the_last_line_is_the_file_and_a_command_unbroken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".harness" / "runs" / f"{IDENTITY}.json"
    last = page(example(), 40, path).splitlines()[-1]
    assert last == f"Run file .harness/runs/{IDENTITY}.json; next: python -m harness gate --against HEAD"
    outside = page(example(), 80, Path("/elsewhere/run.json")).splitlines()[-1]
    assert outside.startswith("Run file /elsewhere/run.json; next: ")


def test_the_next_command_fits_what_happened() -> None:
    assert page(example(complete=False)).splitlines()[-1] == "Next: python -m harness run --resume"
    assert "This run is incomplete" in page(example(complete=False))
    void = replace(ABSENT, undefined=Undefined(Reason.CRASHED, "It died of signal 11."))
    assert page(example(readings=[void])).splitlines()[-1] == "Next: python -m harness explain planner_plan_ns"
    assert page(example()).splitlines()[-1] == "Next: python -m harness gate --against HEAD"
    untracked = SourceTree(commit=None, dirty=None, touched={})
    assert page(example(source=untracked)).splitlines()[-1] == "Next: python -m harness list"
    assert "local changes" not in page(example())
    assert ", quick" in page(example(mode=Mode.QUICK)).splitlines()[0]


HOSTILE = "\x1b[2J\x1b]0;owned\x07[red]evil[/red]\x9b31m :smile:\r\nforged row\u202e"


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("width", [60, 80, 140])
def test_hostile_text_is_shown_inert(width: int, terminal: bool) -> None:
    timed = replace(
        TIMED,
        kpi="evil" + HOSTILE,
        params={HOSTILE: HOSTILE},
        runtime=HOSTILE,
        workload=HOSTILE,
        warnings=[Notice(Warn.LOADED, HOSTILE)],
    )
    absent = replace(ABSENT, kpi=HOSTILE, undefined=Undefined(Reason.ERROR, HOSTILE))
    histogram = replace(HISTOGRAM, histogram={HOSTILE: 3})
    modeled = replace(MODELED, knobs={HOSTILE: 1.0})
    record = WorkloadRecord(sha256=HOSTILE, kind=HOSTILE, source=HOSTILE, hash=HOSTILE, facts={HOSTILE: HOSTILE})
    run = example(id=HOSTILE, readings=[timed, absent, histogram, modeled], workloads={HOSTILE: record})
    text = page(run, width, terminal=terminal)
    text = re.sub(r"\x1b\[[0-9;]*m", "", text) if terminal else text  # what remains of a terminal's own styles
    assert not ESCAPE.search(text)
    assert "\u202e" not in text
    assert "owned" not in text
    assert "[red]" in text
    assert ":smile:" in text
    assert not any(line.startswith("forged row") for line in text.splitlines())


def test_a_pipe_gets_neither_colour_nor_line_drawing() -> None:
    text = page(example())
    assert "\x1b" not in text
    assert text.replace("…", "").replace("µ", "").isascii()


def test_an_encoding_without_the_signs_gets_ascii() -> None:
    timed = replace(
        TIMED, value=1500.0, distribution=Distribution("process values", 6, 1500.0, (1400.0, 1600.0), None, None)
    )
    run = example(readings=[timed, replace(ABSENT, undefined=Undefined(Reason.ERROR, "caf\xe9"))])
    for encoding in ("ascii", "koi8-r"):
        text = page(run, 120, encoding=encoding)
        assert "[1.400, 1.600] us" in text
        assert "caf\\xe9" in text
        assert text.isascii()
    assert page(run, 80, encoding="ascii", terminal=True).isascii()


def test_no_color_is_honoured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    colour = re.compile(r"\x1b\[[0-9;]*3[0-7]")
    assert colour.search(page(example(), terminal=True))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour.search(page(example(), terminal=True))


def test_every_layer_that_was_measured_is_shown_in_the_order_of_the_ladder() -> None:
    readings = [replace(TIMED, layer=layer, kpi=f"of_{layer.value}") for layer in reversed(Layer)]
    text = page(example(readings=readings))
    places = [text.index(f"of_{layer.value}") for layer in Layer]
    assert places == sorted(places)
    assert page(example(readings=[])).splitlines()[0].startswith(f"Run {IDENTITY}")
    assert Status.STANDING.value in text
