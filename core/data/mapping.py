"""Which column of a table is what, as somebody chose it, and the data set of examples that this makes of the table."""

import hashlib
import json
import re
from collections import abc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from core.data import evidence_columns as evidence
from core.data.examples import DataSet, Example, first_places
from core.data.parsed import BadData, Repair, noted
from core.data.tables import RawTable
from core.wording import listed, quoted

MOST_LABELS = 200
_DAMAGED_CHOICE = "The choice of columns is damaged. Choose them again."
_NO_LABEL = ("", "nan", "null", "<na>", "n/a", "#n/a", "-")
_NUMBER, _WHOLE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+|inf)"), re.compile(r"[+-]?\d{1,15}(\.0*)?")
_TRUTH = {"false": "0", "true": "1"}
# {"text", "second" or "label": column as somebody named it, "" for none, None where it is guessed}
Named = abc.Mapping[str, str | None]
# Usual names of two texts as `name_key` writes them, the surest first.
PAIRS = [
    tuple(pair.split("+"))
    for pair in (
        "sentence1+sentence2 premise+hypothesis question1+question2 text1+text2 texta+textb sentencea+sentenceb "
        "1string+2string s1+s2 text+second text+textpair text+text2 sentence+second question+passage "
        "question+context question+sentence question+paragraph question+document query+passage query+document "
        "claim+evidence headline+body headline+articlebody question+answer"
    ).split()
]


@dataclass(frozen=True)
class Mapping:
    """Which column is what. label_names: of numbered labels, in order; evidence: where in the text the label rests;
    pair: id of the row that is another version of the text.
    """

    text: str
    second: str | None = None
    label: str | None = None
    id: str | None = None
    tags: str | None = None
    note: str | None = None
    label_names: tuple[str, ...] = ()
    evidence: str | None = None
    pair: str | None = None

    @property
    def roles(self) -> Named:
        """Which columns are read, "" for none."""
        return {"text": self.text, "second": self.second or "", "label": self.label or ""}

    def as_dict(self) -> dict:
        """As plain values for JSON, without evidence or pair where there is none, so that keys of data stay."""
        found = asdict(self) | {"label_names": list(self.label_names)}
        return {role: one for role, one in found.items() if one is not None or role not in ("evidence", "pair")}

    @classmethod
    def from_dict(cls, found: object) -> "Mapping":
        """Back from `as_dict`; BadData if it is not of that kind."""
        if not isinstance(found, dict):
            raise BadData(_DAMAGED_CHOICE)
        roles = ("text", "second", "label", "id", "tags", "note", "evidence", "pair")
        chosen: dict[str, Any] = {role: found.get(role) for role in roles}
        names = found.get("label_names") or ()
        if not isinstance(chosen["text"], str) or not chosen["text"]:
            raise BadData("Choose a column as the text.")
        columns = [column for column in chosen.values() if column is not None]
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in (*names, *columns)):
            raise BadData(_DAMAGED_CHOICE)
        text = chosen.pop("text")
        return cls(text, label_names=tuple(names), **{role: column or None for role, column in chosen.items()})


# ---- building


