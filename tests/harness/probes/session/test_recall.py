from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.session import _elsewhere
from harness.probes.session._boundary import CARRIED
from harness.probes.session._kept import WORDINGS, _results
from harness.probes.session.recall import Probe
from seams.contract.recall import Policy, Promotions, Recorded, Refusal, Refused
from seams.contract.turn import Durability
from seams.runtimes.reference import Reference, make
from seams.session.image import SessionImages
from seams.session.quarantine import Screening
from seams.session.recall import CoreImage, CoreImages
from tests.harness.probes.session.desks import Desk, cores, slow

INDEX, KV = {"what": "index"}, {"what": "kv"}


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    assert list(tmp_path.iterdir()) == []


def opened(kpi: str, params=None, runtime=None):
    return Probe().open(kpi, runtime or make(), None, params or {})


def test_the_probe_opens_four_kpis() -> None:
    assert Probe.kpis == {
        "session_resume_warmth",
        "promotion_rate",
        "quarantine_survives_boundary",
        "pageout_ratio",
    }


@pytest.mark.parametrize("kpi", sorted(Probe.kpis))
def test_a_runtime_without_a_core_image_is_undefined(kpi: str) -> None:
    found = opened(kpi, INDEX, Desk(recall=None))
    assert found == Undefined("not-offered", "The runtime stub offers no core image.")


@pytest.mark.parametrize("kpi", ["session_resume_warmth", "quarantine_survives_boundary"])
def test_a_runtime_without_an_image_is_undefined(kpi: str) -> None:
    found = opened(kpi, INDEX, Desk(image=None))
    assert found == Undefined("not-offered", "The runtime stub offers no image to bring a session back from.")


# Promotion


def test_durable_results_over_harmless_ones() -> None:
    found = opened("promotion_rate")
    assert (found.numerator, found.denominator, found.excluded) == (8, 36, 4)
    assert found.reasons == {"durable": 8, "session": 12, "turn": 16}
    assert "28 refused: session 12, turn 16" in found.evidence[0]
    assert found.evidence[1].startswith("0 of them are of another class")
    assert found == opened("promotion_rate")
    by_class = [durability for _, durability in _results()]
    assert by_class.count(Durability.DURABLE) == 4 * len(WORDINGS[Durability.DURABLE]) == 8


def test_another_reading_of_the_wordings_is_another_rate_and_is_told() -> None:
    class Eager(Screening):
        def look(self, tool, body):
            look = super().look(tool, body)
            return look._replace(durability=Durability.DURABLE)

    class Core(CoreImage):
        def __init__(self, policy=Policy.WARN) -> None:
            super().__init__(policy, Eager())

    found = opened("promotion_rate", runtime=Desk(recall=cores(Core)))
    assert (found.numerator, found.denominator) == (36, 36)
    assert found.evidence[1].startswith("28 of them are of another class")


class FromTheTable(CoreImage):
    """Counts the pages that are there, which under enforce are all durable."""

    def promotions(self):
        benign = sum(not page.sealed for page in self.pages())
        kept = sum(page.durability is Durability.DURABLE for page in self.pages())
        return Promotions(benign, {"turn": benign - kept} if benign > kept else {})


class NeverEnforces(CoreImage):
    def __init__(self, policy=Policy.WARN) -> None:
        super().__init__()


class DropsPoison(CoreImage):
    def record(self, tool, body, **more):
        look = self.screening.look(tool, body)
        if look.sealed:
            return Recorded(look.verdict, look.durability, None)
        return super().record(tool, body, **more)


class SealsNothing(CoreImage):
    def __init__(self, policy=Policy.WARN) -> None:
        super().__init__(policy, Screening(()))


@pytest.mark.parametrize("kind", [FromTheTable, NeverEnforces, DropsPoison, SealsNothing])
def test_books_that_are_not_those_of_what_was_recorded_are_found_out(kind) -> None:
    with pytest.raises(WorkNotDoneError):
        opened("promotion_rate", runtime=Desk(recall=cores(kind)))


# Where the bodies are


def test_a_page_table_shows_beginnings_and_no_bodies() -> None:
    found = opened("pageout_ratio")
    assert found == opened("pageout_ratio")
    inlined = found.denominator - found.numerator
    assert 100 < inlined < 3_000
    assert found.reasons == {"stored": found.numerator, "inlined": inlined}
    assert "0 bodies stand in the page table whole" in found.evidence[0]


