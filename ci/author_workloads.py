"""Author the two workloads that ship, from phrase tables and a fixed seed; ``--check`` compares instead of writing.

    python ci/author_workloads.py            writes harness/workloads/desk.calls.json and desk.session.jsonl
    python ci/author_workloads.py --check    exits 1 and names the file if either differs from what would be written

The bytes are part of every number measured on them, so they are drawn from a hash, not from a random module whose
sequence may change with the interpreter. The class of each call is derived here from the rules of the airline world;
a test replays the calls through the kernel and compares. Exit code 2: the command line is wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import desk_phrases as words

OUT = Path(__file__).resolve().parent.parent / "harness" / "workloads"
READ = {"readOnlyHint": "true", "idempotentHint": "true"}
WRITE = {"readOnlyHint": "false", "idempotentHint": "false", "destructive": "true"}
POISONED = "traveller_13"
"""Whose name is an injection, in that world."""
EPISODES = 24
TURNS = 72
SHORTEST, LONGEST = 40, 6_144

T = TypeVar("T")


class Draw:
    """A stream of numbers that is the same on every machine and version: a hash of the seed and a counter."""

    def __init__(self, seed: str) -> None:
        self._seed = seed.encode()
        self._n = 0

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1 (the bias of the remainder is below 2**-50)."""
        self._n += 1
        digest = blake2b(self._seed + self._n.to_bytes(8, "big"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % bound

    def of(self, items: Sequence[T]) -> T:
        """One of ``items``."""
        return items[self.below(len(items))]

    def size(self, low: int, high: int) -> int:
        """A length between ``low`` and ``high``, every doubling equally likely, so that small ones come more often."""
        starts = [low << octave for octave in range(high.bit_length()) if low << octave < high]
        start = self.of(starts)
        return start + self.below(min(start, high - start) + 1)


# ---------------------------------------------------------------------------------------------------- tool calls

SYNONYMS = {
    "from": "from_currency",
    "source": "from_currency",
    "from_cur": "from_currency",
    "to": "to_currency",
    "target": "to_currency",
    "to_cur": "to_currency",
}
CANONICAL = ("from_currency", "to_currency", "amount")


class AirlineWorld:
    """Which class a call falls into, in the airline world with the fast path on: a second reading of the rules."""

    def __init__(self) -> None:
        self._cached: set[str] = set()

    def settle(self, tool: str, args: dict[str, Any], meta: dict[str, str]) -> str:
        """Take the next call and say how it is settled."""
        hinted = meta.get("readOnlyHint") == meta.get("idempotentHint") == "true"
        if tool == "calculate" and hinted:
            return "pure"
        if tool == "list_all_airports":
            return "static"
        if hinted and _key(tool, args) in self._cached:
            return "dedup"
        if tool == "delete_account" or (tool == "get_user_details" and not isinstance(args.get("user_id"), str)):
            return "deny"
        repaired = self._repair(args) if tool == "convert_currency" else args
        if repaired is None:
            return "deny"
        if tool == "book_flight":
            self._cached.clear()
            return "pass"
        if hinted:  # filled under what really ran, so a call in synonyms never finds its own answer
            self._cached.add(_key(tool, repaired))
        if tool == "fetch_policy" and "refund" in args["topic"]:
            return "quarantine"
        if tool == "get_user_details" and args["user_id"] == POISONED:
            return "quarantine"
        return "pass" if repaired is args else "grammar"

    @staticmethod
    def _repair(args: dict[str, Any]) -> dict[str, Any] | None:
        if all(key in args for key in CANONICAL):
            return args
        renamed = {SYNONYMS.get(key, key): value for key, value in args.items()}
        if all(key in renamed for key in CANONICAL):
            return renamed
        given = args.get("_positional", ())
        return dict(zip(CANONICAL, given, strict=True)) if len(given) == len(CANONICAL) else None


def _key(tool: str, args: dict[str, Any]) -> str:
    return tool + json.dumps(args, sort_keys=True)


def convert(draw: Draw) -> dict[str, Any]:
    """Arguments of a conversion: canonical, by synonyms, by position, or with one missing."""
    source = draw.of(words.CURRENCIES)
    target = draw.of([currency for currency in words.CURRENCIES if currency != source])
    amount = 10 * (1 + draw.below(6))
    keys = draw.of(
        (
            ("from_currency", "to_currency"),
            ("from", "to"),
            ("source", "target"),
            ("from_cur", "to_cur"),
            ("from", "target"),
        )
    )
    shape = draw.below(8)
    if shape == 0:
        return {"_positional": [source, target, amount]}
    if shape == 1:
        return {keys[0]: source, "amount": amount}
    return {keys[0]: source, keys[1]: target, "amount": amount}


def episode(draw: Draw, number: int) -> list[tuple[str, dict[str, Any], dict[str, str]]]:
    """The calls of one traveller's request: reads repeated as agents repeat them, every second one with a booking."""
    traveller = f"traveller_{draw.below(8):02d}"
    start, end, day = draw.of(words.AIRPORTS), draw.of(words.AIRPORTS), draw.of(words.DAYS)
    user: tuple[str, dict[str, Any], dict[str, str]] = ("get_user_details", {"user_id": traveller}, READ)
    search = ("search_direct_flight", {"origin": start, "destination": end, "date": day}, READ)
    again = ("search_direct_flight", {"date": day, "destination": end, "origin": start}, READ)
    calls = [user, search, ("list_all_airports", {}, READ)]
    calls += [("convert_currency", convert(draw), READ) for _ in range(2 + draw.below(2))]
    calls.append(("calculate", {"a": draw.below(900), "b": draw.below(90)}, READ))
    calls += [user, again] if number % 3 else [again]
    if number % 4 == 1:
        calls.append(("get_user_details", {"user_id": traveller}, {}))
    if number % 5 == 2:
        calls.append(("get_user_details", {"user_id": 1_000 + number}, READ))
    if number % 7 == 3:
        calls.append(("search_direct_flight", {"origin": start, "destination": end, "date": day, "days": 60}, READ))
    if number % 9 == 5:
        calls.append(("get_user_details", {"user_id": POISONED}, READ))
    if number % 6 == 4:
        calls.append(("delete_account", {"user_id": traveller}, WRITE))
    if number % 2:
        calls.append(("book_flight", {"user_id": traveller, "flight_id": f"LL{200 + draw.below(90)}"}, WRITE))
        calls += [user, search]
    return calls


def author_calls() -> str:
    """The frozen tool-call trace, one call a line."""
    draw = Draw("desk calls 1")
    world = AirlineWorld()
    # The only one, and first: what it returns is poisoned, and after any answer from outside a fetch may be refused.
    first: tuple[str, dict[str, Any], dict[str, str]] = ("fetch_policy", {"topic": "refund after check-in"}, READ)
    calls = [first]
    for number in range(EPISODES):
        calls += episode(draw, number)
    lines = [
        json.dumps({"tool": tool, "args": args, "meta": meta, "class": world.settle(tool, args, meta)})
        for tool, args, meta in calls
    ]
    return '{\n  "slice_id": "desk",\n  "calls": [\n    ' + ",\n    ".join(lines) + "\n  ]\n}\n"


# ------------------------------------------------------------------------------------------------------- session


class Desk:
    """The session being written: what a file holds now, and what is on the desk at the moment."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._held: dict[str, str] = {}
        self.start, self.end, self.day, self.file = "OSL", "LIS", words.DAYS[0], words.FILES[0]

    def next_case(self) -> None:
        """Another traveller, another file."""
        draw = self._draw
        self.start, self.end, self.day = draw.of(words.AIRPORTS), draw.of(words.AIRPORTS), draw.of(words.DAYS)
        self.file = draw.of(words.FILES)

    def say(self, table: Sequence[str], low: int, high: int) -> str:
        """Whole sentences from ``table``: at least as many bytes as a size drawn between ``low`` and ``high``."""
        return " ".join(self._parts([], table, self._draw.size(low, high))).ljust(SHORTEST, ".")

    def line(self, template: str) -> str:
        """One line of ``template`` with everything drawn."""
        draw = self._draw
        noun, hour = draw.of(words.NOUNS), 5 + draw.below(17)
        return template.format(
            a=self.start, b=self.end, day=self.day, file=self.file, noun=noun, Noun=noun.title(),
            noun2=draw.of(words.NOUNS), noun3=draw.of(words.NOUNS), verb=draw.of(words.VERBS), n=100 + draw.below(800),
            n2=60 + draw.below(700), h=hour, m=5 * draw.below(12), s=draw.below(60), flex=draw.of(words.FLEX),
        )  # fmt: skip

    def _parts(self, first: list[str], table: Sequence[str], size: int) -> list[str]:
        parts = list(first)
        at = self._draw.below(len(table))
        while not parts or sum(map(len, parts)) + len(parts) - 1 < size:
            parts.append(self.line(table[at % len(table)]))
            at += 1
        return parts

    def _lines(self, first: str, table: Sequence[str]) -> str:
        size = self._draw.size(SHORTEST, LONGEST)
        return "\n".join(self._parts([first], table, size))[:LONGEST].ljust(SHORTEST, ".")

    def tool(self) -> tuple[str, str]:
        """A tool call as text, and its result."""
        draw = self._draw
        way = {"from": self.start, "to": self.end, "day": self.day}
        source = {"file": self.file, "encoding": "utf-8"}
        noun, verb = draw.of(words.NOUNS), draw.of(words.VERBS)
        kind = draw.below(6)
        if kind == 0:
            first = f"direct flights {self.start} to {self.end} on {self.day}"
            return _called("search_flights", way, bags=draw.below(4)), self._lines(first, [words.FLIGHT])
        if kind == 1:
            first = f"{noun} conditions for {self.start} to {self.end}, as of {self.day}"
            return _called("read_conditions", way, about=noun), self._lines(first, words.CONDITIONS)
        if kind == 2:
            first = f"collected tests for {self.file}, only {verb}_{noun}"
            return _called("run_tests", source, only=f"{verb}_{noun}"), self._lines(first, words.LOG)
        if kind == 3:
            first = f"matches of {verb}_{noun} near {self.file}"
            return _called("search_code", source, pattern=f"{verb}_{noun}"), self._lines(first, words.HITS)
        if kind == 4:
            self._held.pop(self.file, None)  # the next read sees another content
            told = f"{self.file} was changed: {draw.below(40) + 1} lines replaced in {verb}_{noun}"
            return _called("edit_file", source, inside=f"{verb}_{noun}"), told
        if self.file not in self._held:
            self._held[self.file] = self._lines(f"# {self.file}", words.CODE)
        return _called("read_file", source), self._held[self.file]


def _called(tool: str, given: dict[str, Any], **more: object) -> str:
    return f"{tool} {json.dumps({**given, **more})}"


def author_session() -> str:
    """The session, one message a line."""
    draw = Draw("desk session 1")
    desk = Desk(draw)
    lines: list[str] = []

    def write(turn: int, role: str, text: str) -> None:
        lines.append(json.dumps({"turn": turn, "role": role, "text": text}))

    write(0, "system", "\n".join(words.SYSTEM))
    for turn in range(TURNS):
        if turn:
            write(turn, "assistant", desk.say(words.PLANS, SHORTEST, 700))
            steps = [desk.tool() for _ in range(2 + draw.below(4))]
            for call, _ in steps:
                write(turn, "assistant", call)
            for _, result in steps:
                write(turn, "tool", result)
        if turn % 5 == 0:
            desk.next_case()
            write(turn, "user", desk.say(words.ASKS, 60, 400))
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write both files, or compare them."""
    if arguments not in ([], ["--check"]):
        print("The only option is --check. Type: python ci/author_workloads.py --check", file=sys.stderr)
        return 2
    code = 0
    for name, text in (("desk.calls.json", author_calls()), ("desk.session.jsonl", author_session())):
        file = OUT / name
        if not arguments:
            file.write_bytes(text.encode("ascii"))
        elif not file.is_file() or file.read_bytes() != text.encode("ascii"):
            print(f"{name} is not what its script writes. Type: python ci/author_workloads.py", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
