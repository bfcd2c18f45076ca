"""Bytecode: the same for the same source, wherever a tree lies, and taken by a worker without a look at times."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from pathlib import Path

from harness.subject.bytecode import compile_roots
from harness.subject.instrument import overlay
from harness.subject.trees import materialise
from tests.harness.subject.repository import Repo

SOURCE = '''"""Doc."""
NAMES = ("alpha", "beta", frozenset({1, 2}))

def work(n):
    """Work."""
    return [lambda: n + i for i in range(n)], NAMES

class Thing:
    def fail(self):
        raise ValueError("x")
'''


def _compiled(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.pyc")}


def test_identical_sources_become_identical_code_objects_on_all_trees(work: Repo) -> None:
    work.commit({"pkg/__init__.py": "", "pkg/mod.py": SOURCE, "pkg/edited.py": "X = 1\n", "bench/p.py": "P = 1\n"})
    work.write({"pkg/edited.py": "X = 2\n", "bench/p.py": "P = 2\n"})
    with materialise(work.project(), work.base()) as sides:
        overlay(sides, ["bench"])
        assert compile_roots(sides.roots) == 5
        found = [_compiled(root) for root in sides.roots]
        tag = sys.implementation.cache_tag
        assert set(found[0]) == {
            f"{name}.{tag}.pyc" for name in ("pkg/__pycache__/__init__", "pkg/__pycache__/mod", "bench/__pycache__/p")
        } | {f"pkg/__pycache__/edited.{tag}.pyc"}
        assert found[0] == found[1]
        assert found[2] == found[3]
        differing = {name for name in found[0] if found[0][name] != found[2][name]}
        assert differing == {f"pkg/__pycache__/edited.{tag}.pyc"}
        for files in found:
            assert not any(os.fsencode(sides.folder) in blob for blob in files.values())
            assert marshal.loads(files[f"pkg/__pycache__/mod.{tag}.pyc"][16:]).co_filename == "pkg/mod.py"


def test_a_worker_takes_them_and_shows_the_real_path(work: Repo) -> None:
    work.commit({"pkg/mod.py": SOURCE})
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import pkg.mod, traceback\n"
        "print(pkg.mod.__cached__, pkg.mod.work.__code__.co_filename)\n"
        "print(traceback.format_list(traceback.extract_stack())[-1] and pkg.mod.MARK)\n"
    )
    with materialise(work.project(), work.base()) as sides:
        marked = sides.base[0] / "pkg" / "mod.py"
        marked.write_text(SOURCE + "MARK = 'compiled'\n")
        compile_roots(sides.roots)
        # Newer than its bytecode and broken: a worker that looked at times or compiled again would fail on it.
        marked.write_text("raise SystemExit('the source was compiled again')\n")
        os.utime(marked, (2**31, 2**31))
        command = [sys.executable, "-P", "-s", "-B", "-c", script, str(sides.base[0])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        cached, filename, mark = done.stdout.split()
        assert cached.startswith(str(sides.base[0] / "pkg" / "__pycache__"))
        assert (filename, mark) == (str(marked), "compiled")


def test_what_cannot_be_compiled_is_left_and_what_was_compiled_is_replaced(tmp_path: Path) -> None:
    files = {
        "good.py": b"X = '\\d'\n",
        "broken.py": b"def (:\n",
        "nul.py": b"x\0y\n",
        "latin.py": b"x = '\xff'\n",
        "deep.py": b"x = " + b"(" * 5000 + b")" * 5000 + b"\n",
        "__pycache__/broken.cpython-311.pyc": b"stale",
        "__pycache__/gone.cpython-311.pyc": b"stale",
        ".hidden/x.py": b"X = 1\n",
        "node_modules/x.py": b"X = 1\n",
        os.fsdecode(b"odd \xff.py"): b"X = 1\n",
    }
    for name, blob in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(blob)
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "nowhere.py").symlink_to("missing")
    assert compile_roots([tmp_path]) == 2
    names = {Path(name).name.split(".")[0] for name in _compiled(tmp_path)}
    assert names == {"good", os.fsdecode(b"odd \xff")}


def test_a_prefix_for_compiled_files_is_not_followed(tmp_path: Path) -> None:
    root, prefix = tmp_path / "root", tmp_path / "prefix"
    root.mkdir()
    (root / "m.py").write_text("X = 1\n")
    script = "import sys; from pathlib import Path; from harness.subject.bytecode import compile_roots\n"
    script += "print(compile_roots([Path(sys.argv[1])]))"
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(prefix)}
    command = [sys.executable, "-c", script, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "1\n"
    assert [path.parent for path in root.rglob("*.pyc")] == [root / "__pycache__"]
    assert not list(prefix.rglob("m.*"))