def build(table: RawTable, mapping: Mapping) -> DataSet:
    """The examples of a table, in file order; BadData where a column is missing or of the wrong kind, or no row usable.

    Rows without a text are left out. Numbered labels become names by the mapping's label names, else by the
    table's own; −1, empty labels and "-" are none, unless they are among these names, or there are no names
    and the labels are only −1 and 1. Ids are those of the id column if complete and all different, else row numbers.
    """
    _check(table, mapping)
    numbers = table.rows if len(table.rows) == len(table) else range(1, len(table) + 1)
    texts = _written(table, mapping.text, numbers)
    kept = [i for i, text in enumerate(texts) if text.strip()]
    if not kept:
        raise _unfit(table.name, mapping.text, "holds no text")
    rows = [numbers[i] for i in kept]
    notes = noted(Repair.EMPTY_TEXT, [number for number, text in zip(numbers, texts) if not text.strip()])

    def column(name: str | None, read: Callable) -> list | None:
        return None if name is None else [values[i] for values in [read(table, name, numbers)] for i in kept]

    seconds = column(mapping.second, _written)
    notes += noted(Repair.EMPTY_SECOND, [row for row, second in zip(rows, seconds or ()) if not second.strip()])
    if mapping.second is not None and (name_key(mapping.second), name_key(mapping.text)) in PAIRS:
        notes.append(f"{Repair.REVERSED}: {listed([mapping.text, mapping.second])}.")
    used = mapping.as_dict().values()
    several = [c for c in table.columns if c not in used and any(isinstance(v, (list, dict)) for v in table.cells[c])]
    notes += [f"{Repair.SEVERAL} {listed(several)}."] if several else []
    labels, classes, about = _labels(table, mapping, kept, rows)
    ids, doubt = _ids(None if mapping.id is None else [table.cells[mapping.id][i] for i in kept], rows)
    tags, remarks = column(mapping.tags, _tagged), column(mapping.note, _remarked)
    versions = column(mapping.pair, _remarked)
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
            versions[n] if versions else "",
        )
        for n, i in enumerate(kept)
    )
    notes += noted(Repair.REPEATED, [rows[i] for i, place in enumerate(first_places(examples)) if place != i])
    digest = hashlib.sha256(json.dumps([table.digest, mapping.as_dict(), classes], sort_keys=True).encode()).hexdigest()
    ordered = mapping.label is not None and bool(_label_names(table, mapping))
    said = (*table.notes, *notes, *about, *doubt, *unread)
    return DataSet(table.name, digest, examples, classes, said, tuple(rows), ordered)


def _check(table: RawTable, mapping: Mapping) -> None:
    """BadData where the columns that were chosen are not there, or one is chosen twice."""
    chosen = [column for role, column in mapping.as_dict().items() if role != "label_names" and column is not None]
    missing = [column for column in chosen if column not in table.cells]
    if missing:
        raise BadData(f"{table.name} has no column {quoted(missing[0])}; it has {listed(table.columns, 10)}.")
    if mapping.text == mapping.second:
        raise BadData(f"Column {quoted(mapping.text)} is chosen as both texts. Choose another.")


def _unfit(where: str, column: str, why: str) -> BadData:
    return BadData(f"{where}: column {quoted(column)} {why}. Choose another.")


def _written(table: RawTable, column: str, numbers) -> list[str]:
    """A column as text, numbers written out; BadData names the first list or object."""
    for row, value in zip(numbers, table.cells[column]):
        if isinstance(value, (list, dict)):
            raise _unfit(f"{table.name}, row {row}", column, "holds a list or an object")
    return ["" if value is None else str(value) for value in table.cells[column]]


def _ids(values: list | None, rows: list[int]) -> tuple[list[str], list[str]]:
    """Each kept row's id, of the column where it has one for every row and none twice, and a note where it has not."""
    names = [str(row) for row in rows] if values is None else [short_text(value) for value in values]
    first = dict(zip(reversed(names), reversed(rows)))
    wrong = [row for name, row in zip(names, rows) if not name or first[name] != row]
    return [str(row) for row in rows] if wrong else names, noted(Repair.ROW_IDS, wrong)


def _tagged(table: RawTable, column: str, numbers) -> list[tuple[str, ...]]:
    """Tags of lists, or of text separated by ; or |."""
    found = []
    for row, value in zip(numbers, table.cells[column]):
        parts = value if isinstance(value, (list, tuple)) else [] if value is None else re.split(r"[;|]", str(value))
        if isinstance(value, dict) or any(isinstance(part, (list, dict, tuple)) for part in parts):
            raise BadData(
                f"{table.name}, row {row}: column {quoted(column)} holds objects. Write tags as “first;second”."
            )
        found.append(tuple(dict.fromkeys(name for part in parts if (name := short_text(part)))))
    return found


def _remarked(table: RawTable, column: str, numbers) -> list[str]:
    values = [None if isinstance(value, dict) else value for value in table.cells[column]]
    return [
        ", ".join(map(short_text, value)) if isinstance(value, list) else str("" if value is None else value).strip()
        for value in values
    ]


