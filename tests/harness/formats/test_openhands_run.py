"""Recordings of OpenHands: one test a trap."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.openhands_run import OpenHandsRun
from kpis.terms.trace import EventKind, Outcome, Provenance, ThreadKind, ToolOp

from .run_reading import almost, check_reader, codes, damaged, lines, read_bytes, read_files, read_json, sums

HANDS = OpenHandsRun()


def stamp(at: int) -> str:
    return f"2026-01-01T00:{at // 60:02}:{at % 60:02}.000000"


def answer(
    identifier: str, *calls: tuple[str, str, dict[str, Any]], prompt: int = 100, cached: int = 60
) -> dict[str, Any]:
    made = [{"id": given, "function": {"name": name, "arguments": json.dumps(told)}} for given, name, told in calls]
    usage = {
        "prompt_tokens": prompt, "completion_tokens": 10, "total_tokens": prompt + 10,
        "prompt_tokens_details": {"cached_tokens": cached},
    }  # fmt: skip
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {
        "id": identifier,
        "model": "model-a",
        "choices": [{"finish_reason": "tool_calls", "message": message}],
        "usage": usage,
    }


def meta(response: dict[str, Any], given: str, name: str) -> dict[str, Any]:
    total = len(response["choices"][0]["message"]["tool_calls"])
    told = {"function_name": name, "tool_call_id": given, "model_response": response}
    return {"tool_call_metadata": {**told, "total_calls_in_response": total}}


def act(at: int, action: str, args: dict[str, Any], source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": at, "timestamp": stamp(at), "source": source, "message": "", "action": action, "args": args, **more}


def see(at: int, cause: int, code: int | None = 0, kind: str = "run", text: str = "ok", **more: Any) -> dict[str, Any]:
    extras = {"command": "x"} if code is None else {"metadata": {"exit_code": code}}
    told = {"id": at, "timestamp": stamp(at), "source": "agent", "message": "", "cause": cause, "observation": kind}
    return {**told, "content": text, "extras": extras, **more}


R1 = answer("resp_1", ("c1", "execute_bash", {"command": "cat a.py"}))
R2 = answer(
    "resp_2", ("c2", "execute_bash", {"command": "ls src"}), ("c3", "execute_bash", {"command": "python check.py"})
)
TASK = act(0, "message", {"content": "Fix the ledger."}, "user")
EVENTS = [
    TASK,
    act(1, "run", {"command": "cat a.py", "thought": "first"}, **meta(R1, "c1", "execute_bash")),
    see(2, 1, **meta(R1, "c1", "execute_bash")),
    act(3, "run", {"command": "ls src"}, **meta(R2, "c2", "execute_bash")),
    act(4, "run", {"command": "python check.py"}, **meta(R2, "c3", "execute_bash")),
    see(5, 4, 1, **meta(R2, "c3", "execute_bash")),
    see(6, 3, **meta(R2, "c2", "execute_bash")),
    {**see(7, 0, None, "agent_state_changed"), "extras": {"agent_state": "finished"}},
]


def test_one_response_on_action_and_observation_counts_once() -> None:
    run = read_json(HANDS, EVENTS)
    assert sums(run) == {
        "fresh_in": 80, "cache_read": 120, "cache_write": 0, "out_total": 20, "out_visible": 0, "out_reasoning": 0,
        "unattributed": 0, "requests": 2, "calls": 3,
    }  # fmt: skip
    assert [each.n_lines for each in run.requests] == [2, 4]  # with N parallel calls it is stored 2N times
    naive = sum((each.tokens.prompt or 0) * each.n_lines for each in run.requests)
    assert naive == 600 > sums(run)["fresh_in"] + sums(run)["cache_read"]
    assert codes(run) == []


def test_an_observation_belongs_to_its_cause() -> None:
    calls = read_json(HANDS, EVENTS).calls
    assert [(each.op, each.target, each.exit_code, each.outcome) for each in calls] == [
        (ToolOp.READ, "a.py", 0, Outcome.OK),
        (ToolOp.LIST, "src", 0, Outcome.OK),
        (ToolOp.EXEC, None, 1, Outcome.ERROR),
    ]
    assert [(each.t_end or 0) - (each.t_start or 0) for each in calls] == [1000, 3000, 1000]


def test_the_thought_of_an_action_is_no_argument() -> None:
    def run_of(thought: str) -> str | None:
        told = act(1, "run", {"command": "ls", "thought": thought})
        return read_json(HANDS, [TASK, told, see(2, 1)]).calls[0].arg_digest

    assert run_of("one") == run_of("another")


@pytest.mark.parametrize(
    ("kind", "code", "outcome"),
    [
        ("error", None, Outcome.ERROR),
        ("user_rejected", None, Outcome.DENIED),
        ("run", -1, Outcome.TIMEOUT),
        ("read", None, Outcome.OK),
    ],
)
def test_outcomes_of_observations(kind: str, code: int | None, outcome: Outcome) -> None:
    (call,) = read_json(HANDS, [act(1, "run", {"command": "sleep 9"}), see(2, 1, code, kind)]).calls
    assert call.outcome is outcome


def test_the_last_state_is_the_outcome() -> None:
    assert read_json(HANDS, EVENTS).facts[0].outcome == "finished"


def grown(prompt: int, out: int, cost: float, read: int = 0) -> dict[str, Any]:
    usage = {"model": "model-a", "prompt_tokens": prompt, "completion_tokens": out, "cache_read_tokens": read}
    return {"llm_metrics": {"accumulated_cost": cost, "accumulated_token_usage": {**usage, "cache_write_tokens": 0}}}


def test_cumulative_totals_are_never_added() -> None:
    events = [
        EVENTS[0],
        {**EVENTS[1], **grown(100, 10, 0.25, 60)},
        EVENTS[2],
        {**EVENTS[3], **grown(200, 20, 0.75, 120)},
    ]
    run = read_json(HANDS, [*events, *EVENTS[4:]])
    (facts,) = run.facts
    assert (facts.cost_usd, facts.by_model[0].tokens.prompt, facts.by_model[0].tokens.out_total) == (0.75, 200, 20)
    assert codes(run) == []


def test_calls_of_the_condenser_stand_in_the_totals_alone() -> None:
    events = [EVENTS[0], {**EVENTS[1], **grown(1400, 90, 0.25, 60)}, EVENTS[2]]
    assert codes(read_json(HANDS, events)) == ["W_TOTAL_MISMATCH", "W_TOTAL_MISMATCH"]


def test_a_request_that_no_response_names_is_what_the_totals_grew_by() -> None:
    run = read_json(
        HANDS,
        [
            TASK,
            act(1, "run", {"command": "ls"}, **grown(100, 10, 0.1, 60)),
            see(2, 1),
            act(3, "think", {"thought": "x"}, **grown(100, 10, 0.1, 60)),
            act(4, "message", {"content": "Done."}, **grown(250, 30, 0.2, 160)),
        ],
    )
    assert [(each.tokens.fresh_in, each.tokens.cache_read, each.tokens.out_total) for each in run.requests] == [
        (40, 60, 10),
        (50, 100, 20),
    ]
    assert run.requests[0].tokens.provenance_of("out_total") is Provenance.DERIVED
    assert all("#" in each.request_id for each in run.requests)
    assert codes(run) == ["W_UNANSWERED_CALL"]  # thinking has no observation here


def test_a_condensation_is_an_event() -> None:
    told = act(3, "condensation", {"forgotten_event_ids": [1], "summary": "What was done."})
    (event,) = read_json(HANDS, [*EVENTS[:3], told]).events
    assert (event.kind, event.summary_bytes, event.line) == (EventKind.COMPACTION, 14, 4)


def newer(at: int, kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": f"e-{at}", "timestamp": stamp(at), "source": source, "kind": kind, **more}


def acts(at: int, response: str, given: str, command: str) -> dict[str, Any]:
    call = {"id": given, "name": "terminal", "arguments": json.dumps({"command": command})}
    told = {"action": {"kind": "TerminalAction", "command": command}, "tool_name": "terminal", "tool_call_id": given}
    return newer(at, "ActionEvent", **told, tool_call=call, llm_response_id=response)


def sees(at: int, action: int, given: str, **seen: Any) -> dict[str, Any]:
    told = {"tool_name": "terminal", "tool_call_id": given, "action_id": f"e-{action}"}
    return newer(at, "ObservationEvent", "environment", **told, observation={"kind": "TerminalObservation", **seen})


NEWER = [
    newer(0, "SystemPromptEvent"),
    newer(1, "MessageEvent", "user", llm_message={"role": "user", "content": [{"type": "text", "text": "Fix it."}]}),
    acts(2, "n1", "k1", "grep -rn total src"),
    acts(3, "n1", "k2", "rm -r build"),
    sees(4, 2, "k1", exit_code=0, content=[{"type": "text", "text": "a.py:3"}]),
    newer(5, "UserRejectObservation", "user", tool_call_id="k2", action_id="e-3", rejection_reason="No."),
    newer(6, "Condensation", llm_response_id="n2", summary="Done so far.", forgotten_event_ids=["e-1"]),
    newer(7, "MessageEvent", llm_response_id="n3", llm_message={"role": "assistant", "content": "Done."}),
]


def spent(response: str, prompt: int, read: int, out: int) -> dict[str, Any]:
    told = {"model": "model-a", "prompt_tokens": prompt, "completion_tokens": out, "cache_read_tokens": read}
    return {**told, "cache_write_tokens": 0, "reasoning_tokens": 0, "context_window": 9000, "response_id": response}


def metrics(*usages: dict[str, Any], cost: float) -> dict[str, Any]:
    parts = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
    total = {part: sum(each[part] for each in usages) for part in parts}
    latencies = [{"response_id": each["response_id"], "latency": 1.5} for each in usages]
    told = {"model_name": "model-a", "accumulated_cost": cost, "accumulated_token_usage": {"model": "model-a", **total}}
    return {**told, "token_usages": list(usages), "response_latencies": latencies}


STATE = {
    "id": "conv",
    "execution_status": "finished",
    "stats": {
        "usage_to_metrics": {
            "agent": metrics(spent("n1", 100, 0, 10), spent("n3", 150, 90, 5), cost=0.5),
            "condenser": metrics(spent("n2", 80, 0, 20), cost=0.25),
        }
    },
}
FOLDER = {f"conv/events/event-{at:05}-{each['id']}.json": json.dumps(each).encode() for at, each in enumerate(NEWER)}
FOLDER["conv/base_state.json"] = json.dumps(STATE).encode()


def test_newer_builds_keep_the_usage_beside_the_events() -> None:
    run = read_files(HANDS, FOLDER)
    assert [(each.request_id, each.thread_id, each.tokens.prompt, each.tokens.out_total) for each in run.requests] == [
        ("n1", "main", 100, 10),
        ("n3", "main", 150, 5),
        ("n2", "main:side", 80, 20),
    ]
    assert [(each.thread_id, each.kind) for each in run.threads] == [
        ("main", ThreadKind.MAIN),
        ("main:side", ThreadKind.SUMMARISER),
    ]
    assert {(each.duration_ms, each.context_window) for each in run.requests} == {(1500, 9000)}
    assert (run.facts[0].cost_usd, run.facts[0].outcome, len(run.facts[0].by_model)) == (0.75, "finished", 2)
    assert (len(run.recordings), codes(run)) == (9, [])


def test_newer_events_pair_by_the_id_of_the_call() -> None:
    found, refused = read_files(HANDS, FOLDER).calls
    assert (found.op, found.target, found.outcome, found.request_id) == (ToolOp.SEARCH, "total", Outcome.OK, "n1")
    assert (refused.outcome, refused.request_id, refused.mutates) == (Outcome.DENIED, "n1", True)
    assert refused.file == "conv/events/event-00003-e-3.json"


def test_the_files_of_one_conversation_are_one_run() -> None:
    runs = {HANDS.origin(data, name).run for name, data in FOLDER.items()}
    assert len(runs) == 1
    assert HANDS.origin(b"{}", "other/events/event-00000-e.json").run not in runs
    assert HANDS.origin(b"[]", "a.json").run != HANDS.origin(b"[]", "b.json").run


@given(st.permutations(sorted(FOLDER)))
def test_the_order_of_files_tells_nothing(names: list[str]) -> None:
    assert read_files(HANDS, {name: FOLDER[name] for name in names}) == read_files(HANDS, FOLDER)


def test_old_event_files_are_numbered_and_not_padded() -> None:
    many = [TASK, *(act(at, "run", {"command": f"cat {at}.py"}) for at in range(1, 12))]
    run = read_files(HANDS, {f"s/events/{at}.json": json.dumps(each).encode() for at, each in enumerate(many)})
    assert [each.target for each in run.calls] == [f"{at}.py" for at in range(1, 12)]


def test_usage_that_no_event_names_is_a_request_all_the_same() -> None:
    row = {
        "instance_id": "desk-1",
        "history": EVENTS[:3],
        "metrics": metrics(spent("resp_1", 100, 60, 10), spent("h1", 900, 0, 50), cost=1.0),
    }
    run = read_bytes(HANDS, lines(row))
    assert [(each.request_id, each.thread_id) for each in run.requests] == [("resp_1", "desk-1"), ("h1", "desk-1:side")]
    assert codes(run) == []


def test_each_row_of_an_evaluation_is_a_thread_with_facts() -> None:
    def row(case: str, resolved: bool | None, **more: Any) -> dict[str, Any]:
        report = {} if resolved is None else {"report": {"resolved": resolved}}
        return {
            "instance_id": case,
            "history": [[EVENTS[1], EVENTS[2]]],
            "test_result": {"git_patch": "", **report},
            **more,
        }

    run = read_bytes(
        HANDS, lines(row("desk-1", True), row("desk-2", None, error="boom", attempt=2), row("desk-1", False))
    )
    assert [each.thread_id for each in run.threads] == ["desk-1", "desk-1#2", "desk-2"]
    assert [(each.case_id, each.success, each.outcome, each.replicate) for each in run.facts] == [
        ("desk-1", True, None, None),
        ("desk-2", None, "error", 2),
        ("desk-1", False, None, None),
    ]


def test_a_trajectory_inside_an_object_and_one_event_a_line() -> None:
    whole = sums(read_json(HANDS, EVENTS))
    assert whole == sums(read_json(HANDS, {"trajectory": EVENTS})) == sums(read_bytes(HANDS, lines(*EVENTS)))


def test_events_without_usage_are_told() -> None:
    run = read_json(HANDS, NEWER)
    assert ("W_NO_USAGE" in codes(run), sums(run)["out_total"]) == (True, 0)


def test_unknown_kinds_are_counted() -> None:
    run = read_json(HANDS, [*NEWER, newer(9, "NovelEvent"), {"id": 10, "what": 1}])
    assert run.recordings[0].unknown_kinds == {"NovelEvent": 1, "(none)": 1}


ROW = {"instance_id": "d", "metrics": {}, "test_result": {}, "history": []}


@pytest.mark.parametrize("told", [EVENTS, {"trajectory": EVENTS}, NEWER, STATE, ROW])
def test_what_is_sniffed(told: Any) -> None:
    assert HANDS.sniff(json.dumps(told).encode(), "x.json") >= 0.95


@given(st.sampled_from((EVENTS, NEWER, STATE)).flatmap(lambda told: damaged(json.dumps(told).encode())))
def test_damaged_files(data: bytes) -> None:
    check_reader(HANDS, data)


WORDS = (
    "id timestamp source kind action observation args extras metadata exit_code cause tool_call_metadata model_response"
    " choices message tool_calls function usage prompt_tokens llm_metrics accumulated_token_usage accumulated_cost"
    " token_usages response_id usage_to_metrics stats ActionEvent ObservationEvent Condensation llm_response_id"
    " ConversationStateUpdateEvent value key run agent user condensation content history metrics instance_id"
)


@given(st.lists(almost(*WORDS.split()), max_size=5))
def test_events_that_almost_fit(events: list[Any]) -> None:
    check_reader(HANDS, json.dumps(events).encode())
    check_reader(HANDS, lines({"instance_id": "d", "history": events, "metrics": events[0] if events else None}))
    kinds = ("ActionEvent", "ObservationEvent", "MessageEvent", "Condensation", "ConversationStateUpdateEvent")
    check_reader(
        HANDS,
        json.dumps([{**each, "kind": kind} for kind in kinds for each in events if isinstance(each, dict)]).encode(),
    )