def test_a_table_that_holds_the_bodies_too_has_a_lower_ratio() -> None:
    class Inlines(CoreImage):
        def pages(self):
            for page in super().pages():
                yield page if page.sealed else page._replace(witness=self.store.get(page.digest).decode())

    found = opened("pageout_ratio", runtime=Desk(recall=cores(Inlines)))
    assert 0.5 < found.numerator / found.denominator < 0.53
    assert "97 bodies stand in the page table whole" in found.evidence[0]


class Forgets(CoreImage):
    def resolve(self, step, as_of=None):
        return Refused(Refusal.NOT_STORED)


class Overstates(CoreImage):
    def stats(self):
        found = super().stats()
        return replace(found, stored_bytes=found.stored_bytes * 2)


class ShowsThePoison(CoreImage):
    def pages(self):
        for page in super().pages():
            yield page._replace(descriptor=self.store.get(page.digest).decode()) if page.sealed else page


@pytest.mark.parametrize("kind", [Forgets, Overstates, ShowsThePoison, SealsNothing])
def test_a_store_or_a_table_that_is_not_what_it_has_to_be_is_found_out(kind) -> None:
    with pytest.raises(WorkNotDoneError):
        opened("pageout_ratio", runtime=Desk(recall=cores(kind)))


# Warmth


def test_a_stored_index_is_warm_and_a_models_cache_is_not() -> None:
    index, kv = opened("session_resume_warmth", INDEX), opened("session_resume_warmth", KV)
    assert (index.numerator, index.denominator, index.reasons) == (5, 5, {"warm": 5})
    assert (kv.numerator, kv.reasons) == (0, {"cold": kv.denominator})
    assert kv.denominator > 4_000
    assert index == opened("session_resume_warmth", INDEX)


def test_an_image_without_an_index_is_cold_and_one_that_says_otherwise_is_found_out() -> None:
    class Bare(SessionImages):
        def dump(self, session, folder, *, index=True, **more):
            return super().dump(session, folder, index=False, **more)

    class Claims(Bare):
        def rehydrate(self, loaded, **more):
            return replace(super().rehydrate(loaded, **more), index="warm", kv_positions=17)

    cold = opened("session_resume_warmth", INDEX, Desk(image=Bare))
    assert (cold.numerator, cold.denominator, cold.reasons) == (0, 5, {"rebuild": 5})
    with pytest.raises(WorkNotDoneError, match="dumped without one is said to be warm"):
        opened("session_resume_warmth", INDEX, Desk(image=Claims))
    kv = opened("session_resume_warmth", KV, Desk(image=Claims))
    assert (kv.numerator, kv.reasons) == (17, {"cached": 17, "cold": kv.denominator - 17})


@pytest.mark.parametrize("positions", [10**6, -1, 0.5, True])
def test_no_more_positions_come_back_than_there_are(positions) -> None:
    class Boasts(SessionImages):
        def rehydrate(self, loaded, **more):
            return replace(super().rehydrate(loaded, **more), kv_positions=positions)

    with pytest.raises(WorkNotDoneError, match="positions are said to have come back, of a session that has 6017"):
        opened("session_resume_warmth", KV, Desk(image=Boasts))


def test_an_index_that_takes_no_room_in_its_image_is_not_in_it() -> None:
    class Says(SessionImages):
        """Never stores an index, and remembers whether it was asked to."""

        def dump(self, session, folder, *, index=True, **more):
            self.asked = index
            return super().dump(session, folder, index=False, **more)

        def rehydrate(self, loaded, **more):
            return replace(super().rehydrate(loaded, **more), index="warm" if self.asked else "rebuild")

    with pytest.raises(WorkNotDoneError, match="is said to bring an index, and has"):
        opened("session_resume_warmth", INDEX, Desk(image=Says))


def test_books_by_class_are_those_of_what_was_said() -> None:
    class Swapped(CoreImage):
        def promotions(self):
            books = super().promotions()
            return Promotions(books.benign, {"turn": 12, "session": 16})

    with pytest.raises(WorkNotDoneError, match="the books of warn"):
        opened("promotion_rate", runtime=Desk(recall=cores(Swapped)))


def test_an_index_that_does_not_find_the_pages_is_found_out() -> None:
    class Blind(SessionImages):
        def rehydrate(self, loaded, **more):
            found = super().rehydrate(loaded, **more)
            found.session.core.recall = lambda query, limit, as_of=None: []
            return found

    with pytest.raises(WorkNotDoneError, match="share a word with the question and 0 were recalled"):
        opened("session_resume_warmth", INDEX, Desk(image=Blind))


# The boundary


