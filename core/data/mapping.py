"""Say which column of a table is what: guess it, correct it, and build a data set of examples by it."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from statistics import fmean

from core.data import evidence_columns as evidence
from core.data.examples import DataSet, Example
from core.data.parsing import counted, listed
from core.data.tables import BadData, RawTable

MOST_LABELS = 200
# Names as _key writes them, the surest first.
_PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("texta", "textb"),
    ("sentencea", "sentenceb"),
    ("1string", "2string"),
    ("s1", "s2"),
    ("text", "second"),
    ("text", "textpair"),
    ("text", "text2"),
    ("sentence", "second"),
    ("question", "passage"),
    ("question", "context"),
    ("question", "sentence"),
    ("question", "paragraph"),
    ("question", "document"),
    ("query", "passage"),
    ("query", "document"),
    ("claim", "evidence"),
    ("headline", "body"),
    ("headline", "articlebody"),
    ("question", "answer"),
)
_TEXT = (
    "text",
    "sentence",
    "review",
    "reviewtext",
    "content",
    "comment",
    "commenttext",
    "tweet",
    "body",
    "passage",
    "premise",
    "question",
    "document",
    "article",
    "message",
    "post",
    "paragraph",
    "utterance",
    "phrase",
    "statement",
    "claim",
    "abstract",
    "description",
    "summary",
    "headline",
    "title",
    "input",
    "prompt",
    "query",
    "answer",
    "sentence1",
    "text1",
    "words",
    "word",
)
_LABEL = (
    "label",
    "labels",
    "goldlabel",
    "gold",
    "class",
    "target",
    "sentiment",
    "category",
    "y",
    "stars",
    "rating",
    "isduplicate",
    "classindex",
    "classlabel",
    "polarity",
    "emotion",
    "intent",
    "stance",
    "coarselabel",
    "labelcoarse",
    "quality",
    "toxic",
    "hateful",
    "spam",
    "score",
    "overall",
    "entailment",
    "verdict",
    "topic",
    "labeltext",
    "labelname",
    "answer",
    "output",
)
_ID = (
    "id",
    "idx",
    "guid",
    "uid",
    "uuid",
    "index",
    "exampleid",
    "pairid",
    "textid",
    "docid",
    "unnamed0",
    "column1",
    "indexlevel0",
)
_TAGS, _NOTE = ("tags", "tag", "keywords", "attributes", "flags", "slices"), ("note", "notes", "remark", "remarks")
_OTHER = {
    *_ID,
    *_TAGS,
    *_NOTE,
    "split",
    "fold",
    "set",
    "date",
    "time",
    "year",
    "user",
    "author",
    "language",
    "lang",
    "url",
    "link",
    "source",
    "domain",
    "file",
}
# What a column without a name is called may be anything.
_OTHER -= {"column1"}
_NO_LABEL = ("", "nan", "null", "<na>", "n/a", "#n/a", "-")
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.0*)?")


@dataclass(frozen=True)
class Mapping:
    """Which column is what. label_names: names of numbered labels, in order, or (); evidence: where in the text the
    label rests.
    """

    text: str
    second: str | None = None
    label: str | None = None
    id: str | None = None
    tags: str | None = None
    note: str | None = None
    label_names: tuple[str, ...] = ()
    evidence: str | None = None

    def as_dict(self) -> dict:
        """As plain values for JSON; without evidence as before there was any, so that keys of data stay what they
        were.
        """
        found = asdict(self) | {"label_names": list(self.label_names)}
        return (
            found
            if self.evidence is not None
            else {role: column for role, column in found.items() if role != "evidence"}
        )

    @classmethod
    def from_dict(cls, found: object) -> "Mapping":
        """Back from `as_dict`; BadData if it is not of that kind."""
        if not isinstance(found, dict):
            raise BadData("The choice of columns is damaged. Choose the columns again.")
        chosen = {role: found.get(role) for role in ("text", "second", "label", "id", "tags", "note", "evidence")}
        names = found.get("label_names") or ()
        if not isinstance(chosen["text"], str) or not chosen["text"]:
            raise BadData("No column is chosen as the text. Choose one.")
        wrong = [role for role, column in chosen.items() if not (column is None or isinstance(column, str))]
        if wrong or not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise BadData(
                f"The choice of columns is damaged ({listed(wrong) or 'names of labels'}). Choose the columns again."
            )
        return cls(**{role: column or None for role, column in chosen.items()}, label_names=tuple(names))


# ---- guessing


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


def guess_mapping(table: RawTable) -> Mapping:
    """What each column probably is; no column is used twice, and what is not clear stays None.

    Names are compared without case, spaces and signs. Text and second text: a usual pair of names (sentence1 and
    sentence2, premise and hypothesis, …), both holding text; else the first usual name for a text; else two columns
    of sentences whose names differ in 1 and 2 or a and b; else a name that has a usual one among its words; else the
    column with the longest, most different texts. Label: a usual name, if it has at most 200 different values and
    no fractions; else a name with such a word in it, if there is only one; else the only column of few,
    short, often repeated values. Id: a usual name, or one that ends in "id", if all its values differ.
    Tags and note: usual names only. Evidence: a usual name, if it holds lists of pairs of numbers or of phrases; such a
    column is no text.

    Raises:
        BadData: no column holds text.
    """
    if not len(table):
        raise BadData(f"{table.name} holds no rows.")
    step = max(1, len(table) // max(50, min(2_000, 2_000_000 // len(table.columns))))
    columns = [_look(name, table.cells[name][::step]) for name in table.columns]
    evident = next(
        (c.name for c in _by_name(columns, evidence.NAMES) if evidence.holds_evidence(table.cells[c.name][::step])),
        None,
    )
    columns = [column for column in columns if column.name != evident]
    text, second = _texts(columns)
    if text is None:
        raise BadData(
            f"{table.name}: no column holds text; there are {listed(table.columns)}. Add a header with a column named "
            f"text."
        )
    rest = [column for column in columns if column.name not in (text, second)]
    label = _label(table, rest)
    rest = [column for column in rest if column.name != label]
    id_ = next(
        (
            c.name
            for c in [
                *_by_name(rest, _ID),
                *(c for c in rest if c.words[-1:] in (("id",), ("idx",), ("guid",), ("uid",))),
            ]
            if c.plain and c.distinct == 1 and _unique(table.cells[c.name])
        ),
        None,
    )
    rest = [column for column in rest if column.name != id_]
    tags = next((c.name for c in _by_name(rest, _TAGS) if c.filled), None)
    note = next((c.name for c in _by_name(rest, _NOTE) if c.filled and c.plain), None)
    return Mapping(text, second, label, id_, tags, note, evidence=evident)


def _look(name: str, values: list) -> _Column:
    filled = [value for value in values if not _blank(value)]
    plain = not any(isinstance(value, (list, dict)) for value in filled)
    written = [str(value) for value in filled] if plain else []
    count = max(1, len(filled))
    words = re.findall(r"[^\W\d_]?[^\W\dA-Z_]+|[A-Z]+(?![a-z])|\d+", name)
    return _Column(
        name,
        _key(name),
        tuple(word.casefold() for word in words),
        len(filled) / max(1, len(values)),
        sum(isinstance(value, str) and any(map(str.isalpha, value)) for value in filled) / count,
        fmean(map(len, written)) if written else 0.0,
        len(set(written)) / count,
        plain,
    )


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _by_name(columns: list[_Column], names: Iterable[str]) -> list[_Column]:
    """The columns with usual names, the surest name first."""
    return [column for name in names for column in columns if column.key == name]


def _texts(columns: list[_Column]) -> tuple[str | None, str | None]:
    readable = {column.key: column for column in reversed(columns) if column.is_text}
    for first, second in _PAIRS:
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
    different = {str(value).strip() for value in values if not _blank(value)}
    fractions = any(re.fullmatch(r"[+-]?\d*\.\d*[1-9]\d*", value) for value in different)
    return least <= len(different) <= min(most, MOST_LABELS) and not fractions


def _unique(values: list) -> bool:
    written = [_name(value) for value in values]
    return all(written) and len(set(written)) == len(written)


# ---- building


def build(table: RawTable, mapping: Mapping) -> DataSet:
    """The examples of a table, in file order.

    Rows without a text are left out. Numbered labels become names by the mapping's label names, else by the
    table's own; −1, empty labels and "-" are none, unless they are among these names, or there are no names
    and the labels are only −1 and 1. Ids are those of the id column if it is complete and without repetition, else the
    file's row numbers.
    Evidence that cannot be understood is left out and counted in a note.

    Raises:
        BadData: a column is missing or of the wrong kind, or there is no usable row.
    """
    chosen = [column for role, column in mapping.as_dict().items() if role != "label_names" and column is not None]
    missing = [column for column in chosen if column not in table.cells]
    if missing:
        raise BadData(f"{table.name} has no column {missing[0]!r}; it has {listed(table.columns, 10)}.")
    if mapping.text == mapping.second:
        raise BadData(
            f"Column {mapping.text!r} is chosen as the text and as the second text. Choose another for one of them."
        )
    numbers = table.rows if len(table.rows) == len(table) else range(1, len(table) + 1)
    texts = _written(table, mapping.text, numbers)
    kept = [i for i, text in enumerate(texts) if text.strip()]
    if not kept:
        raise BadData(
            f"{table.name}: column {mapping.text!r} holds no text in any of its {len(table):,} rows. Choose another "
            f"column."
        )
    rows = [numbers[i] for i in kept]
    notes = _about_texts(texts, kept, numbers)

    def column(name: str | None, read: Callable) -> list | None:
        return None if name is None else [values[i] for values in [read(table, name, numbers)] for i in kept]

    seconds = column(mapping.second, _written)
    if seconds and not all(second.strip() for second in seconds):
        notes.append(
            f"Read as a single text, since the second is empty: "
            f"{counted([row for row, second in zip(rows, seconds) if not second.strip()])}."
        )
    labels, classes, about = _labels(table, mapping, kept, rows)
    ids, doubt = _ids(None if mapping.id is None else [table.cells[mapping.id][i] for i in kept], rows, mapping.id)
    tags, remarks = column(mapping.tags, _tagged), column(mapping.note, _remarked)
    marked, unread = _marked(table, mapping.evidence, texts, kept, rows)
    examples = tuple(
        Example(
            ids[n],
            texts[i],
            seconds[n] if seconds and seconds[n].strip() else None,
            labels[n],
            tags[n] if tags else (),
            remarks[n] if remarks else "",
            marked[n],
        )
        for n, i in enumerate(kept)
    )
    digest = hashlib.sha256(json.dumps([table.digest, mapping.as_dict(), classes], sort_keys=True).encode()).hexdigest()
    return DataSet(table.name, digest, examples, classes, (*table.notes, *notes, *about, *doubt, *unread))


def _about_texts(texts: list[str], kept: list[int], numbers) -> list[str]:
    held = set(kept)
    empty = [numbers[i] for i in range(len(texts)) if i not in held]
    again = sum(n - 1 for n in Counter(texts[i] for i in kept).values())
    return [f"Left out, since the text is empty: {counted(empty)}."] * bool(empty) + [
        f"{again:,} text{' occurs' if again == 1 else 's occur'} in an earlier row too; all are kept."
    ] * bool(again)


def _written(table: RawTable, column: str, numbers) -> list[str]:
    """A column as text, numbers written out; BadData names the first list or object."""
    for row, value in zip(numbers, table.cells[column]):
        if isinstance(value, (list, dict)):
            raise BadData(
                f"{table.name}, row {row}: column {column!r} holds "
                f"{'a list' if isinstance(value, list) else 'an object'}, not text. "
                "Choose another column, or join its parts into one text."
            )
    return ["" if value is None else str(value) for value in table.cells[column]]


def _ids(values: list | None, rows: list[int], column: str | None) -> tuple[list[str], list[str]]:
    plain = [str(row) for row in rows]
    if values is None:
        return plain, []
    names, first = [_name(value) for value in values], {}
    for name, row in zip(names, rows):
        if not name or name in first:
            why = f"row {row} repeats that of row {first[name]}" if name else f"row {row} has none"
            return plain, [f"Column {column!r} does not tell the rows apart ({why}), so row numbers are used as ids."]
        first[name] = row
    return names, []


def _tagged(table: RawTable, column: str, numbers) -> list[tuple[str, ...]]:
    """Tags of lists, or of text separated by ; or |."""
    found = []
    for row, value in zip(numbers, table.cells[column]):
        parts = value if isinstance(value, (list, tuple)) else [] if value is None else re.split(r"[;|]", str(value))
        if isinstance(value, dict) or any(isinstance(part, (list, dict, tuple)) for part in parts):
            raise BadData(
                f"{table.name}, row {row}: column {column!r} holds objects, not tags. Write tags as a list of words or "
                f"as “first;second”."
            )
        found.append(tuple(dict.fromkeys(name for part in parts if (name := _name(part)))))
    return found


def _remarked(table: RawTable, column: str, numbers) -> list[str]:
    def remark(value) -> str:
        return (
            ", ".join(_name(part) for part in value)
            if isinstance(value, list)
            else ""
            if value is None or isinstance(value, dict)
            else str(value).strip()
        )

    return [remark(value) for value in table.cells[column]]


def _marked(
    table: RawTable, column: str | None, texts: list[str], kept: list[int], rows: list[int]
) -> tuple[list[tuple[tuple[int, int], ...]], list[str]]:
    """Each kept row's evidence, and a note on rows whose evidence cannot be understood: these have none."""
    found = [() if column is None else evidence.read_evidence(table.cells[column][i], texts[i]) for i in kept]
    unread = [row for row, spans in zip(rows, found) if spans is None]
    return [spans or () for spans in found], [
        f"Read without evidence, since column {column!r} holds no list of [start, end] characters of the text, nor of "
        f"phrases in it: {counted(unread)}."
    ] * bool(unread)


