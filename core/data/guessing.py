"""Guess which column of a table is what: by its name, and by what stands in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean

from core.data import evidence_columns as evidence
from core.data.mapping import MOST_LABELS, PAIRS, Mapping, Named, is_blank, name_key, not_guessed, short_text
from core.data.parsed import BadData, no_rows
from core.data.tables import RawTable
from core.wording import listed

# Names as `name_key` writes them, the surest first.
_TEXT = (
    "text sentence review reviewtext content comment commenttext tweet body passage premise question document "
    "article message post paragraph utterance phrase statement claim abstract description summary headline title "
    "input prompt query answer sentence1 text1 words word"
).split()
_LABEL = (
    "label labels goldlabel gold class target sentiment category y stars rating isduplicate classindex classlabel "
    "polarity emotion intent stance coarselabel labelcoarse quality toxic hateful spam score overall entailment "
    "verdict topic labeltext labelname answer output"
).split()
_ID = "id idx guid uid uuid index exampleid pairid textid docid unnamed0 column1 indexlevel0".split()
_TAGS, _NOTE = ("tags", "tag", "keywords", "attributes", "flags", "slices"), ("note", "notes", "remark", "remarks")
_OTHER = {
    *_ID,
    *_TAGS,
    *_NOTE,
    *"split fold set date time year user author language lang url link source domain file".split(),
}
# What a column without a name is called may be anything.
_OTHER -= {"column1"}


@dataclass(frozen=True)
class _Column:
    """What a column looks like, by up to 2,000 of its rows.

    words: the parts of its name; filled: share of rows with something; letters: share of those with text in them;
    length: mean characters; distinct: share of different values; plain: no lists or objects.
    """

    name: str
    key: str
    words: tuple[str, ...]
    filled: float
    letters: float
    length: float
    distinct: float
    plain: bool

    @property
    def is_text(self) -> bool:
        return self.plain and self.letters >= 0.5


def guess_mapping(table: RawTable, named: Named | None = None) -> Mapping:
    """What each column probably is; no column is used twice, and what is not clear stays None.

    named: what is not guessed, {"text", "second" or "label": column, "" for none}.

    Names are compared without case, spaces and signs. Text and second text: a usual pair of names (sentence1 and
    sentence2, premise and hypothesis, …), both holding text; else the first usual name for a text; else two columns
    of sentences whose names differ in 1 and 2 or a and b; else a name that has a usual one among its words; else the
    column with the longest, most different texts. Label: a usual name, if it has at most 200 different values and
    no fractions; else a name with such a word in it, if there is only one; else the only column of few,
    short, often repeated values. Id: a usual name, or one that ends in "id", if all its values differ.
    Tags and note: usual names only. Evidence: a usual name, if it holds lists of spans or of phrases; such a column is
    no text.

    Raises:
        BadData: no column holds text.
    """
    if not len(table):
        raise no_rows(table.name)
    step = max(1, len(table) // max(50, min(2_000, 2_000_000 // len(table.columns))))
    chosen = not_guessed(named)
    asked = chosen.get("text")
    taken = set(chosen.values()) - {asked}
    columns = [_look(name, table.cells[name][::step]) for name in table.columns if name not in taken]
    evident = next(
        (c.name for c in _by_name(columns, evidence.NAMES) if evidence.holds_evidence(table.cells[c.name][::step])),
        None,
    )
    columns = [column for column in columns if column.name != evident]
    text, second = _texts(columns)
    text, second = (text, second) if asked in (None, text) else (asked, None)
    if text is None:
        raise BadData(f"{table.name}: no column holds text; there are {listed(table.columns)}. Name one text.")
    rest = [column for column in columns if column.name not in (text, second)]
    label = _label(table, rest)
    rest = [column for column in rest if column.name != label]
    likely = [*_by_name(rest, _ID), *(c for c in rest if c.words and c.words[-1] in ("id", "idx", "guid", "uid"))]
    id_ = next((c.name for c in likely if c.plain and c.distinct == 1 and _unique(table.cells[c.name])), None)
    rest = [column for column in rest if column.name != id_]
    tags = next((c.name for c in _by_name(rest, _TAGS) if c.filled), None)
    note = next((c.name for c in _by_name(rest, _NOTE) if c.filled and c.plain), None)
    return replace(Mapping(text, second, label, id_, tags, note, evidence=evident), **chosen)


def _look(name: str, values: list) -> _Column:
    filled = [value for value in values if not is_blank(value)]
    plain = not any(isinstance(value, (list, dict)) for value in filled)
    written = [str(value) for value in filled] if plain else []
    count = max(1, len(filled))
    words = re.findall(r"[^\W\d_]?[^\W\dA-Z_]+|[A-Z]+(?![a-z])|\d+", name)
    return _Column(
        name,
        name_key(name),
        tuple(word.casefold() for word in words),
        len(filled) / max(1, len(values)),
        sum(isinstance(value, str) and any(map(str.isalpha, value)) for value in filled) / count,
        fmean(map(len, written)) if written else 0.0,
        len(set(written)) / count,
        plain,
    )


def _by_name(columns: list[_Column], names: Iterable[str]) -> list[_Column]:
    """The columns with usual names, the surest name first."""
    return [column for name in names for column in columns if column.key == name]


def _texts(columns: list[_Column]) -> tuple[str | None, str | None]:
    readable = {column.key: column for column in reversed(columns) if column.is_text}
    for first, second in PAIRS:
        # "answer" may as well be the label; only sentences are a second text.
        if first in readable and second in readable and (second != "answer" or readable[second].length > 15):
            return readable[first].name, readable[second].name
    named = [column for column in _by_name(columns, _TEXT) if column.plain and column.filled]
    # A column named so may hold numbers; one with words in it is the better choice.
    found = next((column for column in named if column.is_text), None)
    if found:
        return found.name, None
    for key, column in readable.items():
        other = readable.get({"1": f"{key[:-1]}2", "a": f"{key[:-1]}b"}.get(key[-1:], ""))
        if other and len(key) > 1 and min(column.length, other.length) > 15:
            return column.name, other.name
    likely = [
        column
        for column in readable.values()
        if set(column.words) & set(_TEXT) and not set(column.words) & {"id", "idx", *_LABEL[:9]}
    ]
    # Row names, categories and links are text too, but short or all alike.
    likely = likely or [
        column
        for column in readable.values()
        if column.key not in _OTHER and column.key not in _LABEL and column.words[-1:] != ("id",)
    ]
    if likely:
        return max(reversed(likely), key=lambda column: column.length * column.distinct).name, None
    return (named[0].name if named and named[0].key == "text" else None), None


def _label(table: RawTable, columns: list[_Column]) -> str | None:
    possible = [column for column in columns if column.plain and column.filled and column.length <= 60]
    for column in _by_name(possible, _LABEL):
        if _few(table.cells[column.name], max(10, len(table) // 2)):
            return column.name
    usual = set(_LABEL[:9]) | {"stance", "polarity", "rating"}
    part = [
        column
        for column in possible
        if set(column.words) & usual
        and column.words[-1] != "id"
        and column.filled >= 0.5
        and _few(table.cells[column.name], max(10, len(table) // 2))
    ]
    if part:
        return part[0].name if len(part) == 1 else None
    few = [
        column
        for column in possible
        if column.key not in _OTHER
        and column.words[-1:] != ("id",)
        and column.filled >= 0.9
        and column.length <= 30
        and _few(table.cells[column.name], min(20, max(2, len(table) // 3)), least=2)
    ]
    return few[0].name if len(few) == 1 and len(table) >= 4 else None


def _few(values: list, most: int, least: int = 1) -> bool:
    """Whether the values could be labels: neither too many nor fractions."""
    different = {str(value).strip() for value in values if not is_blank(value)}
    fractions = any(re.fullmatch(r"[+-]?\d*[.,]\d*[1-9]\d*", value) for value in different)
    return least <= len(different) <= min(most, MOST_LABELS) and not fractions


def _unique(values: list) -> bool:
    written = [short_text(value) for value in values]
    return all(written) and len(set(written)) == len(written)
