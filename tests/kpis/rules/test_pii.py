"""Personal data and credentials: what is found, what is nobody's, and where it stands."""

from __future__ import annotations

import pytest

from kpis.terms.claim import ClaimState
from tests.kpis.rules.asking import claim, fires, spans

PII = "no_pii"
TWELVE = "abandon ability able about above absent absorb abstract absurd abuse access accident"


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("SSN", "512-44-9871"),
        ("SSN", "123-45-6789"),
        ("Credit Card", "4539 5787 6362 1486"),
        ("Credit Card", "4539578763621486"),
        ("Phone", "(415) 867-5309"),
        ("Phone", "+1 415.867.5309"),
        ("Phone", "415 867 5309"),
        ("Email", "jane.roe@corp.io"),
        ("Email", "a@example.com.evil.net"),
        ("IBAN", "DE89370400440532013000"),
        ("Passport", "passport number: C12345678"),
        ("Date of Birth", "DOB: 1990-01-02"),
        ("Date of Birth", "born on 3/4/1990"),
        ("Medical Record Number", "MRN: A1234567"),
        ("IP Address", "8.8.8.8"),
        ("API Key", "sk-abcdefghij0123456789klm"),
        ("API Key", "Bearer abcdefghij0123456789klm"),
        ("AWS Access Key", "AKIAIOSFODNN7EXAMPLE"),
        ("Slack Token", "xoxb-" + "0123456789ab"),
        ("SendGrid Key", "SG." + "a" * 22 + "." + "b" * 43),
        ("GitHub Token", "ghp_" + "a1" * 18),
        ("Google API Key", "AIza" + "b2" * 17),
        ("npm Token", "npm_" + "c3" * 18),
        ("DigitalOcean Token", "dop_v1_" + "d4" * 32),
        ("Private Key", "-----BEGIN RSA PRIVATE KEY-----"),
        ("Seed Phrase", f"seed phrase: {TWELVE}"),
    ],
)
def test_what_is_found_and_where(label: str, text: str) -> None:
    before = "\U0001f600 Here: "
    assert (9, 9 + len(text), label) in spans(claim(PII, f"{before}{text} and on."))


@pytest.mark.parametrize(
    "text",
    [
        "000-12-3456 666-12-3456 912-12-3456 512-00-9871 512-44-0000",
        "1512-44-98711 and 512-44-98712",
        "4539 5787 6362 1487",
        "4111 1111 1111 1111 and 4242424242424242 and 5555-5555-5555-4444",
        "555-867-5309, 415-555-0123, 800-867-5309, 888 867 5309",
        "4158675309",
        "bob@example.com, x@mail.example.org, y@a.b.c.d.example.net",
        "DE89370400440532013001",
        "passport rules apply to 12 countries",
        "the MRN is pending",
        "10.0.0.1 127.0.0.1 192.168.1.1 172.20.1.1 169.254.9.9 203.0.113.7 100.64.0.1 224.0.0.1 255.255.255.255",
        "999.1.1.1 and 1.2.3.4.5 and v1.2.3.4",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "Bearer ********************************",
        "Digits \u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468 only.",
        "seed phrase: twelve words that only you know.",
        "2026-08-07 12:30:59 request 1234567890123 took 15 ms",
    ],
)
def test_what_is_nobodys(text: str) -> None:
    assert not fires(PII, text)


def test_placeholders_are_counted_and_reserved_addresses_apart() -> None:
    note = claim(PII, "bob@example.com and 4111 1111 1111 1111 and 10.0.0.1").note
    assert "nobody's: 2" in note
    assert "networks: 1" in note


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("SSN is \uff15\uff11\uff12-\uff14\uff14-\uff19\uff18\uff17\uff11 today.", (7, 18)),
        ("SSN is 5\u200b12-44\u200b-9871.", (7, 20)),
        ("\U0001f600\U0001f600 SSN 512-44-9871 \U0001f600", (9, 20)),
        ("\U0001f600\U0001f600 SSN 5\u200b12-44-9871 \U0001f600", (9, 21)),
    ],
)
def test_a_disguise_hides_nothing_and_moves_nothing(text: str, span: tuple[int, int]) -> None:
    assert spans(claim(PII, text)) == [(*span, "SSN")]


def test_evidence_is_capped_and_holds_no_text() -> None:
    found = claim(PII, " ".join(f"a{n}@corp{n}.io" for n in range(40)))
    assert (found.state, found.score, len(found.evidence), found.value) == (ClaimState.FIRED, 0.0, 25, None)
    assert "corp" not in repr(found.evidence)


@pytest.mark.parametrize("dash", ["\u2010", "\u2011", "\u2012", "\u2013", "\u2212", "\uff0d"])
def test_a_number_has_any_dash(dash: str) -> None:
    for number, label in (("512-44-9871", "SSN"), ("4000-0566-5566-5556", "Credit Card"), ("212-867-5309", "Phone")):
        text = f"It is {number.replace('-', dash)}, I think."
        assert spans(claim(PII, text)) == [(6, 6 + len(number), label)]


@pytest.mark.parametrize("unseen", ["\u2063", "\u202c", "\u180e", "\ufe00", "\u3164"])
def test_what_parts_the_letters_unseen_hides_nothing(unseen: str) -> None:
    text = unseen.join("joe@corp.io")
    assert spans(claim(PII, text)) == [(0, 21, "Email")]
    assert not fires(PII, text, reference=True)
