"""Replays a frozen tool-call trace on the reference kernel, in three arms, and prints what each arm did.

``python -m tests.conformance.replay TRACE [--world default|airline]`` prints one JSON object: ``hash``, ``world`` and,
for the arms ``on``, ``off`` and ``shared_cache``, the classes call by call with their totals, the kernel's counters,
the tokens that the engine reported and what the saved turns are worth. Exit 0; 2: the trace cannot be read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.formats.limits import FormatError, Limits
from harness.formats.toolcalls import read_tool_calls
from harness.probes.turn._books import totals
from kpis.formulas.turn.turntax import net, turns_saved
from seams.contract.syscall import ToolCall
from seams.contract.turntax import Arm, Replay
from seams.syscall.worlds import WorldError
from seams.turn.turntax import TurnTaxReplay

USAGE = "usage: python -m tests.conformance.replay TRACE [--world default|airline]"


def run(blob: bytes, filename: str, world: str | None = None) -> dict[str, Any]:
    """The three arms over the trace in ``blob``; the world is the trace's own where none is named."""
    trace = read_tool_calls(blob, filename, Limits())
    world = world or trace["world"]
    calls = [ToolCall(call["tool"], call["args"].encode(), call["meta"]) for call in trace["calls"]]
    seam = TurnTaxReplay()
    arms = {arm.value: told(seam.replay(calls, world, arm)) for arm in (Arm.ON, Arm.OFF, Arm.SHARED_CACHE)}
    return {"hash": trace["hash"], "world": world, "arms": arms}


def told(replay: Replay) -> dict[str, Any]:
    """One arm as plain values."""
    counted = totals(replay)
    read, written = replay.input_tokens, replay.output_tokens
    return {
        "classes": {"calls": [each.value for each in replay.classes], "totals": counted},
        "counters": asdict(replay.counters),
        "tokens": {"input": read, "output": written, "total": read + written},
        "net": net(turns_saved(counted)),
    }


def main(argv: Sequence[str]) -> int:
    words = list(argv)
    world = None
    if "--world" in words:
        at = words.index("--world")
        if at + 1 >= len(words):
            print(f"--world needs a name; {USAGE}", file=sys.stderr)
            return 2
        world = words[at + 1]
        del words[at : at + 2]
    if len(words) != 1:
        print(f"One trace is needed; {USAGE}", file=sys.stderr)
        return 2
    try:
        report = run(Path(words[0]).read_bytes(), words[0], world)
    except (OSError, FormatError, WorldError) as error:
        print(f"The trace cannot be replayed: {error} {USAGE}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
