"""Recorded runs, evaluated: from files to a document for each run, with places that hold what they say."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.jobs.evaluate_config import Deployment, reference
from harness.jobs.replay import Asked, replay
from harness.jobs.replay_evaluate import RunJudge
from harness.record.accuracy import named_table
from harness.record.evaluation import EvaluationResponse
from harness.record.replay import encode
from harness.record.replay_cache import ReplayCache
from harness.record.replay_schema import replay_schema
from kpis.prices import shipped_prices
from kpis.terms.evaluation_case import CustomRule
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Need, Severity
from tests.harness.jobs.session_files import Session, authored, busy, put, subagent
from tests.schema_check import faults

TABLE = shipped_prices()
NOW = "2026-03-02T09:00:00.000Z"
Document = dict[str, Any]


def evaluated(*paths: Path, chosen: Deployment | None = None, **more: Any) -> list[Document]:
    """The document of each run, in the order in which they began."""
    asked = Asked(TABLE, judge=RunJudge(chosen or Deployment(), NOW))
    result = replay([str(path) for path in paths], asked, **{"processes": 1, **more})
    assert all(run.evaluation is not None for run in result.runs)
    return [json.loads(run.evaluation or b"") for run in result.runs]


def verdict(document: Document) -> tuple[str, str, list[str]]:
    found = document["verdict"]
    return found["state"], found["basis"], found["by"]


def result(document: Document, rule: str) -> Document:
    (found,) = [each for each in document["rule_results"] if each["ruleName"] == rule]
    return dict(found)


def places(document: Document, rule: str) -> list[tuple[str, int]]:
    return [
        (Path(item["file"]).name, item["line"])
        for item in result(document, rule).get("evidence", [])
        if item["type"] == "toolCall"
    ]


LOOP, FAILURE = "no_tool_loop", "no_silent_tool_failure"
OPEN = "required_evidence_missing"
PASS: tuple[str, str, list[str]] = ("pass", "clean", [])


def working(results: Sequence[str], *, tool: str = "Bash", errors: Sequence[int] = ()) -> Session:
    """A session that calls the same thing once for each of ``results``; those numbered in ``errors`` are errors."""
    session = Session().ask()
    for at, said in enumerate(results):
        session.answer(f"msg_{at}", (f"t{at}", tool, {"command": "make test"})).result(
            f"t{at}", said, error=at in errors
        )
    return session


def test_a_loop_is_seen_at_its_lines(tmp_path: Path) -> None:
    (document,) = evaluated(working(["still no rule"] * 5).save(tmp_path))
    assert verdict(document) == ("unknown", OPEN, [LOOP])  # of a detector whose accuracy nobody measured
    assert result(document, LOOP)["message"] == "One call was made 5 times, over 3"
    assert places(document, LOOP) == [("s-1.jsonl", line) for line in (2, 4, 6, 8, 10)]
    assert document["unanswered"] == []


def test_a_loop_fails_where_somebody_made_it_critical(tmp_path: Path) -> None:
    path = working(["still no rule"] * 5).save(tmp_path)
    chosen = Deployment(Settings(critical_rules=[LOOP]))
    (document,) = evaluated(path, chosen=chosen)
    assert verdict(document) == ("fail", "detector_veto", [LOOP])
    assert document["critical_failures"] == [LOOP]


def test_a_loop_fails_where_the_accuracy_is_known(tmp_path: Path) -> None:
    path = working(["still no rule"] * 5).save(tmp_path)
    (document,) = evaluated(path, chosen=Deployment(table=named_table("loopladder", tmp_path)))
    assert verdict(document) == ("fail", "risk_over_loss", ["tool_loop"])


def test_how_often_a_call_may_come_is_chosen(tmp_path: Path) -> None:
    path = working(["still no rule"] * 5).save(tmp_path)
    chosen = Deployment(Settings(rule_thresholds={"max_tool_repeats": 5}))
    assert verdict(evaluated(path, chosen=chosen)[0]) == PASS


@pytest.mark.parametrize(
    "session",
    [working([f"{at} of 9 done" for at in range(9)]), working(["running"] * 9, tool="BashOutput")],
    ids=["what is asked changes", "the tool waits"],
)
def test_polling_is_no_loop(session: Session, tmp_path: Path) -> None:
    assert verdict(evaluated(session.save(tmp_path))[0]) == PASS


def test_a_failure_that_was_made_good_hides_nothing(tmp_path: Path) -> None:
    (document,) = evaluated(working(["no rule", "done"], errors=[0]).save(tmp_path))
    assert verdict(document) == PASS
    assert result(document, FAILURE)["evidence"][0]["label"] == "failed (recovered)"
    assert places(document, FAILURE) == [("s-1.jsonl", 2)]


def own(path: Path, header: Document, *calls: Document) -> Path:
    told = [
        {"schema": "loopladder.trace/1", **header},
        *({"type": "tool_call", "name": "read", **each} for each in calls),
    ]
    return put(path, b"".join(json.dumps(each).encode() + b"\n" for each in told))


@pytest.mark.parametrize("times", [{}, {"t_start": 1_767_225_605_000, "t_end": 1_767_225_605_001}])
def test_a_failure_of_a_sub_agent_is_not_made_good_by_its_parent(times: Document, tmp_path: Path) -> None:
    worked = {"arg_digest": "51", "outcome": "ok", **{name: time - 4_000 for name, time in times.items()}}
    own(tmp_path / "p.jsonl", {"run_id": "p"}, {**worked, "arg_digest": "9"}, worked)
    own(tmp_path / "q.jsonl", {"run_id": "q", "parent": "p"}, {"arg_digest": "51", "outcome": "error", **times})
    (document,) = evaluated(tmp_path)
    assert verdict(document) == ("unknown", OPEN, [FAILURE])
    assert places(document, FAILURE) == [("q.jsonl", 2)]


def test_the_calls_of_two_threads_that_nothing_describes_are_not_shuffled(tmp_path: Path) -> None:
    rounds = [{"arg_digest": each, "result_digest": each, "outcome": "ok"} for each in "ab" * 3]
    own(tmp_path / "p.jsonl", {"run_id": "p"}, *rounds)
    own(tmp_path / "q.jsonl", {"run_id": "q", "parent": "p"}, *({**each, "arg_digest": "c"} for each in rounds))
    (document,) = evaluated(tmp_path)
    assert result(document, LOOP)["message"] == "The same 2 calls came 3 times in turn, over 2"


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("unknown", ("unknown", "critical_unknown", [FAILURE])),
        ("fail", ("fail", "critical_unknown", [FAILURE])),
        ("pass", PASS),
    ],
)
def test_a_critical_rule_without_an_answer_decides_as_the_settings_say(
    choice: str, told: tuple[str, str, list[str]], tmp_path: Path
) -> None:
    path = working(["done", "no rule"], errors=[1]).save(tmp_path)
    chosen = Deployment(Settings(critical_rules=[FAILURE], on_critical_skipped=choice))
    (document,) = evaluated(path, chosen=chosen)
    assert verdict(document) == told
    assert document["unanswered"] == [FAILURE]


ZZ = CustomRule("no_zz", "regex_no_match", {"pattern": "zz"}, severity=Severity.CRITICAL)


@pytest.mark.parametrize(
    ("chosen", "by"),
    [
        (Deployment(rules=(ZZ,)), ["no_zz"]),
        (Deployment(rules=(replace(ZZ, severity=Severity.HIGH),)), ["no_zz"]),
        (Deployment(Settings(critical_rules=["no_pii"])), ["no_pii"]),
        (Deployment(Settings(critical_rules=["verbosity_ratio"])), ["verbosity_ratio"]),
        (Deployment(Settings(rule_thresholds={"blocklist": ["x"]})), ["no_blocklist_words"]),
        (Deployment(), []),
        (Deployment(rules=(replace(ZZ, severity=None),)), []),
        (Deployment(Settings(non_critical_rules=["no_pii"])), []),
        (Deployment(Settings(critical_rules=["no_pii"], on_critical_skipped="pass")), []),
    ],
)
def test_a_rule_that_was_chosen_to_decide_is_asked_though_no_text_is_kept(
    chosen: Deployment, by: list[str], tmp_path: Path
) -> None:
    (document,) = evaluated(working(["done"]).save(tmp_path), chosen=chosen)
    assert verdict(document) == (("unknown", "critical_unknown", by) if by else PASS)


def test_another_question_about_a_run_has_another_id(tmp_path: Path) -> None:
    path = working(["still no rule"] * 5).save(tmp_path)
    chosen = (
        Deployment(),
        Deployment(table=named_table("loopladder", tmp_path)),
        Deployment(Settings(prior=0.3)),
        reference(),
        replace(reference(), settings=replace(reference().settings, prior=0.3)),
    )
    ids = [evaluated(path, chosen=each)[0]["id"] for each in chosen]
    assert len(set(ids)) == len(chosen)
    whole = path.read_bytes()
    path.write_bytes(whole + b"no line of a recording\n")
    (document,) = evaluated(path)
    assert document["id"] != ids[0], "a part that could not be read leaves open what was quiet"


def test_results_on_record_are_evidence(tmp_path: Path) -> None:
    chosen = Deployment(Settings(required_evidence=(Need.TOOL_CALLS, Need.TOOL_OUTPUTS)))
    (document,) = evaluated(working(["done"]).save(tmp_path), chosen=chosen)
    assert verdict(document) == PASS
    assert document["coverage"]["inputs"]["tool_outputs"] is True


def test_a_failure_for_good_leaves_the_verdict_open(tmp_path: Path) -> None:
    (document,) = evaluated(working(["done", "no rule"], errors=[1]).save(tmp_path))
    assert verdict(document) == ("unknown", OPEN, [FAILURE])
    assert document["unanswered"] == [FAILURE]
    assert places(document, FAILURE) == [("s-1.jsonl", 4)]
    assert result(document, FAILURE)["skipReason"].startswith("not carried: whether the run owns up to 1 of 2")
    assert document["categories"]["safety"]["passed"] is None


def test_a_call_without_its_result_leaves_it_open(tmp_path: Path) -> None:
    session = Session().ask().answer("msg_1", ("t1", "Bash", {"command": "make"}))
    (document,) = evaluated(session.save(tmp_path))
    assert verdict(document) == ("unknown", OPEN, [FAILURE])


def test_what_each_subagent_does_is_its_own(tmp_path: Path) -> None:
    parent = Session().ask().answer("msg_1")
    parent.save(tmp_path)
    for agent in ("a1", "a2"):
        own = subagent("s-1", agent)
        for at in range(3):
            own.answer(f"msg_{agent}{at}", (f"{agent}t{at}", "Bash", {"command": "make"})).result(f"{agent}t{at}")
        own.save(tmp_path / "s-1" / "subagents", f"agent-{agent}.jsonl")
    (document,) = evaluated(tmp_path)
    assert verdict(document) == PASS
    assert result(document, LOOP)["value"]["value"] == 3
    own = subagent("s-1", "a3")
    for at in range(4):
        own.answer(f"msg_a3{at}", (f"a3t{at}", "Bash", {"command": "make"})).result(f"a3t{at}")
    own.save(tmp_path / "s-1" / "subagents", "agent-a3.jsonl")
    (document,) = evaluated(tmp_path)
    assert verdict(document) == ("unknown", OPEN, [LOOP])
    assert {name for name, _ in places(document, LOOP)} == {"agent-a3.jsonl"}


def test_of_an_empty_run_nothing_is_judged(tmp_path: Path) -> None:
    (document,) = evaluated(Session().ask().save(tmp_path))
    assert verdict(document) == ("unknown", "no_rules", [])
    assert (document["insufficient_data"], document["unanswered"]) == (True, [])


def test_lines_that_were_tampered_with_leave_it_open(tmp_path: Path) -> None:
    session = working(["done", "well"])
    assert verdict(evaluated(session.save(tmp_path))[0]) == PASS
    session.lines[3] = session.lines[3][: len(session.lines[3]) // 2] + b"\n"
    (document,) = evaluated(session.save(tmp_path))
    assert verdict(document)[:2] == ("unknown", "no_rules")
    assert set(document["unanswered"]) == {LOOP, FAILURE}


def test_a_limit_on_the_cost_of_a_run_decides(tmp_path: Path) -> None:
    path = working(["done"]).save(tmp_path)
    for limit, state in ((1.0, "pass"), (1e-6, "fail")):
        chosen = Deployment(Settings(rule_thresholds={"cost_threshold": limit}))
        assert verdict(evaluated(path, chosen=chosen)[0])[0] == state
    unpriced = Session("s-2", model="nobody-knows").ask().answer("m", ("t", "Bash", {"command": "x"})).result("t")
    (document,) = evaluated(unpriced.save(tmp_path), chosen=chosen)
    assert verdict(document) == ("unknown", OPEN, ["cost_under_threshold"])


def test_a_copied_history_is_judged_once(tmp_path: Path) -> None:
    first = working(["no rule"] * 5)
    first.save(tmp_path)
    copy = first.data.replace(b'"sessionId": "s-1"', b'"sessionId": "s-2"')
    put(tmp_path / "s-2.jsonl", copy + Session("s-2", minute=60).answer("msg_x").data)
    one, two = evaluated(tmp_path)
    assert (verdict(one)[0], verdict(two)) == ("unknown", ("unknown", "no_rules", []))


def test_no_text_is_told(tmp_path: Path) -> None:
    path = working(["a secret answer"] * 4, errors=[1]).save(tmp_path)
    told = json.dumps(evaluated(path, chosen=reference()))
    assert "secret" not in told
    assert "make test" not in told


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    authored(tmp_path / "tree")
    working(["no rule"] * 5).save(tmp_path / "tree", "loop.jsonl")
    return tmp_path / "tree"


@pytest.mark.parametrize("chosen", [Deployment(), reference()])
def test_each_document_is_as_published(chosen: Deployment, tree: Path) -> None:
    documents = evaluated(tree, chosen=chosen)
    for document in documents:
        EvaluationResponse.model_validate(document)
        for each in document["rule_results"]:
            for item in each.get("evidence", []):
                if item["type"] == "toolCall":
                    line = Path(item["file"]).read_bytes().splitlines()[item["line"] - 1]
                    assert item["toolName"].encode() in line
    asked = Asked(TABLE, judge=RunJudge(chosen, NOW))
    file = json.loads(encode(replay([str(tree)], asked, processes=1), TABLE.name))
    assert faults(file, replay_schema()) == []
    assert [run["evaluation"] for run in file["runs"]] == documents


@pytest.mark.parametrize("change", [{"verdict": None, "score": "high"}, {"rule_results": [{}]}, {"passed": "yes"}])
def test_what_the_schema_of_the_file_refuses(change: Document, tree: Path) -> None:
    asked = Asked(TABLE, judge=RunJudge(Deployment(), NOW))
    file = json.loads(encode(replay([str(tree)], asked, processes=1), TABLE.name))
    file["runs"][0]["evaluation"] |= change
    assert faults(file, replay_schema()) != []


def test_a_plain_replay_evaluates_nothing(tree: Path) -> None:
    file = json.loads(encode(replay([str(tree)], Asked(TABLE), processes=1), TABLE.name))
    assert {run["evaluation"] for run in file["runs"]} == {None}
    assert faults(file, replay_schema()) == []


def test_processes_and_what_was_read_before_change_nothing(tree: Path, tmp_path: Path) -> None:
    alone = evaluated(tree)
    assert evaluated(tree, processes=3) == alone
    plain = ReplayCache(tmp_path / "cache", [str(tree)], "plain")
    replay([str(tree)], Asked(TABLE), processes=1, cache=plain)
    assert evaluated(tree, cache=ReplayCache(tmp_path / "cache", [str(tree)], "judged")) == alone
    assert evaluated(tree, cache=ReplayCache(tmp_path / "cache", [str(tree)], "judged")) == alone


def test_the_order_of_files_changes_nothing(tmp_path: Path) -> None:
    sessions = [busy("s-1"), Session("s-2", minute=5).ask(), Session("s-3", minute=9).ask()]
    for at in range(4):
        sessions[1].answer(f"m{at}", (f"c{at}", "Bash", {"command": "ls"})).result(f"c{at}")
    seen = []
    for turn, order in enumerate(itertools.permutations(sessions)):
        folder = tmp_path / str(turn)
        for at, session in enumerate(order):
            session.save(folder, f"{at}.jsonl")
        found = evaluated(*(folder / f"{at}.jsonl" for at in range(3)))
        for document in found:
            for each in document["rule_results"]:
                for item in each.get("evidence", []):
                    item.pop("file", None)
        seen.append(found)
    assert all(each == seen[0] for each in seen)
    assert [document["case"] for document in seen[0]] == ["s-1", "s-2", "s-3"]


def test_the_cases(cases: Path) -> None:
    """What comes of the recordings of many programs. A loop is one by its results: of 45 equal calls 4 say the same."""
    documents = evaluated(cases / "transcripts")
    for document in documents:
        EvaluationResponse.model_validate(document)
    assert Counter(document["verdict"]["state"] for document in documents) == {"pass": 8, "unknown": 10}
    assert Counter(name for document in documents for name in document["unanswered"]) == {LOOP: 1, FAILURE: 4}
    (looped,) = [each for each in documents if LOOP in each["verdict"]["by"] and LOOP not in each["unanswered"]]
    assert result(looped, LOOP)["value"]["value"] == 4
    assert [line for _, line in places(looped, LOOP)] == [298, 331, 349, 364]
