"""Words that say nothing of what a text is about: what the relevance rules leave out. Alphabetical; lower case."""

from __future__ import annotations

__all__ = ["STOPWORDS"]

STOPWORDS = frozenset(
    """
    a able about above after again all already also although always am among an and another answer answered
    answering answers any anyone anything anywhere are as ask asked asking asks at back bad be because been
    before being below best better between both brief briefly bullet bullets but by came can com come comes
    coming could describe described describes describing description detail detailed details did do does doing
    done down during each either else etc even ever every everyone everything everywhere explain explained
    explaining explains false few find finding finds first five for found four from further gave get gets
    getting give given gives giving go goes going gone good got had has have having he help helped helping helps
    her here hers him his how http https i if in into is it its just keep keeps kept kind kinds knew know
    knowing known knows last least less let lets like liked likes line lines long look looked looking looks lot
    lots made make makes making many may me might mine more most much must my need needed needing needs neither
    net never new next no nobody nor not nothing now of off often old on once one only onto or org other our
    ours out over overview own paragraph paragraphs per please put puts question questions quick quickly read
    reading reads really right said same saw say saying says second see seeing seen sees sentence sentences
    shall she short should show showed showing shown shows since so some someone something sometimes sort sorts
    still such summarise summarised summarises summarize summarized summarizes summary take taken takes taking
    tell telling tells ten than that the their theirs them then there these they thing things think thinking
    thinks third this those though thought three through to told too took true two under unless until up us use
    used uses using usually very via want wanted wanting wants was way ways we well went were what when where
    which while who whom whose why will with without word words would wrong www yes yet you your yours
    """.split()  # noqa: SIM905 - three hundred quotes would hide the words
)