# ---- labels


def _labels(
    table: RawTable, mapping: Mapping, kept: list[int], rows: list[int]
) -> tuple[list[str | None], tuple[str, ...], list[str]]:
    """Each kept row's label or None, the names of all classes in order, and notes."""
    if mapping.label is None:
        return [None] * len(kept), (), []
    raw = [table.cells[mapping.label][i] for i in kept]
    nested = next((row for row, value in zip(rows, raw) if isinstance(value, (list, dict))), None)
    if nested is not None:
        raise BadData(
            f"{table.name}, row {nested}: column {mapping.label!r} holds several labels or an object. Each row must "
            f"have one label; choose another column."
        )
    names = _label_names(table, mapping)
    found = _canonical(raw, names)
    used = {label.lstrip("+") for label in found if label is not None}
    hidden = "-1" in used and "-1" not in names and (names != () or used != {"-1", "1"})
    found = [None if hidden and label == "-1" else label for label in found]
    notes, none = [], [row for row, label in zip(rows, found) if label is None]
    if none:
        aside = " (−1 means that there is none; if it is a class, list −1 among the label names)" if hidden else ""
        notes.append(f"Without a label{aside}: {counted(none)}.")
    if names:
        numbered = names == table.classes.get(mapping.label) and all(
            isinstance(value, int) for value in raw if value is not None
        )
        return _named(table.name, names, found, rows, notes, numbered), names, notes
    different = {label for label in found if label is not None}
    if len(different) > MOST_LABELS:
        raise BadData(
            f"{table.name}: column {mapping.label!r} holds {len(different):,} different values, so it does not look "
            f"like labels. Choose another, or none."
        )
    numeric = all(re.fullmatch(r"[+-]?\d+(\.\d+)?", label) for label in different)
    return (
        found,
        tuple(sorted(different, key=lambda label: (float(label), label) if numeric else (label.casefold(), label))),
        notes,
    )


