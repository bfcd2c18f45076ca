"""How fast recorded Claude Code sessions are read, beside plain parsing of the same bytes.

    python ci/replay_speed.py [--megabytes 100] [--seed 1] [--repeat 3] [--folder FOLDER]

Writes a corpus of its own (the same bytes for the same seed and size), then prints MB/s and peak memory of each way,
each in a fresh process, the best of some repetitions. The corpus has the mix of recorded sessions: a response spread
over lines that repeat its usage, tool results beside their structured copies, hooks' progress, snapshots, sub-agents in
files of their own, resumed copies. It compares; it asserts nothing, because a time is no invariant.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

MB = 1_000_000
_SESSION = 4 * MB
"""Bytes of one main session; healthy long ones are of that size."""

_START = 1_767_225_600_000  # 2026-01-01, in milliseconds
_WORDS = "return value index parser token the of request self import path None field range config buffer name".split()  # noqa: SIM905
_BETWEEN = (" ", " ", " ", " ", "    ", "_", "\n", "\n    ", " = ", "(", ") ", ' "')
_TOOLS = ("Bash", "Read", "Edit", "Grep", "Write", "Glob", "TodoWrite")
_COMMANDS = (
    "python -m pytest -q {w}",
    "grep -rn {w} src | head -20",
    "ls -la {w}",
    "git diff --stat",
    "make {w}",
    "cat {w}.py",
)


class _Session:
    """Lines of one session; ``agent`` is set in a sub-agent's file."""

    def __init__(self, rng: random.Random, session: str, agent: str | None = None) -> None:
        self._rng = rng
        self._at = _START + rng.randrange(10**9)
        self._parent: str | None = None
        self._cached = 16_000
        self._common: dict[str, Any] = {
            "userType": "external",
            "cwd": "/home/user/work/project",
            "sessionId": session,
            "version": "2.1.77",
            "gitBranch": "main",
            "slug": "some-made-up-name",
        }
        self._side = agent is not None
        if agent is not None:
            self._common["agentId"] = agent

    def hex(self, n: int) -> str:
        return f"{self._rng.getrandbits(4 * n):0{n}x}"

    def uuid(self) -> str:
        digits = self.hex(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def text(self, size: int) -> str:
        """Words, line ends and quotes as code has them: one sign in forty needs an escape, as in recorded files."""
        out: list[str] = []
        have = 0
        while have < size:
            word = self._rng.choice(_WORDS)
            out.append(word + self._rng.choice(_BETWEEN))
            have += len(out[-1])
        return "".join(out)

    def line(self, kind: str, first: dict[str, Any], after: dict[str, Any]) -> bytes:
        uuid = self.uuid()
        self._at += self._rng.randrange(20, 9_000)
        whole, ms = divmod(self._at, 1_000)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{ms:03d}Z"
        parts = {"parentUuid": self._parent, "isSidechain": self._side, **first, "type": kind, **after}
        self._parent = uuid
        return _json(parts | {"uuid": uuid, "timestamp": stamp} | self._common)

    def prompt(self) -> bytes:
        return self.line("user", {}, {"message": {"role": "user", "content": self.text(150)}})

    def response(self) -> tuple[list[bytes], str, str]:
        """The lines of one response (thinking, text, one tool call), and the call's id and name."""
        rng = self._rng
        identifier, request = f"msg_01{self.hex(22)}", f"req_011{self.hex(20)}"
        written = rng.randrange(200, 3_000)
        name = rng.choice(_TOOLS)
        call = f"toolu_01{self.hex(22)}"
        blocks: list[dict[str, Any]] = [{"type": "tool_use", "id": call, "name": name, "input": self._input(name)}]
        if rng.random() < 0.7:
            blocks.insert(0, {"type": "text", "text": self.text(rng.randrange(60, 500))})
        if rng.random() < 0.3:
            blocks.insert(0, {"type": "thinking", "thinking": "", "signature": self.hex(900)})
        lines: list[bytes] = []
        for at, block in enumerate(blocks):
            last = at == len(blocks) - 1
            usage = {
                "input_tokens": 3,
                "cache_creation_input_tokens": written,
                "cache_read_input_tokens": self._cached,
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": written},
                "output_tokens": rng.randrange(200, 900) if last else 2,
                "service_tier": "standard",
                "inference_geo": "not_available",
            }
            message = {
                "model": "claude-opus-4-6",
                "id": identifier,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": "tool_use" if last else None,
                "stop_sequence": None,
                "usage": usage,
            }
            lines.append(self.line("assistant", {"message": message, "requestId": request}, {}))
        self._cached += written
        if self._cached > 150_000:
            self._cached = 16_000
        return lines, call, name

    def _input(self, name: str) -> dict[str, Any]:
        rng = self._rng
        file = f"/home/user/work/project/src/{rng.choice(_WORDS)}_{rng.randrange(40)}.py"
        if name == "Bash":
            return {"command": rng.choice(_COMMANDS).format(w=rng.choice(_WORDS)), "description": self.text(30)}
        if name in ("Grep", "Glob"):
            return {"pattern": rng.choice(_WORDS), "path": "/home/user/work/project"}
        if name == "Edit":
            return {"file_path": file, "old_string": self.text(300), "new_string": self.text(400)}
        if name == "Write":
            return {"file_path": file, "content": self.text(rng.randrange(500, 6_000))}
        if name == "TodoWrite":
            return {"todos": [{"content": self.text(40), "status": "pending"} for _ in range(4)]}
        return {"file_path": file, "offset": rng.randrange(2_000), "limit": 200}

    def result(self, call: str, name: str) -> bytes:
        rng = self._rng
        body = self.text(rng.choice((80, 300, 900, 3_000, 9_000)))
        failed = rng.random() < 0.05
        content = [{"tool_use_id": call, "type": "tool_result", "content": body, "is_error": failed}]
        structured: Any = {"stdout": body, "stderr": "", "interrupted": False, "isImage": False}
        if name in ("Edit", "Write", "Read"):
            structured = {"filePath": "/home/user/work/project/a.py", "originalFile": body, "structuredPatch": []}
        after = {"toolUseResult": f"Error: {body}" if failed else structured}
        return self.line("user", {"promptId": self.uuid()}, {"message": {"role": "user", "content": content}} | after)

    def progress(self, call: str, name: str) -> bytes:
        data: dict[str, Any] = {"type": "hook_progress", "hookEvent": "PostToolUse", "hookName": f"PostToolUse:{name}"}
        if name == "Bash":
            data = {"type": "bash_progress", "output": self.text(500), "elapsedTimeSeconds": 3, "totalLines": 12}
        parent = self._parent
        line = self.line("progress", {}, {"data": data, "parentToolUseID": call, "toolUseID": call})
        self._parent = parent
        return line

    def snapshot(self) -> bytes:
        body = {"messageId": self.uuid(), "trackedFileBackups": {f"src/{n}.py": {"version": n} for n in range(6)}}
        return _json({"type": "file-history-snapshot", "messageId": self.uuid(), "snapshot": body})

    def lines(self, size: int) -> Iterator[bytes]:
        """About ``size`` bytes of lines."""
        have = 0
        while have < size:
            for line in self._turn():
                have += len(line)
                yield line

    def _turn(self) -> Iterator[bytes]:
        rng = self._rng
        if not self._side:
            yield self.snapshot()
        yield self.prompt()
        for _ in range(rng.randrange(3, 30)):
            lines, call, name = self.response()
            yield from lines
            for _ in range(rng.randrange(12)):
                yield self.progress(call, name)
            yield self.result(call, name)
        hook = {"subtype": "stop_hook_summary", "hookCount": 1, "hookInfos": [{"command": "hook.sh"}]}
        yield self.line("system", {}, hook)
        yield self.line("system", {}, {"subtype": "turn_duration", "durationMs": rng.randrange(10**6)})


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def write_corpus(folder: Path, size: int, seed: int) -> list[Path]:
    """Files of about ``size`` bytes together below ``folder``: sessions, sub-agents, now and then a resumed copy."""
    rng = random.Random(seed)
    files: list[Path] = []
    have = 0
    while have < size:
        session = _Session(rng, "").uuid()
        main = folder / "project" / f"{session}.jsonl"
        agents = [main.with_suffix("") / "subagents" / f"agent-{n}.jsonl" for n in range(rng.randrange(4))]
        for path in (main, *agents):
            path.parent.mkdir(parents=True, exist_ok=True)
            side = None if path is main else f"{rng.getrandbits(32):08x}"
            bytes_here = max(1, min(_SESSION, size - have) // (1 if side is None else 6))
            with path.open("wb") as file:
                file.writelines(_Session(rng, session, side).lines(bytes_here))
            files.append(path)
            have += path.stat().st_size
        if rng.random() < 0.2:
            copy = main.with_name(f"{main.stem[:-4]}copy.jsonl")
            copy.write_bytes(main.read_bytes()[: _SESSION // 8].rpartition(b"\n")[0] + b"\n")
            files.append(copy)
            have += copy.stat().st_size
    return files


def _decoded(files: Sequence[Path], decode: Callable[[bytes], object]) -> int:
    lines = 0
    for path in files:
        with path.open("rb") as file:
            for line in file:
                decode(line)
                lines += 1
    return lines


def _orjson() -> Way:
    import orjson  # type: ignore[import-not-found, unused-ignore]

    return lambda files: f"{_decoded(files, orjson.loads):,} lines"


def _msgspec() -> Way:
    import msgspec

    return lambda files: f"{_decoded(files, msgspec.json.decode):,} lines"


def _reader() -> Way:
    from harness.formats.claude_run import ClaudeCodeRun
    from harness.formats.limits import Limits
    from harness.formats.run_format import Source
    from kpis.terms.trace import Request

    def read(files: Sequence[Path]) -> str:
        reader = ClaudeCodeRun()
        runs: dict[str, list[Path]] = {}
        for path in files:
            with path.open("rb") as file:
                runs.setdefault(reader.origin(file.read(65_536), path.name).run, []).append(path)
        requests = output = 0
        for paths in runs.values():
            with ExitStack() as opened:
                blobs = [opened.enter_context(path.open("rb", buffering=1 << 18)) for path in paths]
                sources = [Source(blob.name, blob, 0) for blob in blobs]
                for told in reader.read(sources, Limits()):
                    if type(told) is Request:
                        requests += 1
                        output += told.tokens.out_total or 0
        return f"{len(runs):,} runs, {requests:,} requests, {output:,} output tokens"

    return read


def _command() -> Way:
    """The whole command in this process, all its imports but the interpreter's own included."""
    from contextlib import redirect_stdout
    from io import StringIO

    def read(files: Sequence[Path]) -> str:
        from harness.cli.main import main as command

        top = os.path.commonpath([str(path) for path in files])
        with redirect_stdout(StringIO()) as page:
            code = command(["replay", top, "--processes", "1", "--afresh"])
        return f"exit {code}, {len(page.getvalue().splitlines())} lines on the screen"

    return read


def _linked(source: str, target: str) -> None:
    """Another name for a file, or a copy where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _ccusage(command: str, folder: Path) -> str:
    """What ccusage says of the same files, beside what ``replay`` says; its speed with its own start."""
    with tempfile.TemporaryDirectory(prefix="replay-speed-", dir=folder.resolve().parent) as home:
        # It follows no links to folders.
        shutil.copytree(folder, Path(home) / "projects" / "corpus", copy_function=_linked)
        begun = time.perf_counter()
        words = [*shlex.split(command), "daily", "--json", "--offline"]
        done = subprocess.run(words, env={**os.environ, "CLAUDE_CONFIG_DIR": home}, capture_output=True, check=True)
        seconds = time.perf_counter() - begun
    theirs = json.loads(done.stdout)["totals"]
    replay = [sys.executable, "-m", "harness", "replay", str(folder), "--afresh", "--json", "-"]
    ours = json.loads(subprocess.run(replay, capture_output=True, check=True, cwd=ROOT).stdout)["all"]["metrics"]
    pairs = {
        "inputTokens": "fresh_tokens",
        "cacheReadTokens": "cache_read_tokens",
        "cacheCreationTokens": "cache_write_tokens",
        "outputTokens": "output_tokens",
    }
    unlike = [f"{a} {theirs[a]:,} and {ours[b]['value']:,}" for a, b in pairs.items() if theirs[a] != ours[b]["value"]]
    megabytes = sum(path.stat().st_size for path in folder.rglob("*.jsonl")) / MB
    told = "totals differ: " + "; ".join(unlike) if unlike else "the same four totals as replay"
    return f"{'ccusage, with its start':32} {megabytes / seconds:6.0f} MB/s  {told}"


Way = Callable[[Sequence[Path]], str]
_WAYS: dict[str, tuple[str, Callable[[], Way]]] = {
    "orjson": ("plain orjson, line by line", _orjson),
    "msgspec": ("plain msgspec, line by line", _msgspec),
    "reader": ("this reader, all events", _reader),
    "command": ("the whole command, one process", _command),
}


def _timed(way: str, folder: Path) -> None:
    """What a fresh process does: one pass, its seconds (without imports) and peak memory as JSON."""
    files = sorted(folder.rglob("*.jsonl"))
    read = _WAYS[way][1]()
    begun = time.perf_counter()
    told = read(files)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024
    print(json.dumps({"seconds": seconds, "peak": peak, "told": told}))


def main(argv: Sequence[str] | None = None) -> int:
    """Make the corpus, time each way, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, help="where the corpus lies; kept if named, and used again if it is there"
    )
    parser.add_argument("--ccusage", metavar="COMMAND", help="how ccusage is called here, to compare speed and totals")
    parser.add_argument("--only", choices=sorted(_WAYS), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.only:
        _timed(args.only, args.folder)
        return 0
    folder = args.folder or Path(tempfile.mkdtemp(prefix="replay-speed-"))
    try:
        if not any(folder.rglob("*.jsonl")):
            write_corpus(folder, args.megabytes * MB, args.seed)
        _table(folder, args.repeat)
        if args.ccusage:
            print(_ccusage(args.ccusage, folder))
    finally:
        if args.folder is None:
            shutil.rmtree(folder)
    return 0


def _table(folder: Path, repeat: int) -> None:
    sizes = [path.stat().st_size for path in folder.rglob("*.jsonl")]
    print(f"{sum(sizes):,} bytes in {len(sizes):,} files, best of {repeat}")
    for way, (title, _) in _WAYS.items():
        if way == "orjson" and importlib.util.find_spec("orjson") is None:
            print(f"{title:32} left out: orjson is not installed here (python -m pip install orjson)")
            continue
        command = [sys.executable, str(Path(__file__).resolve()), "--only", way, "--folder", str(folder)]
        runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(repeat)]
        best = min(runs, key=lambda run: float(run["seconds"]))
        speed = sum(sizes) / MB / best["seconds"]
        print(f"{title:32} {speed:6.0f} MB/s  peak {best['peak'] / MB:5.0f} MB  {best['told']}")


if __name__ == "__main__":
    sys.exit(main())
