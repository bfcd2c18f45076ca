"""How fast ``evaluate`` judges outputs of a kilobyte for safety, beside plain decoding and encoding of the same lines.

    python ci/evaluate_speed.py [--cases 20000 | --megabytes 100] [--seed 1] [--repeat 3] [--file FILE]
    python ci/evaluate_speed.py --hostile

Writes cases of its own (the same bytes for the same seed and size), then prints cases a second by the clock and by the
processor, and the peak memory of each way, each in a fresh process, the best of some repetitions: starting up counts.
Memory that is the same for 100 MB and for 1000 MB is flat. ``--hostile`` shows a mebibyte made to stop it to every rule
that looks at a text, and prints the seconds of the slowest; exit code 1: one took longer than a second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from ci.speed_outputs import cases  # noqa: E402 - the root has to be on the path first

MB = 1_000_000
MIB = 1 << 20
_LONGEST = 1.0
"""Seconds that a rule may take for a mebibyte."""

_HOSTILE = {
    "spaces": " ",
    "tabs and line ends": "\t\n ",
    "unclosed quotes": '"a ',
    "apostrophes": "'",
    "pipes": "| ",
    "open brackets": "[[({",
    "a long number": "7",
    "digits and dashes": "415-867-",
    "a long word": "a",
    "at signs": "@",
    "addresses without an end": "a@b.",
    "like base64": "aGk0Zm9v+/A9",
    "orders without an object": "ignore ",
    "speakers": "system: ",
    "comments without an end": "<!-- ai ",
    "promises": "i will add x later ",
    "empty functions": "def f():\n",
    "emoji": "\U0001f600",
    "joined marks": "e\u0301\u0308",
    "unseen characters": "i\u200b",
    "other scripts": "\u0456\u0430 ",
}
"""What is repeated, by what it is."""


class Spent(NamedTuple):
    """Seconds by the clock, seconds of the processor, and the most bytes that were held."""

    wall: float
    cpu: float
    peak: int


def write_cases(file: Path, seed: int, most: int, size: int) -> int:
    """Up to ``most`` cases of together about ``size`` bytes as lines of ``file``; returns how many."""
    encode = msgspec.json.encode
    have = count = 0
    with file.open("wb") as out:
        for case in islice(cases(seed), most):
            have += out.write(encode(case) + b"\n")
            count += 1
            if have >= size:
                break
    return count


def _plain(file: Path) -> None:
    decode, encode, write = msgspec.json.decode, msgspec.json.encode, sys.stdout.buffer.write
    with file.open("rb") as lines:
        for line in lines:
            write(encode(decode(line)) + b"\n")


def spent(command: Sequence[str]) -> Spent:
    """What ``command`` took, output thrown away.

    Raises:
        SystemExit: it could not do its work.
    """
    begun = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1, 3):  # a case that fails is an answer
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}; run it by itself to see why.")
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)


def _table(file: Path, count: int, repeat: int) -> None:
    size = file.stat().st_size
    print(f"{count:,} cases, {size:,} bytes, best of {repeat}")
    here = [sys.executable, str(Path(__file__).resolve())]
    for title, command in (
        ("plain msgspec, in and out", [*here, "--plain", "--file", str(file)]),
        ("the whole command", [sys.executable, "-m", "harness", "evaluate", str(file)]),
    ):
        runs = [spent(command) for _ in range(repeat)]
        wall, cpu, peak = (min(each) for each in zip(*runs, strict=True))
        print(
            f"{title:28} {count / wall:9,.0f} cases/s by the clock {count / cpu:9,.0f} a core"
            f" {size / MB / cpu:7.1f} MB/s  peak {peak / MB:4.0f} MB"
        )


def slowest() -> Iterator[tuple[str, str, float]]:
    """Every built-in rule, the hostile text that it takes longest for, and the seconds."""
    from kpis.rules.catalogue import BUILT_IN
    from kpis.rules.subject import Subject
    from kpis.terms.evaluation import Case

    texts = {name: (piece * (MIB // len(piece.encode()) + 1)) for name, piece in _HOSTILE.items()}
    for rule in BUILT_IN:
        took = {}
        for name, text in texts.items():
            subject = Subject(Case(text, input=text[:1000], expected=text[:1000]))
            begun = time.process_time()
            rule.evaluate(subject)
            took[name] = time.process_time() - begun
        worst = max(took, key=lambda name: took[name])
        yield rule.facts.name, worst, took[worst]


def _hostile() -> int:
    over = False
    for rule, text, seconds in slowest():
        over |= seconds > _LONGEST
        print(f"{rule:28} {seconds:6.3f} s  {text}{'  over a second' if seconds > _LONGEST else ''}", flush=True)
    return int(over)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the cases, time each way, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, help="how many (20000 if nothing is said)")
    parser.add_argument("--megabytes", type=int, help="how many megabytes of cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--file", type=Path, help="where the cases are kept")
    parser.add_argument(
        "--hostile", action="store_true", help="show texts that are made to stop a rule to each of them"
    )
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.hostile:
        return _hostile()
    if args.plain:
        _plain(args.file)
        return 0
    size = sys.maxsize if args.megabytes is None else args.megabytes * MB
    most = args.cases or (20_000 if args.megabytes is None else sys.maxsize)
    with tempfile.TemporaryDirectory(prefix="evaluate-speed-") as folder:
        file = args.file or Path(folder) / "cases.jsonl"
        _table(file.resolve(), write_cases(file, args.seed, most, size), args.repeat)
    return 0


if __name__ == "__main__":
    sys.exit(main())
