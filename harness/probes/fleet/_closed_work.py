"""Authored work: issues, the commits that are or only seem to be about them, and where each issue has to fall.

It is laid out so that whatever an audit might take on trust is there once: a word in place of a change, a change of
another kind, a commit that no main branch reaches, one that was taken back, and names that only look like references.
Where the kind of a change is a matter of taste, more than one is ``due``: :data:`FREE` are the closed ones of which an
audit may say that a diff bears them out, or that nothing does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from harness.probes.fleet._repository import Commit, Scratch
from seams.contract.fleet_closure import Bucket

__all__ = ["FREE", "ISSUES", "MAIN", "Work", "build"]

MAIN = "refs/remotes/origin/main"


class Work(NamedTuple):
    """An issue: its state, why it was closed, and where it falls: which of ``due`` is an audit's own to say."""

    number: int
    state: str
    reason: str | None
    due: tuple[Bucket, ...]


_TRUE, _CLAIMED, _OPEN = (Bucket.TRUE_RESOLVED,), (Bucket.CLAIMED_CLOSED,), (Bucket.OPEN,)
_DATA, _WITNESSED = (Bucket.DATA_RESOLVED,), (Bucket.OPEN_WITNESSED,)

ISSUES: Sequence[Work] = (
    Work(1, "CLOSED", "COMPLETED", _TRUE),  # code that says so
    Work(2, "CLOSED", "COMPLETED", _TRUE),  # a page, and the message claims one
    Work(3, "CLOSED", "COMPLETED", _CLAIMED),  # no commit at all
    Work(4, "CLOSED", "COMPLETED", _CLAIMED),  # named and not resolved
    Work(5, "CLOSED", "COMPLETED", (*_CLAIMED, *_TRUE)),  # a page, and the message claims code
    Work(6, "CLOSED", "COMPLETED", _DATA),  # results, and the message claims them
    Work(7, "CLOSED", "NOT_PLANNED", (Bucket.CLOSED_NOT_PLANNED,)),  # although there is a commit
    Work(8, "CLOSED", "COMPLETED", _CLAIMED),  # on a branch that main does not reach
    Work(9, "OPEN", None, _WITNESSED),
    Work(10, "OPEN", None, _OPEN),
    Work(11, "OPEN", None, _OPEN),  # on a branch that main does not reach
    Work(12, "CLOSED", "COMPLETED", _TRUE),  # by a merge
    Work(13, "CLOSED", "COMPLETED", _CLAIMED),  # "closing" is none of the words
    Work(14, "CLOSED", "COMPLETED", _CLAIMED),  # a commit that changes nothing
    Work(15, "CLOSED", "COMPLETED", _CLAIMED),  # "prefixes" and "foo-#15" are others
    Work(16, "CLOSED", None, _TRUE),  # two in one message
    Work(17, "CLOSED", None, _TRUE),
    Work(18, "CLOSED", "COMPLETED", (*_CLAIMED, *_TRUE)),  # fixed, and the fix taken back
    Work(19, "CLOSED", "COMPLETED", (*_DATA, *_CLAIMED)),  # results alone, and the message claims no kind
    Work(20, "OPEN", None, (*_OPEN, *_WITNESSED)),  # open, and only data bears it out
)

FREE = tuple(work.number for work in ISSUES if {*_TRUE, *_CLAIMED} <= set(work.due))

_FIRST: Sequence[Commit] = (
    Commit("root", "Begin", {"README.md": "A tool.\n", "src/tool.py": "pass\n"}),
    Commit("code", "fix: an empty line is read\n\nFixes #1", {"src/tool.py": "read()\n"}, ("root",)),
    Commit("page", "docs: say how it is started (closes #2)", {"README.md": "Start it.\n"}, ("code",)),
    Commit("named", "refactor: a step towards #4, see also #3", {"src/tool.py": "read(1)\n"}, ("page",)),
    Commit("words", "fix: never crash again, resolves #5", {"docs/crash.md": "It does not.\n"}, ("named",)),
    Commit("data", "bench: the run on the big machine\n\nResolved #6", {"results/big.json": "{}\n"}, ("words",)),
    Commit("unwanted", "feat: a second mode, closed #7", {"src/mode.py": "pass\n"}, ("data",)),
    Commit("early", "fix(reader): close the file. Fix #9", {"src/reader.py": "pass\n"}, ("unwanted",)),
    Commit("side", "Read two files at once", {"src/two.py": "pass\n"}, ("early",)),
    Commit("merge", "Merge two-files\n\nFixed #12", {"src/two.py": "pass\n"}, ("early", "side")),
    Commit("closing", "feat: closing #13 soon", {"src/mode.py": "mode()\n"}, ("merge",)),
    Commit("nothing", "fix: all of it, fixes #14", {}, ("closing",)),
    Commit("looks", "feat: prefixes #15, foo-#15, a#15, #15th", {"src/mode.py": "mode(2)\n"}, ("nothing",)),
    Commit("both", "fix: two at once\n\nCloses #16, resolves #17.", {"src/tool.py": "read(2)\n"}, ("looks",)),
    Commit("hasty", "fix: faster, fixes #18", {"src/fast.py": "pass\n"}, ("both",)),
)
_REST: Sequence[Commit] = (
    Commit(
        "taken-back", 'Revert "fix: faster, fixes #18"\n\nThis reverts commit {hasty}.', {"src/fast.py": ""}, ("hasty",)
    ),
    Commit("measured", "The numbers of June. Closes #19, closes #20", {"results/june.csv": "1\n"}, ("taken-back",)),
    Commit("unpushed", "fix: the last one, fixes #8", {"src/tool.py": "read(3)\n"}, ("measured",)),
    Commit("elsewhere", "fix: not yet, fixes #11", {"src/later.py": "pass\n"}, ("early",)),
)


def build() -> Scratch:
    """The repository of all of it, main as origin has it, and the export; one local branch is ahead, one is aside."""
    scratch = Scratch()
    scratch.add(_FIRST)
    scratch.add([each._replace(message=each.message.replace("{hasty}", scratch.ids["hasty"])) for each in _REST])
    scratch.point(MAIN, "measured")
    scratch.point("refs/heads/main", "unpushed")
    scratch.point("refs/heads/later", "elsewhere")
    scratch.git("reset", "--quiet", "--hard")
    rows = [{"number": each.number, "state": each.state, "stateReason": each.reason or ""} for each in ISSUES]
    scratch.export.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return scratch
