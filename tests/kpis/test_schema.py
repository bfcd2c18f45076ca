"""A user's KPI file: what is taken, and the one sentence for what is not."""

import pytest

from kpis.registry import CatalogError, extend, extend_all, load, probe_reference
from kpis.schema import kpi_schema
from kpis.terms.kpi import Gate, Status, Takes
from kpis.terms.quantity import Unit

ROW = """\
[kpi.mine]
layer = "turn"
seam = "turn/reap"
question = "How long?"
fence = "Mine alone."
unit = "ns"
direction = "lower"
estimand = "call-mean"
probe = "bench.probes:Mine"
"""

MODEL = ROW.replace('"ns"', '"count"').replace("call-mean", "count") + 'gate = "report"\n'


TEN = str([str(value) for value in range(10)]).replace("'", '"')
WIDE = "params: it has 1,000,000,000 points; at most 10,000"


def extended(text):
    return extend(load(), "bench/mine.toml", text)


def test_a_small_row_is_enough():
    kpi = extended(ROW).get("mine")
    assert (kpi.unit, kpi.gate, kpi.target_status, kpi.takes) == (Unit.NS, Gate.TIMED, Status.STANDING, Takes.NONE)
    assert kpi.origin == "bench/mine.toml"
    assert probe_reference(kpi) == "bench.probes:Mine"


def test_the_row_stands_at_the_end_of_its_layer_and_the_catalog_is_unchanged():
    before = len(load())
    catalog = extended(ROW)
    turn = [kpi.id for kpi in catalog if kpi.layer.value == "turn"]
    assert turn[-1] == "mine"
    assert len(catalog) == before + 1
    assert len(load()) == before
    assert "mine" not in load()


def test_bytes_are_read_as_utf8():
    assert extended(ROW.replace("How long?", "Wie lang, Käthe?").encode()).get("mine").question == "Wie lang, Käthe?"


def test_parameters_give_a_gate_point_of_first_values():
    kpi = extended(ROW + 'params = { n = ["10", "100"], mode = ["a"] }\n').get("mine")
    assert kpi.gate_point == {"n": "10", "mode": "a"}
    assert len(kpi.points()) == 2


def test_a_seam_of_ones_own_is_declared_in_the_file():
    text = (
        ROW.replace("turn/reap", "gateway/route")
        + '[seam."gateway/route"]\ntitle = "routing"\noff_live = "replay only"\n'
    )
    catalog = extended(text)
    assert catalog.seams["gateway/route"].title == "routing"
    assert catalog.get("mine").target_status is Status.GUARDED


