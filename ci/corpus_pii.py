"""Authored cases of ``no_pii``: what identifies a person or opens a door, and what only looks like it."""

from __future__ import annotations

from typing import Any

from author_workloads import Draw
from corpus_text import around, chars, digits, name, thing

__all__ = ["BAD", "GOOD"]

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
ALNUM = LOWER + UPPER + "0123456789"
SEED = (
    *("river", "candle", "orbit", "meadow", "silver", "pocket", "lantern"),
    *("gravel", "autumn", "window", "copper", "saddle", "market", "thunder"),
)
HOSTS = ("harborline.io", "quietfield.dev", "northmoor.net", "tallbridge.org")


def _luhn(body: str) -> str:
    total = sum(sum(divmod(2 * int(digit), 10)) if at % 2 == 0 else int(digit) for at, digit in enumerate(body[::-1]))
    return str(-total % 10)


def _card(draw: Draw) -> str:
    body = "4" + digits(draw, 14)
    whole = body + _luhn(body)
    return draw.of(("-", " ", "")).join(whole[at : at + 4] for at in range(0, 16, 4))


def _not_card(draw: Draw) -> str:
    body = "7" + digits(draw, 14)
    return body + str((int(_luhn(body)) + 1 + draw.below(8)) % 10)


def _amex(draw: Draw) -> str:
    body = "37" + digits(draw, 12)
    whole = body + _luhn(body)
    return f"{whole[:4]} {whole[4:10]} {whole[10:]}"


def _iban(draw: Draw) -> str:
    account = digits(draw, 18)
    check = 98 - int(account + "131400") % 97
    return f"DE{check:02d}{account}"


def _ssn(draw: Draw) -> str:
    return f"{100 + draw.below(500)}-{10 + draw.below(89)}-{1000 + draw.below(8999)}"


def _phone(draw: Draw) -> str:
    area, office, line = 212 + draw.below(80), 230 + draw.below(200), 1000 + draw.below(8999)
    return draw.of((f"({area}) {office}-{line}", f"{area}-{office}-{line}", f"+1 {area} {office} {line}"))


def _mail(draw: Draw) -> str:
    first, last = name(draw).lower().split()
    return f"{first}.{last}@{draw.of(HOSTS)}"


def _date(draw: Draw) -> str:
    return f"{1950 + draw.below(50)}-{1 + draw.below(12):02d}-{1 + draw.below(28):02d}"


def _written_date(draw: Draw) -> str:
    return f"{draw.of(('March', 'July', 'October'))} {1 + draw.below(28)}, {1950 + draw.below(50)}"


def _public_ip(draw: Draw) -> str:
    return f"{81 + draw.below(12)}.{draw.below(255)}.{draw.below(255)}.{1 + draw.below(254)}"


def _seed(draw: Draw) -> str:
    return " ".join(draw.of(SEED) for _ in range(12))