def _marked(
    table: RawTable, column: str | None, texts: list[str], kept: list[int], rows: list[int]
) -> tuple[list[tuple[tuple[int, int], ...]], list[str]]:
    """Each kept row's evidence, and a note on rows whose evidence cannot be understood: these have none."""
    found = [() if column is None else evidence.read_evidence(table.cells[column][i], texts[i]) for i in kept]
    unread = [row for row, spans in zip(rows, found) if spans is None]
    return [spans or () for spans in found], noted(Repair.NO_EVIDENCE, unread)


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
        raise _unfit(f"{table.name}, row {nested}", mapping.label, "holds several labels")
    names = _label_names(table, mapping)
    found, notes = _canonical(raw, names)
    used = {label.lstrip("+") for label in found if label is not None}
    hidden = "-1" in used and "-1" not in names and (names != () or used != {"-1", "1"})
    found = [None if hidden and label == "-1" else label for label in found]
    none = [i for i, label in enumerate(found) if label is None]
    spelt = (str(raw[i]).strip() for i in none if not is_blank(raw[i]))
    notes += noted(Repair.NO_LABEL, [rows[i] for i in none], spelt)
    notes += noted(Repair.MINUS_CLASS, [row for row, label in zip(rows, found) if label == "-1" and label not in names])
    if names:
        numbered = names == table.classes.get(mapping.label) and all(
            isinstance(value, int) for value in raw if value is not None
        )
        meant, strange = _named(table.name, names, found, rows, numbered)
        unknown = noted(Repair.UNKNOWN_LABEL, [rows[i] for i in strange], [found[i] for i in strange])
        return meant, names, [*notes, *unknown]
    different = {label for label in found if label is not None}
    if len(different) > MOST_LABELS:
        raise _unfit(table.name, mapping.label, f"holds {len(different):,} different values")
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
        raise BadData("Label names must be different and not empty.")
    return chosen or (own if all(own) and len(set(own)) == len(own) else ())


def _named(
    file: str, names: tuple[str, ...], found: list, rows: list[int], numbered: bool
) -> tuple[list[str | None], list[int]]:
    """Labels as names: those written as one, in any case, then those that number one from 0; and the places of others.

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
    if strange and not any(meant):
        raise BadData(
            f"{file}, row {rows[strange[0]]}: the label {listed([quoted(found[strange[0]])])} is none of "
            f"{listed(names, 10)}, nor a number up to {len(names) - 1}. Correct the label names."
        )
    return meant, strange


def _canonical(raw: list, names: tuple[str, ...]) -> tuple[list[str | None], list[str]]:
    """Labels as text, None where there is none, and a note on those read as others.

    Whole numbers lose the ".0" that a column with gaps gives them; truth values beside 0 and 1 are these.
    """
    written = [None if value is None else str(value).strip() for value in raw]
    meant = {one: one for one in written if one is not None and (one in names or one.casefold() not in _NO_LABEL)}
    numbers = [one for one in meant if _NUMBER.fullmatch(one) and one not in names]
    if any("." in one for one in numbers) and all(_WHOLE.fullmatch(one) for one in numbers):
        meant |= {one: str(int(one.split(".")[0])) for one in numbers}
    truths = {one: _TRUTH[one.casefold()] for one in meant if one.casefold() in _TRUTH and one not in names}
    beside = {label for one, label in meant.items() if one not in truths}
    meant |= truths if beside and beside <= {"0", "1"} else {}
    others = [f"{one} as {label}" for one, label in meant.items() if one != label]
    notes = [f"{Repair.SAME_LABEL}: {listed(others)}."] if others else []
    return [None if one is None else meant.get(one) for one in written], notes


def not_guessed(named: Named | None) -> dict[str, Any]:
    """What is named, None for no column; there must be a text."""
    return {
        role: column or None for role, column in (named or {}).items() if column or (column == "" and role != "text")
    }


def name_key(name: str) -> str:
    """A column's name as names are compared, without case, spaces and signs."""
    return re.sub(r"[\W_]+", "", name.casefold())


def short_text(value: object) -> str:
    """A short value as text: whole numbers without ".0"; "" for none."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return "" if value is None else str(value).strip()


def is_blank(value: object) -> bool:
    """Whether a cell holds nothing."""
    return value is None or (isinstance(value, str) and not value.strip())