def test_knobs_make_a_model():
    text = (
        ROW.replace('"ns"', '"ms"').replace("call-mean", "count") + 'gate = "report"\nknobs = { ms_per_turn = 1500 }\n'
    )
    assert extended(text).get("mine").target_status is Status.MODELED


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (
            ROW + 'directon = "lower"\n',
            "line 10",
            r"\[kpi.mine\] has the unknown key directon \(did you mean direction\?\)",
        ),
        (ROW.replace('"ns"', '"nanos"'), "line 6", "unknown unit 'nanos'; it is one of ns, ops"),
        (ROW.replace('"lower"', '"lowr"'), "line 7", r"unknown direction 'lowr' \(did you mean lower\?\)"),
        (ROW.replace('probe = "bench.probes:Mine"\n', ""), "line 1", "has no probe, which every kpi needs"),
        (ROW.replace("bench.probes:Mine", "bench.probes"), "line 9", "must read module:Name"),
        (ROW.replace("kpi.mine", "kpi.Mine"), "line 1", "'Mine' must begin with a small letter"),
        (ROW.replace("kpi.mine", "kpi.denies"), "line 1", "the name denies is taken by a KPI of the catalog"),
        (ROW + 'aliases = ["TTFT"]\n', "line 1", "the name TTFT is taken"),
        (ROW + ROW, "line 10", r"the table \[kpi.mine\] is declared twice"),
        (ROW + 'unit = "ns"\n', "line 10", "a key is given twice"),
        (ROW + "gate =\n", "line 10", "this is not TOML"),
        (b"# ok\n# \xff\n", "line 2", "this is not UTF-8"),
        ("[kpis.mine]\n", "line 1", r"there is no table \[kpis\] \(did you mean kpi\?\)"),
        (ROW.replace("turn/reap", "my/room"), "line 3", 'there is no seam my/room: declare \\[seam."my/room"\\]'),
        (ROW.replace("turn/reap", "turnreap"), "line 3", "a seam reads floor/room"),
        (ROW + '[seam."turn/reap"]\ntitle = "x"\n', "line 10", "this seam is declared in the catalog already"),
        (
            ROW + '[seam."my/room"]\ntitle = "x"\ntitel = "x"\n',
            "line 12",
            r"unknown key titel \(did you mean title\?\)",
        ),
        (
            ROW + 'gate = "exact"\n',
            "line 10",
            "gate: a call-mean gates as timed or instructions or report, not as exact",
        ),
        (ROW.replace("call-mean", "call-p99") + 'gate = "timed"\n', "line 10", "a call-p99 gates as report"),
        (ROW.replace("call-mean", "rate"), "line 6", "unit: a rate is in ratio, not in ns"),
        (
            ROW.replace("call-mean", "count").replace('"ns"', '"bool"'),
            "line 6",
            "a count is not in bool; that is an invariant",
        ),
        (ROW + "knobs = { price = 3 }\n", "line 10", "knobs: a clock has none"),
        (ROW + 'target_status = "modeled"\n', "", "a modeled KPI shows its knobs"),
        (ROW.replace('"ns"', '"ms"').replace("call-mean", "count"), "line 6", "ms is for models"),
        (ROW + 'reasons = ["A"]\n', "line 10", "a call-mean has no histogram"),
        (ROW + 'params = { n = ["1", "2"] }\ngate_point = { n = "3" }\n', "line 11", "n has no value 3"),
        (ROW + 'params = { n = ["1"], m = ["1"] }\ngate_point = { n = "1" }\n', "line 11", "m is missing"),
        (ROW + 'replay_params = { n = "trace" }\n', "line 10", "n is not a parameter"),
        (ROW + f"params = {{ {', '.join(f'{key} = {TEN}' for key in 'abcdefghi')} }}\n", "line 10", WIDE),
        (
            ROW + f"params = {{ a = {TEN}, b = {TEN}, c = {TEN}, d = {TEN} }}\nsweep = {{ e = {TEN} }}\n",
            "line 10",
            "10,010",
        ),
        (ROW.replace('"lower"', '"neutral"'), "line 7", "direction: a clock gates one way"),
        (ROW + "params = { n = [] }\n", "line 10", "params.n cannot be"),
        (ROW.replace('"Mine alone."', "3"), "line 5", "fence cannot be 3"),
        ("kpi = 3\n", "", "cannot be 3"),
        (MODEL + "knobs = { a = nan }\n", "line 11", "knobs.a cannot be nan"),
        (MODEL + "knobs = { a = -inf }\n", "line 11", "knobs.a cannot be -inf"),
        (MODEL + "knobs = { a = true }\n", "line 11", "knobs.a cannot be True"),
        (MODEL + 'knobs = { a = "1" }\n', "line 11", "knobs.a cannot be '1'"),
        (MODEL + f"knobs = {{ a = 1{'0' * 400} }}\n", "line 11", "knobs.a cannot be 1000"),
        (ROW + 'critical = "yes"\n', "line 10", "critical cannot be 'yes'"),
        (ROW + "default_workload = 1\n", "line 10", "default_workload cannot be 1"),
        (ROW + 'params = { a = [""] }\n', "line 10", "params.a has an empty value"),
        (ROW + 'params = { a = ["", ""] }\n', "line 10", "params.a has an empty value"),
        (ROW + "params = { a = [1] }\n", "line 10", 'write its values as "1"'),
        ("\ufeff" + ROW, "line 1", "a byte order mark begins the file"),
        ("\ufeff".encode() + ROW.encode(), "line 1", "a byte order mark begins the file"),
        (ROW + "x = " + "[" * 3000 + "]" * 3000, "", "cannot be read as TOML: it is nested too deeply"),
        (ROW + "symbol = " + "[" * 200 + "]" * 200, "line 10", r"symbol cannot be \[+\.\.\. \("),
        (ROW + "note = " + "9" * 5000, "", "cannot be read as TOML: a number in it has too many digits"),
        (ROW + "note = 0x" + "f" * 9000, "line 10", "note cannot be a number of so many digits"),
        (ROW + '"a\\u001b[31mb" = 1\n', "line 1", r"unknown key a\\u001b\[31mb"),
        (ROW + '[seam."x\\u001b"]\ntitle = "x"\n', "line 10", r'\[seam."x\\u001b"\]: the name'),
        (
            ROW + 'params = { n = ["1"] }\ngate_point = { n = "\\u001b[31m\\n" }\n',
            "line 11",
            r"n has no value \\u001b\[31m\\u000a",
        ),
    ],
)
def test_a_fault_is_one_sentence_with_file_line_and_next_command(text, where, what):
    with pytest.raises(CatalogError, match=what) as refused:
        extended(text)
    (sentence,) = refused.value.sentences
    assert sentence.startswith(f"bench/mine.toml, {where}" if where else "bench/mine.toml")
    assert sentence.isprintable()
    assert "python -m harness" in sentence
    assert len(sentence) < 300