BAD: dict[str, Any] = {
    "social security number": lambda d: around(d, f"{name(d)} is on file under {_ssn(d)}."),
    "social security number, disguised": lambda d: around(d, f"Use {_ssn(d).replace('-', chr(0x200B) + '-')} for her."),
    "social security number, spaced": lambda d: around(d, f"SSN of {name(d)}: {_ssn(d).replace('-', ' ')}."),
    "card": lambda d: around(d, f"The card of {name(d)} is {_card(d)}, valid until next June."),
    "card of fifteen digits": lambda d: around(d, f"{name(d)} paid with {_amex(d)}."),
    "phone": lambda d: around(d, f"You can reach {name(d)} at {_phone(d)} after six."),
    "phone abroad": lambda d: around(d, f"Call {name(d)} on +44 7{digits(d, 3)} {digits(d, 6)}."),
    "email": lambda d: around(d, f"{name(d)} answers at {_mail(d)}."),
    "email, spelled out": lambda d: around(d, f"Write to {_mail(d).replace('@', ' at ').replace('.', ' dot ')}."),
    "account": lambda d: around(d, f"Refund {name(d)} to {_iban(d)}."),
    "account in groups": lambda d: around(
        d, "Her account is " + " ".join(i[a : a + 4] for i in [_iban(d)] for a in range(0, 22, 4)) + "."
    ),
    "passport": lambda d: around(d, f"{name(d)} travels on passport {d.of(UPPER)}{digits(d, 8)}."),
    "birth, labelled": lambda d: around(d, f"{name(d)}, {d.of(('DOB', 'date of birth', 'born on'))} {_date(d)}."),
    "birth, in words": lambda d: around(d, f"{name(d)} was born on {_written_date(d)}."),
    "medical record": lambda d: around(d, f"See MRN: {digits(d, 8)} of {name(d)}."),
    "public address": lambda d: around(d, f"{name(d)} signed in from {_public_ip(d)} at noon."),
    "key": lambda d: around(d, f"Set it to sk-{chars(d, ALNUM, 32)} and restart."),
    "key of a cloud": lambda d: around(d, f"aws_access_key_id = AKIA{chars(d, UPPER, 16)}", "\n"),
    "token of a forge": lambda d: around(d, f"git clone with ghp_{chars(d, ALNUM, 36)}", "\n"),
    "private key": lambda d: around(d, f"-----BEGIN RSA PRIVATE KEY-----\n{chars(d, ALNUM, 60)}", "\n"),
    "seed phrase": lambda d: around(d, f"Her recovery phrase: {_seed(d)}."),
    "password": lambda d: around(d, f"Log in as admin, the password is {chars(d, ALNUM, 11)}!"),
    "postal address": lambda d: around(d, f"{name(d)} lives at {1 + d.below(90)} Alder Lane, flat {1 + d.below(9)}."),
}
GOOD: dict[str, Any] = {
    "private address": lambda d: around(d, f"The {thing(d)} host listens on 10.{d.below(255)}.{d.below(255)}.7."),
    "address of an example network": lambda d: around(d, f"Point it at 203.0.113.{d.below(255)} in the lab."),
    "public resolver": lambda d: around(d, f"Names are looked up at {d.of(('9.9.9.9', '1.1.1.1', '8.8.4.4'))}."),
    "version of four parts": lambda d: around(d, f"It needs driver {20 + d.below(9)}.{d.below(12)}.{d.below(9)}.1."),
    "example mail": lambda d: around(d, f"Fill in {name(d).split()[0].lower()}@example.com to try it."),
    "handle": lambda d: around(d, f"Ask @{name(d).split()[1].lower()} in the {thing(d)} channel."),
    "test card": lambda d: around(
        d, f"Pay with {d.of(('4242 4242 4242 4242', '4111-1111-1111-1111'))} in the sandbox."
    ),
    "order number": lambda d: around(d, f"Order {_not_card(d)} has left the {thing(d)} dock."),
    "toll-free line": lambda d: around(d, f"The desk answers at 1-800-{digits(d, 3)}-{digits(d, 4)}."),
    "phone of fiction": lambda d: around(d, f"In the script she dials (555) 2{digits(d, 2)}-{digits(d, 4)}."),
    "number never issued": lambda d: around(d, f"The form shows 000-{10 + d.below(89)}-{digits(d, 4)} as a hint."),
    "part number": lambda d: around(d, f"Replace part {_ssn(d)} of the {thing(d)} printer."),
    "book number": lambda d: around(d, f"See ISBN 978-3-{digits(d, 2)}-{digits(d, 6)}-{d.below(9)}."),
    "commit": lambda d: around(d, f"Fixed in {chars(d, 'abcdef0123456789', 40)}."),
    "identifier": lambda d: around(
        d, f"Trace {'-'.join(chars(d, 'abcdef0123456789', n) for n in (8, 4, 4, 4, 12))} is the slow one."
    ),
    "masked key": lambda d: around(d, f"The {thing(d)} key reads sk-{d.of('x*')}" + d.of("xX") * 23 + "."),
    "key in the environment": lambda d: around(d, f"export API_KEY=${{{thing(d).upper()}_KEY}}", "\n"),
    "stamp of time": lambda d: around(d, f"The {thing(d)} job began at 17{digits(d, 8)} and took a while."),
    "passport as a topic": lambda d: around(d, f"A passport is needed at the {thing(d)} desk, a visa is not."),
    "birth as a field": lambda d: around(
        d, f"The {thing(d)} form asks for the date of birth and checks that it is past."
    ),
    "measurements": lambda d: around(d, f"Runs took {digits(d, 3)}, {digits(d, 3)} and {digits(d, 4)} cycles."),
    "seed words as a topic": lambda d: around(d, f"Keep the recovery phrase of the {thing(d)} wallet offline."),
}
