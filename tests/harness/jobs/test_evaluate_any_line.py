"""No line ends the stream: whatever it holds there is an answer or an error in its place, and so for the next one."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from harness.formats.jsonl import BOM
from harness.formats.limits import FormatError
from harness.jobs.evaluate import Answer, evaluate_stream
from harness.jobs.evaluate_config import Deployment, deployment, reference
from harness.record.evaluation_write import encode
from harness.report.evaluation_page import EvaluationPage
from kpis.rules.run import findings
from kpis.terms.evaluation import Case, Finding
from kpis.terms.evaluation_settings import THRESHOLD_LISTS, THRESHOLD_NUMBERS

NOW = "2031-01-01T00:00:00.000Z"
LAST = b'{"id": "last", "output": "The sweep runs at boot, and then it runs once every day at noon."}'
DEPLOYMENTS = {
    "own": Deployment(),
    "measured": Deployment(table=reference().table),
    "reference": reference(),
}


def answered(*lines: bytes, under: Deployment | None = None) -> list[Answer]:
    stream = io.BytesIO(b"\n".join(lines))
    return list(evaluate_stream(stream, "cases", under or Deployment(), lambda: NOW))


def shown(answer: Answer) -> str:
    console = Console(file=io.StringIO(), width=80)
    EvaluationPage(console).show(answer)
    found: str = console.file.getvalue()  # type: ignore[attr-defined]
    return found


DEEP = b'{"output":' + b"[" * 5000 + b"]" * 5000 + b"}"
WIDE = ('{"output":"\u0122","x":' + "[" * 5000 + "]" * 5000 + "}").encode("utf-16-le")
NINES = "9" * 5000


def _rule(**definition: Any) -> dict[str, Any]:
    return {"severity": "critical", "definition": {"name": "n", "type": "json_schema", **definition}}


def _written(*rules: dict[str, Any]) -> bytes:
    return json.dumps({"output": "[1]", "deployed_rules": list(rules)}).encode()


HEAVY = {"name": "n", "type": "min_length", "config": {"min": 1}}
HOSTILE = {
    "nests": (DEEP, "nests deeper than 64 levels and was not read"),
    "nests in another encoding": (WIDE, "is no UTF-8 (it looks like UTF-16)"),
    "in UTF-32": (LAST.decode().encode("utf-32-be"), "is no UTF-8 (it looks like UTF-32)"),
    "is cut within a character": (LAST[:-2] + b"\xe2\x82", "is no UTF-8"),
    "many digits": (
        f'{{"output": "x", "cost": {NINES}}}'.encode(),
        "holds a whole number of more digits than are read",
    ),
    "many digits in a rule": (
        b'{"output": "x", "custom_rules": [{"name": "n", "type": "min_length", "config": {"min": %s}}]}'
        % NINES.encode(),
        "holds a whole number of more digits than are read",
    ),
    "beyond a double": (b'{"output": "x", "cost": 1e999}', ".cost is no finite number"),
    "a threshold beyond a double": (
        b'{"output": "x", "config": {"per_call": {"min_sentences": -1e999}}}',
        "per_call.min_sentences is no finite number",
    ),
    "no number": (b'{"output": "x", "cost": NaN}', "is no JSON (NaN is no number)"),
    "a key twice": (b'{"output": "512-44-9871", "output": "x"}', "has the key output twice in one object"),
    "a key twice within": (
        b'{"output": "x", "config": {"per_call": {"min_length": 1, "min_length": 2}}}',
        "has the key min_length twice in one object",
    ),
    "heavy rules": (_written(*(_rule(**HEAVY, weight=9e307) for _ in range(3))), None),
    "a reference of many digits": (
        _written(_rule(config={"schema": {"$ref": f"#/allOf/{NINES}", "allOf": [True]}})),
        None,
    ),
    "a bound beyond a double": (
        b'{"output": "x", "custom_rules": [{"name": "n", "type": "max_length", "config": {"max": 1e999}}]}',
        None,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_leaves_the_next_one_its_answer(name: str) -> None:
    line, said = HOSTILE[name]
    hostile, last = answered(line, LAST)
    assert hostile.fault is None
    assert last.document["case"] == "last"
    assert last.document["passed"]
    if said is None:
        assert hostile.judgement is not None
    else:
        assert hostile.document["error"].startswith("cases, line 1: The case")
        assert f"{said}. Correct the line" in hostile.document["error"]


def test_the_reference_takes_the_last_of_two_keys() -> None:
    line, _ = HOSTILE["a key twice"]
    (answer,) = answered(line, under=reference())
    assert answer.judgement is not None
    assert answer.judgement.case.output == "x"


@pytest.mark.parametrize("name", DEPLOYMENTS)
@pytest.mark.parametrize("output", [NINES, f"-{NINES}", f"[{NINES}]"])
def test_a_number_of_many_digits_is_json(output: str, name: str) -> None:
    line = json.dumps({"output": output, "eval_type": "custom", "custom_rules": [{"name": "n", "type": "json_schema"}]})
    (answer,) = answered(line.encode(), under=DEPLOYMENTS[name])
    assert [each["message"] for each in answer.document["rule_results"]] == ["The output is JSON"]


def test_heavy_rules_weigh_in_the_score_as_light_ones_do() -> None:
    rules = [
        {**HEAVY, "type": kind, "config": {"keywords": ["1", "absent"]}} for kind in ("contains_keywords",) * 2
    ] + [HEAVY]
    scores = []
    for weights in ((1, 2, 3), (0.5e308, 1e308, 1.5e308)):
        written = [_rule(**{**rule, "weight": weight}) for rule, weight in zip(rules, weights, strict=True)]
        line = json.dumps({"output": "[1]", "eval_type": "custom", "deployed_rules": written}).encode()
        scores.append(answered(line)[0].document["score"])
    assert scores == [0.75, 0.75]


def test_a_fault_of_ours_has_its_place_and_the_next_line_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: Case) -> tuple[Finding, ...]:
        if case.id == "odd":
            raise RecursionError("too deep")
        return findings(case)

    monkeypatch.setattr("harness.jobs.evaluate.findings", broken)
    odd, last = answered(b'{"id": "odd", "output": "x"}', LAST)
    assert odd.document == {"line": 1, "error": odd.document["error"]}
    assert odd.document["error"].startswith(
        "cases, line 1: This is a fault of loopladder itself, not of the line (RecursionError)."
    )
    assert isinstance(odd.fault, RecursionError)
    assert odd.state is None
    assert (last.fault, last.document["case"]) == (None, "last")


_number = (
    st.sampled_from([0, -0.0, 5e-324, 1e308, 9e307, -1e308, 2**53 + 1, 2**63, 2**64, 10**308, 10**400, 0.5, 1, 3])
    | st.floats()
    | st.integers()
)
_text = st.sampled_from(["", "a", "\ud800", "\x00", "\x1b[31m", "#", "(", "(?i)a", "min_length"])
_digits = st.integers(4299, 5000).map("9".__mul__)
_any = st.recursive(
    st.none() | st.booleans() | _number | _text | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text | st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_schema = st.dictionaries(
    st.sampled_from(
        [
            "type",
            "enum",
            "const",
            "minimum",
            "multipleOf",
            "maxLength",
            "pattern",
            "uniqueItems",
            "$ref",
            "allOf",
            "not",
        ]
    ),
    _any | _digits.map("#/allOf/".__add__),
    max_size=3,
)
_config = st.dictionaries(
    st.sampled_from(["pattern", "min", "max", "length", "keywords", "threshold", "schema", "max_usd"]),
    _any | _schema | st.lists(_text, max_size=3),
    max_size=3,
)
_TYPES = (
    "regex_match", "regex_no_match", "min_length", "max_length", "contains_keywords", "excludes_keywords",
    "json_schema", "cost_threshold", "?",
)  # fmt: skip
_definition = st.fixed_dictionaries(
    {"name": _text, "type": st.sampled_from(_TYPES)}, optional={"config": _config, "weight": _number}
)
_deployed = st.fixed_dictionaries(
    {"definition": _definition}, optional={"severity": st.sampled_from(["low", "critical"]), "id": _text}
)
_thresholds = st.dictionaries(
    st.sampled_from([*THRESHOLD_NUMBERS, *THRESHOLD_LISTS]), _any | _number | st.lists(_text, max_size=3), max_size=3
)
_chosen: dict[str, st.SearchStrategy[Any]] = {
    "ruleThresholds": _thresholds,
    "per_call": _thresholds,
    "prior": _number,
    "falsePassCost": _number,
    "threshold": _number,
    "criticalRules": _any,
    "nonCriticalRules": _any,
    "defaultsGate": st.booleans(),
}
_case = st.fixed_dictionaries(
    {"output": st.sampled_from(["", "[1]", "1e999", "\ud800", '{"a": 1}', "A text. It ends."]) | _digits | st.text()},
    optional={
        "id": _any,
        "input": _text,
        "expected": _text,
        "cost": _number,
        "tokens": st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), _number),
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {"tool_name": _text}, optional={"input": _any, "output": _any, "latency_ms": _number}
            ),
            max_size=4,
        ),
        "custom_rules": st.lists(_definition, max_size=3),
        "deployed_rules": st.lists(_deployed, max_size=3),
        "config": st.fixed_dictionaries({}, optional=_chosen),
    },
)
_encoded = st.tuples(_case, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])).map(
    lambda pair: json.dumps(pair[0], ensure_ascii=False).encode(pair[1], "surrogatepass")
)
_lines = _encoded | _case.map(lambda case: json.dumps(case).encode()) | st.binary(max_size=40)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    _lines.filter(lambda line: b"\n" not in line and line.removeprefix(BOM).strip()),
    st.sampled_from(sorted(DEPLOYMENTS)),
)
def test_any_line_has_its_place_and_so_has_the_next(line: bytes, name: str) -> None:
    found = answered(line, LAST, under=DEPLOYMENTS[name])
    assert [answer.fault for answer in found] == [None, None]
    assert found[1].document["case"] == "last"
    for answer in found:
        document = json.loads(encode(answer.document), parse_constant=pytest.fail)
        assert (set(document) == {"line", "error"}) is (answer.judgement is None)
        assert shown(answer)


_TOML = (
    "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "0x" + "f" * 5000, NINES, "inf", "nan", "1e308",
    "9007199254740993", "true", "'a'", "[[['a']]]", "[" * 5000 + "]" * 5000, "{a = 1979-05-27}",
    "{" + "a." * 3000 + "a = 1}",
    '"a\\u0000b"',
)  # fmt: skip
_PLACES = (
    "ruleThresholds = {{min_sentences = {}}}", "per_call = {{blocklist = [{}]}}", "prior = {}", "threshold = {}",
    "criticalRules = {}", "nonCriticalRules = [{}]", "requiredEvidence = [{}]", "accuracy = {}", "mode = {}",
    "falsePassCost = {}", "colour = {}", "deployed_rules = {}", "deployed_rules = [{{definition = {}}}]",
    "deployed_rules = [{{definition = {{name = 'a', type = 'min_length', weight = {}, config = {{min = 1}}}}}}]",
    "deployed_rules = [{{definition = {{name = 'a', type = 'min_length', config = {{min = {}}}}}}}]",
    "deployed_rules = [{{definition = {{name = 'a', type = 'json_schema', config = {{schema = {{enum = [{}]}}}}}}}}]",
    "deployed_rules = [{{definition = {{name = 'a', type = 'json_schema', config = {{schema = {{const = {}}}}}}}}}]",
    "deployed_rules = [{{definition = {{name = 'a', type = 'contains_keywords', config = {{keywords = {}}}}}}}]",
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(_PLACES),
    st.integers(0, len(_TOML) - 1).map(_TOML.__getitem__),
    st.sampled_from(["", "mode = 'reference'\n"]),
)
@example(_PLACES[0], _TOML[0], "mode = 'reference'\n")
@example(_PLACES[14], _TOML[3], "mode = 'reference'\n")
@example(_PLACES[15], _TOML[0], "")
@example("accuracy = {}", _TOML[15], "")
@example("colour = {}", _TOML[14], "")
def test_any_settings_are_refused_in_a_sentence_or_judge_a_case(place: str, value: str, mode: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.toml"
        path.write_text(mode + place.format(value) + "\n", encoding="utf-8")
        try:
            chosen = deployment(path)
        except FormatError as error:
            assert str(error).startswith(str(path))
            assert f"python -m harness evaluate --config {path} FILE" in str(error)
            assert "sys." not in str(error)
            return
    (answer,) = answered(LAST, under=chosen)
    assert answer.fault is None
    assert encode(answer.document)
