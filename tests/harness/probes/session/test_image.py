from __future__ import annotations

import asyncio
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.session._archives import archives
from harness.probes.session._pages import session_of
from harness.probes.session._places import Place, file_system, place
from harness.probes.session.image import Probe
from seams.contract.image import HEADER, Header, ImageRefusedError
from seams.runtimes.reference import make
from seams.session.image import LoadedImage, SessionImages
from seams.session.image_files import ImageFolder
from seams.session.recall import CoreImage
from tests.harness.probes.session.desks import Desk, slow

LOAD, REHYDRATE = {"phase": "load"}, {"phase": "rehydrate"}
TIMED = [
    ("session_dump_ns", {}),
    ("session_restore_ns", LOAD),
    ("session_restore_ns", REHYDRATE),
    ("image_integrity_verify_ns", {}),
]


@pytest.fixture(autouse=True)
def place_of_its_own(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def opened(kpi: str, params=None, runtime=None):
    return Probe().open(kpi, runtime or make(), None, params or {})


def one_round(found, loops: int = 3) -> None:
    for _ in range(2):
        found.check(found.batch(loops)())


@pytest.mark.parametrize(("kpi", "params"), TIMED)
def test_the_reference_runtime_offers_it_and_leaves_nothing_behind(kpi, params, tmp_path) -> None:
    assert kpi in Probe.kpis
    found = opened(kpi, params)
    assert (found.engine, found.source) == ("none", "synthetic")
    assert found.work["pages"] == 100
    assert found.work["files"] == 5
    assert found.work[f"bytes of files on {file_system(tmp_path)}"] > 100_000
    one_round(found)
    found.close()
    assert list(tmp_path.iterdir()) == []


def test_a_dump_is_set_up_afresh_before_every_call() -> None:
    found = opened("session_dump_ns")
    assert found.afresh is True
    given = []
    for _ in range(2):
        found.check(found.batch(1)())
        given.append(found._given[0])
    (one, bodies, at), (other, others, there) = given
    assert one.core is not other.core
    assert at != there
    assert one.drive.rev != other.drive.rev
    assert bodies[0] != others[0]
    assert bodies[1:] == others[1:]
    assert list(map(len, (each.body for each in bodies))) == list(map(len, (each.body for each in others)))


def test_every_load_is_of_an_image_that_no_other_call_of_the_batch_reads_in_a_place_where_none_lay() -> None:
    found = opened("session_restore_ns", LOAD)
    places, digests = [], []
    for _ in range(3):
        batch = found.batch(4)
        places += [each.folder for each in [*found._given, found._spare]]
        digests.append({each.header.digest for each in [*found._given, found._spare]})
        found.check(batch())
    assert len(set(places)) == len(places) == 15
    assert [len(each) for each in digests] == [5, 5, 5]
    assert len(set().union(*digests)) == 5


def test_every_resume_is_of_a_session_with_a_page_of_its_own() -> None:
    found = opened("session_restore_ns", REHYDRATE)
    parts = []
    for _ in range(2):
        batch = found.batch(3)
        parts += [{part.name: part.digest for part in loaded.header.parts} for loaded, _, _ in found._given]
        found.check(batch())
    for name in ("pages.jsonl", "bodies.bin", "index.jsonl"):
        assert len({each[name] for each in parts}) == 6


def test_a_history_is_a_page_for_every_message(tmp_path) -> None:
    found = opened("session_restore_ns", {**LOAD, "history": "3"})
    assert found.work["pages"] == 1 + 3 * 4
    one_round(found)
    bad = opened("session_restore_ns", {**LOAD, "history": "many"})
    assert bad.reason == "bad-value"


@pytest.mark.parametrize(("part", "lacking"), [("image", "session image"), ("recall", "core image to put into one")])
def test_a_runtime_without_a_part_is_undefined(part: str, lacking: str) -> None:
    found = opened("session_dump_ns", runtime=Desk(**{part: None}))
    assert found == Undefined("not-offered", f"The runtime stub offers no {lacking}.")


@pytest.mark.parametrize(("kpi", "params"), TIMED)
def test_an_asynchronous_runtime_is_awaited(kpi, params) -> None:
    method = {"session_dump_ns": "dump", "image_integrity_verify_ns": "verify"}.get(kpi, params.get("phase"))

    class Slow(SessionImages):
        """Only the method that is timed waits, and only while it is timed; set-up has to answer at once."""

    async def waiting(self, *given, **more):
        return getattr(SessionImages, method)(self, *given, **more)

    setattr(Slow, method, waiting)

    async def measured() -> None:
        found = await opened(kpi, params, Desk(image=Slow))
        batch = found.batch(2)
        assert asyncio.iscoroutinefunction(batch)
        found.check(await batch())
        found.close()

    asyncio.run(measured())


def test_where_files_lie_is_told_and_a_place_that_is_not_there_is_undefined(tmp_path, monkeypatch) -> None:
    found = place("disk"), place("tmpfs")
    kinds = [each.fs if isinstance(each, Place) else each.reason for each in found]
    assert kinds[0] not in ("tmpfs", "ramfs")
    assert kinds[1] in ("tmpfs", "ramfs", "not-installed")
    for each in found:
        if isinstance(each, Place):
            each.close()
            assert not each.path.exists()
    assert place("moon") == Undefined("bad-value", "fs = moon is neither tmpfs nor disk.")
    assert file_system(Path("/proc/self")) == "proc"
    monkeypatch.setattr("harness.probes.session._places.file_system", lambda folder: "ext4")
    assert place("tmpfs") == Undefined("not-installed", "No folder for temporary files here is on tmpfs.")


def test_the_size_is_that_of_the_files_and_repeats() -> None:
    found = opened("core_image_size")
    assert found == opened("core_image_size")
    assert found.denominator is None
    assert found.numerator > 100_000
    sizes = [int(each.replace(",", "")) for each in found.evidence[0].split()[1::1] if each[0].isdigit()]
    assert sum(sizes) == found.numerator
    assert f"{HEADER} {sizes[0]}," in found.evidence[0]


# Subjects that do less than they say


class Unread(SessionImages):
    """Reads the header and believes it."""

    def load(self, folder):
        with ImageFolder(folder) as held:
            file = held.header()
        header = self._header(file)
        return LoadedImage(header, {part.name: (folder / part.name).read_bytes() for part in header.parts}, file)

    def verify(self, folder):
        return self.load(folder).header


class Remembers(SessionImages):
    """Remembers what it proved: by what the header says, and by size and time of what it was in."""

    def __init__(self) -> None:
        super().__init__()
        self._known = {}

    def _recalled(self, folder, read):
        key = (
            read.__name__,
            (folder / HEADER).read_bytes(),
            *((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in sorted(folder.iterdir())),
        )
        if key not in self._known:
            self._known[key] = read(folder)
        return self._known[key]

    def load(self, folder):
        return self._recalled(folder, super().load)

    def verify(self, folder):
        return self._recalled(folder, super().verify)


class Lazy(SessionImages):
    """Proves everything, and reads the files again when they are wanted."""

    def load(self, folder):
        return replace(super().load(folder), parts=LazyParts(folder))


class LazyParts(Mapping):
    def __init__(self, folder) -> None:
        self._folder = folder
        self._names = [each.name for each in folder.iterdir()]

    def __getitem__(self, name):
        return (self._folder / name).read_bytes()

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)


class LazyHeader:
    """Dumps when it is looked at."""

    def __init__(self, dump) -> None:
        self._dump = dump
        self._made = None

    def __getattr__(self, name):
        self._made = self._made or self._dump()
        return getattr(self._made, name)


class PutsOff(SessionImages):
    def dump(self, session, folder, **more):
        folder.mkdir()
        return LazyHeader(lambda: SessionImages.dump(self, session, folder, **more))

    def verify(self, folder):
        return LazyHeader(lambda: SessionImages.verify(self, folder))


class HoldsFilesOpen(SessionImages):
    """Has the files opened by the time it returns, and proves them when somebody looks."""

    def load(self, folder):
        files = {each.name: each.open("rb") for each in sorted(folder.iterdir())}

        class Held:
            def __getattr__(self, name):
                again = folder.with_name(f"{folder.name}-again")
                again.mkdir()
                for each, file in files.items():
                    (again / each).write_bytes(file.read())
                return getattr(SessionImages().load(again), name)

        return Held()


class LooksLike(SessionImages):
    """Resumes when somebody looks."""

    def rehydrate(self, loaded, **more):
        return LazyHeader(lambda: SessionImages.rehydrate(self, loaded, **more))


class LazyCore:
    def __init__(self, made) -> None:
        self._made = made

    def __getattr__(self, name):
        return getattr(self._made(), name)


class WithoutPages(SessionImages):
    """Keeps what the session is called, and no page of it."""

    def dump(self, session, folder, **more):
        return super().dump(replace(session, core=CoreImage()), folder, **more)


class DumpsNothing(SessionImages):
    def dump(self, session, folder, **more):
        folder.mkdir()
        return Header(session.id, 0, 0, "", "", {}, (), (), "", 0)


class DumpsTheFirst(SessionImages):
    """Ships one image again and again."""

    def __init__(self) -> None:
        super().__init__()
        self._first = None

    def dump(self, session, folder, **more):
        self._first = self._first or session
        return super().dump(self._first, folder, **more)


class NoIndex(SessionImages):
    def dump(self, session, folder, *, index=True, **more):
        return super().dump(session, folder, index=False, **more)


class Unsealed(SessionImages):
    """Lets everything out after a resume."""

    def rehydrate(self, loaded, **more):
        found = super().rehydrate(loaded, **more)
        core = found.session.core
        core.resolve = lambda step, as_of=None: core.store.get(core.table[step].digest)
        return found


class OneForAll(SessionImages):
    """Resumes the first image that it was given, always."""

    def __init__(self) -> None:
        super().__init__()
        self._first = None

    def rehydrate(self, loaded, **more):
        self._first = self._first or super().rehydrate(loaded, **more)
        return self._first


@pytest.mark.parametrize(
    ("kind", "kpi", "params"),
    [
        (Unread, "session_restore_ns", LOAD),
        (Unread, "image_integrity_verify_ns", {}),
        (Remembers, "session_restore_ns", LOAD),
        (Remembers, "image_integrity_verify_ns", {}),
        (Lazy, "session_restore_ns", LOAD),
        (HoldsFilesOpen, "session_restore_ns", LOAD),
        (PutsOff, "session_dump_ns", {}),
        (PutsOff, "image_integrity_verify_ns", {}),
        (LooksLike, "session_restore_ns", REHYDRATE),
        (WithoutPages, "session_dump_ns", {}),
        (DumpsNothing, "session_dump_ns", {}),
        (DumpsTheFirst, "session_dump_ns", {}),
        (NoIndex, "session_dump_ns", {}),
        (Unsealed, "session_dump_ns", {}),
        (Unsealed, "session_restore_ns", REHYDRATE),
        (OneForAll, "session_restore_ns", REHYDRATE),
    ],
)
def test_a_subject_that_does_less_than_it_says_is_found_out(kind, kpi, params, tmp_path) -> None:
    with pytest.raises((WorkNotDoneError, FileNotFoundError, ImageRefusedError)):
        one_round(opened(kpi, params, Desk(image=kind)))


@pytest.mark.parametrize("kind", [WithoutPages, DumpsTheFirst, NoIndex, PutsOff, DumpsNothing])
def test_what_is_weighed_comes_back_out_of_its_files(kind) -> None:
    assert opened("core_image_size", runtime=Desk(image=SessionImages)).numerator == 123_263
    images = kind()
    if kind is DumpsTheFirst:
        images._first = session_of(CoreImage())
    with pytest.raises((WorkNotDoneError, ImageRefusedError)):
        opened("core_image_size", runtime=Desk(image=lambda: images))


def test_a_core_that_is_made_when_it_is_looked_at_is_made_while_the_clock_runs() -> None:
    made = []

    class Later(SessionImages):
        def rehydrate(self, loaded, **more):
            found = super().rehydrate(loaded, **more)
            core = found.session.core
            found.session.core = LazyCore(lambda: made.append(1) or core)
            return found

    found = opened("session_restore_ns", REHYDRATE, Desk(image=Later))
    batch = found.batch(3)
    assert made == []
    batch()
    assert len(made) == 3


def test_an_image_that_a_runtime_remembers_by_place_or_digest_is_read_each_time_all_the_same() -> None:
    class Counts(SessionImages):
        known: ClassVar[dict] = {}
        misses = 0

        def _recalled(self, key, work):
            if key not in Counts.known:
                Counts.misses += 1
                Counts.known[key] = work()
            return Counts.known[key]

        def load(self, folder):
            return self._recalled((str(folder), folder.stat().st_ino), lambda: SessionImages.load(self, folder))

        def rehydrate(self, loaded, **more):
            return self._recalled(loaded.header.digest, lambda: SessionImages.rehydrate(self, loaded, **more))

    for params in (LOAD, REHYDRATE):
        found = opened("session_restore_ns", params, Desk(image=Counts))
        for _ in range(3):
            batch = found.batch(4)
            before = Counts.misses
            batch()
            assert Counts.misses == before + 4


# What is tampered with


def test_every_change_of_a_small_image_is_refused_by_name(tmp_path) -> None:
    found = opened("tamper_fail_closed")
    assert found.numerator == 1
    told = "; ".join(found.evidence)
    flips = int(told.partition("a byte flipped ")[2].partition(";")[0])
    assert flips % 2 == 0
    assert flips > 4_000
    for kind in ("cut in half 14", "deleted 14", "renamed 14", "replaced by a link to itself elsewhere 14"):
        assert kind in told
    for kind in ("made longer 14", "something added 4", "archive: a path that leads out 6", "archive: a link 1"):
        assert kind in told
    assert list(tmp_path.iterdir()) == []


SMALL = {"all.bin": b"x" * 8_704, HEADER: b"y" * 186}


@pytest.mark.parametrize("files", [SMALL, {"all.bin": b"", HEADER: b"{}"}, {"a": b"x", "b": b"", HEADER: b"{}"}])
def test_no_archive_that_is_to_be_refused_is_whole(files) -> None:
    for kind, _, data in archives(files):
        found = {}
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                for entry in tar:
                    held = tar.extractfile(entry) if entry.isreg() else None
                    found.setdefault(entry.name, []).append(None if held is None else held.read())
        except tarfile.ReadError:
            continue
        assert found != {name: [body] for name, body in files.items()}, kind


def test_an_image_with_an_empty_part_is_broken_in_every_way_that_changes_it(tmp_path) -> None:
    from harness.probes.session import _tampering

    image, files = tmp_path / "image", {"all.bin": b"", "one": b"1", HEADER: b"{}"}
    image.mkdir()
    _tampering._mend(image, files)

    def read(folder):
        found = {each.name: each for each in folder.iterdir()}
        for name, data in files.items():
            file = found.pop(name, None)
            if file is None or file.is_symlink() or not file.is_file() or file.read_bytes() != data:
                raise ImageRefusedError(name, "is not as it was.")
        for name in found:
            raise ImageRefusedError(name, "is too much.")

    trials = _tampering.Trials()
    asyncio.run(_tampering._broken(trials, read, image, files, {}))
    assert trials.taken == []
    assert trials.tried["emptied"] == 2
    assert trials.tried["made longer"] == 3


def told_of(kind, monkeypatch) -> tuple[int, str]:
    # A few bytes show as much as all of them, and a subject that takes what it must not is found at the first.
    from harness.probes.session import _tampering

    async def few(trials, read, image, files):
        await _flipped(trials, read, image, {name: data for name, data in files.items() if name == "bodies.bin"})

    _flipped = _tampering._flipped
    monkeypatch.setattr(_tampering, "_flipped", few)
    found = opened("tamper_fail_closed", runtime=Desk(image=kind))
    return found.numerator, "; ".join(found.evidence)


class TakesMore(SessionImages):
    """Does not look at what else is in the folder."""

    def load(self, folder):
        with ImageFolder(folder) as held:
            file = held.header()
            header = self._header(file)
            return LoadedImage(header, {part.name: held.part(part) for part in header.parts}, file)


class FollowsLinks(SessionImages):
    def load(self, folder):
        for each in folder.iterdir():
            if each.is_symlink():
                data = each.read_bytes()
                each.unlink()
                each.write_bytes(data)
        return super().load(folder)


class NamesNothing(SessionImages):
    def load(self, folder):
        try:
            return super().load(folder)
        except ImageRefusedError as error:
            raise ImageRefusedError("", "is bad.") from error


class Extracts(SessionImages):
    """Unpacks as the library does it where nobody tells it otherwise."""

    def unpack(self, file, folder):
        import tarfile

        with tarfile.open(file) as tar:
            # Early releases of 3.11 have no filter, and do what the word asks for.
            trusting = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
            tar.extractall(folder, **trusting)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Unread, "a byte flipped: bodies.bin was taken"),
        (TakesMore, "something added: notes.txt was taken"),
        (FollowsLinks, "replaced by a link to itself elsewhere: bodies.bin was taken"),
        (NamesNothing, "was refused as nothing"),
    ],
)
def test_a_change_that_is_taken_or_not_named_is_told(kind, said: str, monkeypatch) -> None:
    held, told = told_of(kind, monkeypatch)
    assert held == 0
    assert said in told


