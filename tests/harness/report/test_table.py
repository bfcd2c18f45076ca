"""A run on a page: whole where it matters, apart where numbers differ in kind, and inert whatever it is called."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.console import Console

from harness.cli.main import main
from harness.record.run import Mode, Run, Selection, SourceTree, WorkloadRecord
from harness.report import naming
from harness.report.notes import first_sentence
from harness.report.page import console_on
from harness.report.table import render_run
from kpis.terms.kpi import Estimand, Layer, Status
from kpis.terms.quantity import QuantityError, Unit
from kpis.terms.reading import Distribution, Leg, Notice, Reading, ReadingKind, Reason, Undefined, Warn
from tests.harness.record.example import ABSENT, HISTOGRAM, IDENTITY, MODELED, RATE, REPORTED, TIMED, example

FENCE = (
    "The hook is a process of its own; this says nothing of the path inside one, which has a KPI of its own to say it."
)
DERIVED = replace(
    TIMED,
    kpi="gate_primary",
    kind=ReadingKind.INVARIANT,
    value=1,
    unit=Unit.BOOL,
    status=Status.GUARDED,
    estimand=Estimand.INVARIANT,
    distribution=None,
    evidence=["tool_call_p50_ns = 1653 ns", "spawned_hook_baseline_p50_ns = 4.72853e+07 ns"],
)
SESSION = WorkloadRecord(
    sha256="ab" * 32,
    kind="session",
    source="replay",
    hash="cd" * 8,
    facts={"format": "claude-code", "basis": "reported", "turns": 1234, "threads": 1, "out": 6911, "cache_read": None},
)
ESCAPE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@dataclass
class Row:
    id: str
    fence: str
    seam: str = "turn/planner"


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
    headings = re.findall(r"^(\w+: (?:measured|modeled|reported|nothing).*)$", text, re.MULTILINE)
    assert headings == [
        "syscall: measured",
        "turn: nothing measured",
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
    run = example(readings=[TIMED, RATE, HISTOGRAM, longest, DERIVED], workloads={"night": SESSION})
    text = page(run, width)
    for whole in (
        TIMED.kpi,
        "1.235 ms",
        "[1.201, 1.310] ms",
        "0.7500",
        "1,200 of 1,600",
        "k" * 30,
        "999.4 ns",
        "[989.5, 1,099] ns",
        "objective=coverage n=1000",
        "yes",
    ):
        assert whole in text
    body = text.split("Next:")[0]
    assert all(len(line) <= width for line in body.splitlines())
    assert all(line == line.rstrip() for line in text.splitlines())


def phases(*names: str, **changes: Any) -> list[Reading]:
    return [replace(TIMED, **{"kpi": "turn_spawn_ns", "params": {"phase": name}, **changes}) for name in names]


def test_a_kpi_without_parameters_is_one_line_and_points_are_indented_below_their_kpi() -> None:
    lines = page(example(readings=[*phases("all", "plan"), TIMED, *phases("render")])).splitlines()
    first = lines.index("turn_spawn_ns")
    assert [line.split("  ")[1] for line in lines[first + 1 : first + 4]] == ["phase=all", "phase=plan", "phase=render"]
    assert re.fullmatch(
        r"spawned_hook_baseline_p50_ns +1\.235 ms  \[1\.201, 1\.310\] ms  clock, live", lines[first + 4]
    )
    assert lines[first - 2].split("  ")[0] == "KPI"
    assert set(lines[first - 1]) == {"-"}


def test_the_main_leg_stands_beside_its_kpi_and_another_leg_below() -> None:
    lines = page(example(readings=[replace(TIMED, leg=Leg.CPU), TIMED])).splitlines()
    main = next(index for index, line in enumerate(lines) if line.startswith(TIMED.kpi))
    assert "1.235 ms" in lines[main]
    assert lines[main + 1].startswith("  leg=cpu ")


def test_a_row_that_does_not_fit_takes_two_lines_and_leaves_the_others_whole() -> None:
    wide = replace(TIMED, params={"arm": "kernel", "what": "destructive_executed" * 2})
    lines = page(example(readings=[*phases("all"), wide]), 80).splitlines()
    short = next(line for line in lines if line.startswith("  phase=all "))
    name = lines.index("  arm=kernel what=" + "destructive_executed" * 2)
    assert short.index("[1.201") == lines[name + 1].index("[1.201")
    assert lines[name + 1].strip().startswith("1.235 ms")


def test_a_long_name_runs_into_the_blanks_before_a_short_number() -> None:
    count = replace(RATE, kind=ReadingKind.COUNT, value=4, unit=Unit.COUNT, numerator=4, denominator=None)
    name = "x" * 55
    large, small = replace(count, params={"a": "b"}, value=10**9), replace(count, params={"a": name})
    lines = page(example(readings=[TIMED, large, small]), 80).splitlines()
    assert any(line.startswith(f"  a={name}  4  ") for line in lines)


def test_a_heading_holds_for_everything_below_it() -> None:
    lines = page(example(readings=[TIMED, RATE, DERIVED])).splitlines()
    headings = [line.split("  ") for line in lines if line.startswith("KPI ")]
    shown = [[word.strip() for word in words if word] for words in headings]
    assert shown == [["KPI", "value", "95 % interval", "basis, source"], ["KPI", "value", "made of", "basis, source"]]
    of = [index for index, line in enumerate(lines) if line.startswith("KPI ")]
    assert any("[1.201, 1.310] ms" in line for line in lines[of[0] : of[1]])
    assert not any(" of 1,600" in line for line in lines[of[0] : of[1]])
    assert any("1,200 of 1,600" in line for line in lines[of[1] :])
    counted = page(example(readings=[HISTOGRAM])).splitlines()
    assert next(line.split() for line in counted if line.startswith("KPI ")) == ["KPI", "value", "basis,", "source"]


@dataclass
class Origin(Row):
    origin: str = "catalog"
    inputs: tuple[str, ...] = ()


THEIRS = Catalog(
    (
        Origin("own_ns", "A.", origin="bench/rows.toml"),
        Origin("offered_ns", "B."),
        Origin(ABSENT.kpi, "C."),
        Origin("computed", "D.", inputs=(ABSENT.kpi,)),
        Origin("void_ns", "E."),
    )
)


def own_page(*more: Reading, verbose: bool = False, **changes: Any) -> str:
    own = replace(TIMED, kpi="own_ns", layer=Layer.TURN)
    offered = replace(TIMED, kpi="offered_ns", layer=Layer.TURN)
    detail = f"It is computed from {ABSENT.kpi}, which is undefined."
    computed = replace(ABSENT, kpi="computed", params={}, undefined=Undefined(Reason.INPUT_UNDEFINED, detail))
    stream = io.StringIO()
    run = example(readings=[offered, ABSENT, computed, *more, own], **changes)
    render_run(run, THEIRS, console_on(stream, 80), verbose=verbose)
    return stream.getvalue()


def test_ones_own_kpis_come_first_and_built_in_ones_that_are_not_offered_are_counted() -> None:
    text = own_page()
    assert text.index("\nown_ns ") < text.index("\noffered_ns ")
    line = "2 built-in KPIs: not offered by this runtime (list them with --verbose or python -m harness list)"
    assert line in " ".join(text.split())
    assert ABSENT.kpi not in text
    assert "explain" not in text.splitlines()[-1], "what nobody asked about needs no explanation"
    spelled = own_page(verbose=True)
    assert f"{ABSENT.kpi} (objective=greedy n=1000) undefined, not-offered" in spelled
    assert "computed undefined, input-undefined" in spelled
    assert "built-in" not in spelled


def test_what_was_asked_for_or_went_wrong_is_never_only_counted() -> None:
    named = Selection(all=False, layers=[], kpis=[ABSENT.kpi], params={}, runtimes=[], workloads=[])
    assert ABSENT.kpi in own_page(selection=named)
    void = replace(ABSENT, kpi="void_ns", params={}, undefined=Undefined(Reason.CRASHED, "It died of signal 11."))
    assert "void_ns undefined, crashed: It died of signal 11." in own_page(void)
    partly = replace(ABSENT, kpi="offered_ns", params={}, leg=Leg.CPU)
    assert "offered_ns (leg=cpu) undefined, not-offered" in own_page(partly)


def test_without_a_row_of_ones_own_everything_is_spelled_out() -> None:
    stream = io.StringIO()
    render_run(example(readings=[TIMED, ABSENT]), THEIRS, console_on(stream, 80))
    assert "undefined, not-offered" in stream.getvalue()


def test_an_undefined_reading_leaves_the_table_for_one_line_a_kpi_and_reason() -> None:
    gone = {"value": None, "basis": None, "source": None, "distribution": None}
    absent = Undefined(Reason.NOT_OFFERED, "The planner does not plan.")
    other = Undefined(Reason.NOT_OFFERED, "It never did.")
    crashed = Undefined(Reason.CRASHED, "It died of signal 11.")
    readings = [
        *phases("all"),
        *phases("forecast", "plan", undefined=absent, **gone),
        *phases("fold", undefined=other, **gone),
        *phases("render", undefined=crashed, **gone),
        replace(ABSENT, kpi="planner_ns", params={}),
    ]
    text = page(example(readings=readings), 200)
    table, _, below = text.partition("turn_spawn_ns (3 points)")
    assert "phase=all" in table
    assert "phase=plan" not in text
    assert below.startswith(" undefined, not-offered: The planner does not plan. It never did.\n")
    assert "turn_spawn_ns (phase=render) undefined, crashed: It died of signal 11.\n" in text
    assert "planner_ns undefined, not-offered: This runtime offers no turn/planner.\n" in text
    assert "turn: nothing measured" in text
    assert not re.search(r"\s0(\.0+)?\s", text)


def test_kpis_that_all_want_another_workload_share_a_sentence() -> None:
    def unfit(kpi: str, params: dict[str, str]) -> Reading:
        detail = f"{kpi} needs a recorded session, and no --workload FILE is one."
        return replace(ABSENT, kpi=kpi, params=params, undefined=Undefined(Reason.WORKLOAD_KIND, detail))

    one, two = unfit("spawn_ns", {"phase": "all"}), unfit("spawn_ns", {"phase": "plan"})
    several = page(example(readings=[one, two, unfit("faults", {}), unfit("view_ns", {})]), 200)
    words = "undefined, workload-kind: each needs a recorded session, and no --workload FILE is one."
    assert f"\nspawn_ns (2 points), faults and view_ns {words} A session is JSON Lines {{turn" in several
    alone = page(example(readings=[one]), 200)
    assert "\nspawn_ns (phase=all) undefined, workload-kind: it needs a recorded session, and" in alone


def test_a_wanted_workload_comes_with_what_would_give_one() -> None:
    detail = "denies needs a tool-call trace, and no --workload FILE is one."
    absent = replace(ABSENT, kpi="denies", params={}, undefined=Undefined(Reason.WORKLOAD_KIND, detail))
    text = " ".join(page(example(readings=[absent])).split())
    assert "is one. A tool-call trace is JSON {slice_id, calls}; see harness/workloads/README.md." in text


def test_what_a_runtime_does_not_offer_is_one_sentence_a_seam() -> None:
    rows = Catalog((Row("a_ns", "A."), Row("b_ns", "B."), Row("c_ns", "C.", seam="turn/view")))

    def unoffered(kpi: str, detail: str, runtime: str = "mine") -> Reading:
        return replace(ABSENT, kpi=kpi, params={}, runtime=runtime, undefined=Undefined(Reason.NOT_OFFERED, detail))

    readings = [
        unoffered("a_ns", "The planner does not offer the objective exact."),
        unoffered("a_ns", "The planner does not offer the objective coverage."),
        unoffered("b_ns", "The planner does not offer the objective exact."),
        unoffered("c_ns", "The runtime mine offers no view."),
    ]
    stream = io.StringIO()
    render_run(example(readings=readings), rows, console_on(stream, 200))
    said = [line for line in stream.getvalue().splitlines() if "undefined" in line]
    assert said == [
        "a_ns (2 points) and b_ns undefined, not-offered: The planner does not offer the objective exact or coverage.",
        "c_ns undefined, not-offered: The runtime mine offers no view.",
    ]
    theirs = unoffered("a_ns", "It does not plan.", "theirs")
    two = page(example(readings=[readings[0], theirs]), 200)
    assert two.count("undefined, not-offered") == 2


def test_equal_warnings_are_one_sentence_and_name_their_kpis() -> None:
    many = [replace(RATE, kpi=f"rate_{index}") for index in range(5)]
    other = replace(RATE, warnings=[Notice(Warn.SPREAD, "Values spread widely.")])
    text = " ".join(page(example(readings=[*many, other])).split())
    assert text.count("The load average was 3.2 on 2 cores.") == 1
    assert "warning, loaded: The load average was 3.2 on 2 cores. (rate_0, rate_1, rate_2 and 2 more)" in text
    assert "warning, spread: Values spread widely. (vdso_hit_rate)" in text


def spread(percent: str, phase: str) -> Reading:
    words = f"Processes differ by {percent}% of the median: see python -m harness doctor."
    return replace(*phases(phase), warnings=[Notice(Warn.SPREAD, words)])


def test_warnings_name_their_points_and_share_a_sentence_with_the_range_of_a_number() -> None:
    readings = [spread("44", "all"), spread("9", "plan"), spread("225", "render"), *phases("fold")]
    text = page(example(readings=readings), 200)
    words = "warning, spread: Processes differ by 9 to 225% of the median: see python -m harness doctor."
    assert f"{words} (turn_spawn_ns at phase=all, phase=plan, phase=render)\n" in text
    assert f"{words} (turn_spawn_ns, all 3 points)\n" in page(example(readings=readings[:3]), 200)
    one = page(example(readings=[readings[0], *phases("fold")]), 200)
    assert "differ by 44% of the median: see python -m harness doctor. (turn_spawn_ns at phase=all)" in one
    many = [spread("44", f"p{index}") for index in range(6)]
    assert "at phase=p0, phase=p1, phase=p2, phase=p3 and 2 more)" in page(
        example(readings=[*many, *phases("fold")]), 200
    )


def test_warnings_that_differ_in_two_numbers_stay_apart() -> None:
    def late(limit: int, done: int) -> Reading:
        notice = Notice(Warn.SHORT, f"It reached its limit of {limit} s after {done} of 12 processes.")
        return replace(TIMED, kpi=f"k{done}", warnings=[notice])

    text = page(example(readings=[late(30, 4), late(60, 5)]), 200)
    assert "limit of 30 s after 4 of 12 processes. (k4)" in text
    assert "limit of 60 s after 5 of 12 processes. (k5)" in text


def test_parts_of_a_number_are_named() -> None:
    text = page(example())
    assert "verdict_reason_distribution: allowed 1,200, denied 400" in text
    assert "vdso_hit_rate arm=isolated: 3 excluded from the denominator" in text
    assert "knobs of turn_cost_usd: usd_per_mtok=3" in text


def test_models_with_the_same_knobs_name_them_once() -> None:
    knobs = {"prompt_tokens": 1_234_567.0, "usd": 0.1}
    models = [replace(MODELED, kpi=name, knobs=knobs) for name in ("tokens", "dollars", "waiting")]
    text = page(example(readings=[*models, MODELED]))
    assert "knobs of tokens, dollars and waiting: prompt_tokens=1234567, usd=0.1\n" in text
    assert text.index("turn: modeled, not measured") < text.index("knobs of tokens")


def test_the_inputs_of_a_derived_row_stand_below_it_scaled_for_reading() -> None:
    text = page(example(readings=[TIMED, DERIVED]), 100)
    assert "gate_primary:\n  tool_call_p50_ns = 1.653 µs\n  spawned_hook_baseline_p50_ns = 47.29 ms\n" in text
    noted = page(example(readings=[replace(RATE, evidence=["closed form: i summed is 595"])]))
    assert "vdso_hit_rate arm=isolated: closed form: i summed is 595\n" in noted


def test_an_interval_that_is_not_there_yet_is_a_dash_and_a_count_has_none() -> None:
    few = replace(TIMED, distribution=Distribution("process values", 3, 1_234_567.25, None, None, None))
    lines = page(example(readings=[few, HISTOGRAM])).splitlines()
    assert re.search(r"1\.235 ms  - +clock, live$", next(line for line in lines if line.startswith(few.kpi)))
    assert re.search(r" 1,600 verdicts +count, synth", next(line for line in lines if line.startswith(HISTOGRAM.kpi)))
    other = page(example(readings=[replace(HISTOGRAM, kpi="sizes")]))
    assert re.search(r"^sizes +1,600 in all +count", other, re.MULTILINE)


def test_below_a_hundred_columns_the_status_stands_before_the_first_sentence_of_the_fence() -> None:
    fence = f"{FENCE[:-1]}, and that is long enough to be wrapped. The rest is left to explain."
    stream = io.StringIO()
    run = example(readings=[TIMED, RATE, DERIVED])
    render_run(run, Catalog((Row(TIMED.kpi, fence),)), console_on(stream, 80))
    lines = stream.getvalue().splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith(f"{TIMED.kpi}, standing: The hook"))
    assert all(line.startswith("  ") for line in lines[first + 1 : first + 3])
    assert " ".join(map(str.strip, lines[first : first + 3])).endswith("long enough to be wrapped.")
    assert "The rest" not in stream.getvalue()
    assert "vdso_hit_rate, standing" in lines
    assert "gate_primary, guarded" in lines
    assert not any("status" in line for line in lines)
    assert [line for line in lines if line.startswith("Whole fences:")] == [
        "Whole fences: python -m harness explain KPI"
    ]


@pytest.mark.parametrize("width", [100, 140])
def test_from_a_hundred_columns_on_the_status_has_a_column(width: int) -> None:
    text = page(example(), width)
    row = next(line for line in text.splitlines() if line.startswith(TIMED.kpi))
    assert row.endswith("clock, live    standing")
    whole = re.search(rf"^{TIMED.kpi}: (.*\n(?:  .*\n)+)", text, re.MULTILINE)
    assert whole is not None
    assert " ".join(whole[1].split()) == FENCE
    assert "Whole fences" not in text, "nothing of them was left out"


@pytest.mark.parametrize(
    ("fence", "first"),
    [
        ("One. Two.", "One."),
        ("`a` is 0.5 of `b`; no more. Then.", "`a` is 0.5 of `b`; no more."),
        ("Is it? Yes.", "Is it?"),
        ("no end", "no end"),
        ("", ""),
    ],
)
def test_the_first_sentence_of_a_fence(fence: str, first: str) -> None:
    assert first_sentence(fence) == first


def test_a_number_that_is_not_there_needs_no_fence() -> None:
    stream = io.StringIO()
    render_run(example(readings=[ABSENT]), Catalog((Row(ABSENT.kpi, "A fence."),)), console_on(stream, 80))
    assert "A fence." not in stream.getvalue()


def test_a_catalog_may_be_a_tuple_of_rows() -> None:
    stream = io.StringIO()
    render_run(example(), Catalog((Row(TIMED.kpi, "A fence."),)), console_on(stream, 80))
    assert f"{TIMED.kpi}, standing: A fence." in stream.getvalue()


def test_legs_runtimes_and_workloads_are_named_where_they_tell_rows_apart() -> None:
    one = page(example(readings=[TIMED, replace(TIMED, leg=Leg.CPU)]))
    assert "leg=cpu" in one
    assert "runtime=" not in one
    two = page(example(readings=[RATE, replace(RATE, runtime="theirs", workload="other")]))
    assert "arm=isolated runtime=theirs workload=other" in two


def test_a_reading_that_claims_what_its_basis_forbids_is_refused() -> None:
    with pytest.raises(QuantityError, match="Milliseconds are modeled or reported only"):
        page(example(readings=[replace(TIMED, unit=Unit.MS)]))


def record(kind: str) -> WorkloadRecord:
    return WorkloadRecord(sha256="ab" * 32, kind=kind, source="synthetic", hash=None, facts={})


def test_a_workload_is_named_in_its_rows_only_among_several_of_its_kind() -> None:
    night = replace(RATE, kpi="night_rate", workload="night")
    two = {"calls": record("calls"), "night": record("session")}
    assert "workload=" not in page(example(readings=[RATE, night], workloads=two))
    three = page(example(readings=[RATE, night], workloads={**two, "more": record("calls")}))
    assert "  arm=isolated workload=calls" in three
    assert "workload=night" not in three


def test_workloads_are_listed_with_digest_trace_and_facts_in_words() -> None:
    lines = page(example(workloads={"night": SESSION, "desk": record("calls")}), 100).splitlines()
    assert f"workload desk: calls, authored, sha256 {'ab' * 8}" in lines
    where = lines.index(f"workload night: session, recorded, sha256 {'ab' * 8}, trace {'cd' * 8}")
    assert lines[where + 1] == "  format claude-code, 1,234 prompts, 1 thread; tokens reported: 6,911 out"


def test_the_last_lines_are_the_file_and_a_command_unbroken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".harness" / "runs" / f"{IDENTITY}.json"
    assert page(example(), 40, path).splitlines()[-2:] == [
        f"Run file .harness/runs/{IDENTITY}.json",
        "Next: python -m harness explain planner_plan_ns",
    ]
    assert "Run file /elsewhere/run.json" in page(example(), 80, Path("/elsewhere/run.json")).splitlines()


def test_all_advice_on_a_page_has_the_name_that_we_were_started_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "_program", ".venv/bin/loopladder")
    text = page(example(readings=[spread("44", "all"), ABSENT]), 60)
    assert "python -m harness" not in " ".join(text.split())
    assert "see .venv/bin/loopladder doctor." in " ".join(text.split())
    assert text.splitlines()[-1] == "Next: .venv/bin/loopladder explain planner_plan_ns"


def test_a_reader_that_goes_away_is_an_error_and_no_exit() -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        console_on(Gone(), 80).print("x")


def test_an_interrupted_run_goes_on_with_its_own_selection() -> None:
    stopped = example(complete=False, argv=["run", "--kpi", "a b", "--resume", "--quick"])
    assert page(stopped).splitlines()[-1] == "Next: python -m harness run --kpi 'a b' --quick --resume"
    called = example(complete=False, argv=["my_script.py"])
    assert page(called).splitlines()[-1] == "Next: python -m harness run --resume"
    assert "This run is incomplete" in page(stopped)


def test_the_next_command_fits_what_happened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    void = replace(ABSENT, kpi="reap_ns", undefined=Undefined(Reason.CRASHED, "It died of signal 11."))
    noisy = replace(TIMED, warnings=[Notice(Warn.SPREAD, "Values spread widely.")])
    quiet = replace(TIMED, warnings=[Notice(Warn.TOO_FEW, "3 processes.")])

    def following(*readings: Reading) -> str:
        return page(example(readings=list(readings))).splitlines()[-1]

    assert following(noisy, ABSENT, void) == "Next: python -m harness explain reap_ns"
    assert following(noisy, ABSENT) == "Next: python -m harness explain planner_plan_ns"
    assert following(noisy) == "Next: python -m harness doctor"
    monkeypatch.chdir(Path(__file__).parent)
    assert following(quiet) == "Next: python -m harness catalog --check"
    monkeypatch.chdir(tmp_path)
    assert following(quiet) == "Next: python -m harness list"
    (tmp_path / "pyproject.toml").write_text("[tool.harness\n")
    assert following(quiet) == "Next: python -m harness list"


def test_every_command_that_is_advised_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = replace(TIMED, warnings=[Notice(Warn.OFF_CPU, "It waits.")])
    advised = set()
    for folder in (tmp_path, Path(__file__).parent):
        monkeypatch.chdir(folder)
        for run in (example(), example(readings=[TIMED]), example(readings=[noisy]), example(complete=False)):
            advised.add(page(run).splitlines()[-1].removeprefix("Next: python -m harness "))
    assert {words.split()[0] for words in advised} == {"explain", "list", "catalog", "doctor", "run"}
    for words in advised:
        try:
            code: object = main([*words.split(), "--help"])
        except SystemExit as ended:
            code = ended.code
        assert code == 0


def test_the_first_line_says_mode_and_local_changes() -> None:
    assert "local changes" not in page(example())
    assert ", quick" in page(example(mode=Mode.QUICK)).splitlines()[0]
    changed = SourceTree(commit="0123456789abcdef", dirty=True, touched={})
    assert "commit 0123456789ab with local changes." in " ".join(page(example(source=changed)).split())


HOSTILE = "\x1b[2J\x1b]0;owned\x07[red]evil[/red]\x9b31m :smile:\r\nforged row\u202e"


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(("width", "complete"), [(40, True), (60, False), (80, True), (140, False), (140, True)])
def test_hostile_text_is_shown_inert(width: int, complete: bool, terminal: bool) -> None:
    timed = replace(
        TIMED,
        kpi="evil" + HOSTILE,
        params={HOSTILE: HOSTILE},
        runtime=HOSTILE,
        workload=HOSTILE,
        warnings=[Notice(Warn.LOADED, HOSTILE)],
        evidence=[HOSTILE, f"{HOSTILE} = 1e5 ns"],
    )
    unfit = replace(ABSENT, kpi="x" + HOSTILE, undefined=Undefined(Reason.WORKLOAD_KIND, HOSTILE))
    absent = replace(ABSENT, kpi=HOSTILE, undefined=Undefined(Reason.ERROR, HOSTILE))
    histogram = replace(HISTOGRAM, histogram={HOSTILE: 3})
    modeled = replace(MODELED, knobs={HOSTILE: 1.0})
    hostile = WorkloadRecord(sha256=HOSTILE, kind=HOSTILE, source=HOSTILE, hash=HOSTILE, facts={HOSTILE: HOSTILE})
    run = example(
        id=HOSTILE,
        argv=["run", HOSTILE],
        complete=complete,
        readings=[timed, absent, unfit, histogram, modeled],
        workloads={HOSTILE: hostile, "other": replace(hostile, facts={"out": HOSTILE, "format": HOSTILE})},
    )
    text = page(run, width, terminal=terminal)
    text = re.sub(r"\x1b\[[0-9;]*m", "", text) if terminal else text  # what remains of a terminal's own styles
    assert not ESCAPE.search(text)
    assert "\u202e" not in text
    # A command to copy has them quoted, in visible characters.
    assert "owned" not in re.sub(r"\$'(?:[^'\\]|\\.)*'", "", text)
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


def test_what_a_page_says_does_not_depend_on_the_order_of_readings() -> None:
    readings = [replace(TIMED, layer=layer, kpi=f"of_{layer.value}") for layer in Layer]
    wanted = sorted(page(example(readings=readings)).splitlines())
    for seed in range(5):
        assert sorted(page(example(readings=Random(seed).sample(readings, len(readings)))).splitlines()) == wanted


def test_what_two_readings_say_alike_stands_once_below_both_names() -> None:
    twins = [replace(RATE, params={"arm": arm}, evidence=["the session has 48 turns", "a, b and c"]) for arm in "ab"]
    text = page(example(readings=twins), 100)
    assert text.count("the session has 48 turns") == 1
    assert f"{RATE.kpi} arm=a and {RATE.kpi} arm=b:\n  the session has 48 turns\n  a, b and c\n" in text
