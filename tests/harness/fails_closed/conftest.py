"""The fixtures of the command line and of the gate, here too, and two files under the gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli.exits import Exit
from harness.cli.parser import parser
from harness.record.published import gate_from_schema
from harness.record.verdict_file import verdict_schema
from tests.harness.cli.conftest import loopladder as loopladder
from tests.harness.gating.test_gate_command import repository as repository
from tests.schema_check import faults

Judged = Callable[..., tuple[Exit, dict[str, Any]]]


@pytest.fixture
def gate_from(tmp_path: Path) -> Judged:
    """The exit code and the document of ``gate --from`` of two documents; ``words`` are added.

    Whatever came of it, the document is as it is published, and one of the files that judge.
    """

    def run(base: object, head: object, *words: str) -> tuple[Exit, dict[str, Any]]:
        for name, document in (("a", base), ("b", head)):
            blob = document if isinstance(document, bytes) else json.dumps(document).encode()
            (tmp_path / f"{name}.json").write_bytes(blob)
        files = [str(tmp_path / name) for name in ("a.json", "b.json", "found.json")]
        arguments = parser().parse_args(["gate", "--from", *files[:2], "--json", files[2], *words])
        code = arguments.handler(arguments)
        found: dict[str, Any] = json.loads((tmp_path / "found.json").read_bytes())
        assert faults(found, gate_from_schema()) == []
        assert faults(found, json.loads(json.dumps(verdict_schema()))) == []
        return code, found

    return run
