"""What a core image keeps of what it was given: which results earn a page, and where the bytes of the bodies are."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any

from harness.measure.clock import Tally, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._pages import PAGES, POISON, Body, authored, recorded, verify_core
from seams.contract.recall import Page, Policy, Promotions, Recall
from seams.contract.turn import Durability

__all__ = ["WORDINGS", "paged_out", "promoted"]

WORDINGS: dict[Durability, tuple[str, ...]] = {
    Durability.DURABLE: ("the traveller prefers the aisle", "my home airport is Oslo; i always fly in the morning"),
    Durability.SESSION: ("we are working on the refund", "for now keep the old fare", "the current task is the claim"),
    Durability.TURN: (
        "it is raining in Lisbon",
        "the gate is B{number}",
        "14 claims are open",
        "the fare is 389 euros",
    ),
}
"""How results of each class are worded."""

_ROUNDS = 4


def _results() -> list[tuple[Body, Durability | None]]:
    """Results with the class that their wording calls for; None of a poisoned one."""
    found: list[tuple[Body, Durability | None]] = []
    for number in range(_ROUNDS):
        for durability, wordings in WORDINGS.items():
            for wording in wordings:
                text = f"Note {number}: {wording.format(number=number)}"
                found.append((Body("read_note", text.encode()), durability))
        found.append((Body("read_webpage", f"Note {number}: {POISON}".encode(), poisoned=True), None))
    return found


async def _books(recall: Recall, policy: Policy) -> tuple[Promotions, Counter[str]]:
    """The books of a core under ``policy`` after all results, and the classes that it gave to harmless ones.

    Raises:
        WorkNotDoneError: the books are not those of what was said of each result, or of the pages that there are.
    """
    core = recall.core(policy)
    classes: Counter[str] = Counter()
    left_out = sealed = 0
    for body, durability in _results():
        came = await settled(core.record(body.tool, body.body))
        left_out += came.step is None
        if durability is None:
            sealed += 1
            if came.step is None:
                raise WorkNotDoneError("a poisoned result got no page, so that nobody will know of it")
            continue
        classes[came.durability.value] += 1
    books: Promotions = await settled(core.promotions())
    pages: list[Page] = list(core.pages())
    refused = sum(books.refused.values())
    benign = classes.total()
    told = f"the books of {policy.value} count {books.benign} harmless results and {refused} refused"
    by_class = {name: count for name, count in books.refused.items() if count}
    if books.benign != benign or by_class != {name: n for name, n in classes.items() if name != Durability.DURABLE}:
        raise WorkNotDoneError(f"{told}, of {benign} with {classes[Durability.DURABLE]} durable")
    if len(pages) != sealed + benign - left_out or sum(page.sealed for page in pages) != sealed:
        raise WorkNotDoneError(f"{told}, and there are {len(pages)} pages")
    if left_out != (refused if policy is Policy.ENFORCE else 0):
        raise WorkNotDoneError(f"{told}, and {left_out} results were left out")
    return books, classes


async def promoted(recall: Recall) -> Tally:
    """Durable results over harmless ones. Both policies count alike; one of them leaves the others out.

    Raises:
        WorkNotDoneError: the two policies disagree on the classes.
    """
    (books, classes), (enforced, again) = [await _books(recall, policy) for policy in (Policy.WARN, Policy.ENFORCE)]
    if classes != again or books != enforced:
        raise WorkNotDoneError("the same results are of other classes under the other policy")
    refused = sum(books.refused.values())
    wanted = Counter(durability.value for _, durability in _results() if durability is not None)
    off = sum((classes - wanted).values())
    left = ", ".join(f"{name} {count}" for name, count in sorted(books.refused.items()))
    return Tally(
        books.benign - refused,
        books.benign,
        reasons=dict(classes),
        excluded=_ROUNDS,
        source="synthetic",
        evidence=(
            f"{books.benign} harmless results, {refused} refused: {left}; {_ROUNDS} sealed ones are in neither",
            f"{off} of them are of another class than their wording calls for",
            f"kept under warn {books.benign}, under enforce {books.benign - refused}",
        ),
    )


async def paged_out(recall: Recall) -> Tally:
    """Bytes of bodies in the store over those and the ones that stand in the page table besides.

    Raises:
        WorkNotDoneError: the store does not hold what it was given, or a page is not what it has to be.
    """
    bodies = authored(PAGES)
    bodies.append(bodies[0])  # a body that is there already
    core = await recorded(recall.core(), bodies)
    await verify_core(core, bodies)
    stored = sum(map(len, {each.body for each in bodies}))
    held: Any = await settled(core.stats())
    if held.stored_bytes != stored:
        raise WorkNotDoneError(f"bodies of {stored} bytes were recorded and the store holds {held.stored_bytes}")
    excerpts = [_excerpt(page, each) for page, each in zip(core.pages(), bodies, strict=True)]
    inlined = sum(excerpts)
    whole = sum(size >= len(each.body) for size, each in zip(excerpts, bodies, strict=True))
    return Tally(
        stored,
        stored + inlined,
        reasons={name: count for name, count in (("stored", stored), ("inlined", inlined)) if count},
        source="synthetic",
        evidence=(
            f"{len(bodies)} pages: {stored} bytes stored, each body once; {whole} bodies stand in the page table whole",
            f"{inlined} bytes are beginnings of bodies, shown as descriptors",
        ),
    )


def _excerpt(page: Sequence[Any], each: Body) -> int:
    """Bytes of the longest beginning of the body that stands in a field of its page."""
    fields = [value.encode() if isinstance(value, str) else value for value in page if isinstance(value, str | bytes)]
    sizes = range(1, len(each.body) + 1)
    # A longer beginning is nowhere where a shorter one is not, so the longest one is found by bisection.
    return bisect_right(sizes, False, key=lambda size: not any(each.body[:size] in field for field in fields))
