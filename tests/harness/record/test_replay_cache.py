"""What was read before: nothing that is unchanged is read again, and nothing that is stale is ever told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.jobs import replay as job
from harness.jobs.replay import Asked, replay
from harness.jobs.replay_group import Group
from harness.record import replay_cache
from harness.record.replay import encode
from harness.record.replay_cache import ReplayCache, cache_folder
from kpis.formulas.recorded.pricing import PriceTable
from kpis.prices import read_prices, shipped_prices
from tests.harness.jobs.session_files import Session, authored, busy, put

TABLE = shipped_prices()
OTHER: PriceTable = read_prices(
    b'[model."claude-sonnet-4-5"]\nfresh = 7\ncache_read = 1\nwrite_5m = 9\nwrite_1h = 9\noutput = 99\n'
    b"as_of = 2026-01-31\n",
    "own.toml",
)

Again = Callable[..., tuple[bytes, list[str]]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """One recording of each shape."""
    authored(tmp_path / "tree")
    return tmp_path / "tree"


@pytest.fixture
def again(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Again:
    """Read the tree with the cache that is there: the replay file, and the runs that were really read."""
    read: list[str] = []
    real = job.read_group

    def counted(group: Group) -> object:
        read.append(group.key)
        return real(group)

    monkeypatch.setattr(job, "read_group", counted)

    def call(table: PriceTable = TABLE, *, ledger: bool = False, processes: int = 1) -> tuple[bytes, list[str]]:
        read.clear()
        cache = ReplayCache(tmp_path / "cache", [str(tree)], repr((table.rows, ledger)))
        result = replay([str(tree)], Asked(table, ledger=ledger), processes=processes, cache=cache)
        return encode(result, table.name), sorted(read)

    return call


def without(tree: Path, table: PriceTable = TABLE, *, ledger: bool = False) -> bytes:
    return encode(replay([str(tree)], Asked(table, ledger=ledger), processes=1), table.name)


def the_cache(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "cache").iterdir()
    return file


def test_what_is_unchanged_is_not_read_again(again: Again, tree: Path) -> None:
    first, read = again()
    assert len(read) == 10
    assert again() == (first, [])
    assert first == without(tree)


def test_of_what_was_appended_to_only_that_run_is_read(again: Again, tree: Path) -> None:
    again()
    with (tree / "s-7.jsonl").open("ab") as file:
        file.write(Session("s-7x", minute=90, sessionId="s-7").answer("msg_new", out=5).data)
    blob, read = again()
    assert read == ["s-7"]
    assert blob == without(tree)
    assert again() == (blob, [])


def test_a_file_that_came_or_went_changes_its_run_alone(again: Again, tree: Path) -> None:
    again()
    busy("s-6", minute=700).save(tree)
    assert again()[1] == ["s-6"]
    (tree / "s-6.jsonl").unlink()
    blob, read = again()
    assert (blob, read) == (without(tree), [])
    (tree / "agents" / "s-1" / "subagents" / "agent-a1.jsonl").unlink()
    assert again()[1] == ["s-1"]


def test_a_file_that_was_rewritten_in_the_same_length(again: Again, tree: Path) -> None:
    again()
    path = tree / "log.jsonl"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"completion_tokens": 10', b'"completion_tokens": 90'))
    facts = path.stat()
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    blob, read = again()
    assert len(read) == 1
    assert blob == without(tree)


def test_a_change_in_place_is_seen_though_size_and_time_of_the_content_are_put_back(again: Again, tree: Path) -> None:
    again()
    path = tree / "log.jsonl"
    facts, data = path.stat(), path.read_bytes()
    with path.open("r+b") as file:
        file.write(data.replace(b'"completion_tokens": 10', b'"completion_tokens": 90'))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (facts.st_size, facts.st_mtime_ns)
    blob, read = again()
    assert len(read) == 1
    assert blob == without(tree)


def test_other_prices_or_another_question_read_everything_anew(again: Again, tree: Path) -> None:
    first, _ = again()
    blob, read = again(OTHER)
    assert len(read) == 10
    assert blob == without(tree, OTHER) != first
    blob, read = again(ledger=True)
    assert len(read) == 10
    assert blob == without(tree, ledger=True)


def test_another_version_of_the_readers_reads_everything_anew(again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    again()
    monkeypatch.setattr(replay_cache, "_version", lambda: "another")
    assert len(again()[1]) == 10


@pytest.mark.parametrize(
    "damage",
    [
        lambda blob: b"",
        lambda blob: blob[:-1],
        lambda blob: blob[: len(blob) // 2],
        lambda blob: b"\xc1" + blob[1:],
        lambda blob: b"\x93\x01\x02\x03",
        lambda blob: b"\x91" * 100_000,
    ],
)
def test_a_damaged_cache_costs_time_and_nothing_else(
    damage: Callable[[bytes], bytes], again: Again, tree: Path, tmp_path: Path
) -> None:
    again()
    path = the_cache(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    blob, read = again()
    assert len(read) == 10
    assert blob == without(tree)
    assert again() == (blob, [])


def test_a_cache_that_cannot_be_written_costs_nothing_either(again: Again, tree: Path, tmp_path: Path) -> None:
    put(tmp_path / "cache", b"a file in the way")
    assert again() == again() == (without(tree), again()[1])
    assert len(again()[1]) == 10


def test_what_another_run_holds_is_asked_again_each_time(again: Again, tree: Path) -> None:
    session = busy("s-7")
    own = session.data.replace(b'"sessionId": "s-7"', b'"sessionId": "s-8"')
    put(tree / "resumed.jsonl", own + Session("s-8", minute=60).answer("msg_8x").data)
    first, _ = again()
    assert first == without(tree)
    assert again() == (first, ["s-8"])
    (tree / "s-7.jsonl").unlink()
    blob, read = again()
    assert (blob, read) == (without(tree), ["s-8"]), "now they are its own"


def test_a_run_that_began_earlier_than_a_kept_one(again: Again, tree: Path) -> None:
    """A kept answer knows of no other run: where an earlier run shares a request, the later one is read once more."""
    again()
    early = Session("s-5", minute=-60).ask().answer("msg_s7a", fresh=4_000, write=16_000)
    early.save(tree)
    blob, read = again()
    assert read == ["s-5", "s-7"]
    assert blob == without(tree)


def test_several_processes_and_a_cache(again: Again, tree: Path) -> None:
    first, _ = again(processes=2)
    assert first == without(tree)
    with (tree / "s-7.jsonl").open("ab") as file:
        file.write(Session("s-7x", minute=90, sessionId="s-7").answer("msg_new").data)
    assert again(processes=2)[0] == without(tree)


def test_it_holds_no_text(again: Again, tree: Path, tmp_path: Path) -> None:
    Session("s-4", minute=300).ask("My word is Xyzzy42.").answer("msg_4", text="It is Xyzzy42.").save(tree)
    again()
    assert b"Xyzzy42" not in the_cache(tmp_path).read_bytes()
    assert the_cache(tmp_path).stat().st_mode & 0o077 == 0, "names of files are nobody else's business"


def test_where_caches_lie(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "loopladder"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "loopladder"


def test_a_home_without_a_full_path_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "here")
    assert cache_folder() is None


def test_a_link_in_its_place_is_replaced_and_what_it_leads_to_left_alone(again: Again, tmp_path: Path) -> None:
    first, everything = again()
    cache = the_cache(tmp_path)
    precious = tmp_path / "precious"
    precious.write_bytes(cache.read_bytes())
    precious.chmod(0o644)
    before = precious.read_bytes()
    cache.unlink()
    cache.symlink_to(precious)
    assert again() == (first, everything), "nothing is read through a link"
    assert not cache.is_symlink()
    assert cache.stat().st_mode & 0o777 == 0o600
    assert (precious.read_bytes(), precious.stat().st_mode & 0o777) == (before, 0o644)
    assert again() == (first, [])


def test_a_folder_of_caches_that_is_a_link_is_not_used(again: Again, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (tmp_path / "cache").symlink_to(elsewhere)
    assert again() == again()
    assert list(elsewhere.iterdir()) == []
    assert elsewhere.stat().st_mode & 0o777 == 0o755


def test_a_folder_of_caches_that_is_someone_elses_is_not_used(
    again: Again, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, everything = again()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert again() == (first, everything)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_in_its_place_is_left_alone(
    again: Again, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    first, everything = again()
    cache = the_cache(tmp_path)
    cache.unlink()
    make(cache)
    kind = cache.stat().st_mode
    assert again() == (first, everything)
    assert the_cache(tmp_path).stat().st_mode == kind
