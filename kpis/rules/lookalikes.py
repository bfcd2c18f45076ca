"""Letters of other scripts that are drawn like Latin ones, and what they are read as.

The table is ours, from how the letters look in common typefaces. It holds what a reader would take for the Latin letter
at a glance and nothing that merely resembles it, since a Cyrillic or Greek text goes through it as well.
"""

from __future__ import annotations

__all__ = ["LOOKALIKES"]

_PAIRS = (
    # Cyrillic
    ("АВЕЗКМНОРСТУХ", "ABE3KMHOPCTYX"),
    ("аеорсух", "aeopcyx"),
    ("кмтвнг", "kmtbhr"),
    ("бі", "6i"),
    ("ІЈЅԌԛԝԁһјѕґү", "IJSGqwdhjsry"),
    ("ԚԜҺѴѵӀӏҮ", "QWhVvIlY"),
    ("ёЁїЇ", "eEiI"),
    # Greek
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("αεικνορτυχ", "aeikvoptux"),
    ("ϲϳϹͿ", "cjCJ"),
    # Armenian, Cherokee and Latin letters that fold to no ASCII letter by themselves
    ("օոսհցԼ", "onuhgL"),
    ("ᎪᏴᏟᎠᎬᎻᏆᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃ", "ABCDEHIJKLMPRSTVWZ"),
    ("ıȷɑɡɩɪʏʀɴʜᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ", "ijagiiyrnhacdejkmoptuvwz"),
)

LOOKALIKES: dict[str, str] = {
    other: latin for others, latins in _PAIRS for other, latin in zip(others, latins, strict=True)
}
"""One character for one character."""
