"""No word of a recording survives, equal words stay equal within a file, and nothing can be matched across files."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.pseudonym import HEAD_BYTES, WORDS, Pseudonyms, safe_id, safe_name

_WORD = re.compile(r"[^\W_]+")


@given(st.text(max_size=300), st.binary(max_size=40))
@settings(deadline=None)
def test_no_word_of_four_letters_survives(text: str, key: bytes) -> None:
    body = text.encode("utf-8", "surrogatepass")
    head = Pseudonyms(key).head(body)
    for word in _WORD.findall(text.lower()):
        if len(word) >= 4:
            assert word not in _WORD.findall(head), (word, head)
    assert len(head.encode()) <= HEAD_BYTES
    assert head.isascii()
    assert head.isprintable()


@given(st.text(max_size=300) | st.lists(st.text(max_size=9)).map("\n".join), st.binary(max_size=40))
@settings(deadline=None)
def test_no_word_of_four_letters_survives_among_the_words_of_a_prompt(text: str, key: bytes) -> None:
    body = text.encode("utf-8", "surrogatepass")
    prompt = Pseudonyms(key).prompt(body)
    assert prompt == Pseudonyms(key).head(body)
    kept = prompt.words.split(" ") if prompt.words else []
    for word in _WORD.findall(text.lower()):
        if len(word) >= 4:
            assert word not in kept, (word, kept)
    assert len(kept) == len(set(kept)) <= WORDS
    assert all(2 < len(word) <= HEAD_BYTES and word.isascii() and word.isalpha() for word in kept)


@given(st.lists(st.sampled_from(["refund", "policy", "cancel", "ledger", "price", "seat"]), min_size=1, max_size=12))
@settings(deadline=None)
def test_no_ordinary_word_survives_inside_the_words_either(words: list[str]) -> None:
    kept = Pseudonyms(b"key").words("\n".join(words).encode())
    assert len(kept.split()) == len(set(words))
    assert not [word for word in words if word in kept]


def test_the_words_of_a_prompt_are_those_of_its_heads_and_of_every_line() -> None:
    names = Pseudonyms(b"key")
    prompt = names.prompt(b"Cancel it: my ledger.\n\nThe LEDGER of 2024,\nas an order")
    assert prompt == names.head(b"Cancel it: my ledger.")
    assert prompt.words.split() == [names.word(word) for word in ("cancel", "ledger", "the", "2024", "order")]


def test_the_words_of_a_prompt_are_bounded() -> None:
    names = Pseudonyms(b"key")
    body = " ".join(f"word{number}" for number in range(1_000)).encode()
    assert names.words(body).split() == [names.word(f"word{number}") for number in range(WORDS)]
    assert names.words(b"a" * 1_000_000) == names.word("a" * HEAD_BYTES)
    assert names.words(b"\xff\xfe it is") == names.words(b"") == ""


@given(st.lists(st.sampled_from(["refund", "policy", "cancel", "ledger", "price", "seat"]), min_size=1, max_size=12))
@settings(deadline=None)
def test_no_ordinary_word_survives_even_inside_another(words: list[str]) -> None:
    head = Pseudonyms(b"key").head(" ".join(words).encode())
    assert not [word for word in words if word in head]


@given(st.binary(max_size=500))
@settings(deadline=None)
def test_any_bytes_make_a_head(body: bytes) -> None:
    head = Pseudonyms(b"key").head(body)
    assert len(head) <= HEAD_BYTES
    assert len(head.encode()) <= len(body)


def test_equal_words_stay_equal_and_keep_their_length() -> None:
    names = Pseudonyms(b"key")
    first, second, third = names.head(b"Refund the refund, REFUND it").split()[0:3]
    assert first == third.rstrip(".") == names.word("reFund")
    assert (len(first), len(second)) == (6, 3)


def test_short_words_become_filler_and_signs_one_class() -> None:
    assert Pseudonyms(b"key").head(b"\x1b[1m a: bc\t(d)") == "..xx x. xx .x."


def test_the_first_line_that_holds_something_is_taken() -> None:
    names = Pseudonyms(b"key")
    assert names.head(b"\n\n  ledger \nsecond line") == names.word("ledger")
    assert names.head(b" \n\t ") == ""


def test_the_head_is_cut_at_120_bytes_also_inside_a_character() -> None:
    names = Pseudonyms(b"key")
    assert len(names.head(b"a" * 500)) == HEAD_BYTES
    assert len(names.head("é".encode() * 200)) == HEAD_BYTES // 2
    assert len(names.head(b"a" + "é".encode() * 200)) == HEAD_BYTES // 2 + 1


def test_another_file_gives_other_words_and_digests() -> None:
    one, two = Pseudonyms(b"one"), Pseudonyms(b"two")
    assert one.word("itinerary") != two.word("itinerary")
    assert one.digest(b"itinerary") != two.digest(b"itinerary")
    assert one.digest(b"itinerary") == Pseudonyms(b"one").digest(b"itinerary")


def test_names_and_ids_are_kept_only_where_they_look_like_some() -> None:
    assert safe_name("mcp__desk__quote") == "mcp__desk__quote"
    assert safe_name("Ba\x1b[31msh\n") == "Ba__31msh_"
    assert safe_id("msg_01-a.b:c") == "msg_01-a.b:c"
    assert safe_id("a b") == safe_id("a b") != safe_id("a c")
    assert safe_id("\ud800").startswith("id-")


def test_a_variant_in_brackets_stays_at_the_end_of_a_name_alone() -> None:
    assert safe_name("claude-sonnet-4-5[1m]") == "claude-sonnet-4-5[1m]"
    assert safe_name("a[1m]b") == "a_1m_b"
    assert safe_name("a[\x1b]") == "a___"
