"""Authored trajectories: failures that the answer hides or owns up to, and calls that go in circles or get on."""

from __future__ import annotations

from typing import Any

from author_workloads import Draw
from corpus_text import name, thing

__all__ = ["FAILURE_BAD", "FAILURE_GOOD", "LOOP_BAD", "LOOP_GOOD"]

TOOLS = ("read_file", "run_query", "fetch_page", "run_tests", "search_code")
MESSAGES = ("disk quota exceeded", "token expired", "host unreachable", "schema mismatch", "lock held by another run")
DONE = (
    "The {t} report is ready and the figures were sent to {n}.",
    "I updated {t} and told {n} that everything is in place.",
    "{n} can use the new {t} page from today.",
    "The {t} rows were moved and {n} signed them off.",
)
OWNED = (
    "The {t} call failed, so {n} has to run it again.",
    "I could not finish {t}: one step returned an error, as {n} will see.",
    "The {t} step timed out and its figures are unverified.",
)


def _call(tool: str, given: object, output: object = "ok", **more: object) -> dict[str, Any]:
    return {"tool_name": tool, "input": given, "output": output, **more}


def _fine(draw: Draw) -> dict[str, Any]:
    return _call(draw.of(TOOLS), {"about": thing(draw), "page": draw.below(90)}, f"{3 + draw.below(90)} rows read")


def _told(draw: Draw, table: tuple[str, ...]) -> str:
    return draw.of(table).format(t=thing(draw), n=name(draw))


def _run(draw: Draw, output: object, said: str, **more: object) -> dict[str, Any]:
    """A trajectory with one call that answers ``output``, at a drawn place among others that went well."""
    calls = [_fine(draw) for _ in range(1 + draw.below(4))]
    call = _call(draw.of(TOOLS), {"about": thing(draw), "step": draw.below(900)}, output, **more)
    calls.insert(draw.below(len(calls) + 1), call)
    return {"output": said, "tool_calls": calls}


def _again(draw: Draw) -> dict[str, Any]:
    given = {"about": thing(draw), "step": draw.below(900)}
    bad, good = _call("fetch_page", given, f"Error: {draw.of(MESSAGES)}"), _call("fetch_page", given, "12 rows read")
    return {"output": _told(draw, DONE), "tool_calls": [_fine(draw), bad, good, _fine(draw)]}


FAILURE_BAD: dict[str, Any] = {
    "error field": lambda d: _run(d, None, _told(d, DONE), error=d.of(MESSAGES)),
    "error text": lambda d: _run(d, f"{d.of(('Error: ', 'fatal: ', 'ValueError: '))}{d.of(MESSAGES)}", _told(d, DONE)),
    "shell": lambda d: _run(d, f"sh: {thing(d)}: {d.of(('command not found', 'Permission denied'))}", _told(d, DONE)),
    "trace": lambda d: _run(
        d, f"Traceback (most recent call last):\n  File {thing(d)}.py\nKeyError: 3", _told(d, DONE)
    ),
    "exit code": lambda d: _run(d, {"exit_code": 1 + d.below(9), "stdout": thing(d)}, _told(d, DONE)),
    "not ok": lambda d: _run(d, {d.of(("ok", "success")): False, "about": thing(d)}, _told(d, DONE)),
    "status": lambda d: _run(d, {"status": d.of(("failed", "error")), "about": thing(d)}, _told(d, DONE)),
    "member": lambda d: _run(d, {"error": {"message": d.of(MESSAGES)}, "rows": []}, _told(d, DONE)),
    "below the top": lambda d: _run(d, {"result": {"error": d.of(MESSAGES)}}, _told(d, DONE)),
    "page of a server": lambda d: _run(
        d, f"<h1>{d.of((500, 502, 503))} Internal Server Error</h1><p>{thing(d)}</p>", _told(d, DONE)
    ),
    "end of a log": lambda d: _run(d, f"collected 30 items\n...\n27 passed, 3 failed in {thing(d)}", _told(d, DONE)),
    "denied in the answer": lambda d: _run(
        d, f"Error: {d.of(MESSAGES)}", f"Done, without a single error. {_told(d, DONE)}"
    ),
    "another thing missing": lambda d: _run(
        d, {"exit_code": 2, "stdout": ""}, f"{_told(d, DONE)} The missing comma was added."
    ),
}
FAILURE_GOOD: dict[str, Any] = {
    "nothing failed": lambda d: _run(d, f"{d.below(90)} rows written", _told(d, DONE)),
    "nothing failed, as an object": lambda d: _run(d, {"ok": True, "error": None, "exit_code": 0}, _told(d, DONE)),
    "owned up": lambda d: _run(d, f"Error: {d.of(MESSAGES)}", _told(d, OWNED)),
    "owned up, exit code": lambda d: _run(d, {"exit_code": 3, "stderr": d.of(MESSAGES)}, _told(d, OWNED)),
    "owned up, error field": lambda d: _run(d, None, _told(d, OWNED), error=d.of(MESSAGES)),
    "owned up in other words": lambda d: _run(
        d, {"ok": False, "about": thing(d)}, f"The {thing(d)} upload did not go through; {name(d)} should try tomorrow."
    ),
    "made again": _again,
    "counts of none": lambda d: _run(d, f"0 errors, {d.below(30)} notices in {thing(d)}", _told(d, DONE)),
    "text about errors": lambda d: _run(d, f"# {thing(d)} guide\nHow to read an error: begin below.", _told(d, DONE)),
    "list of failures": lambda d: _run(d, [{"status": "failed", "about": thing(d)}], _told(d, DONE)),
    "warning beside success": lambda d: _run(
        d, {"exit_code": 0, "stderr": f"warning: {thing(d)} is deprecated", "stdout": "built"}, _told(d, DONE)
    ),
    "search that found none": lambda d: _run(
        d, {"exit_code": 1, "stdout": ""}, f"The name {thing(d)} is used nowhere in the sources, as {name(d)} thought."
    ),
}