def _label_names(table: RawTable, mapping: Mapping) -> tuple[str, ...]:
    """The names of numbered labels: those chosen, else the table's own if they are in order."""
    chosen, own = (
        tuple(name.strip() for name in names) for names in (mapping.label_names, table.classes.get(mapping.label, ()))
    )
    if not all(chosen) or len(set(chosen)) < len(chosen):
        raise BadData("Two label names are the same, or one is empty. Give every label a name of its own.")
    return chosen or (own if all(own) and len(set(own)) == len(own) else ())


def _named(
    file: str, names: tuple[str, ...], found: list, rows: list[int], notes: list[str], numbered: bool
) -> list[str | None]:
    """Labels as names: those written as a name, in any case, then those that number one from 0.

    numbered: they are numbers from 0 whatever the names look like; else names that are numbers themselves,
    such as "1" to "5", are taken as names if all labels are among them, and as numbered if that fits instead.
    """
    used = {label for label in found if label is not None}
    known = {str(i): name for i, name in enumerate(names)} | (
        {"false": names[0], "true": names[1]} if len(names) == 2 else {}
    )
    if not numbered:
        digits = all(re.fullmatch(r"[+-]?\d+", name) for name in names)
        if not digits:
            known = known | {name.casefold(): name for name in reversed(names)} | {name: name for name in names}
        elif used <= set(names) or not used <= set(known):
            known = {name: name for name in names}
    meant = [None if label is None else known.get(label, known.get(label.casefold())) for label in found]
    strange = [i for i, label in enumerate(found) if label is not None and meant[i] is None]
    values = listed(dict.fromkeys(repr(found[i]) for i in strange))
    if strange and not any(meant):
        raise BadData(
            f"{file}, row {rows[strange[0]]}: the label {listed([repr(found[strange[0]])])} is neither one of "
            f"{listed(names, 10)} nor a number from 0 to "
            f"{len(names) - 1}, and nor is any other. Correct the names of the labels."
        )
    if strange:
        notes.append(
            f"Read without a label, since {values} cannot be tied to a label name: "
            f"{counted([rows[i] for i in strange])}."
        )
    return meant


def _canonical(raw: list, names: tuple[str, ...]) -> list[str | None]:
    """Labels as text, None where there is none; whole numbers lose the ".0" that a column with gaps gives them."""
    written = [None if value is None else str(value).strip() for value in raw]
    labels = [
        None if label is None or label.casefold() in _NO_LABEL and label not in names else label for label in written
    ]
    given = [label for label in labels if label is not None]
    if any("." in label for label in given) and all(_NUMBER.fullmatch(label) for label in given):
        return [None if label is None else str(int(label.split(".")[0])) for label in labels]
    return labels


def _name(value) -> str:
    """A short value as text: whole numbers without ".0"; "" for none."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return "" if value is None else str(value).strip()


def _blank(value) -> bool:
    return value is None or isinstance(value, str) and not value.strip()
