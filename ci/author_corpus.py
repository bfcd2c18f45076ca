"""Author the labelled cases that detectors are measured on, from templates and fixed seeds; ``--check`` compares.

    python ci/author_corpus.py            writes harness/evaluation_corpus/RULE.jsonl
    python ci/author_corpus.py --check    exits 1 and names the file if one differs from what would be written

A case is bad because of how it was made: its family puts a fault in, or leaves it out. The families were written from
what each rule is for, so that some faults escape the rules as they are, and some clean texts set them off. The first
line of a file says so. Exit code 2: the command line is wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import corpus_calls as calls
import corpus_fabrication as fabrication
import corpus_injection as injection
import corpus_pii as pii
import corpus_stub as stub
from author_workloads import Draw

OUT = Path(__file__).resolve().parent.parent / "harness" / "evaluation_corpus"
EACH = 60
"""Cases of either label a rule."""

MORE = {"no_hallucination_markers": 140}
"""Where a rule looks for so many signs that each would have a case or two."""

FAMILIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no_pii": (pii.BAD, pii.GOOD),
    "no_injection_patterns": (injection.BAD, injection.GOOD),
    "no_stub_output": (stub.BAD, stub.GOOD),
    "no_hallucination_markers": (fabrication.BAD, fabrication.GOOD),
    "no_silent_tool_failure": (calls.FAILURE_BAD, calls.FAILURE_GOOD),
    "no_tool_loop": (calls.LOOP_BAD, calls.LOOP_GOOD),
}


def author(rule: str) -> str:
    """The file of one rule: a line about it, then a case a line. No two cases are alike."""
    seed = f"evaluation corpus 1 {rule}"
    draw = Draw(seed)
    head = {"schema": "harness.corpus/1", "rule": rule, "labelling": "by-construction", "seed": seed}
    lines = [json.dumps(head)]
    seen: set[str] = set()
    for bad, families in zip((True, False), FAMILIES[rule], strict=True):
        names = list(families)
        for at in range(MORE.get(rule, EACH)):
            family = names[at % len(names)]
            case = families[family](draw)
            while (body := json.dumps(case)) in seen:
                case = families[family](draw)
            seen.add(body)
            ident = f"{rule}-{'bad' if bad else 'good'}-{at + 1:02d}"
            lines.append(json.dumps({"id": ident, "bad": bad, "family": family, "case": case}))
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the files, or compare them."""
    if arguments not in ([], ["--check"]):
        print("The only option is --check. Type: python ci/author_corpus.py --check", file=sys.stderr)
        return 2
    OUT.mkdir(exist_ok=True)
    code = 0
    for rule in FAMILIES:
        file, text = OUT / f"{rule}.jsonl", author(rule)
        if not arguments:
            file.write_bytes(text.encode("ascii"))
        elif not file.is_file() or file.read_bytes() != text.encode("ascii"):
            print(f"{file.name} is not what its script writes. Type: python ci/author_corpus.py", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
