"""Puts the newest committed run beside the quoted figures of a compiled peer, in docs/floors.md.

    python ci/peers.py --markdown    write the table between its marks
    python ci/peers.py --check       fail where the page says anything else

The peer's figures are quoted (ci/peers.toml says how far to trust them); ours are read from a run file, and none is
typed. Refuses to compare where there is no number of ours: the cell is a dash.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from ci.marks import MarksError, with_section  # noqa: E402
from harness.record.atomic import write_atomic  # noqa: E402
from harness.record.store import committed_runs  # noqa: E402

PAGE = ROOT / "docs" / "floors.md"
PEERS = ROOT / "ci" / "peers.toml"

AGAIN = "python ci/peers.py --markdown"


class PeersError(ValueError):
    """The table cannot be made; one sentence that ends with the next command."""


def newest(root: Path) -> dict[str, Any]:
    """The committed run that was made last.

    Raises:
        PeersError: there is none.
    """
    runs: list[dict[str, Any]] = [json.loads(path.read_bytes()) for path in committed_runs(root)]
    if not runs:
        raise PeersError("No run is committed; record one with: python ci/record_run.py")
    return max(runs, key=lambda run: str(run["created"]))


def quoted(file: Path) -> list[dict[str, Any]]:
    """The peer's figures.

    Raises:
        OSError: the file cannot be read.
        PeersError: it is no TOML, or an entry has not got what the table needs.
    """
    try:
        peers: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8")).get("peer", [])
    except ValueError as error:
        raise PeersError(f"{file} is not valid TOML: {error}. Mend it, then run: {AGAIN}") from error
    for number, peer in enumerate(peers, 1):
        if missing := {"what", "us", "kpi"} - peer.keys():
            raise PeersError(f"{file}, entry {number}, has no {min(missing)}. Mend it, then run: {AGAIN}")
    return peers


def cell(run: dict[str, Any], peer: dict[str, Any]) -> tuple[str, str]:
    """Our time and its ratio to the peer's; a dash where the run holds no number."""
    for reading in run["readings"]:
        same = reading["kpi"] == peer["kpi"] and reading["params"] == peer.get("params", {})
        if same and reading["leg"] == "main" and reading["value"] is not None:
            ours = reading["value"] / 1e3
            return f"{ours:,.1f} µs", f"{ours / peer['us']:.1f}"
    return "-", "-"


def table(run: dict[str, Any], peers: Sequence[dict[str, Any]]) -> str:
    """The Markdown table."""
    lines = ["| slice | KPI | compiled peer | here | ratio | not the same |", "|---|---|---|---|---|---|"]
    for peer in peers:
        at = ",".join(f"{key}={value}" for key, value in peer.get("params", {}).items())
        name = f"`{peer['kpi']}[{at}]`" if at else f"`{peer['kpi']}`"
        ours, ratio = cell(run, peer)
        lines.append(f"| {peer['what']} | {name} | {peer['us']:,g} µs | {ours} | {ratio} | {peer.get('differs', '')} |")
    lines += ["", f"Ours: run `{run['id']}`, {run['machine']['slug']}, medians of processes."]
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description="The newest committed run beside a compiled peer's figures.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--markdown", action="store_true")
    what.add_argument("--check", action="store_true")
    given = parser.parse_args(argv)
    try:
        page = PAGE.read_text(encoding="utf-8")
        wanted = with_section(page, "peers", table(newest(ROOT), quoted(PEERS)))
    except OSError as error:
        print(f"{error.filename} cannot be read: {error.strerror}. Look with: git status", file=sys.stderr)
        return 2
    except MarksError as error:
        print(f"{PAGE}: {str(error).rstrip('.')}: {AGAIN}", file=sys.stderr)
        return 2
    except PeersError as error:
        print(error, file=sys.stderr)
        return 2
    if given.check and wanted != page:
        print(f"{PAGE} is not what the run says; type: {AGAIN}", file=sys.stderr)
        return 1
    if given.markdown:
        write_atomic(PAGE, wanted.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
