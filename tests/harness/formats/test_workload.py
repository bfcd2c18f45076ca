"""Loading a workload from a file: what comes out, and one sentence for everything that cannot."""

from __future__ import annotations

import json
import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from harness.formats.detect import HEAD, Known, detect, head_of
from harness.formats.limits import FormatError, Limits
from harness.formats.workload import load

from .reading import CASES, answer, prompt

CALLS = b'{"slice_id": "s", "calls": [{"tool": "calculate", "args": {"a": 1}}, {"tool": "quote"}]}'


def refusal(path: Path, limits: Limits | None = None) -> str:
    """The sentence with which ``path`` is refused; it is one printable line that names the file."""
    with pytest.raises(FormatError) as refused:
        load(path, limits)
    sentence = str(refused.value)
    assert sentence.isprintable()
    assert path.name[:3] in sentence
    return sentence


def test_a_trace_of_calls(tmp_path: Path) -> None:
    file = tmp_path / "my trace (1).json"
    file.write_bytes(CALLS)
    loaded = load(file)
    work = loaded.workload
    digest = sha256(CALLS).hexdigest()
    assert (work.name, work.kind, work.source, work.sha256) == (f"my-trace-1-{digest[:8]}", "calls", "replay", digest)
    assert work.data["calls"][1] == {"tool": "quote", "args": "{}", "meta": {}, "class": None}
    assert loaded.facts == {"format": "calls", "tool_calls": 2, "tools": 2, "calls_with_class": 0, "world": "default"}


def test_a_session_becomes_planning_turns() -> None:
    loaded = load(CASES / "streamed.jsonl")
    turns = loaded.workload.data["turns"]
    # One turn a request: the first sees the prompt, the second the answer of the first and then the result.
    assert [[message["role"] for message in turn["messages"]] for turn in turns] == [
        ["user"],
        ["assistant", "assistant", "tool"],
    ]
    assert loaded.workload.data["facts"] == {
        "steps": 2,
        "messages": 4,
        "bytes": sum(message["bytes"] for turn in turns for message in turn["messages"]),
        "messages_left_out": 1,  # the final answer, which no prompt carried
    }
    assert (loaded.facts["basis"], loaded.facts["out"], loaded.facts["requests"]) == ("reported", 172, 2)
    assert loaded.workload.kind == "session"


def test_only_the_conversation_of_the_main_thread_is_replayed() -> None:
    for name, steps in (("rewind", 2), ("sidechain", 2)):
        data = load(CASES / f"{name}.jsonl").workload.data
        assert len(data["turns"]) == steps, name


def test_a_sub_agents_own_file_is_replayed_as_its_thread(tmp_path: Path) -> None:
    file = tmp_path / "agent-f00d.jsonl"
    lines = (CASES / "sidechain.jsonl").read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in lines if b"f00d" in line and b'"isSidechain":true' in line))
    assert [message["role"] for message in load(file).workload.data["turns"][0]["messages"]] == ["user"]


def test_a_prompt_that_waits_for_its_request_is_a_turn(tmp_path: Path) -> None:
    file = tmp_path / "waiting.jsonl"
    file.write_bytes(prompt("u", None, "one") + answer("a", "u", "m") + prompt("v", "a", "two"))
    turns = load(file).workload.data["turns"]
    assert [[message["role"] for message in turn["messages"]] for turn in turns] == [["user"], ["assistant", "user"]]


def test_issues_are_sentences_that_name_the_file() -> None:
    (issue,) = load(CASES / "placeholder.jsonl").issues
    assert "placeholder.jsonl: W_PLACEHOLDER_OUTPUT: " in issue


def test_data_is_plain_and_holds_no_word() -> None:
    written = json.dumps(dict(load(CASES / "streamed.jsonl").workload.data), allow_nan=False)
    for word in ("morning", "connection", "fares", "price", "Read"):
        assert word not in written


def test_recorded_sessions_load(cases: Path) -> None:
    recorded = load(cases / "transcripts" / "claude-code" / "session.jsonl")
    # 22 requests, and a last prompt that the recording ends on.
    assert (recorded.facts["requests"], len(recorded.workload.data["turns"])) == (22, 23)
    chat = load(cases / "replay" / "cdb-session.jsonl")
    assert (len(chat.workload.data["turns"]), chat.facts["fresh_in"]) == (4, None)
    digests = [message["digest"] for turn in chat.workload.data["turns"] for message in turn["messages"]]
    assert len(digests) - len(set(digests)) == 2  # an account read twice: the call and its result


def test_other_tools_files_are_refused_and_not_misread(cases: Path) -> None:
    for path in sorted((cases / "transcripts").rglob("*.*")):
        if path.parent.name not in ("claude-code", "transcripts"):
            assert "Look at it with" in refusal(path) or "UTF-8" in refusal(path), path


