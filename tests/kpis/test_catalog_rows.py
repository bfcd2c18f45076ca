"""The built-in rows: complete, coherent, and held to the rules that users' rows are held to."""

import csv
import re
from importlib import import_module

import pytest

from kpis.growth import is_growth
from kpis.registry import load
from kpis.schema import KpiRow
from kpis.terms.kpi import Estimand, Gate, Status
from kpis.terms.quantity import Unit

CATALOG = load()
WRITTEN = [kpi for kpi in CATALOG if not is_growth(kpi)]
ROWS = pytest.mark.parametrize("kpi", WRITTEN, ids=lambda kpi: kpi.id)


@pytest.fixture(scope="session")
def listed():
    """The external list of ids, by id; the test is skipped, saying so, where there is none."""
    from tests.conftest import cases_dir

    folder = cases_dir()
    path = folder.parent / "spec" / "kpi-ids.tsv" if folder else None
    if path is None or not path.is_file():
        pytest.skip("no external cases: no list of ids beside them; set LOOPLADDER_CASES")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


def parameters(text, listed):
    if text.startswith("as "):
        return parameters(listed[text.removeprefix("as ")]["parameters"], listed)
    parts = [part.partition("=") for part in text.split(";") if part]
    return {key: tuple(values.split(",")) for key, _, values in parts}


@pytest.fixture
def listed_row(kpi, listed):
    """The line of a row's id; a row that is on no list is held to the other rules alone."""
    if kpi.id not in listed:
        pytest.skip(f"{kpi.id} is not on the external list of ids")
    return listed[kpi.id]


def test_every_listed_id_is_there_in_order(listed):
    assert [kpi.id for kpi in WRITTEN if kpi.id in listed] == list(listed)


@ROWS
def test_a_row_agrees_with_the_list(kpi, listed, listed_row):
    row = listed_row
    assert kpi.layer.value == row["layer"]
    assert kpi.unit.value == row["unit"]
    assert kpi.direction.value == row["direction"]
    assert kpi.estimand.value == row["estimand"]
    assert kpi.gate.value == row["gate"]
    if row["parameters"] == "verdict=...":
        assert len(kpi.params["verdict"]) == 6
    else:
        assert kpi.params == parameters(row["parameters"], listed)
        assert list(kpi.params) == list(parameters(row["parameters"], listed))


@ROWS
def test_a_gate_point_is_the_listed_one_or_the_first_of_every_key(kpi, listed_row):
    _, noted, words = listed_row["note"].partition("gate point ")
    expected = words.partition(";")[0].split() if noted else [values[0] for values in kpi.params.values()]
    assert set(expected) <= set(kpi.gate_point.values())
    assert not kpi.params or kpi.gate_point in kpi.points()


@ROWS
def test_a_modeled_row_is_listed_as_modeled(kpi, listed_row):
    assert (kpi.target_status is Status.MODELED) == (listed_row["note"] == "modeled")


@ROWS
def test_a_row_keeps_the_rules_of_users_rows(kpi):
    row = {name: getattr(kpi, name) for name in KpiRow.model_fields}
    point = kpi.gate_point if kpi.params else {}
    KpiRow.model_validate({**row, "gate_point": point, "probe": "module:Name"})


@ROWS
def test_a_row_says_what_people_need(kpi):
    assert kpi.question.endswith("?")
    assert kpi.fence.endswith(".")
    assert kpi.note
    assert kpi.seam in CATALOG.seams


@ROWS
def test_the_first_sentence_of_a_fence_is_the_fence_in_short(kpi):
    assert len(re.split(r"(?<=[.?!])\s", kpi.fence)[0]) <= 90


def test_fences_of_saved_turns_say_that_elided_calls_are_priced_too():
    assert "`elision` is one only if its call was a turn of its own" in CATALOG.get("turns_saved").fence
    for name in ("tokens_saved", "dollars_saved", "latency_saved_ms"):
        assert "`forced` and `elision` are both priced" in CATALOG.get(name).fence


@ROWS
def test_knobs_and_only_knobs_make_a_model(kpi):
    assert bool(kpi.knobs) == (kpi.target_status is Status.MODELED)
    assert not kpi.knobs or kpi.gate is Gate.REPORT
    assert kpi.unit is not Unit.MS or kpi.knobs


@ROWS
def test_guarded_means_that_the_seam_is_off_on_a_live_turn(kpi):
    off_live = CATALOG.seam(kpi).off_live is not None
    assert (kpi.target_status is Status.GUARDED) == (off_live and kpi.target_status is not Status.MODELED)


@ROWS
def test_a_tail_never_gates(kpi):
    assert kpi.estimand is not Estimand.CALL_P99 or kpi.gate is Gate.REPORT


@ROWS
def test_what_a_row_refers_to_is_in_the_catalog(kpi):
    for name in (*kpi.inputs, *([kpi.shares] if kpi.shares else [])):
        assert CATALOG.get(name).id == name
    assert not kpi.inputs or kpi.formula


@pytest.mark.parametrize("kpi", [kpi for kpi in CATALOG if kpi.formula], ids=lambda kpi: kpi.id)
def test_a_formula_that_is_named_exists(kpi):
    room, _, name = kpi.formula.partition(":")
    assert callable(getattr(import_module(f"kpis.formulas.{room.replace('/', '.')}"), name))


def test_every_seam_is_used_and_one_is_frozen():
    assert set(CATALOG.seams) == {kpi.seam for kpi in CATALOG}
    assert [seam.name for seam in CATALOG.seams.values() if seam.frozen_sync] == ["syscall/reap"]


@pytest.mark.parametrize("name", ["tokens_saved", "dollars_saved", "latency_saved_ms"])
def test_the_knobs_of_a_model_are_the_formulas_defaults(name):
    assert CATALOG.get(name).knobs == dict(import_module("kpis.formulas.turn.turntax").KNOBS)
