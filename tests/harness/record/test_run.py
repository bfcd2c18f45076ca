"""The run file: same bytes for the same run, every key present, nothing that is not a finite number."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.record.run import (
    SCHEMA,
    Machine,
    Mode,
    Run,
    RunFileError,
    Selection,
    SourceTree,
    WorkloadRecord,
    decode,
    encode,
    schema,
)
from kpis.terms.kpi import Direction, Estimand, Gate, Layer, Status
from kpis.terms.quantity import Basis, Source, Unit
from kpis.terms.reading import Distribution, Leg, Notice, Reading, ReadingKind, Reason, Undefined, Warn
from tests.harness.record.example import ABSENT, MODELED, RATE, TIMED, example

TOP = {
    "schema", "id", "created", "argv", "complete", "mode", "selection", "machine", "environment", "noise", "source",
    "workloads", "readings",
}  # fmt: skip
READING = {
    "kpi", "layer", "params", "runtime", "workload", "leg", "kind", "value", "undefined", "unit", "direction", "status",
    "basis", "source", "estimand", "isolation", "gate", "critical", "numerator", "denominator", "excluded", "histogram",
    "knobs", "distribution", "evidence", "uncertainty", "warnings", "touched",
}  # fmt: skip

WORKLOADS = sorted(example().workloads)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
floats = st.floats(allow_nan=False, allow_infinity=False)
maybe_float = st.none() | floats
at_least_one = st.none() | st.integers(1, 2**24)
days = st.dates(date(1000, 1, 1)).map(lambda day: f"{day}T12:00:00Z")
slugs = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,9}", fullmatch=True)


@st.composite
def distributions(draw: st.DrawFn, value: float) -> Distribution:
    """One whose median is ``value``."""
    interval = st.tuples(st.floats(-1e300, value), st.floats(value, 1e300))
    return Distribution(
        draw(texts),
        draw(st.integers(1, 99)),
        value,
        draw(st.none() | interval),
        draw(maybe_float),
        draw(maybe_float),
        draw(at_least_one),
        draw(at_least_one),
    )


plain = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=5,
)


@st.composite
def readings(draw: st.DrawFn, sets: int = 0) -> Reading:
    kind = draw(st.sampled_from(ReadingKind))
    defined = draw(st.booleans())
    modeled = kind is ReadingKind.MODELED
    basis = Basis.MODEL if modeled else draw(st.sampled_from([basis for basis in Basis if basis is not Basis.MODEL]))
    knobs = draw(st.dictionaries(texts, floats, min_size=1, max_size=2)) if modeled else None
    clocked = defined and not modeled and draw(st.booleans())
    value = draw(st.floats(1.0, 1e300) if clocked else numbers)
    return Reading(
        kpi=draw(texts),
        layer=draw(st.sampled_from(Layer)),
        params=draw(st.dictionaries(texts, texts, max_size=2)),
        runtime=draw(texts),
        workload=draw(st.none() | st.sampled_from(WORKLOADS)),
        leg=draw(st.sampled_from(Leg)),
        kind=kind,
        value=value if defined else None,
        undefined=None if defined else Undefined(draw(st.sampled_from(Reason)), draw(texts)),
        unit=draw(st.sampled_from(Unit)),
        direction=draw(st.sampled_from(Direction)),
        status=draw(st.sampled_from(Status)),
        basis=basis,
        source=draw(st.sampled_from(Source)),
        estimand=draw(st.sampled_from(Estimand)),
        isolation=draw(st.none() | texts),
        gate=draw(st.sampled_from(Gate)),
        critical=draw(st.booleans()),
        numerator=draw(st.none() | numbers),
        excluded=draw(st.none() | numbers),
        histogram=draw(st.none() | st.dictionaries(texts, st.integers(0, 2**40), max_size=2)),
        knobs=knobs,
        distribution=draw(distributions(value)) if clocked else None,
        evidence=draw(st.lists(texts, max_size=2)),
        uncertainty=draw(st.none() | st.dictionaries(texts, plain, max_size=2)),
        warnings=draw(st.lists(st.builds(Notice, st.sampled_from(Warn), texts), max_size=2)),
        touched=draw(st.none() | st.integers(0, sets - 1)) if sets else None,
    )


@st.composite
def whole_runs(draw: st.DrawFn) -> Run:
    many = st.lists(texts, max_size=2)
    touched = draw(st.dictionaries(texts, texts, max_size=3))
    one = st.sets(st.integers(0, len(touched) - 1)).map(sorted) if touched else st.just([])
    sets = draw(st.none() | st.lists(one, max_size=2))
    source = SourceTree(
        commit=draw(st.none() | texts), dirty=draw(st.none() | st.booleans()), touched=touched, sets=sets
    )
    return example(
        id=draw(texts),
        created=draw(days),
        machine=Machine(slug=draw(slugs), fingerprint={}),
        argv=draw(many),
        complete=draw(st.booleans()),
        mode=draw(st.sampled_from(Mode)),
        selection=Selection(
            all=draw(st.booleans()),
            layers=draw(many),
            kpis=draw(many),
            params=draw(st.dictionaries(texts, many, max_size=2)),
            runtimes=draw(many),
            workloads=draw(many),
        ),
        noise=draw(st.dictionaries(texts, plain, max_size=3)),
        source=source,
        readings=draw(st.lists(readings(len(sets or ())), max_size=3, unique_by=lambda one: one.identity)),
    )


@given(whole_runs())
def test_what_was_written_is_read_back_and_written_alike(run: Run) -> None:
    blob = encode(run)
    again = decode(blob, "run.json")
    assert again == run
    assert encode(again) == blob


def test_every_key_is_present_and_sorted() -> None:
    blob = encode(example())
    document = json.loads(blob)
    assert set(document) == TOP == {field.name for field in fields(Run)}
    for reading in document["readings"]:
        assert set(reading) == READING
        assert list(reading) == sorted(reading)
    assert list(document) == sorted(document)
    assert blob.endswith(b"}\n")


def test_enums_and_absent_things_are_written_by_value_and_as_null() -> None:
    document = json.loads(encode(example(mode=Mode.BUDGET)))
    assert document["mode"] == "budget"
    absent = next(reading for reading in document["readings"] if reading["kpi"] == ABSENT.kpi)
    assert absent["undefined"] == {"detail": "This runtime offers no turn/planner.", "reason": "not-offered"}
    assert absent["value"] is None
    assert absent["histogram"] is None
    assert absent["leg"] == "main"


def test_the_order_in_which_a_dictionary_was_filled_does_not_show() -> None:
    forward = example(noise={"a": 1, "b": {"c": 2, "d": 3}})
    backward = example(noise={"b": {"d": 3, "c": 2}, "a": 1})
    assert encode(forward) == encode(backward)


def test_truth_values_are_stored_as_numbers_and_whole_floats_stay_floats() -> None:
    invariant = replace(RATE, kind=ReadingKind.INVARIANT, unit=Unit.BOOL, value=True, numerator=True, denominator=None)
    timed = replace(TIMED, value=5, distribution=Distribution("process values", 6, 5, (4, 6), 5, None))
    modeled = replace(MODELED, knobs={"price": 3})
    blob = encode(example(readings=[invariant, timed, modeled]))
    first, second, third = json.loads(blob)["readings"]
    assert (first["value"], first["numerator"]) == (1, 1)
    assert first["value"] is not True
    assert isinstance(second["distribution"]["median"], float)
    assert isinstance(third["knobs"]["price"], float)
    assert encode(decode(blob, "run.json")) == blob


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_with_its_path(bad: float) -> None:
    with pytest.raises(RunFileError, match=r"\$\.readings\[1\]\.numerator is"):
        encode(example(readings=[TIMED, replace(RATE, numerator=bad)]))
    with pytest.raises(RunFileError, match=r"\$\.noise\.load\[0\] is"):
        encode(example(noise={"load": [bad]}))


@pytest.mark.parametrize("bad", [object(), {1: 2}, b"bytes", {"a", "b"}, 2**64])
def test_what_is_not_plain_data_is_refused_with_its_path(bad: Any) -> None:
    with pytest.raises(RunFileError, match=r"\$\.environment\.x"):
        encode(example(environment={"x": bad}))


def test_a_file_name_that_is_not_text_is_written_readably() -> None:
    run = decode(encode(example(argv=["run", "caf\udce9.json"])), "run.json")
    assert run.argv == ["run", "caf\\udce9.json"]


def mutated(change: Any) -> bytes:
    document = json.loads(encode(example()))
    change(document)
    return json.dumps(document).encode()


def in_reading(index: int, **members: Any) -> Any:
    return lambda document: document["readings"][index].update(members)


def in_distribution(**members: Any) -> Any:
    return lambda document: document["readings"][0]["distribution"].update(members)


def twice(document: dict[str, Any]) -> None:
    document["readings"].insert(5, {**document["readings"][1], "numerator": 1201})


@pytest.mark.parametrize(
    ("blob", "words"),
    [
        (b"", "at $: Input data was truncated"),
        (b"\xff\xfe", "at $: "),
        (b"[]", "$.schema is 'None'"),
        (b'{"schema": 1}', "$.schema is '1'"),
        (b'{"schema": NaN}', "at $: JSON is malformed"),
        (b"[" * 100_000, "at $: it is nested too deeply"),
        (mutated(lambda document: document.update(schema="gate/1")), "$.schema is 'gate/1'"),
        (mutated(in_reading(0, value="1234")), "at $.readings[0].value: Expected"),
        (mutated(in_reading(0, value=True)), "at $.readings[0].value: Expected"),
        (mutated(in_reading(0, value=None)), "at $.readings[0]: "),
        (mutated(in_reading(0, value=2**70)), "at $.readings[0].value: it does not fit"),
        (mutated(in_reading(0, unit="s")), "at $.readings[0].unit: Invalid enum value 's'"),
        (mutated(in_reading(3, value=3)), "a reading is a number or undefined, never both"),
        (mutated(lambda document: document["source"].update(sets=[[0], [1]])), "at $.source.sets[1]: it points to"),
        (mutated(lambda document: document["source"].update(sets=[[-1]])), "at $.source.sets[0]: it points to nothing"),
        (mutated(in_reading(0, touched=0)), "at $.readings[0].touched: it points to nothing"),
        (mutated(lambda document: document["readings"][0]["distribution"].update(loops=0)), "at least one call"),
        (mutated(in_reading(1, workload="none")), "at $.readings[1].workload: it points to nothing"),
        (mutated(lambda document: document.update(workloads={})), "at $.readings[1].workload: it points to nothing"),
        (mutated(in_reading(1, denominator=0)), "at $.readings[1].denominator: it is 0, and there is a value all the"),
        (mutated(in_reading(0, value=1234567.5)), "distribution.median: it is 1234567.25, and the value is 1234567.5"),
        (mutated(in_reading(0, value=0.001)), "at $.readings[0].value: it is 0.001 ns, and no clock sees less than 1"),
        (mutated(in_reading(0, value=1e-320)), "at $.readings[0].value: it is 1e-320 ns, and no clock"),
        (mutated(in_distribution(ci95=[1310000.0, 1201000.0])), "distribution.ci95: [1310000.0, 1201000.0] does not"),
        (mutated(in_distribution(ci95=[1.0, 2.0])), "distribution.ci95: [1.0, 2.0] does not hold the median"),
        (mutated(in_distribution(n=0)), "at $.readings[0].distribution.n: it is below 1"),
        (mutated(twice), "at $.readings[5]: it is a second reading of vdso_hit_rate at the same point, and says some"),
        (mutated(lambda document: document.pop("machine")), "missing required field `machine`"),
        (mutated(lambda document: document.update(complete=1)), "at $.complete: Expected `bool`"),
        (encode(example()).replace(b"1234567.25", b"NaN"), "at $: JSON is malformed"),
        (encode(example()).replace(b"1234567.25", b"1e999"), "Number out of range"),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_name_and_the_path(blob: bytes, words: str) -> None:
    with pytest.raises(RunFileError) as caught:
        decode(blob, "old/run.json")
    sentence = str(caught.value)
    assert sentence.startswith("old/run.json is not a run file: ")
    assert words in sentence
    assert "\n" not in sentence
    assert sentence.endswith("`python -m harness run --all --json FILE`.")


@pytest.mark.parametrize(
    "slug",
    [
        "",
        ".",
        "..",
        "../../../evil",
        "/tmp/x",
        "a/b",
        "a\\b",
        "\x1b[31m",
        "a\0b",
        "-rf",
        ".git",
        "Box",
        "x" * 101,
        "a\n",
    ],
)
def test_a_machine_has_a_plain_name(slug: str) -> None:
    with pytest.raises(RunFileError, match=r"at \$\.machine\.slug: it is no plain name of") as caught:
        decode(mutated(lambda document: document["machine"].update(slug=slug)), "run.json")
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "created",
    ["", "zzz", "9999-99-99T00:00:00Z", "1-01-01", "2031-02-29T12:00:00Z", "2031-01-01", "2031-01-01T12:00:00+00:00",
     "2031-01-01T12:00:00Z\n", "2031-01-01T25:00:00Z"],
)  # fmt: skip
def test_a_run_was_made_at_a_time_of_the_calendar(created: str) -> None:
    with pytest.raises(RunFileError, match=r"at \$\.created: it is no time like 2031-01-31T12:00:00Z"):
        decode(mutated(lambda document: document.update(created=created)), "run.json")


def test_the_same_reading_twice_is_read() -> None:
    again = decode(mutated(lambda document: document["readings"].append(document["readings"][1])), "run.json")
    assert again.readings == [*example().readings, again.readings[1]]


def test_a_file_of_before_the_sets_and_loops_is_read() -> None:
    def older(document: dict[str, Any]) -> None:
        del document["source"]["sets"]
        for reading in document["readings"]:
            del reading["touched"]
            if reading["distribution"] is not None:
                del reading["distribution"]["loops"], reading["distribution"]["values"]

    run = decode(mutated(older), "run.json")
    assert run == example()
    assert run.source.files(None) is None
    assert {reading.touched for reading in run.readings} == {None}


def test_a_set_names_its_files_whatever_the_order_in_which_they_were_met() -> None:
    source = SourceTree(commit=None, dirty=None, touched={"b.py": "1", "a.py": "0", "c.py": "2"}, sets=[[0, 2], [1]])
    again = decode(encode(example(source=source, readings=[replace(TIMED, touched=0)])), "run.json")
    for tree in (source, again.source):
        assert tree.files(0) == {"a.py", "c.py"}
        assert tree.files(1) == {"b.py"}


def test_another_version_is_refused_by_name() -> None:
    blob = mutated(lambda document: document.update(schema="harness.run/2"))
    with pytest.raises(RunFileError, match=r"run\.json is of harness\.run/2 and this version reads harness\.run/1"):
        decode(blob, "run.json")


def test_a_key_added_later_is_passed_over() -> None:
    assert decode(mutated(lambda document: document.update(later={"a": 1})), "run.json") == example()


def test_the_published_schema_requires_every_key_that_is_written() -> None:
    document = schema()
    assert set(document["$defs"]["Run"]["required"]) == TOP
    assert set(document["$defs"]["Reading"]["required"]) == READING
    assert set(document["$defs"]["SourceTree"]["required"]) == {"commit", "dirty", "touched", "sets"}
    assert {"loops", "values"} < set(document["$defs"]["Distribution"]["required"])
    assert set(document["$defs"]["WorkloadRecord"]["required"]) == {field.name for field in fields(WorkloadRecord)}
    assert document["$defs"]["Run"]["properties"]["schema"] == {"const": SCHEMA}
    assert "https://json-schema.org/" in json.dumps(document)


def test_importing_the_module_loads_no_decoder() -> None:
    code = "import sys, harness.record.run, harness.record.store; sys.exit('msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
