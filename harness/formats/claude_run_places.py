"""Where each answer of a session was worked on: its working directory and branch, which may change between two lines.

Every line says both. They are decoded only where the bytes that say them differ from those of the answer before, so
that a session which stays where it is costs one comparison an answer. This module refuses to take what a tool was
given for what the client says: bytes are remembered only where they mean what the decoded line means.
"""

from __future__ import annotations

import re

import msgspec

from harness.formats.claude_notice_lines import notice_of
from kpis.terms.trace import Place

__all__ = ["Places"]

_STRING = rb'"(?:[^"\\]|\\.)*"'
# A few bytes behind them belong to it, so that a branch which appears where there was none is a difference.
_HERE = re.compile(rb'"cwd": ?%b(?:, ?"(?:sessionId|version|gitBranch)": ?%b)*' % (_STRING, _STRING))
_BEHIND = 4
_NOWHERE = b"\n\n"
"""Bytes that are in no line."""


class _Here(msgspec.Struct, rename="camel"):
    cwd: str | None = None
    git_branch: str | None = None


class Places:
    """The places of one file. An answer whose bytes ``back`` from its end are not ``said`` is handed to :meth:`look`.

    ``changes`` holds where they began to hold, the first one too.
    """

    __slots__ = ("_branch", "_project", "back", "changes", "said")

    def __init__(self) -> None:
        self.changes: list[Place] = []
        self.said = _NOWHERE
        self.back = 0
        self._project: str | None = None
        self._branch: str | None = None

    def look(self, raw: bytes, number: int) -> None:
        """Take note of what the line ``raw`` says, which is line ``number``."""
        at = raw.find(self.said)
        if at >= 0:  # it stands elsewhere, and says the same
            self.back = len(raw) - at
            return
        if b'"cwd"' not in raw and b'"gitBranch"' not in raw:
            return
        notice = notice_of(raw)
        # What a line leaves out goes on as it was; an empty word says that there is none.
        project = self._project if notice.cwd is None else notice.cwd or None
        branch = self._branch if notice.git_branch is None else notice.git_branch or None
        if not self.changes or (project, branch) != (self._project, self._branch):
            self.changes.append(Place(number, project, branch))
            self._project, self._branch = project, branch
        self._remember(raw, notice.cwd, notice.git_branch)

    def _remember(self, raw: bytes, cwd: str | None, branch: str | None) -> None:
        self.said = _NOWHERE
        found = _HERE.search(raw)
        if found is None:
            return
        try:
            here = msgspec.json.decode(b"{%b}" % found[0], type=_Here)
        except msgspec.DecodeError:
            return
        if (here.cwd, here.git_branch) == (cwd, branch):
            self.said = raw[found.start() : found.end() + _BEHIND]
            self.back = len(raw) - found.start()
