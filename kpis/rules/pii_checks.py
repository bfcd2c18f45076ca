"""Is a string that looks like an identifier one: issuance rules, check digits, addresses that are nobody's.

Each function answers for a whole match. ``True`` of a check means that the identifier could have been issued; ``True``
of a placeholder means that it is set aside for documentation, tests or private networks, and nobody's.

Sources: SSA issuance rules, ISO/IEC 7812 (Luhn), ISO 13616 (mod 97), the North American Numbering Plan, RFC 2606, and
the IANA registry of special-purpose IPv4 addresses.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, ip_network

__all__ = ["card", "documentation_card", "documentation_email", "iban", "masked", "nobodys_phone", "reserved_ip", "ssn"]

_NOT_DIGITS = re.compile(r"[^0-9]")

_TEST_CARDS = frozenset({"4111111111111111", "4242424242424242", "5555555555554444"})

_RESERVED = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.2.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_TOLL_FREE = frozenset({"800", "833", "844", "855", "866", "877", "888"})
_EXAMPLE = re.compile(r"@(?:[^@.]++\.){0,4}example\.(?:com|org|net)\Z", re.IGNORECASE)
_MASK = re.compile(r"[xX*.]{12}")


def digits(text: str) -> str:
    """The ASCII digits of ``text``."""
    return _NOT_DIGITS.sub("", text)


def ssn(text: str) -> bool:
    """Whether area, group and serial of a social security number could have been issued."""
    number = digits(text)
    area, group, serial = number[:3], number[3:5], number[5:]
    return area not in {"000", "666"} and area[0] != "9" and group != "00" and serial != "0000"


def card(text: str) -> bool:
    """Whether 13 to 19 digits have the check digit of a payment card."""
    number = digits(text)
    total = 0
    for place, digit in enumerate(reversed(number)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return 13 <= len(number) <= 19 and total % 10 == 0


def documentation_card(text: str) -> bool:
    """Whether this is a card number that the schemes publish for tests."""
    return digits(text) in _TEST_CARDS


def nobodys_phone(text: str) -> bool:
    """Whether a number is fictional, toll-free, or bare digits that could be anything."""
    number = digits(text)[-10:]
    if text.isdigit():
        return True
    if number[:3] == "555" or (number[3:6] == "555" and number[6:8] == "01"):
        return True
    return number[:3] in _TOLL_FREE


def documentation_email(text: str) -> bool:
    """Whether the address is under a domain reserved for examples."""
    return _EXAMPLE.search(text) is not None


def iban(text: str) -> bool:
    """Whether the two check digits of an account number are right: the rearranged number is 1 modulo 97."""
    rearranged = text[4:] + text[:4]
    return int("".join(str(int(character, 36)) for character in rearranged)) % 97 == 1


def reserved_ip(text: str) -> bool:
    """Whether the address belongs to no host on the public network."""
    address = IPv4Address(text)
    return any(address in block for block in _RESERVED)


def masked(text: str) -> bool:
    """Whether a key has been blotted out."""
    return _MASK.search(text) is not None
