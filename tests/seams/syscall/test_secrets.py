"""The ten shapes of a secret at their shortest, one character less, and in the place of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seams.syscall.runs import SHORTEST_TOKEN
from seams.syscall.secrets import PLACEHOLDERS, SHAPES, secret_in

FILL = b"Q7" * 30


def shaped(prefix: bytes, at_least: int, fill: bytes = FILL) -> bytes:
    return prefix + fill[:at_least]


SHORTEST = {
    "sk": shaped(b"sk-", 16),
    "sk capitals": shaped(b"SK-", 16),
    **{f"sk-{kind}": shaped(b"sk-%s-" % kind.encode(), 12, b"a_-" * 4) for kind in ("proj", "live", "ant")},
    **{kind: shaped(kind.encode(), 12) for kind in ("AKIA", "ASIA", "AGPA", "AIDA", "AROA")},
    "AIza": shaped(b"AIza", 20, b"aB_-" * 5),
    **{kind: shaped(kind.encode(), 20) for kind in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")},
    "github_pat_": shaped(b"github_pat_", 20, b"a_B1" * 5),
    **{f"xox{letter}": shaped(b"xox%s" % letter.encode(), 10) for letter in "baprse"},
    **{f"xox{letter}-": shaped(b"xox%s-" % letter.encode(), 9) for letter in "baprse"},
    "web token": b"eyJ" + FILL[:10] + b".eyJ" + FILL[:10] + b"." + FILL[:10],
    **{
        f"near {word}": word.encode() + b'": "' + FILL[:20]
        for word in ("token", "Secret", "api key", "api_key", "API-KEY", "apikey", "bearer", "password", "passwd")
    },
}


@pytest.mark.parametrize("name", SHORTEST)
def test_the_shortest_of_each_shape_is_a_secret_and_one_less_is_none(name: str) -> None:
    secret = SHORTEST[name]
    assert secret_in(b"the value is " + secret + b" and no more")
    assert secret_in(secret)
    assert not secret_in(b"the value is " + secret[:-1] + b" and no more")


def test_no_shape_is_shorter_than_a_token() -> None:
    tokens = [each for name, each in SHORTEST.items() if not name.startswith("near")]
    assert min(map(len, tokens)) == SHORTEST_TOKEN
    assert len(SHAPES) == 8, "and web tokens and key files, which are not in one token"


@pytest.mark.parametrize(
    "header",
    [b"-----BEGIN PRIVATE KEY-----", b"-----BEGIN RSA PRIVATE KEY-----", b"-----BEGIN OPENSSH EC PRIVATE KEY-----"],
)
def test_a_key_file_is_one(header: bytes) -> None:
    assert secret_in(b"here: " + header + b"\nMIIE")
    assert not secret_in(header.replace(b"PRIVATE", b"PUBLIC"))
    assert not secret_in(header.replace(b"-----BEGIN", b"----BEGIN"))
    assert not secret_in(header.lower())


@pytest.mark.parametrize(
    "text",
    [
        b"AKIa" + FILL[:12],
        b"akia" + FILL[:12].lower(),
        b"aiza" + FILL[:20],
        b"token" + FILL[:20],
        b"token     " + FILL[:20],
        b"token\n" + FILL[:20],
        b"eyJ" + FILL[:10] + b".eyJ" + FILL[:10],
        b"eyJ" + FILL[:10] + b".eyJ" + FILL[:10] + b". " + FILL[:10],
        b"task-management-and-planning",
        b"https://docs.example/reference/authentication/overview",
    ],
)
def test_what_only_comes_near(text: bytes) -> None:
    assert not secret_in(text)


def test_a_web_token_may_begin_with_the_second_part_of_what_is_none() -> None:
    part = b".eyJ" + FILL[:10]
    assert secret_in(b"abcdefghijklmn" + part * 2 + b"." + FILL[:10])
    assert secret_in(b"prefix-eyJeyJ" + FILL[:10] + part + part)


def test_a_keyword_at_the_end_of_a_long_name_still_counts() -> None:
    assert secret_in(b'MY_APPLICATION_SECRET_TOKEN="' + FILL[:20] + b'"')
    assert secret_in(b"x" * 40 + b" api_key='" + FILL[:20] + b"'")


@pytest.mark.parametrize("hint", PLACEHOLDERS)
@pytest.mark.parametrize("upper", [False, True])
def test_what_stands_in_the_place_of_a_secret_is_none(hint: bytes, upper: bool) -> None:
    value = b"sk-ant-" + (hint.upper() if upper else hint) + FILL[:20]
    assert not secret_in(b"set ANTHROPIC_KEY to " + value)
    assert secret_in(b"set ANTHROPIC_KEY to " + value + b" or " + SHORTEST["sk-ant"])


def test_the_values_are_the_listed_ones(cases: Path) -> None:
    listed = json.loads((cases / "replay" / "admission-lists.json").read_text())
    assert [hint.decode() for hint in PLACEHOLDERS] == listed["placeholder_hints"]
    prefixed = [(prefix, shape) for shape in listed["secret_shapes"] for prefix in shape.get("prefix", ())]
    assert len(prefixed) == 22
    for prefix, shape in prefixed:
        first, least = prefix.encode(), shape["at_least"]
        assert secret_in(shaped(first, least)), prefix
        assert not secret_in(shaped(first, least - 1)), prefix
        assert secret_in(shaped(first.swapcase(), least)) == shape.get("case_insensitive", False), prefix