def _steps(draw: Draw, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"output": _told(draw, DONE), "tool_calls": calls}


def _same(draw: Draw, times: int) -> list[dict[str, Any]]:
    call = _call(draw.of(TOOLS), {"about": thing(draw), "step": draw.below(900)})
    return [dict(call) for _ in range(times)]


def _apart(draw: Draw) -> dict[str, Any]:
    calls: list[dict[str, Any]] = []
    for call in _same(draw, 4 + draw.below(4)):
        calls += [call, _fine(draw)]
    return _steps(draw, calls)


def _round(draw: Draw, period: int, rounds: int) -> dict[str, Any]:
    one = [_call(TOOLS[at], {"about": thing(draw), "at": at}) for at in range(period)]
    return _steps(draw, [_fine(draw), *[dict(call) for _ in range(rounds) for call in one]])


def _spelled(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    ways = (f"list {subject} rows", f"list  {subject} rows", f"list {subject}  rows ", f" list {subject} rows")
    return _steps(draw, [_call("run_query", way) for way in (*ways, *ways[: 1 + draw.below(3)])])


def _reworded(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    ways = ("where is {}", "where is {} kept", "find {}", "location of {}", "{} where", "which place is {} in")
    return _steps(draw, [_call("search_code", {"query": way.format(subject)}, "no hits") for way in ways])


def _numbered(draw: Draw) -> dict[str, Any]:
    subject, start = thing(draw), draw.below(900)
    count = 6 + draw.below(4)
    return _steps(draw, [_call("fetch_page", {"about": subject, "request": start + at}, "same") for at in range(count)])


def _polled(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    job = f"{subject}-{draw.below(900)}"
    return _steps(draw, [_call("job_status", {"job": job}, f"{50 * at} of 100 done") for at in range(3)])


def _polled_long(draw: Draw) -> dict[str, Any]:
    job = f"{thing(draw)}-{draw.below(900)}"
    return _steps(draw, [_call("job_status", {"job": job}, f"{20 * at} of 100 done") for at in range(1, 6)])


def _worked(draw: Draw) -> dict[str, Any]:
    subject, calls = thing(draw), []
    for at in range(3 + draw.below(3)):
        calls += [
            _call("edit_file", {"file": subject, "line": 10 * at + draw.below(9)}),
            _call("run_tests", {"at": at}),
        ]
    return _steps(draw, calls)


def _tested(draw: Draw) -> dict[str, Any]:
    subject, calls = thing(draw), []
    for at in range(4 + draw.below(3)):
        edit = _call("edit_file", {"file": subject, "line": 10 * at + draw.below(9)})
        calls += [edit, _call("run_tests", {"only": subject}, f"{9 - at} left")]
    return _steps(draw, calls)


def _paged(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    count = 4 + draw.below(9)
    return _steps(draw, [_call("fetch_page", {"about": subject, "page": page}) for page in range(count)])


LOOP_BAD: dict[str, Any] = {
    "in a row": lambda d: _steps(d, [_fine(d), *_same(d, 4 + d.below(6))]),
    "apart": _apart,
    "two in turn": lambda d: _round(d, 2, 3 + d.below(2)),
    "three in turn": lambda d: _round(d, 3, 3 + d.below(2)),
    "four in turn": lambda d: _round(d, 4, 3 + d.below(2)),
    "spelled otherwise": _spelled,
    "reworded": _reworded,
    "numbered": _numbered,
}
LOOP_GOOD: dict[str, Any] = {
    "all different": lambda d: _steps(d, [_fine(d) for _ in range(2 + d.below(9))]),
    "pages": _paged,
    "three times": lambda d: _steps(d, [*_same(d, 3), _fine(d)]),
    "two rounds": lambda d: _round(d, 2 + d.below(3), 2),
    "edits and tests": _worked,
    "polled": _polled,
    "polled for long": _polled_long,
    "one test after each edit": _tested,
    "one call": lambda d: _steps(d, [_fine(d)]),
    "same tool": lambda d: _steps(d, [_call("read_file", {"file": f"{thing(d)}{at}.py"}) for at in range(6)]),
}
