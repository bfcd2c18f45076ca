"""``schema``: print the JSON Schema of a file that others may rely on. Whatever it needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from harness.cli.exits import Exit

__all__ = ["NAMES", "add_parser"]

NAMES = {
    "run": "the run file",
    "kpi": "a user's KPI table",
    "baseline": "the record of a layer, as its TOML reads",
    "gate": "what gate --json writes",
    "gate-from": "what gate --from A B --json writes",
    "ratchet": "what ratchet check --json writes",
    "calibration": "the floors of a machine, calibration.json",
    "replay": "what replay --json writes",
    "replay-compare": "what replay --compare --json writes",
    "evaluation": "one line that evaluate writes",
    "verdict": "what every file that judges has in common",
}
"""The published schemas, and what each describes. The authority has no file of its own: it points into run files."""


def add_parser(commands: Any) -> None:
    """Add ``schema`` to the command line."""
    words = "print a published JSON Schema"
    parser = commands.add_parser(
        "schema", help=words, description=f"{words[0].upper()}{words[1:]}.", allow_abbrev=False
    )
    parser.add_argument("name", choices=tuple(NAMES), help="; ".join(f"{name}: {what}" for name, what in NAMES.items()))
    parser.set_defaults(handler=_schema)


def _schema(arguments: argparse.Namespace) -> Exit:
    import json

    print(json.dumps(_document(arguments.name), indent=1, sort_keys=True))
    return Exit.OK


def _document(name: str) -> dict[str, Any]:
    if name == "run":
        from harness.record.run import schema

        return schema()
    if name == "kpi":
        from kpis.schema import kpi_schema

        return kpi_schema()
    if name == "replay":
        from harness.record.replay_schema import replay_schema

        return replay_schema()
    if name == "replay-compare":
        from harness.record.replay_compare_schema import replay_compare_schema

        return replay_compare_schema()
    if name == "evaluation":
        from harness.record.evaluation import evaluation_schema

        return evaluation_schema()
    if name == "verdict":
        from harness.record.verdict_file import verdict_schema

        return verdict_schema()
    from harness.record.published import (
        baseline_schema,
        calibration_schema,
        gate_from_schema,
        gate_schema,
        ratchet_schema,
    )

    makes = {
        "baseline": baseline_schema,
        "calibration": calibration_schema,
        "gate": gate_schema,
        "gate-from": gate_from_schema,
        "ratchet": ratchet_schema,
    }
    return makes[name]()
