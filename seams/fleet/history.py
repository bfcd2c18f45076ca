"""What the commits of a repository say of issues: which of them resolve which, less what later ones took back.

It reads messages and judges no change: whether a commit that says that it resolves an issue does is another question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from seams.engines.git import Repository
from seams.fleet.commits import listed, messages
from seams.fleet.witness import references, reverted

__all__ = ["History", "history_of"]


class History(NamedTuple):
    """Commits as far as they were read: by issue those that resolve it, newest first, and how many mention it.

    ``undone`` are those that a later one reverts; they resolve nothing.
    """

    messages: Mapping[str, str]
    resolving: Mapping[int, Sequence[str]]
    mentions: Mapping[int, int]
    undone: frozenset[str]


def history_of(held: Repository, limit: int, *revisions: str) -> History:
    """What the newest ``limit`` commits say that ``revisions`` reach.

    Raises:
        GitError: a commit cannot be read.
    """
    commits = listed(held, limit, *revisions)
    said = messages(held, commits)
    resolving: dict[int, list[str]] = {}
    mentions: Counter[int] = Counter()
    undone: set[str] = set()
    for commit in commits:  # the newest first: a revert is met before what it reverts
        resolved, mentioned = references(said[commit])
        mentions.update(mentioned)
        if commit in undone:
            continue
        takes_back = reverted(said[commit])
        undone |= takes_back
        if not takes_back:  # the title of a revert says again what it takes back
            for number in resolved:
                resolving.setdefault(number, []).append(commit)
    return History(said, resolving, mentions, frozenset(undone.intersection(commits)))
