"""What is kept of a recording's words: their lengths, and which of them are equal. Never the words.

A planner chooses by words that a request and a block share, so equal words must stay equal within a file. They become
keyed consonant strings of the same length; the key is the file's own hash, so nothing can be matched across files. Of
a block that is its first line, of a prompt besides the distinct words of its whole body, since a request is all of it.
This module refuses to keep text: it has no way back and writes nothing down. It does not hide *that* a word recurs.
"""

from __future__ import annotations

import re
from hashlib import blake2b, sha256

__all__ = ["HEAD_BYTES", "WORDS", "Head", "Pseudonyms", "safe_id", "safe_kind", "safe_name"]

HEAD_BYTES = 120

WORDS = 256
"""Distinct words of a prompt that are kept at most: a pasted file must not make the workload as large as itself."""

_CACHE_WORDS = 65_536

# Without vowels no replacement can spell an ordinary word of four letters; "x" is left to the filler of short words.
_ALPHABET = "bcdfghjklmnpqrstvwz"
_FROM_BYTE = bytes(ord(_ALPHABET[byte % len(_ALPHABET)]) for byte in range(256))
_NOT_NAME = re.compile(r"[^A-Za-z0-9_.:/@+<>-]")
_VARIANT = re.compile(r"\[[A-Za-z0-9]{1,20}\]$")
_KIND = re.compile(r"[A-Za-z0-9_.:/<>()-]{1,40}")
_LONGEST_ID = 128
_ID = re.compile(rf"[A-Za-z0-9_.:-]{{1,{_LONGEST_ID}}}")
_LONG = re.compile(r"[^\W_]{3,}")
_PARTS = re.compile(r"([^\W_]+)|(\s+)|((?:[^\w\s]|_)+)")


class Head(str):
    """A pseudonymised first line. ``words``: those of the whole body, parted by spaces."""

    __slots__ = ("words",)

    words: str

    def __new__(cls, line: str, words: str) -> Head:
        """``line`` with its ``words``."""
        head = super().__new__(cls, line)
        head.words = words
        return head


class Pseudonyms:
    """The replacement of words in one file.

    ``key`` is the SHA-256 of the file's bytes (any length is accepted and hashed down).
    """

    __slots__ = ("_key", "_words")

    def __init__(self, key: bytes) -> None:
        self._key = sha256(key).digest()
        self._words: dict[str, str] = {}

    def digest(self, body: bytes) -> str:
        """Keyed digest of a body: 32 hex digits, equal for equal bodies of the same file only."""
        return blake2b(body, digest_size=16, key=self._key).hexdigest()

    def word(self, word: str) -> str:
        """The replacement of one word, of as many characters; upper and lower case are one word."""
        if len(word) <= 2:
            return "x" * len(word)
        lower = word.lower()
        known = self._words.get(lower)
        if known is None:
            known = self._new_word(lower)
            if len(self._words) < _CACHE_WORDS:  # a hostile file of distinct words must not fill the memory
                self._words[lower] = known
        return known[: len(word)]

    def _new_word(self, lower: str) -> str:
        attempt = 0
        while True:
            seed = lower.encode("utf-8", "surrogatepass")
            name = b""
            while len(name) < len(lower):
                block = blake2b(seed, key=self._key, salt=attempt.to_bytes(8, "big") + len(name).to_bytes(8, "big"))
                name += block.digest().translate(_FROM_BYTE)
            made = name[: len(lower)].decode("ascii")
            if made != lower:
                return made
            attempt += 1

    def head(self, body: bytes) -> str:
        """The pseudonymised first line of ``body``: stripped, cut at 120 bytes, ASCII only.

        White space becomes one space per run, any other sign becomes a dot, so no escape sequence survives.
        """
        start = body[: 8 * HEAD_BYTES].lstrip()
        line = start.splitlines()[0] if start else b""
        text = line[:HEAD_BYTES].decode("utf-8", "replace").rstrip()
        parts: list[str] = []
        for match in _PARTS.finditer(text):
            word, space, signs = match.groups()
            if word is not None:
                parts.append(self.word(word))
            else:
                parts.append(" " if space is not None else "." * len(signs))
        return "".join(parts)

    def prompt(self, body: bytes) -> Head:
        """As :meth:`head`, and the words of the whole ``body``."""
        return Head(self.head(body), self.words(body))

    def words(self, body: bytes) -> str:
        """The distinct words of ``body`` that are longer than 2 characters, in order of appearance, 256 at most.

        Each as :meth:`word` replaces it, cut at 120 characters, parted by single spaces. Words of a later place are
        not looked at.
        """
        found: dict[str, None] = {}
        for match in _LONG.finditer(body.decode("utf-8", "replace")):
            found[self.word(match[0][:HEAD_BYTES])] = None
            if len(found) == WORDS:
                break
        return " ".join(found)


def safe_name(name: str, most: int = 100) -> str:
    """The name of a tool, model or kind, which is kept: cut, and with every unusual character replaced.

    A word in brackets at its end stays: a variant of a model, which its price is found by.
    """
    name = name[:most]
    variant = _VARIANT.search(name) if name.endswith("]") else None
    if variant is not None:
        return _NOT_NAME.sub("_", name[: variant.start()]) + variant[0]
    return _NOT_NAME.sub("_", name)


def safe_kind(kind: str | None) -> str:
    """The word by which a recording names the kind of a piece, where it is one word; a sentence is no kind."""
    if not kind:
        return "(none)"
    return kind if _KIND.fullmatch(kind) else "(others)"


def safe_id(identifier: str) -> str:
    """An identifier as it stands where it looks like one, else a digest of it: equal stays equal."""
    if len(identifier) <= _LONGEST_ID and identifier.isascii() and identifier.isidentifier():
        return identifier  # as nearly all are, and this is cheaper than the pattern
    if _ID.fullmatch(identifier):
        return identifier
    return "id-" + blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