def test_an_archive_that_is_unpacked_as_it_asks_to_be_is_told(monkeypatch, tmp_path) -> None:
    from harness.probes.session import _tampering

    only = [each for each in _tampering.archives({HEADER: b"{}"}) if each[1] in ("../out", "link")]
    monkeypatch.setattr(_tampering, "archives", lambda files: iter(only))
    held, told = told_of(Extracts, monkeypatch)
    assert held == 0
    assert "something was left beside the folder" in told or "was taken" in told


def test_a_runtime_that_refuses_everything_is_no_careful_one() -> None:
    class Refuses(SessionImages):
        def load(self, folder):
            raise ImageRefusedError(HEADER, "is refused as everything is.")

    with pytest.raises(ImageRefusedError):
        opened("tamper_fail_closed", runtime=Desk(image=Refuses))


def test_a_runtime_that_writes_into_what_it_reads_is_found_out(monkeypatch) -> None:
    class Mends(SessionImages):
        def verify(self, folder):
            found = super().verify(folder)
            (folder / HEADER).write_bytes(json.dumps({}).encode())
            return found

    with pytest.raises((WorkNotDoneError, ImageRefusedError)):
        opened("tamper_fail_closed", runtime=Desk(image=Mends))


def test_waiting_methods_are_awaited_while_an_image_is_tampered_with(monkeypatch) -> None:
    from harness.probes.session import _tampering

    async def none(*given):
        return None

    monkeypatch.setattr(_tampering, "_flipped", none)
    kind = slow(SessionImages, "dump", "load", "verify", "rehydrate", "unpack")
    assert asyncio.run(opened("tamper_fail_closed", runtime=Desk(image=kind))).numerator == 1