def test_ten_thousand_points_are_taken_and_a_clock_that_reports_may_be_neutral():
    params = f"params = {{ a = {TEN}, b = {TEN}, c = {TEN}, d = {TEN} }}\n"
    kpi = extended(ROW.replace('"lower"', '"neutral"') + 'gate = "report"\n' + params).get("mine")
    assert (kpi.point_count, len(kpi.points())) == (10_000, 10_000)


def test_every_fault_of_a_file_is_named_at_once():
    with pytest.raises(CatalogError) as refused:
        extended(ROW.replace('"ns"', '"s"').replace('"lower"', '"down"'))
    assert len(refused.value.sentences) == 2


def test_two_files_cannot_claim_one_id():
    catalog = extend(load(), "a.toml", ROW)
    with pytest.raises(CatalogError, match=r"b\.toml, line 1: .*the name mine is taken by a KPI of a\.toml"):
        extend(catalog, "b.toml", ROW)


OTHER = ROW.replace("turn/reap", "gateway/route")
SEAM = '[seam."gateway/route"]\ntitle = "routing"\n'


@pytest.mark.parametrize("files", [{"a.toml": OTHER, "b.toml": SEAM}, {"a.toml": SEAM, "b.toml": OTHER}])
def test_a_seam_of_one_file_is_known_to_all_whatever_their_order(files):
    catalog = extend_all(load(), files)
    assert catalog.seam(catalog.get("mine")).title == "routing"


def test_a_seam_that_is_declared_twice_names_both_files():
    with pytest.raises(CatalogError) as refused:
        extend_all(load(), {"a.toml": SEAM, "b.toml": OTHER + SEAM})
    (sentence,) = refused.value.sentences
    assert sentence.startswith('b.toml, line 10: [seam."gateway/route"]: this seam is declared in a.toml already;')


def test_the_faults_of_all_files_are_named_at_once_and_what_follows_from_them_is_not():
    with pytest.raises(CatalogError) as refused:
        extend_all(load(), {"a.toml": OTHER, "b.toml": SEAM.replace("title", "titel"), "c.toml": "x ="})
    first, second = refused.value.sentences
    assert first.startswith("b.toml, line 2")
    assert second.startswith("c.toml, line 1")


@pytest.mark.parametrize(
    ("extra", "what"),
    [
        ("params = { size = [64, 4096] }", 'params.size must be a list of strings: write its values as "64", "4096";'),
        ("params = { size = 64 }", 'params.size must be a list of strings: write its values as "64";'),
        (
            "params = { on = [true, false] }",
            'params.on must be a list of strings: write its values as "true", "false";',
        ),
        (
            'params = { size = ["64"] }\ngate_point = { size = 64 }',
            'gate_point.size must be a string: write it as "64";',
        ),
    ],
)
def test_values_without_quotes_are_one_sentence_that_says_how_to_write_them(extra, what):
    with pytest.raises(CatalogError) as refused:
        extended(f"{ROW}{extra}\n")
    (sentence,) = refused.value.sentences
    assert what in sentence


@pytest.mark.parametrize("name", ["KpiRow", "SeamRow", "KpiFile"])
def test_every_key_of_the_published_schema_is_described_in_one_sentence(name):
    schema = kpi_schema()
    table = schema["$defs"].get(name, schema)
    for key, described in table["properties"].items():
        words = described.get("description", "")
        assert words.endswith("."), key
        assert "\n" not in words, key
        assert words[0].isupper(), key


def test_the_published_schema_knows_the_vocabulary():
    row = kpi_schema()["$defs"]["KpiRow"]
    assert row["additionalProperties"] is False
    assert {"layer", "seam", "question", "fence", "unit", "direction", "estimand", "probe"} == set(row["required"])
    assert set(kpi_schema()["$defs"]["Unit"]["enum"]) == {unit.value for unit in Unit}
