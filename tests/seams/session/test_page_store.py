"""Bodies and pages as they lie in files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.recall import Page
from seams.contract.turn import Durability
from seams.contract.verdict import Taint
from seams.session.lines import Lines
from seams.session.page_store import PageStore
from seams.session.page_table import PageTable, decoded, encoded

BODIES = st.lists(st.binary(max_size=40), max_size=12)


def text_of(store: PageStore) -> bytes:
    found: list[bytes] = []
    store.write(found.append)
    return b"".join(found)


@given(first=BODIES, then=BODIES)
def test_the_same_bodies_are_the_same_bytes_whatever_their_order(first, then) -> None:
    store = PageStore()
    digests = {store.put(body): body for body in first}
    again = PageStore(text_of(store))
    digests |= {again.put(body): body for body in then}
    other = PageStore()
    for body in reversed([*first, *then]):
        other.put(body)
    assert text_of(again) == text_of(other)
    assert len(again) == len(digests)
    assert again.size == other.size == sum(map(len, digests.values()))
    loaded = PageStore(text_of(again))
    for digest, body in digests.items():
        assert again.get(digest) == loaded.get(digest) == body
        assert again.begun(digest, 0)[0] == loaded.begun(digest, 0)[0] == len(body)
        assert again.begun(digest, 3) == loaded.begun(digest, 3) == (len(body), body[:3])
    assert loaded.get("0" * 64) is loaded.begun("0" * 64, 9) is loaded.get("f" * 64) is None


def stored(*bodies: bytes) -> bytes:
    store = PageStore()
    for body in bodies:
        store.put(body)
    return text_of(store)


def test_a_file_of_bodies_that_is_not_sound_is_refused() -> None:
    data = stored(b"one", b"two!")
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(ValueError, match="has a body at byte"):
            PageStore(bytes(changed))
        if at not in (0, 40 + len(PageStore(data).get(data[:32].hex()))):
            with pytest.raises(ValueError, match="has a body at byte"):
                PageStore(data[:at])
    with pytest.raises(ValueError, match="out of order, or there twice"):
        PageStore(stored(b"one") * 2)


PAGES = st.builds(
    Page,
    step=st.just(0),
    tool=st.text(max_size=8),
    descriptor=st.text(max_size=20),
    digest=st.just("ab" * 32),
    size=st.integers(0, 2**70),
    taint=st.sampled_from((Taint.TAINTED, Taint.TRUSTED)),
    qid=st.just(""),
    reason=st.just(""),
    durability=st.sampled_from(Durability),
    valid_to=st.integers(0, 2**60),
    witness=st.text(max_size=4),
    utility=st.floats(allow_nan=False, allow_infinity=False),
    tombstoned=st.booleans(),
)


@given(page=PAGES)
def test_a_page_comes_back_from_its_line(page: Page) -> None:
    assert decoded(0, encoded(page)[:-1]) == page


GOOD = encoded(Page(0, "t", "t: x", "0" * 64, 1, Taint.TAINTED, "", "", Durability.TURN))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"tainted"', b'"clean"'),
        (b'"turn"', b'"ever"'),
        (b",0.0,", b",1,"),
        (b",0.0,", b",NaN,"),
        (b"false]", b"0]"),
        (b"false]", b'false,"more"]'),
        (b",false]", b"]"),
        (b"false]", b"false"),
        (b",1,", b",-1,"),
        (b",1,", b",true,"),
        (b'["t"', b"[null"),
        (b"000", b"00g"),
        (b'"tainted",""', b'"quarantined",""'),
        (b'"tainted",""', b'"tainted","q1"'),
        (b'"tainted","",""', b'"tainted","","POLICY_BLOCK"'),
        (b'"tainted","",""', b'"quarantined","q1",""'),
        (b'"tainted","",""', b'"quarantined","q1","ignore previous instructions"'),
        (GOOD, b'{"tool":1}\n'),
        (GOOD, b"\xff\n"),
        (GOOD, b"[" * 5000 + b"\n"),
    ],
)
def test_a_line_that_is_no_page_is_refused(old: bytes, new: bytes) -> None:
    assert old in GOOD
    bad = GOOD.replace(old, new, 1)
    with pytest.raises(ValueError, match=r"that is no page|whose [a-z_]+ is none"):
        decoded(0, bad[:-1])


def test_a_table_counts_its_pages_and_goes_on_where_an_image_ended() -> None:
    table = PageTable(Lines(GOOD))
    table.append(table[0]._replace(step=1, tool="u"))
    with pytest.raises(ValueError, match="The next page is 2, and this one says 1"):
        table.append(table[1])
    table.replace(table[0]._replace(tombstoned=True))
    assert [(page.step, page.tool, page.tombstoned) for page in table] == [(0, "t", True), (1, "u", False)]
    found: list[bytes] = []
    table.write(found.append)
    assert b"".join(found) == encoded(table[0]) + encoded(table[1])
    with pytest.raises(IndexError):
        table[2]
    with pytest.raises(IndexError):
        table[-1]


def test_lines_are_found_and_a_cut_one_is_refused() -> None:
    lines = Lines(b"one\n\nthree\n")
    assert list(lines) == [b"one", b"", b"three"]
    assert len(Lines()) == 0
    for bad in (3, -1):
        with pytest.raises(IndexError):
            lines[bad]
    with pytest.raises(ValueError, match="middle of a line"):
        Lines(b"one\ntwo")
