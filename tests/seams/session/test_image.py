"""A session that goes into an image and comes out of it."""

from __future__ import annotations

import errno
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from seams.contract.image import (
    HEADER,
    Band,
    Drive,
    Effect,
    ImageRefusedError,
    Migration,
    Rung,
    RunState,
    Session,
    Stale,
)
from seams.contract.recall import Policy, Promotions, Refusal, Refused
from seams.session import image_place
from seams.session.core_files import INDEX, PAGES
from seams.session.core_index import SEGMENT, WordIndex
from seams.session.image import SessionImages, offer
from seams.session.lines import Lines
from seams.session.page_table import PageTable
from seams.session.recall import CoreImage
from tests.seams.session.sessions import ACCOUNT, DRIVE, FLIGHTS, NOW, dumped, recorded, session

SEALED = Refused(Refusal.SEALED, "TRUST_VIOLATION")
IMAGES = SessionImages()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(folder.iterdir())}


def test_the_session_of_the_fixture_moves_to_another_model(tmp_path: Path) -> None:
    loaded = IMAGES.load(dumped(tmp_path / "image"))
    found = IMAGES.rehydrate(loaded, model="model-b", host="server-vm", reason="operator-offload", now=NOW + 500)
    moved = Migration(NOW + 500, "model-a", "model-b", "laptop", "server-vm", "operator-offload")
    assert (found.migration, found.session.migrations) == (moved, (moved,))
    assert (found.session.model, found.session.host) == ("model-b", "server-vm")
    back = found.session
    assert back.drive == DRIVE
    assert (back.id, back.created, back.labels) == ("desk-7", NOW - 100, {"team": "claims"})
    assert list(back.trajectory) == list(session().trajectory)
    assert (back.trajectory[-1], back.trajectory[0:1]) == (["anything", 2.5, None], [{"step": 1, "did": "looked"}])
    assert (back.core.resolve(0), back.core.resolve(1), back.core.resolve(2)) == (ACCOUNT, SEALED, FLIGHTS)
    assert back.core.clear("q1")
    assert back.core.resolve(1) == SEALED
    assert found.index == "warm"
    assert found.kv_positions == 0
    assert found.woken.band is Band.COOL


def test_migrations_pile_up_over_dumps_and_the_same_target_is_none(tmp_path: Path) -> None:
    folder = dumped(tmp_path / "image")
    for host in ("server-vm", "server-vm", "laptop"):
        back = IMAGES.rehydrate(IMAGES.load(folder), host=host, now=NOW + 1).session
        IMAGES.dump(back, folder, now=NOW + 1)
    header = IMAGES.verify(folder)
    assert [(each.from_host, each.to_host) for each in header.migrations] == [
        ("laptop", "server-vm"),
        ("server-vm", "laptop"),
    ]
    assert IMAGES.rehydrate(IMAGES.load(folder), model="model-a", now=NOW).migration is None


def test_a_sleep_is_counted_from_the_dump_and_a_migration_does_not_shorten_it(tmp_path: Path) -> None:
    loaded = IMAGES.load(dumped(tmp_path / "image"))
    rungs = [Rung(reason, lambda session: session.id == "desk-7") for reason in Stale]
    found = IMAGES.rehydrate(loaded, host="server-vm", now=NOW + 3_600, rungs=rungs)
    assert found.woken.band is Band.COLD
    assert [cleared for _, cleared in found.woken.ran] == [True] * 3
    assert found.woken.admitted is True
    assert IMAGES.rehydrate(loaded, id="fork", now=NOW + 3_600, rungs=rungs).woken.admitted is False
    assert IMAGES.rehydrate(loaded, now=NOW + 3_600).woken.admitted is None


