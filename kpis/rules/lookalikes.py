"""Letters of other scripts that are drawn like Latin ones, and what they are read as.

The table is ours, from how the letters look in common typefaces. It holds what a reader would take for the Latin letter
at a glance and nothing that merely resembles it, since a Cyrillic or Greek text goes through it as well. The letters
are written as escapes: nobody could tell them apart here either.
"""

from __future__ import annotations

__all__ = ["LOOKALIKES"]

_PAIRS = (
    # Cyrillic
    ("\u0410\u0412\u0415\u0417\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425", "ABE3KMHOPCTYX"),
    ("\u0430\u0435\u043e\u0440\u0441\u0443\u0445", "aeopcyx"),
    ("\u043a\u043c\u0442\u0432\u043d\u0433", "kmtbhr"),
    ("\u0431\u0456", "6i"),
    ("\u0406\u0408\u0405\u050c\u051b\u051d\u0501\u04bb\u0458\u0455\u0491\u04af", "IJSGqwdhjsry"),
    ("\u051a\u051c\u04ba\u0474\u0475\u04c0\u04cf\u04ae", "QWhVvIlY"),
    ("\u0451\u0401\u0457\u0407", "eEiI"),
    # Greek
    ("\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7", "ABEZHIKMNOPTYX"),
    ("\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7", "aeikvoptux"),
    ("\u03f2\u03f3\u03f9\u037f", "cjCJ"),
    # Armenian
    ("\u0585\u0578\u057d\u0570\u0581\u053c", "onuhgL"),
    # Cherokee
    ("\u13aa\u13f4\u13df\u13a0\u13ac\u13bb\u13c6\u13ab\u13e6\u13de\u13b7\u13e2\u13d2\u13da", "ABCDEHIJKLMPRS"),
    ("\u13a2\u13d9\u13d4\u13c3", "TVWZ"),
    # Latin letters that fold to no ASCII letter by themselves
    ("\u0131\u0237\u0251\u0261\u0262\u0269\u026a\u028f\u0280\u0274\u029c\u1d00\u1d04\u1d05\u1d07", "ijaggiiyrnhacde"),
    ("\u1d0a\u1d0b\u1d0d\u1d0f\u1d18\u1d1b\u1d1c\u1d20\u1d21\u1d22", "jkmoptuvwz"),
)

LOOKALIKES: dict[str, str] = {
    other: latin for others, latins in _PAIRS for other, latin in zip(others, latins, strict=True)
}
"""One character for one character."""
