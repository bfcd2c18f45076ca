"""Shows each result of a file to a fresh bare gate and to a fresh chain, and compares verdict and reason of both.

``python -m tests.conformance.admission FILE ...`` prints the name of each case that fails (``#index`` where it has
none) and what was said instead, then ``N passed, M failed``. Exit 0: all passed; 1: some failed; 2: a file was
unreadable.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seams.contract.syscall import Result, ToolCall
from seams.contract.verdict import Status
from seams.syscall.admission import BareGate, Gates
from seams.syscall.fold import kind_name
from seams.syscall.reasons import reason_name

WHO = {"bare_gate": lambda: Gates([BareGate()]), "chain": Gates}


def cases_of(text: str) -> list[dict[str, Any]]:
    """The cases of a file.

    Raises:
        ValueError: it is no list of cases with a tool, a payload and the two verdicts.
    """
    cases = json.loads(text)
    if not isinstance(cases, list) or not cases:
        raise ValueError("the file must hold a list of cases that is not empty")
    for index, case in enumerate(cases):
        texts = isinstance(case, dict) and all(isinstance(case.get(key), str) for key in ("tool", "payload"))
        if not texts or not all(isinstance(case.get(who), dict) for who in WHO):
            raise ValueError(f"case #{index} needs a tool, a payload, and objects {' and '.join(WHO)}")
    return cases


def admitted(case: Mapping[str, Any], who: str) -> dict[str, str]:
    """What the bare gate or the chain says of the case's payload; a lone surrogate in it keeps its own bytes."""
    result = Result(Status.OK, case["payload"].encode("utf-8", "surrogatepass"))
    verdict = WHO[who]().admit(ToolCall(case["tool"]), result)
    return {"verdict": kind_name(verdict.kind), "reason": reason_name(verdict.reason)}


def main(argv: Sequence[str]) -> int:
    if not argv:
        print("No file was named; usage: python -m tests.conformance.admission FILE ...", file=sys.stderr)
        return 2
    passed, failed = 0, 0
    for name in argv:
        try:
            cases = cases_of(Path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            print(f"{name} cannot be read as cases: {error}. Try: python -m json.tool {name}", file=sys.stderr)
            return 2
        for index, case in enumerate(cases):
            answers = {who: admitted(case, who) for who in WHO}
            wrong = [who for who, answer in answers.items() if answer != case[who]]
            failed += bool(wrong)
            passed += not wrong
            if wrong:
                told = ", ".join(f"{who} {answers[who]['verdict']} {answers[who]['reason']}" for who in wrong)
                print(f"{case.get('name', f'#{index}')} {told}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
