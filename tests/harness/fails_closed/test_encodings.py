"""UTF-8 in files whatever the locale says, and an escape on a console that lacks the character; never a traceback."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.cli.own import REPO
from tests.harness.formats.benches import noise, pyperf

NARROW = [
    {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]
IDS = ["C", "cp1252", "ascii"]
# Of these, cp1252 holds the first, and neither ASCII nor cp1252 the others.
NAME = "größe ✓ 測定"


def run(root: Path, narrow: dict[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    usual = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "PYTHON"))}
    # Whatever reads or writes text by the locale's encoding says so as an error.
    strict = {"PYTHONWARNDEFAULTENCODING": "1", "PYTHONWARNINGS": "error::EncodingWarning"}
    environment = {**usual, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1", **strict, **narrow}
    command = [sys.executable, "-m", "harness", *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False, timeout=240)


# https://github.com/MemPalace/mempalace/issues/1203: UnicodeDecodeError where the locale was cp1252.
@pytest.mark.parametrize("narrow", NARROW, ids=IDS)
def test_a_name_outlives_any_locale_in_a_file_and_is_escaped_on_the_console(
    narrow: dict[str, str], tmp_path: Path
) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        text = json.dumps(pyperf({NAME: noise(30, seed=seed)}), ensure_ascii=False)
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    done = run(tmp_path, narrow, "gate", "--from", "a.json", "b.json", "--json", "c.json")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    assert b"ok: gr" in done.stdout
    assert b"\\u2713 \\u6e2c\\u5b9a" in done.stdout
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["rows"][0]["name"] == NAME


@pytest.mark.parametrize("narrow", NARROW, ids=IDS)
def test_a_gate_of_sources_in_any_script_ends_with_its_verdict(narrow: dict[str, str], repository: Path) -> None:
    rows = repository / "bench" / "kpis.toml"
    rows.write_text(rows.read_text(encoding="utf-8").replace("How many?", f"{NAME}?"), encoding="utf-8")
    mine = repository / "mine.py"
    mine.write_text(mine.read_text(encoding="utf-8").replace("return 3", f"return 4  # {NAME}"), encoding="utf-8")
    words = ("gate", "--against", "HEAD", "--kpi", "work_count")
    done = run(repository, narrow, *words, "--json", "-")
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False), done.stderr
    assert json.loads(done.stdout.decode("utf-8"))["verdict"]["by"] == ["work_count"]


@pytest.mark.parametrize("narrow", NARROW, ids=IDS)
def test_what_is_printed_by_ourselves_needs_no_wide_character(narrow: dict[str, str], repository: Path) -> None:
    """Glyphs of the pages have a stand-in: an escape would be a hole in a table."""
    for words in (("list",), ("explain", "planner_optimize_ns"), ("run", "--kpi", "work_count", "--quick")):
        done = run(repository, narrow, *words)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
        encoding = narrow.get("PYTHONIOENCODING", "ascii")
        assert "\\u" not in done.stdout.decode(encoding)
        assert "\\x" not in done.stdout.decode(encoding)


def _texts(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that turn text into bytes, or back, and could leave the encoding to the locale."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        module = getattr(getattr(node.func, "value", None), "id", "")
        words = [each.value for each in (*node.args, *(key.value for key in node.keywords)) if _is_text(each)]
        modes = [word for word in words if word and set(word) <= set("rwaxbt+")]
        piped = any(key.arg in ("text", "universal_newlines") for key in node.keywords)
        handles = (module, name) in (("os", "open"), ("gzip", "open"))
        opens = name in ("open", "fdopen") and not handles and not any("b" in mode for mode in modes)
        if (name == "write_text") or (module == "subprocess" and piped) or (opens and bool(modes)):
            yield node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_no_text_is_left_to_the_encoding_of_the_locale() -> None:
    found: list[str] = []
    for wing in ("harness", "kpis", "seams"):
        for file in sorted((REPO / wing).rglob("*.py")):
            calls = _texts(ast.parse(file.read_text(encoding="utf-8")))
            bare = [call for call in calls if not any(key.arg == "encoding" for key in call.keywords)]
            found += [f"{file.relative_to(REPO)}:{call.lineno}" for call in bare]
    assert found == []


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("path.write_text(a)", 1),
        ("open(path, 'w')", 1),
        ("path.open('r')", 1),
        ("os.fdopen(handle, mode='a')", 1),
        ("subprocess.run(words, text=True)", 1),
        ("path.open('rb')", 0),
        ("os.open(path, flags)", 0),
        ("gzip.open(file)", 0),
        ("subprocess.run(words, capture_output=True)", 0),
    ],
)
def test_the_walk_knows_text_from_bytes(code: str, seen: int) -> None:
    assert len(list(_texts(ast.parse(code)))) == seen