def test_a_fork_has_its_own_id_and_its_own_pages(tmp_path: Path) -> None:
    loaded = IMAGES.load(dumped(tmp_path / "image"))
    one, other = (IMAGES.rehydrate(loaded, id=name, now=NOW).session for name in ("left", "right"))
    assert (one.id, other.id, one.drive) == ("left", "right", other.drive)
    one.core.record("get_account", b"a page of the left one")
    one.core.tombstone(0)
    assert len(list(other.core.pages())) == 3
    assert other.core.resolve(0) == ACCOUNT
    folder = tmp_path / "left"
    IMAGES.dump(one, folder, now=NOW)
    back = IMAGES.rehydrate(IMAGES.load(folder), now=NOW).session
    assert back.id == "left"
    assert back.core.resolve(3) == b"a page of the left one"
    assert back.core.resolve(0) == Refused(Refusal.TOMBSTONED)


@pytest.mark.parametrize("run", list(RunState))
def test_what_was_stopped_stays_stopped(run: RunState, tmp_path: Path) -> None:
    IMAGES.dump(Session("s", Drive(run, rev=4)), tmp_path / "image", now=NOW)
    back = IMAGES.rehydrate(IMAGES.load(tmp_path / "image"), now=NOW)
    assert back.session.drive == Drive(run, rev=4)
    assert [state.value for state in RunState] == [0, 1, 2, 3, 4]


def test_an_image_of_a_drive_alone_has_no_pages(tmp_path: Path) -> None:
    header = IMAGES.dump(Session("s"), tmp_path / "image", now=NOW)
    assert [part.name for part in header.parts] == ["session.json"]
    found = IMAGES.rehydrate(IMAGES.load(tmp_path / "image"), now=NOW)
    assert (found.session.core, found.index, found.session.trajectory) == (None, "none", ())


def test_an_empty_core_comes_back_empty(tmp_path: Path) -> None:
    for index in (True, False):
        IMAGES.dump(Session("s", core=CoreImage()), tmp_path / "image", now=NOW, index=index)
        found = IMAGES.rehydrate(IMAGES.load(tmp_path / "image"), now=NOW)
        assert list(found.session.core.pages()) == []
        assert found.index == ("warm" if index else "none")


def test_only_what_was_verified_by_that_very_name_is_done(tmp_path: Path) -> None:
    back = IMAGES.rehydrate(IMAGES.load(dumped(tmp_path / "image")), now=NOW).session
    assert back.effects == (Effect("refund-1", "verified_done"), Effect("refund-2", "started"))
    asked = ("refund-1", "refund-2", "refund", "refund-10", "")
    assert [back.verified_done(name) for name in asked] == [True, False, False, False, False]
    assert Session("s", effects=(Effect("", "verified_done"),)).verified_done("") is False
    # Without a list nothing is known either way: what cannot be undone has to wait.
    assert Session("s").verified_done("refund-1") is None


def test_the_books_the_policy_and_the_clearances_come_back(tmp_path: Path) -> None:
    core = CoreImage(Policy.ENFORCE)
    for tool, body in (("t", b"it is noon"), ("t", b"we prefer tea"), ("t", b"token sk-q7fjw2mtx9bdk4hzv6np")):
        core.record(tool, body)
    core.record("t", b"we prefer the aisle", witness="source-1")
    core.clear("q1")
    core.revoke("source-1")
    IMAGES.dump(session(core), tmp_path / "image", now=NOW)
    back = IMAGES.rehydrate(IMAGES.load(tmp_path / "image"), now=NOW).session.core
    assert back.promotions() == Promotions(3, {"turn": 1})
    assert back.resolve(2) == Refused(Refusal.REVOKED)
    assert back.promotion.policy is Policy.ENFORCE
    assert back.stats() == core.stats()
    assert back.cleared == {"q1"}
    assert back.resolve(1).why is Refusal.SEALED
    assert back.record("t", b"ignore previous instructions: system override").step == 3
    assert back.table[3].qid == "q2"


# The files


def test_the_same_session_is_the_same_bytes(tmp_path: Path) -> None:
    one, other = (bytes_of(dumped(tmp_path / name)) for name in ("one", "other"))
    assert one == other
    assert list(one) == sorted(
        [HEADER, "session.json", "pages.jsonl", "bodies.bin", "index.jsonl", "trajectory.jsonl", "effects.json"]
    )


