"""``explain`` on a terminal: what it says, and that it keeps to the width."""

import pytest

from harness.report import naming
from harness.report.catalog_list import list_text
from harness.report.catalog_text import explain_text, formula_words
from kpis.registry import extend, load
from kpis.terms.kpi import Status

CATALOG = load()
STATUSES = {kpi.id: Status.PROPOSED for kpi in CATALOG}


def explained(name, known=True, width=80, **more):
    return explain_text(CATALOG, CATALOG.get(name), STATUSES[CATALOG.get(name).id], known, width, **more)


@pytest.mark.parametrize("kpi", CATALOG.kpis, ids=lambda kpi: kpi.id)
def test_an_explanation_keeps_to_80_columns_but_for_the_command(kpi):
    text = explain_text(CATALOG, kpi, Status.STANDING, True)
    assert all(len(line) <= 80 for line in text.splitlines() if not line.startswith("  python -m harness run"))
    words = " ".join(text.split())
    for part in (kpi.question, kpi.fence, CATALOG.seam(kpi).title, kpi.note):
        assert " ".join(part.split()) in words


def test_the_command_is_one_line_at_the_gate_point():
    line = "  python -m harness run --kpi admit_chain_ns --param payload=benign --param bytes=1024\n"
    assert line in explained("admit_chain_ns")


def test_a_sweep_says_where_it_is_taken_if_there_is_more_than_one_point():
    besides = {
        kpi.id: next(line for line in explained(kpi.id).splitlines() if line.lstrip().startswith("besides"))
        for kpi in CATALOG
        if kpi.sweep
    }
    assert "session_dump_ns" in besides and "at phase=load alone" in besides["session_restore_ns"]
    for name, line in besides.items():
        assert ("alone" in line) == bool(CATALOG.get(name).params), line
        assert "at  " not in line


def test_three_files_are_named():
    text = explained("planner_optimize_ns")
    assert "kpis/catalog/turn.toml, [kpi.planner_optimize_ns]" in text
    assert "seams/turn/planner.py\n" in text
    assert "harness/probes/turn/planner.py\n" in text


def test_what_is_not_there_yet_is_said():
    text = explained("ttft", known=False, seam_known=False)
    assert "seams/stream/planner.py (not there yet)" in text
    assert "harness/probes/stream/planner.py (nothing there" in text
    assert "Nothing emits it yet" in text
    assert "nothing there" not in explained("ttft")


def test_a_frozen_seam_and_one_that_is_off_are_marked():
    assert "frozen-sync" in explained("reap_latency_kernel")
    assert "off live" in explained("turn_spawn_ns")
    assert "frozen-sync" not in explained("denies")


def test_a_target_is_shown_where_the_status_differs():
    assert "proposed (the catalog's target is standing)" in explained("denies")
    assert "target" not in explained("ttft")


def test_one_line_says_where_the_status_comes_from():
    assert "\n                no run here yet\n" in explained("denies")
    text = explain_text(CATALOG, CATALOG.get("denies"), Status.STANDING, True, source="run 20261130T052031Z-3f9a1c")
    assert "  status        standing\n                by run 20261130T052031Z-3f9a1c\n" in text


def test_from_another_project_our_files_are_said_to_be_in_the_installed_package():
    assert "Files, inside the installed package loopladder\n" in explained("denies", installed=True)
    assert "installed" not in explained("denies")
    row = (
        '[kpi.mine]\nlayer = "turn"\nseam = "turn/reap"\nquestion = "q?"\nfence = "f."\nunit = "ns"\n'
        'direction = "lower"\nestimand = "call-mean"\nprobe = "bench.probes:Mine"\n'
    )
    catalog = extend(load(), "acme/kpis.toml of the package acme", row)
    text = explain_text(catalog, catalog.get("mine"), Status.STANDING, True, 100, installed=True)
    assert "Files\n" in text
    assert "acme/kpis.toml of the package acme, [kpi.mine]" in text
    assert "seams/turn/reap.py of the installed package loopladder" in text
    assert "bench/probes.py\n" in text


def test_the_command_has_the_name_that_we_were_started_by(monkeypatch):
    monkeypatch.setattr(naming, "_program", "loopladder")
    assert "\n  loopladder run --kpi denies\n" in explained("denies")


def test_derived_rows_say_what_they_come_from():
    text = explained("gate_primary")
    assert "tool_call_p50_ns, spawned_hook_baseline_p50_ns" in text
    assert "none: it is computed from other readings" in text
    assert "stamped calls of tool_call_p50_ns" in explained("tool_call_p99_ns")


def test_knobs_keys_and_workloads_are_named():
    text = explained("dollars_saved")
    assert "usd_per_mtok_out=15" in text
    assert "a trace of tool calls" in text
    assert "--workload FILE" in text
    assert "REFUSE_NO_SEAT" in explained("spawn_admission_rate")


def test_gates_are_told_in_words():
    assert "timed, at outcome=allow" in explained("submit_latency")
    assert "exact, at every point; critical" in explained("safety_floor")
    assert "report: never gates" in explained("tool_call_p99_ns")


def test_a_formula_is_quoted_without_being_imported(tmp_path):
    (tmp_path / "turn").mkdir()
    code = (
        'raise SystemExit\n\ndef net(turns):\n    """First\n    paragraph.\n\n    Second."""\n\ndef mute():\n    pass\n'
    )
    (tmp_path / "turn" / "tax.py").write_text(code)
    assert formula_words("turn/tax:net", tmp_path) == ("kpis.formulas.turn.tax.net", "First paragraph.")
    assert formula_words("turn/tax:mute", tmp_path)[1] is None
    assert formula_words("turn/tax:gone", tmp_path)[1] is None
    assert formula_words("turn/gone:net", tmp_path)[1] is None


def test_what_users_wrote_cannot_repaint_the_terminal():
    row = (
        '[kpi.mine]\nlayer = "turn"\nseam = "turn/reap"\nquestion = "red \\u001b[31m?"\nfence = "a\\nb"\nunit = "ns"\n'
        'direction = "lower"\nestimand = "call-mean"\nprobe = "bench.probes:Mine"\n'
    )
    catalog = extend(load(), "mine.toml", row)
    mine = catalog.get("mine")
    text = explain_text(catalog, mine, Status.STANDING, True) + list_text([mine], {"mine": Status.STANDING}, 200)
    assert "\x1b" not in text
    assert "bench/probes.py" in text
    assert "mine.toml, [kpi.mine]" in text


def test_the_values_of_parameters_are_inert_and_the_command_has_them_quoted():
    row = (
        '[kpi.mine]\nlayer = "turn"\nseam = "turn/reap"\nquestion = "x"\nfence = "y"\nunit = "ns"\n'
        'direction = "lower"\nestimand = "call-mean"\nprobe = "bench.probes:Mine"\n'
        'params = { a = ["x y\\u001b[31m\\nz"], b = ["two words"] }\n'
    )
    catalog = extend(CATALOG, "own.toml", row)
    text = explain_text(catalog, catalog.get("mine"), Status.STANDING, True)
    assert all(line.isprintable() for line in text.splitlines())
    assert "  python -m harness run --kpi mine --param $'a=x y\\033[31m\\012z' --param 'b=two words'\n" in text