def test_a_folder_a_pipe_and_a_missing_file(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "no regular file" in refusal(pipe)
    assert "cannot be read: No such file" in refusal(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be read" in refusal(tmp_path / "loop")
    with pytest.raises(FormatError, match="no such name is possible"):
        load(Path("a\0b"))


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "secret.jsonl"
    file.write_bytes(CALLS)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)  # the tests may run as a user who may read everything
    assert "cannot be read: Permission denied" in refusal(file)


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_bytes(content)
    assert "is empty" in refusal(file)


@pytest.mark.parametrize("content", [b"\0", b"\n\0\0\0\n"])
def test_a_file_of_nul_bytes_is_binary_and_not_empty(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "hole.jsonl"
    file.write_bytes(content)
    assert "is binary: it holds NUL bytes" in refusal(file)
    assert "is empty" not in refusal(file)


def test_size_is_asked_before_anything_is_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.jsonl"
    with file.open("wb") as out:
        out.truncate(70 << 20)  # a hole: nothing is written, and reading it would yield NULs
    assert "73,400,320 bytes, more than the 67,108,864" in refusal(file)


def test_depth_truncation_encoding_and_unknown_content(tmp_path: Path) -> None:
    file = tmp_path / "given.jsonl"
    file.write_bytes(prompt("u", None, "go") + b'{"type":"user","x":' + b"[" * 70 + b"]" * 70 + b"}\n")
    assert "Line 2 nests deeper than 64" in refusal(file)
    file.write_bytes(CALLS[:-20])
    assert "no tool-call trace" in refusal(file)
    file.write_bytes("{}".encode("utf-16"))
    assert "is not UTF-8 text: byte 0, on line 1" in refusal(file)
    file.write_bytes(prompt("u", None, "go") + b'{"type":"\xff"}\n' + answer("a", "u", "m"))
    assert "on line 2" in refusal(file)
    file.write_bytes(b"name,price\nleg,182\n")
    assert "none of the known formats" in refusal(file)
    file.write_bytes(b'{"type":"progress","uuid":"p"}\n')
    assert "no turn to replay" in refusal(file)


def test_a_session_torn_inside_a_character_loads(tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    whole = prompt("u", None, "go") + answer("a", "u", "m")
    file.write_bytes(whole + '{"type":"user","message":"é'.encode()[:-1])
    loaded = load(file)
    assert loaded.facts["requests"] == 1
    assert "E_TORN_LINE" in loaded.issues[0]


def test_a_hostile_name_is_shown_without_its_escapes(tmp_path: Path) -> None:
    file = tmp_path / "run\x1b[31m\udcff\n.jsonl"
    file.write_bytes(b"")
    assert "run\\x1b[31m" in refusal(file)


def test_formats_are_known_by_content_whatever_the_name() -> None:
    assert detect((CASES / "streamed.jsonl").read_bytes(), "x.json") is Known.CLAUDE_CODE
    assert detect(CALLS, "x.jsonl") is Known.TOOL_CALLS
    assert detect(b'{"turn": 0, "role": "user", "text": "go"}\n', "x.txt") is Known.JSONL_SESSION
    with pytest.raises(FormatError, match=r"none of the known formats \(claude-code, calls, jsonl-session\)"):
        detect(b"hello", "x.jsonl")


def test_a_first_line_that_is_longer_than_the_head_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    first = json.dumps({"turn": 0, "role": "user", "text": "x" * (2 * HEAD)})
    second = json.dumps({"turn": 1, "role": "assistant", "text": "y"})
    for text, turns in ((first + "\n" + second + "\n", 2), (first, 1), (first + "\n", 1)):
        file.write_text(text)
        assert len(load(file).workload.data["turns"]) == turns
    file.write_bytes(prompt("u", None, "x" * (2 * HEAD)) + answer("a", "u", "m"))
    assert load(file).facts["format"] == "claude-code"


def test_a_first_line_that_no_reader_takes_is_named(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    first = json.dumps({"turn": 0, "role": "user", "text": "x" * (2 * HEAD)})
    file.write_text(first + "\n" + first)
    limit = len(first) - 1
    assert f"line 1 is {limit + 2:,} bytes, more than the {limit:,} that are read of a line" in refusal(
        file, Limits(max_line=limit)
    )


def test_the_head_is_bounded() -> None:
    limits = Limits(max_line=2 * HEAD)
    assert len(head_of(b"x" * 3 * HEAD, limits)) == HEAD
    assert len(head_of(b"x" * 3 * HEAD + b"\n", limits)) == HEAD
    assert len(head_of(b"\n" + b"x" * 3 * HEAD, limits)) == HEAD
    assert len(head_of(b"x" * HEAD + b"\nyyy", limits)) == HEAD + 1
    assert head_of(b"short", limits) == b"short"


def test_a_trace_without_a_call_is_told_so(tmp_path: Path) -> None:
    file = tmp_path / "none.json"
    for text in ('{"calls": []}', '{"calls" : [ ], "slice_id": "s"}'):
        file.write_text(text)
        assert "none.json holds no call" in refusal(file)


def test_one_encoding_is_not_taken_for_another(tmp_path: Path) -> None:
    file = tmp_path / "given.jsonl"
    file.write_bytes("{}\n".encode("utf-16"))
    assert "Convert it: iconv -f UTF-16 -t UTF-8" in refusal(file)
    file.write_bytes('{"text": "caf\xe9"}\n'.encode("latin-1"))
    sentence = refusal(file)
    assert "UTF-16" not in sentence
    assert "If it is Latin-1, convert it: iconv -f LATIN1 -t UTF-8" in sentence


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"caf\xe9\n", b'{"calls": []}', b'{"calls": [{"tool": 1}]}', b'{"type":"progress"}\n']
)
@pytest.mark.parametrize("name", ["giv\nen.json", "giv\x1b[31m'en", "-giv en"])
def test_advice_can_be_typed_whatever_the_name(content: bytes, name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"./{name}").write_bytes(content)
    sentence = refusal(Path(name))
    advice = sentence[max(sentence.rfind(f": {word}") for word in ("ls", "head", "iconv", "python")) + 2 :]
    assert advice.split()[0] in ("ls", "head", "iconv", "python")
    advice = advice.replace("python -m json.tool", "cat")
    assert subprocess.run(["bash", "-c", advice], capture_output=True, check=False).returncode == 0, advice
