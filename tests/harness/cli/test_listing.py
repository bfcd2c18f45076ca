"""The three commands: filters, JSON, exit codes."""

import argparse
import json
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.listing import add_parsers
from harness.jobs.catalog import PAGE
from harness.report import naming
from kpis.errors import SelectionError
from kpis.registry import load
from kpis.terms.kpi import Layer, Status


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in an empty project; its code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words):
        parser = argparse.ArgumentParser()
        add_parsers(parser.add_subparsers())
        args = parser.parse_args(words)
        code = args.handler(args)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def names(out):
    return [item["id"] for item in json.loads(out)["kpis"]]


def test_the_list_holds_every_kpi(run):
    code, out, err = run("list")
    assert (code, err) == (Exit.OK, "")
    assert all(kpi.id in out for kpi in load())


def test_filters_combine(run):
    code, out, _ = run("list", "plan", "--layer", "turn", "--gate", "timed", "--json")
    assert code == Exit.OK
    assert names(out) == ["turn_spawn_ns", "planner_optimize_ns"]
    both = names(run("list", "PLAN", "--layer", "turn", "--gate", "report", "timed", "--json")[1])
    assert [name for name in both if not name.endswith("_growth")] == names(out)
    assert "planner_optimize_ns_growth" in both, "a growth row reports"


def test_layers_can_be_several(run):
    _, out, _ = run("list", "--json", "--layer", "rsi", "stream")
    assert {item["layer"] for item in json.loads(out)["kpis"]} == {Layer.RSI.value, Layer.STREAM.value}


def test_statuses_are_the_derived_ones(run):
    assert len(names(run("list", "--status", "proposed", "--json")[1])) == len(load())
    code, out, err = run("list", "--status", "standing")
    assert (code, out) == (Exit.UNCOVERED, "")
    assert "No KPI passes these filters" in err


def test_the_json_of_a_row_holds_its_seam_and_points(run):
    _, out, _ = run("explain", "reap_latency_kernel", "--json")
    row = json.loads(out)["kpi"]
    assert row["frozen_sync"] is True
    assert row["points"] == [{"slice": "kernel"}, {"slice": "engine"}]
    assert (row["status"], row["target_status"], row["unit"]) == ("proposed", "standing", "ns")


def test_explain_finds_a_symbol(run):
    code, out, _ = run("explain", "TTFT")
    assert code == Exit.OK
    assert out.startswith("ttft (TTFT)\n")


def test_an_unknown_name_is_an_error_for_the_caller(run):
    with pytest.raises(SelectionError):
        run("explain", "ttftt")
    with pytest.raises(SelectionError):
        run("list", "--layer", "trun")
    with pytest.raises(SelectionError, match=r"no status named standin \(did you mean standing\?\)"):
        run("list", "--status", "standin")
    with pytest.raises(SelectionError, match="no gate named zzz; it is one of exact, instructions"):
        run("list", "--gate", "zzz")


def test_help_says_what_words_mean_and_keeps_the_name_of_the_page(run, capsys):
    with pytest.raises(SystemExit):
        run("catalog", "--help")
    page = " ".join(capsys.readouterr().out.split())
    assert "Generate KPI-CATALOG.md, or check it against the newest runs." in page
    assert "the page is stale or a run contradicts a row" in page
    with pytest.raises(SystemExit):
        run("list", "--help")
    assert "with these kinds of gate" in capsys.readouterr().out


def test_advice_has_the_name_that_we_were_started_by(run, monkeypatch):
    monkeypatch.setattr(naming, "_program", "loopladder")
    assert run("list", "--status", "standing")[2] == "No KPI passes these filters; `loopladder list` shows all.\n"
    out = run("catalog", "--check")[1]
    assert "run `loopladder catalog` and commit" in out
    assert "python -m harness" not in out
    run("catalog")
    assert "python -m harness" in Path(PAGE).read_text(), "what is written is for everybody"


def test_what_is_not_emitted_yet_is_counted(run):
    out = run("catalog", "--check")[1]
    count = sum(1 for kpi in load() if kpi.target_status is not Status.PROPOSED)
    assert f"\n{count} KPIs are not emitted yet; see `python -m harness list --status proposed`.\n" in out


def test_explain_says_where_the_status_comes_from_and_where_the_files_are(run):
    out = run("explain", "denies")[1]
    assert "no run here yet\n" in out
    assert "Files, inside the installed package loopladder\n" in out


def test_catalog_writes_and_then_passes_but_for_what_is_unknown(run, tmp_path):
    code, out, _ = run("catalog", "--check")
    assert code == Exit.FAILED
    assert "stale-page" in out
    assert run("catalog")[0] == Exit.OK
    assert (tmp_path / PAGE).is_file()
    code, out, _ = run("catalog", "--check")
    assert code == Exit.UNKNOWN
    assert "unknown: No complete run bears the catalog out" in out
