"""The built-in catalog by name, and what a selection keeps."""

import subprocess
import sys
from dataclasses import replace

import pytest

from kpis.registry import Catalog, CatalogError, SelectionError, load, probe_reference, select, with_rows
from kpis.terms.kpi import Layer

CATALOG = load()


def ids(kpis):
    return [kpi.id for kpi in kpis]


def test_a_kpi_is_found_by_id_alias_and_symbol():
    assert CATALOG.get("ttft") is CATALOG.get("TTFT")
    assert CATALOG.get("prefill_tokens.a_over_c").id == "prefill_a_over_c"
    assert "ITL" in CATALOG
    assert "itll" not in CATALOG


def test_an_unknown_kpi_names_the_close_one_and_the_next_command():
    with pytest.raises(
        SelectionError, match=r"turn_spawn_n \(did you mean turn_spawn_ns\?\); `python -m harness list`"
    ):
        CATALOG.get("turn_spawn_n")
    with pytest.raises(SelectionError, match=r"did you mean ttft\?"):  # the id, not its symbol
        CATALOG.get("TTFTT")
    with pytest.raises(SelectionError) as far:
        CATALOG.get("zzzzzzzz")
    assert "did you mean" not in str(far.value)


def test_the_order_is_the_ladder():
    layers = [kpi.layer for kpi in CATALOG]
    assert [layer for layer in Layer if layer in layers] == list(dict.fromkeys(layers))


def test_nothing_selected_means_everything():
    assert select(CATALOG) == list(CATALOG)


def test_layers_and_kpis_add_up_in_the_catalogs_order():
    chosen = ids(select(CATALOG, layers=["rsi"], kpis=["TTFT", "denies", "denies"]))
    assert chosen == ["denies", "ttft", *ids(kpi for kpi in CATALOG if kpi.layer is Layer.RSI)]


def test_a_parameter_narrows_those_that_have_it_and_leaves_the_others():
    chosen = select(CATALOG, layers=["turn"], params={"arm": "bounded", "n": ["1000"]})
    by_id = {kpi.id: kpi for kpi in chosen}
    assert by_id["candidate_scorings"].params == {"arm": ("bounded",)}
    assert by_id["planner_optimize_ns"].params == {"objective": ("greedy", "exact", "coverage"), "n": ("1000",)}
    assert by_id["turn_spawn_ns"] is CATALOG.get("turn_spawn_ns")
    assert "safety_floor" not in by_id  # it has the key and not the value


def test_a_narrowed_kpi_keeps_its_gate_point():
    (kpi,) = select(CATALOG, kpis=["submit_latency"], params={"outcome": "deny"})
    assert kpi.gate_point == {"outcome": "allow"}
    assert kpi.gate_point not in kpi.points()


def test_the_value_of_a_recorded_session_can_be_selected():
    (kpi,) = select(CATALOG, kpis=["planner_optimize_ns"], params={"n": "trace"})
    assert kpi.params["n"] == ("trace",)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"layers": ["trun"]}, r"no layer named trun \(did you mean turn\?\).*`python -m harness list`"),
        ({"kpis": ["deny"]}, r"no KPI named deny \(did you mean denies\?\)"),
        (
            {"kpis": ["submit_latency"], "params": {"outcom": "deny"}},
            r"parameter named outcom \(did you mean outcome\?\).*`python -m harness explain submit_latency`",
        ),
        ({"kpis": ["denies"], "params": {"n": "1"}}, "what is selected has no parameters"),
        (
            {"kpis": ["submit_latency"], "params": {"outcome": "allows"}},
            r"outcome has no value allows \(did you mean allow\?\); it takes allow, deny, transform, hit",
        ),
    ],
)
def test_what_the_catalog_does_not_have_is_one_sentence(asked, sentence):
    with pytest.raises(SelectionError, match=sentence) as refused:
        select(CATALOG, **asked)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")


def test_the_probe_follows_from_the_seam_by_rule():
    assert probe_reference(CATALOG.get("planner_optimize_ns")) == "harness.probes.turn.planner:Probe"
    assert probe_reference(CATALOG.get("screen_quarantine_rate")) == "harness.probes.syscall.admission:Probe"


def test_two_kpis_cannot_claim_one_name():
    with pytest.raises(CatalogError, match="the name denies of KPI denies is taken"):
        Catalog((CATALOG.get("denies"), *load.__wrapped__().kpis), CATALOG.seams)


def test_the_built_in_catalog_needs_no_pydantic():
    code = (
        "import sys; from kpis.registry import load; load(); print('pydantic' in sys.modules, 'msgspec' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False"]


def test_a_row_of_too_many_points_is_refused_before_any_is_built():
    """Also where no file was read: whoever lists its points would never come back."""
    params = {key: tuple("0123456789") for key in "abcdefghi"}
    wide = replace(load().get("turn_reap_ns"), id="a_ns", aliases=(), symbol=None, params=params, sweep={})
    with pytest.raises(CatalogError, match=r"a_ns has 1,000,000,000 points; at most 10,000: .*python -m harness list"):
        with_rows(load(), [wide], {})