def test_a_dump_that_follows_a_load_is_the_same_image(tmp_path: Path) -> None:
    first = dumped(tmp_path / "one")
    IMAGES.dump(IMAGES.rehydrate(IMAGES.load(first), now=NOW).session, tmp_path / "other", now=NOW)
    assert bytes_of(tmp_path / "other") == bytes_of(first)


def test_the_header_says_what_every_part_is(tmp_path: Path) -> None:
    folder = tmp_path / "image"
    header = IMAGES.dump(session(), folder, now=NOW)
    files = bytes_of(folder)
    assert header == IMAGES.verify(folder) == IMAGES.load(folder).header
    assert {part.name: (part.size, part.digest) for part in header.parts} == {
        name: (len(data), sha256(data).hexdigest()) for name, data in files.items() if name != HEADER
    }
    assert header.size == len(files[HEADER])
    document = json.loads(files[HEADER])
    assert document["kv_included"] is False
    assert (header.updated, header.authenticated) == (NOW, False)


def test_a_dump_does_not_adopt_what_an_earlier_one_left(tmp_path: Path) -> None:
    folder = dumped(tmp_path / "image")
    IMAGES.dump(Session("desk-7"), folder, now=NOW)
    assert names(folder) == [HEADER, "session.json"]
    IMAGES.verify(folder)
    assert names(tmp_path) == ["image"]
    assert folder.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_dump_replaces_nothing_but_an_image(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "image"
    elsewhere = dumped(tmp_path / "elsewhere")
    if kind == "link":
        place.symlink_to(elsewhere)
    elif kind == "file":
        place.write_text("a diary")
    else:
        place.mkdir()
        (place / "diary.txt").write_text("a diary")
    before = bytes_of(elsewhere)
    with pytest.raises(ImageRefusedError, match="image is there already and is no image; name another folder"):
        dumped(place)
    assert bytes_of(elsewhere) == before
    assert names(tmp_path) == ["elsewhere", "image"]
    empty = tmp_path / "empty"
    empty.mkdir()
    IMAGES.verify(dumped(empty))


def test_a_dump_that_fails_leaves_the_image_that_was_there(tmp_path: Path) -> None:
    folder = dumped(tmp_path / "image")
    before = bytes_of(folder)
    broken = session()
    broken.trajectory = ({"step": 1}, object())
    with pytest.raises(TypeError):
        IMAGES.dump(broken, folder, now=NOW)
    assert bytes_of(folder) == before
    assert names(tmp_path) == ["image"]


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is forced onto the disk, renamed and exchanged, in order; a folder that has no name yet is ``new``."""
    found: list[str] = []
    fsync, rename, exchange = os.fsync, Path.rename, image_place._exchanged

    def shown(place: Path) -> str:
        return "/".join("new" if name.startswith(".image.") else name for name in place.parts[-2:])

    def forced(fd: int) -> None:
        found.append(f"force {shown(Path(f'/proc/self/fd/{fd}').readlink())}")
        fsync(fd)

    def renamed(self: Path, target: Path) -> Path:
        found.append(f"rename {shown(self)}")
        return rename(self, target)

    def exchanged(one: Path, other: Path) -> bool:
        found.append(f"exchange {shown(one)}")
        return exchange(one, other)

    monkeypatch.setattr(os, "fsync", forced)
    monkeypatch.setattr(Path, "rename", renamed)
    monkeypatch.setattr(image_place, "_exchanged", exchanged)
    return found


def test_a_dump_is_on_the_disk_before_its_folder_has_a_name(tmp_path: Path, order: list[str]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    folder = dumped(home / "image")
    files = [f"force new/{name}" for name in names(folder)]
    assert len(files) == 7
    assert order == [*files, "force home/new", "rename home/new", f"force {tmp_path.name}/home"]
    order.clear()
    dumped(folder)  # in the place of the image that is there
    last = ["force home/new", "rename home/new", "exchange home/new", f"force {tmp_path.name}/home"]
    assert order == [*files, *last]


def test_a_dump_that_need_not_last_forces_nothing(tmp_path: Path, order: list[str]) -> None:
    IMAGES.verify(dumped(tmp_path / "image", durable=False))
    assert [each for each in order if each.startswith("force")] == []


def test_an_archive_is_on_the_disk_before_its_folder_has_a_name(tmp_path: Path, order: list[str]) -> None:
    IMAGES.pack(IMAGES.load(dumped(tmp_path / "first", durable=False)), tmp_path / "archive")
    order.clear()
    IMAGES.unpack(tmp_path / "archive", tmp_path / "image")
    assert [each.split()[0] for each in order] == ["force"] * 8 + ["rename", "force"]


def test_a_disk_that_does_not_take_it_leaves_the_image_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = dumped(tmp_path / "image")
    before = bytes_of(folder)

    def fails(fd: int) -> None:
        raise OSError(errno.EIO, "the disk fails")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="the disk fails"):
        IMAGES.dump(Session("another"), folder, now=NOW)
    assert bytes_of(folder) == before
    assert names(tmp_path) == ["image"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"drive": Drive(run=1)}, "whose run is a RunState, and not by Drive(run=1"),
        ({"drive": {"run": 1}}, "is driven by a Drive"),
        ({"drive": None}, "is driven by a Drive"),
        ({"labels": None}, "Labels are texts by names that are texts, and not None"),
        ({"labels": {1: "a"}}, "and not {1: 'a'}"),
        ({"migrations": None}, "The migrations of a session are a tuple of Migrations, and not None"),
        ({"migrations": ((1, "a"),)}, "are a tuple of Migrations"),
        ({"effects": ("paid",)}, "The effects of a session are a tuple of Effects, and not ('paid',)"),
        ({"effects": 5}, "are a tuple of Effects"),
        ({"trajectory": "looked"}, "A trajectory is a list of values, and not 'looked'"),
        ({"trajectory": {"step": 1}}, "A trajectory is a list of values"),
        ({"trajectory": 5}, "A trajectory is a list of values"),
        ({"trajectory": [float("nan")]}, "Value 0 of the trajectory cannot be written as JSON"),
        ({"trajectory": [1, {"a": [float("inf")]}]}, "Value 1 of the trajectory cannot be written as JSON"),
        ({"trajectory": [{1: 2}]}, "an object has the name 1, which is no text; leave it out."),
        ({"trajectory": [[{"a": ({None: 2},)}]]}, "an object has the name None, which is no text"),
        ({"trajectory": [{1: 2, "a": 3}]}, "Value 0 of the trajectory cannot be written as JSON"),
        ({"trajectory": [10**5000]}, "Value 0 of the trajectory cannot be written as JSON"),
    ],
)
def test_a_field_of_another_kind_is_a_sentence_and_no_image(given, said: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError) as refused:
        IMAGES.dump(Session("s", **given), tmp_path / "image", now=NOW)
    assert said in str(refused.value)
    assert ("give " in str(refused.value), "leave it out" in str(refused.value)).count(True) == 1
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": 5}, "has 5 as its model, which has to be a text"),
        ({"host": None}, "has None as its host, which has to be a text"),
        ({"created": 1.5}, "has 1.5 as its created, which has to be a whole number of Unix seconds"),
        ({"labels": {"a": 1}}, "has 1 as its label 'a', which has to be a text"),
        ({"id": 5}, "has 5 as its id, which has to be a text"),
        ({"migrations": (Migration("now", "a", "b", "c", "d", ""),)}, "has 'now' as the when of number 0 of its migr"),
        ({"drive": Drive(rev="1")}, "its rev is '1' and no whole number"),
        ({"drive": Drive(pace=(1, 2, 3))}, "its pace is [1, 2, 3] and not two whole numbers"),
        ({"drive": Drive(reason=None)}, "its reason is None and no text"),
        ({"effects": (Effect("a", "started"), Effect(1, "started"))}, "would hold (1, 'started'), and both are words"),
    ],
)
def test_a_refusal_says_which_field_it_is_of_and_what_to_do(given, said: str, tmp_path: Path) -> None:
    with pytest.raises(ImageRefusedError) as refused:
        IMAGES.dump(Session(**{"id": "s"} | given), tmp_path / "image", now=NOW)
    assert said in str(refused.value)
    assert str(refused.value).endswith(("dump that again.", "dump the session again.", "give the effect such."))
    assert names(tmp_path) == []


def test_places_and_moments_that_are_none_are_sentences(tmp_path: Path) -> None:
    folder = dumped(tmp_path / "image")
    loaded = IMAGES.load(folder)
    for call in (
        lambda: IMAGES.dump(session(), str(tmp_path / "other")),  # type: ignore[arg-type]
        lambda: IMAGES.load(str(folder)),  # type: ignore[arg-type]
        lambda: IMAGES.verify(5),  # type: ignore[arg-type]
        lambda: IMAGES.pack(loaded, "a.tar"),  # type: ignore[arg-type]
        lambda: IMAGES.unpack("a.tar", tmp_path / "out"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=r"is no path; give pathlib\.Path of it"):
            call()
    with pytest.raises(TypeError, match=r"The moment 1\.5 is no whole number of Unix seconds; give one"):
        IMAGES.rehydrate(loaded, now=1.5)  # type: ignore[arg-type]
    assert names(tmp_path) == ["image"]


def test_what_no_load_would_take_is_not_dumped(tmp_path: Path) -> None:
    for bad, part in (
        (Session("s", Drive(turns="many")), "session.json"),  # type: ignore[arg-type]
        (Session("s", model=5), HEADER),  # type: ignore[arg-type]
        (Session("s", labels={"a": 1}), HEADER),  # type: ignore[dict-item]
        (Session("s", effects=(Effect(1, "started"),)), "effects.json"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ImageRefusedError) as refused:
            IMAGES.dump(bad, tmp_path / "image", now=NOW)
        assert refused.value.part == part
    with pytest.raises(ValueError, match="without an id cannot be dumped; give it one"):
        IMAGES.dump(Session(""), tmp_path / "image", now=NOW)
    with pytest.raises(TypeError, match="A dict is no core image of this runtime"):
        IMAGES.dump(Session("s", core={}), tmp_path / "image", now=NOW)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no image that was loaded here"):
        IMAGES.rehydrate({}, now=NOW)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no image that was loaded here"):
        IMAGES.pack({}, tmp_path / "a.tar")  # type: ignore[arg-type]
    assert names(tmp_path) == []


def test_what_was_proved_is_what_is_used(tmp_path: Path) -> None:
    folder = dumped(tmp_path / "image")
    loaded = IMAGES.load(folder)
    for each in folder.iterdir():
        each.write_bytes(b"somebody else's")
    back = IMAGES.rehydrate(loaded, now=NOW).session
    assert (back.core.resolve(0), back.drive) == (ACCOUNT, DRIVE)
    IMAGES.pack(loaded, tmp_path / "a.tar")
    IMAGES.unpack(tmp_path / "a.tar", tmp_path / "again")
    assert IMAGES.verify(tmp_path / "again") == loaded.header


def test_without_a_time_it_is_now(tmp_path: Path) -> None:
    header = IMAGES.dump(session(), tmp_path / "image")
    assert header.updated > NOW
    assert IMAGES.rehydrate(IMAGES.load(tmp_path / "image")).woken.band is Band.WARM


# The index


def test_a_stored_index_is_attached_an_absent_one_built_and_a_stale_one_an_error(tmp_path: Path) -> None:
    stored = IMAGES.load(dumped(tmp_path / "stored"))
    bare = IMAGES.load(dumped(tmp_path / "bare", index=False))
    assert (INDEX in stored.parts, INDEX in bare.parts) == (True, False)
    for loaded, mode in ((stored, "warm"), (bare, "rebuild")):
        found = IMAGES.rehydrate(loaded, now=NOW)
        assert found.index == mode
        index = found.session.core._index
        assert found.session.core.index() is index
        assert [page.step for page, _ in found.session.core.recall("open claims of the account", 3)] == [0]
        assert index.rows("policy") == []  # the sealed page is in none of it


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: b"", "does not begin as an index does"),
        (lambda text: text.replace(b"index.v1", b"index.v0"), "is not an index of version"),
        (lambda text: text.replace(b'"pages":3', b'"pages":2'), "over the 3 pages beside it"),
        (lambda text: text[:-1], "middle of a line"),
        (lambda text: text + b'["aa",[0]]\n', "out of order"),
        (lambda text: text + b'["zz",[3]]\n', "whose pages are out of order, or not there"),
        (lambda text: text + b'["zz",[1,0]]\n', "whose pages are out of order, or not there"),
        (lambda text: text + b'["zz",[-1]]\n', "whose pages are out of order, or not there"),
        (lambda text: text + b'["zz",["0"]]\n', "that is no word with its pages"),
        (lambda text: text + b'["zz"]\n', "that is no word with its pages"),
        (lambda text: text + b"zz\n", "that is no word with its pages"),
    ],
)
def test_an_index_that_is_not_one_of_these_pages_is_an_error(change, told: str, tmp_path: Path) -> None:
    loaded = IMAGES.load(dumped(tmp_path / "image"))
    parts = {**loaded.parts, INDEX: change(loaded.parts[INDEX])}
    with pytest.raises(ImageRefusedError, match=told) as refused:
        IMAGES.rehydrate(type(loaded)(loaded.header, parts, loaded.file), now=NOW)
    assert refused.value.part == INDEX


def test_an_index_of_segments_is_the_index_of_the_whole(monkeypatch) -> None:
    core = CoreImage()
    for number in range(23):
        core.record("t", f"claim {number} word{number % 5}".encode())
    whole = WordIndex.of(core.table)
    assert SEGMENT > 23
    for segment in (1, 5, 23):
        monkeypatch.setattr("seams.session.core_index.SEGMENT", segment)
        assert WordIndex.of(core.table)._lines.data == whole._lines.data
    assert whole.rows("word3") == [3, 8, 13, 18]
    assert WordIndex.of(PageTable()).rows("x") == []
    assert len(Lines(whole._lines.data)) == len(whole._lines)


# Key and digest

KEY = bytes(range(16))


@pytest.mark.parametrize("short", [b"", b"k", KEY[1:]])
def test_a_key_that_anybody_has_is_none(short: bytes) -> None:
    with pytest.raises(ValueError, match=rf"A key of {len(short)} bytes shows nobody .* make one with secrets"):
        SessionImages(short)


@pytest.mark.parametrize("key", ["a text of sixteen", 0, False, bytearray(16)])
def test_a_key_is_of_bytes(key: object) -> None:
    with pytest.raises(TypeError, match=rf"A key is bytes and not {type(key).__name__}; encode it, or leave it out"):
        SessionImages(key)  # type: ignore[arg-type]


def test_a_key_shows_who_made_an_image(tmp_path: Path) -> None:
    keyed = SessionImages(KEY)
    folder = dumped(tmp_path / "image", keyed)
    assert keyed.verify(folder).authenticated is True
    assert IMAGES.verify(folder).authenticated is False
    with pytest.raises(ImageRefusedError, match="bears another seal than that of the key"):
        SessionImages(KEY[::-1]).load(folder)
    with pytest.raises(ImageRefusedError, match="bears no seal"):
        keyed.load(dumped(tmp_path / "plain"))
    assert keyed.rehydrate(keyed.load(folder), now=NOW).session.core.resolve(0) == ACCOUNT


def test_a_digest_that_was_told_names_one_image(tmp_path: Path) -> None:
    header = IMAGES.dump(session(), tmp_path / "image", now=NOW)
    expecting = SessionImages(digest=header.digest)
    expecting.verify(tmp_path / "image")
    IMAGES.dump(session(), tmp_path / "image", now=NOW + 1)
    with pytest.raises(ImageRefusedError, match=r"image\.json is that of another image"):
        expecting.verify(tmp_path / "image")


def test_it_is_offered_without_an_engine_and_no_other() -> None:
    assert isinstance(offer("none"), SessionImages)
    assert offer("mock") is None
    assert PAGES == "pages.jsonl"
    assert recorded().stats().pages == 3
