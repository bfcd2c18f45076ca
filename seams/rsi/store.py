"""The repository that a loop works in: its working tree, the store that all its trees share, and who commits there.

git is asked by :mod:`seams.engines.git`; what it cannot answer is the loop's own error. Commits have a fixed identity
and a date that the caller gives, so that the same candidates make the same commits wherever they are tried. Refuses
nothing by itself: :mod:`seams.rsi.ground` says which repositories a loop may work in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from seams.engines.child import Answer
from seams.engines.git import GitError, Repository
from seams.rsi.errors import LoopError

__all__ = ["EMAIL", "Store", "told"]

EMAIL = "rsi@loopladder.invalid"
"""Of who commits for a loop."""

_IDENTITY = {
    f"GIT_{who}_{what}": said
    for who in ("AUTHOR", "COMMITTER")
    for what, said in (("NAME", "loopladder rsi"), ("EMAIL", EMAIL))
}


@contextmanager
def told() -> Iterator[None]:
    """What git has no answer to within is a :class:`LoopError`, in git's own sentence."""
    try:
        yield
    except GitError as error:
        raise LoopError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Store:
    """A repository that was looked at, and ``common``, the folder of it that all its working trees share."""

    held: Repository
    common: Path

    @property
    def top(self) -> Path:
        """The top folder of the user's working tree."""
        return self.held.folder

    def ask(
        self,
        *words: str,
        tree: Path | None = None,
        index: Path | None = None,
        feed: bytes = b"",
        date: str = "",
        seconds: float | None = None,
    ) -> bytes:
        """The output of a git command over the store, with ``tree`` as working tree and ``index`` as index.

        Raises:
            LoopError: it failed, with the last line that it said, or had not ended within ``seconds``.
        """
        variables = _variables(index, date)
        with told():
            return self.held.ask(*self._where(tree), *words, feed=feed, variables=variables, seconds=seconds)

    def run(self, *words: str, date: str = "") -> Answer:
        """How it ended, whatever its code.

        Raises:
            LoopError: it could not be asked.
        """
        with told():
            return self.held.run(*self._where(None), *words, variables=_variables(None, date))

    def _where(self, tree: Path | None) -> tuple[str, ...]:
        place = tree or self.top
        return "-C", str(place), f"--git-dir={self.common}", f"--work-tree={place}"


def _variables(index: Path | None, date: str) -> dict[str, str]:
    private = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
    return {**_IDENTITY, **private, **dates}
