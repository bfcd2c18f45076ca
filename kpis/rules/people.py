"""Which capitalised words are a person's name, with high certainty: behind a title, or with a given name in front.

A short list of given names that are nothing else in English or nearly so, from several languages; no place, product,
ordinal or part of a document passes for one. Whose given name is not listed is not taken for a person, unless a title
or a pronoun behind it says so.
"""

from __future__ import annotations

__all__ = ["NOT_OF_A_PERSON", "is_given_name", "same_given_name"]

_GIVEN_NAMES = (
    "adam adrian ahmed aisha alan albert alejandro alex alexander alexandra alfred ali alice alison amanda amelia "
    "amir amy ana andre andrea andreas andrew angela anita anja ann anna anne anneli annette anthony antonio arjun "
    "arthur barbara beatrice ben benjamin bernard beth birgit bob boris bram brenda brian bruno camille carla "
    "carlos carmen caroline catherine cecilia charles chen chiara chloe christian christina christine christopher "
    "claire clara claudia colin cristina cynthia daniel daniela david deborah denise dennis diego dimitri dmitri "
    "dominik donald dorothy edith eduardo edward elena eleni elias elisabeth elizabeth ella ellen elsa emily emma "
    "eric erik ernst esther eva evelyn fatima felix fernando fiona francesca francis frank franz frederik friedrich "
    "fritz gabriel gabriela george gerald gerd giovanni giulia greg gregory greta gustav hannah hans harold harry "
    "hassan heather heidi helen helena helga henri henrik henry howard hugo ibrahim igor ines ingrid irene isabel "
    "isabella ivan jack jacob james jan jane janet jason javier jean jennifer jeremy jessica jim joan joanna joe "
    "johan johanna john jonas jonathan jorge jose joseph joshua juan judith julia julian julie jun karen karin karl "
    "katarina kate katherine kathleen kenji kenneth kevin kofi larry lars laura lauren lea leon leonard leonardo "
    "linda lisa lucas lucia lucy luigi luis luisa lukas magdalena maria marie mario marta martha martin mary mateo "
    "matthew maximilian megan mei michael michel michelle miguel mohamed mohammed monika nadia nancy natalia nathan "
    "nicholas nicolas nicole nikolai nils nina nora olaf olga oliver olivia omar oskar otto pablo pamela patricia "
    "patrick paul paula pedro peter petra philip philipp pierre priya rachel rafael raj ralph raquel rashid raymond "
    "rebecca richard robert roberto roger roland ronald rosa ruth ryan samantha samir samuel sandra sara sarah "
    "scott sebastian sergei sharon simon sofia sonja sophia sophie stefan stephanie stephen steven susan susanne "
    "sven svetlana tanja teresa theresa thomas tim timothy tobias tom tomas ursula valentina vera veronica victor "
    "viktor vincent vladimir walter wei werner william wolfgang yasmin yuki yusuf zoe"
)
_GIVEN = frozenset(_GIVEN_NAMES.split())

_SHORT = (
    *("robert rob bob bobby", "william will bill", "elizabeth elisabeth liz beth lisa", "james jim jimmy"),
    *("thomas tom tomas", "michael mike michel", "katherine catherine kate kathleen", "anthony tony antonio"),
    *("richard rick dick", "john jack jonathan jon johan", "alexander alex alexandra sasha", "stephen steven steve"),
    *("david dave", "christopher chris christine christina", "edward ed ted eduardo", "joseph joe", "andrew andy"),
    *("samuel sam samantha", "daniel dan danny daniela", "benjamin ben", "nicholas nick nicolas", "matthew matt mateo"),
    *("gregory greg", "patrick pat patricia", "susan sue susanne", "jennifer jen jenny", "henry harry henri"),
    *("philip phil philipp", "timothy tim", "ann anna anne annie", "margaret meg maggie", "sebastian seb"),
    *("sergei sergey", "friedrich fritz", "maximilian max", "charles charlie", "rebecca becky", "deborah debbie"),
)
_LIKE = {name: names.split()[0] for names in _SHORT for name in names.split()}

_OTHERWISE = (
    "manager owner lead engineer team director officer president chief head editor author user customer support "
    "service services department committee board council ministry agency office court university college institute "
    "school inc ltd corp llc gmbh company group holdings bank foundation church hospital report guide manual policy "
    "act law laws news times post journal overflow docs notes note rules maps cloud studio web server software "
    "systems labs press publishing publications books review standard standards agreement plan project program "
    "protocol code manifesto street avenue road square park station airport river lake bay beach city county state "
    "states island islands valley north south east west hill hills building tower hall house hotel table figure "
    "chapter section annex appendix page part article clause line volume one two three four five six seven eight "
    "nine ten first second third fourth fifth last monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december morning evening night today "
    "yesterday edition prize award theorem principle test"
)

NOT_OF_A_PERSON = frozenset(_OTHERWISE.split())
"""Small words that show that a capitalised name is a place, a product, a body, a time or a part of a document."""


def is_given_name(word: str) -> bool:
    """Whether the word, in small letters, is on the list."""
    return word in _GIVEN


def same_given_name(one: str, other: str) -> bool:
    """Whether both, in small letters, can be the same person's: one may be short for the other."""
    return _LIKE.get(one, one) == _LIKE.get(other, other)
