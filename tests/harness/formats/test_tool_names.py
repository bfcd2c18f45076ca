"""The one table of tools: names of many agents, and what a shell command is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.tool_commands import read_command
from harness.formats.tool_readings import TARGET_KEYS, mutates_of, op_of, polling_of, reading_of, target_of
from kpis.terms.trace import ToolOp


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("Read", ToolOp.READ),
        ("read_file", ToolOp.READ),
        ("mcp__files__read_file", ToolOp.READ),
        ("default_api:read_file", ToolOp.READ),
        ("Grep", ToolOp.SEARCH),
        ("search_file_content", ToolOp.SEARCH),
        ("LS", ToolOp.LIST),
        ("MultiEdit", ToolOp.WRITE),
        ("apply_patch", ToolOp.WRITE),
        ("functions.shell", ToolOp.EXEC),
        ("container.exec", ToolOp.EXEC),
        ("bash_20250124", ToolOp.EXEC),
        ("WebFetch", ToolOp.WEB),
        ("google_web_search", ToolOp.WEB),
        ("update_plan", ToolOp.PLAN),
        ("TodoWrite", ToolOp.PLAN),
        ("Task", ToolOp.SPAWN),
        ("Agent", ToolOp.SPAWN),
        ("context_recall", ToolOp.RECALL),
        ("book_reservation", ToolOp.OTHER),
        ("", ToolOp.OTHER),
        (None, ToolOp.OTHER),
    ],
)
def test_names_of_many_agents_are_one_table(name: str | None, op: ToolOp) -> None:
    assert op_of(name) is op


@pytest.mark.parametrize(
    ("command", "op", "target"),
    [
        ("cat src/a.py", ToolOp.READ, "src/a.py"),
        ("cd src && sed -n '1,80p' a.py | head -40", ToolOp.READ, "a.py"),
        ("head -n 20 'my file.txt'", ToolOp.READ, "my file.txt"),
        ("git -C sub diff HEAD~1", ToolOp.READ, None),
        ("git --no-pager log --oneline", ToolOp.READ, None),
        ('grep -rn -A 3 "def main" src', ToolOp.SEARCH, "def main"),
        ("rg -t py needle | head", ToolOp.SEARCH, "needle"),
        ("find . -type f -name '*.toml'", ToolOp.SEARCH, "*.toml"),
        ("ls | xargs grep -l needle", ToolOp.SEARCH, "needle"),
        ("ls -la /srv", ToolOp.LIST, "/srv"),
        ("ls; cat notes.md", ToolOp.READ, "notes.md"),
        ("echo done > marker", ToolOp.WRITE, "marker"),
        ("cat > new.py <<'EOF'\nimport os; os.system('x')\nEOF\n", ToolOp.WRITE, "new.py"),
        ("sed -i 's/a/b/' a.py", ToolOp.WRITE, "a.py"),
        ("git commit -m 'one; two && three'", ToolOp.WRITE, None),
        ("cd lib && python -m pytest -q 2>&1 | tail -20", ToolOp.TEST, None),
        ("CI=1 timeout 60 npm run test:unit", ToolOp.TEST, None),
        ("uv run pytest -x > log.txt", ToolOp.TEST, None),
        ("bash -c 'pytest -q'", ToolOp.TEST, None),
        ("for f in a b; do cat $f; done", ToolOp.READ, "$f"),
        ("# don't mind\nls src", ToolOp.LIST, "src"),
        ("cat a.txt 2>/dev/null", ToolOp.READ, "a.txt"),
    ],
)
def test_a_command_that_is_understood(command: str, op: ToolOp, target: str | None) -> None:
    assert reading_of("Bash", {"command": command})[::3] == (op, target)
    assert op_of("Bash", command) is op
    assert target_of("Bash", {"command": command}) == target


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "python run.py",
        "cat a.txt && ./deploy.sh",
        "cat $(rm -rf x)",
        'cat "`whoami`"',
        "find . -name x -delete",
        "(cd a; ls)",
        "bash -c 'ls && rm x'",
        "cat > f.py <<EOF\nx\nEOF\npython f.py",
        "docker run image ls",
        "pip install pytest",
        "echo hello",
        "",
        "'",
        "\\",
    ],
)
def test_a_command_that_is_not_understood_is_exec(command: str) -> None:
    assert reading_of("Bash", {"command": command}) == (ToolOp.EXEC, None, False, None)


def test_a_program_call_in_words_is_read_like_its_line() -> None:
    assert op_of("shell", ["bash", "-lc", "cat a | wc -l"]) is ToolOp.READ
    assert op_of("shell", ["git", "diff", "--stat"]) is ToolOp.READ
    assert target_of("shell", {"command": ["cat", "a b.txt"]}) == "a b.txt"
    assert op_of("shell", ["rg", "a && b"]) is ToolOp.SEARCH


@pytest.mark.parametrize(
    ("name", "command", "polls"),
    [
        ("BashOutput", None, True),
        ("TaskOutput", None, True),
        ("wait", None, True),
        ("sleep", None, True),
        ("Bash", "sleep 30 && cat log.txt", True),
        ("Bash", "cd a; sleep 5", True),
        ("Bash", "until curl -sf localhost; do sleep 1; done", True),
        ("Bash", "make && sleep 5", False),
        ("Bash", "cat sleep", False),
        ("Bash", None, None),
        ("write_stdin", "", True),
        ("write_stdin", "y\n", False),
        ("Read", None, False),
        ("book_reservation", None, None),
    ],
)
def test_polling_is_told_from_repeating(name: str, command: str | None, polls: bool | None) -> None:
    assert polling_of(name, command) is polls


@pytest.mark.parametrize(
    ("name", "command", "mutates"),
    [
        ("Read", None, False),
        ("Edit", None, True),
        ("TodoWrite", None, False),
        ("Bash", "make", None),
        ("Bash", "pytest", None),
        ("Bash", "cat a", False),
        ("Bash", "rm a", True),
        ("Task", None, None),
        ("wait", None, False),
        ("memory", None, None),
        ("browser_action", None, None),
        ("book_reservation", None, None),
    ],
)
def test_whether_a_call_changes_anything(name: str, command: str | None, mutates: bool | None) -> None:
    assert mutates_of(name, op_of(name, command)) is mutates


@pytest.mark.parametrize(
    ("name", "args", "target"),
    [
        ("Read", {"file_path": "/a/b.py", "limit": 3}, "/a/b.py"),
        ("Grep", {"pattern": "x+", "path": "src"}, "x+"),
        ("WebFetch", {"url": "https://example.org/", "prompt": "read"}, "https://example.org/"),
        ("LS", {"path": "/srv"}, "/srv"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n"}, "src/a.py"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "a.py"),
        ("Task", {"description": "look", "prompt": "at", "name": "x"}, None),
        ("TodoWrite", {"todos": []}, None),
        ("BashOutput", {"bash_id": "b", "path": "x"}, None),
        ("Read", {"file_path": 7}, None),
        ("Read", {}, None),
        (None, {"path": "a"}, "a"),
    ],
)
def test_the_target_is_what_a_call_is_about(name: str | None, args: dict[str, object], target: str | None) -> None:
    assert target_of(name, args) == target
    assert reading_of(name, args).target == target
    assert target is None or any(args.get(key) for key in TARGET_KEYS)


def test_an_editor_with_subcommands_reads_or_writes() -> None:
    assert op_of("str_replace_editor", "view") is ToolOp.READ
    assert op_of("str_replace_editor", "insert") is ToolOp.WRITE


@given(st.text(alphabet="ab1 |&;<>()'\"\\\n$`-=#EOF/", max_size=200) | st.text(max_size=80))
def test_no_command_breaks_it(command: str) -> None:
    told = read_command(command)
    assert told.op in ToolOp
    assert told.target is None or len(told.target) <= 1_000


@given(st.text(max_size=300))
def test_a_name_is_cut_before_it_is_looked_up(name: str) -> None:
    assert op_of(name) in ToolOp


def test_a_long_script_is_not_looked_at_to_its_end() -> None:
    script = "cat a.txt\n" + "'\\\"(" * 2_000_000
    assert read_command(script).op is ToolOp.EXEC
    assert read_command("cat > big.txt <<EOF\n" + "line\n" * 50_000 + "EOF\n").op is ToolOp.WRITE