def test_what_was_sealed_stays_sealed_in_a_new_process() -> None:
    found = opened("quarantine_survives_boundary")
    assert found.numerator == 1
    assert found.evidence[0] == (
        f"4 images ({', '.join(CARRIED)}) dumped, packed, unpacked and read in a new process under another hash seed"
    )


class Trusting(SessionImages):
    """Screens nothing after a resume: a clearance is enough."""

    def rehydrate(self, loaded, **more):
        return super().rehydrate(loaded, screening=Screening(()), **more)


class Forgetful(SessionImages):
    """Loses the marks of quarantine."""

    def rehydrate(self, loaded, **more):
        found = super().rehydrate(loaded, screening=Screening(()), **more)
        for page in list(found.session.core.pages()):
            found.session.core.clear(page.qid)
        return found


class Shreds(SessionImages):
    def rehydrate(self, loaded, **more):
        found = super().rehydrate(loaded, **more)
        core = found.session.core
        resolve = core.resolve
        core.resolve = lambda step, as_of=None: body[:-1] if isinstance(body := resolve(step), bytes) else body
        return found


class Deaf(SessionImages):
    """Takes no clearance, so that nobody learns what the gates would have said."""

    def rehydrate(self, loaded, **more):
        found = super().rehydrate(loaded, **more)
        found.session.core.clear = lambda qid: False
        return found


class Handed(Reference):
    """A runtime of which one part is another, and which can be handed to another process."""

    def __init__(self, kind) -> None:
        self.kind = kind

    def offer(self, seam, engine):
        return self.kind() if seam == "session/image" else super().offer(seam, engine)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Trusting, "cleared the pages came back"),
        (Forgetful, "at once the pages came back"),
        (Shreds, "at once the pages came back"),
        (Deaf, "0 clearances were noted"),
    ],
)
def test_a_page_that_comes_out_is_told(kind, said: str) -> None:
    found = opened("quarantine_survives_boundary", runtime=Handed(kind))
    assert found.numerator == 0
    assert any(said in each for each in found.evidence)
    assert "in a new process" in found.evidence[0]


def test_a_runtime_that_cannot_be_handed_over_is_asked_here_and_that_is_told() -> None:
    runtime = Desk()
    runtime.lock = threading.Lock()
    found = opened("quarantine_survives_boundary", runtime=runtime)
    assert found.numerator == 1
    assert "in this process, because the runtime cannot be handed to another (TypeError)" in found.evidence[0]


def test_gates_that_seal_nothing_leave_nothing_to_survive() -> None:
    with pytest.raises(WorkNotDoneError, match="of results with one injection among them"):
        opened("quarantine_survives_boundary", runtime=Desk(recall=cores(SealsNothing)))


def test_a_disguise_that_the_gates_do_not_see_through_is_no_trial() -> None:
    class Plain(CoreImage):
        def __init__(self, policy=Policy.WARN) -> None:
            from seams.syscall.admission import BareGate

            super().__init__(policy, Screening((BareGate(),)))

    found = opened("quarantine_survives_boundary", runtime=Desk(recall=cores(Plain)))
    assert found.evidence[0].startswith("2 images (injection, secret) ")


def test_another_process_that_ends_without_an_answer_is_told() -> None:
    class Far(Reference):
        def __reduce__(self):
            return (exec, ("raise SystemExit('no such part')",))

    with pytest.raises(WorkNotDoneError, match="another process could not read the images"):
        asyncio.run(_elsewhere.across(Far(), []))


@pytest.mark.parametrize(("kpi", "params"), [(kpi, INDEX) for kpi in sorted(Probe.kpis)])
def test_an_asynchronous_runtime_is_awaited(kpi: str, params) -> None:
    # The recall of the reference asks its own resolve, which then cannot be a coroutine function.
    reads = "recall" if kpi == "session_resume_warmth" else "resolve"
    core = slow(CoreImage, "record", reads, "clear", "promotions", "stats")
    images = slow(SessionImages, "dump", "load", "rehydrate", "pack", "unpack")

    class Images(images):
        """Resumes into a core whose methods wait as well."""

        def __init__(self) -> None:
            super().__init__()

        async def rehydrate(self, loaded, **more):
            found = await super().rehydrate(loaded, **more)
            found.session.core.__class__ = core
            return found

    found = asyncio.run(opened(kpi, params, Desk(recall=cores(core), image=Images)))
    plain = opened(kpi, params)
    assert (found.numerator, found.denominator) == (plain.numerator, plain.denominator)
    assert isinstance(CoreImages().core(), CoreImage)
