"""What leaves the app as a file: tables as CSV, names of files, and where a result comes from."""

import csv
import datetime
import functools
import hashlib
import io
import math
import numbers
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from types import MappingProxyType

import numpy as np

from core import settings
from core.data.examples import Example
from core.explanation.plausibility import feature_mask
from core.explanation.rows import WordRow
from core.interactions.telling import PairReport
from core.measures.catalogue import measure
from core.network.features import FIRST, Encoded, placed_texts
from core.network.model import Model
from core.network.tokens import encodable
from core.oracle.target import Target, classes_of, score_kind, target_name
from core.results.result import Result
from core.stability.known import unstable_cell
from core.verdicts.deciding import VerdictReport
from core.verdicts.operators import UnderErasure

PACKAGES = ("torch", "transformers", "captum", "numpy")
COLUMNS = ["example", "position", "word", "start", "end", "masked", "measure", "variant", "value", "unit", "place"]
VERDICT = ["verdict", "p_better_from", "p_better_to", "p_worse_from", "p_worse_to"]
CONSTANT = "model weights_sha256 precision device data data_sha256 text_sha256 class feature_unit software".split()
CONSTANT += ["measure_version", "date"]

# Control characters as their signs; what no document may hold, as a replacement character.
_SIGNS = (
    {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
    | {127: 0x2421}
    | dict.fromkeys((*range(0x80, 0xA0), 0xFFFE, 0xFFFF), 0xFFFD)
)
# Where a program may begin a cell, what it may skip there, and what makes the rest a formula. A comma between
# quotes is safe; a semicolon is not, since half of Europe's spreadsheets part cells by it.
_SKIPPED = '[ \\x0b\\x0c\\xa0\\xad\u1680\u2000-\u200f\u202a-\u202f\u205f-\u2069\u3000\ufeff"`´“”„‘’«»]*'
_FORMULA = "=+\\-@＝＋－＠﹦﹢﹣﹫"
_RISKY = f"(?:\\A(?={_SKIPPED}[{_FORMULA}'\\t\\r\\n])|(?<=[\\t\\r\\n;；\u2028\u2029])(?={_SKIPPED}[{_FORMULA}']))"
_GUARD, _GUARDED = re.compile(_RISKY), re.compile(_RISKY.replace("(?=", "'(?="))


@dataclass(frozen=True, eq=False)
class Shown:
    """An attribution view of one example, ready to be written down.

    probabilities: float[C]; target: the explained class, 0..C−1, or one rather than another; rows: one a measure;
    label_class: the class that the example's label means, if any; notes: sentences a reader must know; provenance: see
    `provenance`; result: what the page's headline says; pairs: what is known of pairs of its features; verdicts: of its
    measures, None where they are not known; unstable: {measure: why its ranking is unstable, "" where that is not
    shown}, of those of which that is known; erased: the verdicts by each way of erasing, as far as these are known.
    """

    encoded: Encoded
    example: Example
    labels: tuple[str, ...]
    probabilities: np.ndarray
    target: Target
    rows: tuple[WordRow, ...]
    label_class: int | None = None
    notes: tuple[str, ...] = ()
    provenance: dict[str, str] = field(default_factory=dict)
    result: Result | None = None
    pairs: PairReport | None = None
    verdicts: VerdictReport | None = None
    unstable: Mapping[str, str] = field(default_factory=dict)
    erased: Mapping[str, UnderErasure] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[int, ...]:
        """The explained class, and the one that it is set against where there is one."""
        return classes_of(self.target)

    @property
    def score_kind(self) -> str:
        """What v is, see `core.oracle.target.score_kind`."""
        return score_kind(self.target)

    @property
    def class_name(self) -> str:
        """What is explained, as text: "positive", "positive rather than negative"."""
        return target_name(self.labels, self.target)

    @property
    def model(self) -> str:
        """The model's name."""
        return self.provenance.get("model", "model")


@dataclass(frozen=True, eq=False)
class Beside:
    """Another version of a view's text, as the two stand beside each other: an edit's original, an example's pair.

    names: of the view's own version and of the other one, text; other: that one; first: whether the view's own comes
    first; result: what changed; tables: (header, rows) of text.
    """

    names: tuple[str, str]
    other: Shown
    first: bool
    result: Result | None = None
    tables: tuple[tuple[list[str], list[list[str]]], ...] = ()

    def versions(self, shown: Shown) -> list[tuple[str, Shown]]:
        """Both with their names, in their order."""
        both = list(zip(self.names, (shown, self.other)))
        return both if self.first else both[::-1]


def csv_text(header: list[str], rows: Iterable[list]) -> str:
    """Write a table as CSV whose cells no spreadsheet runs as formulas; to be saved as UTF-8.

    A byte-order mark comes first. Numbers stay numbers, NaN and None are empty; texts pass through `safe_cell`.
    Source: RFC 4180; OWASP, CSV Injection.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    # By its mark spreadsheets know UTF-8.
    return f"\ufeff{out.getvalue()}"


def safe_cell(text: str) -> str:
    """A text that stays a text in a spreadsheet: an apostrophe goes before what it would run.

    That is a leading = + - @ (full-width too; after spaces, byte order marks or quotes), tab or line break, and such a
    sign after a line break, tab or semicolon. An apostrophe there is doubled, so that `restored` gives back the very
    text.
    """
    return _GUARD.sub("'", visible(text))


def restored(cell: str) -> str:
    """The text that `safe_cell` was given, from a cell that was read back."""
    return _GUARDED.sub("", cell)


def visible(text: str) -> str:
    """A text that every document can hold: ␀ and its like for control characters, � for what is no character."""
    return encodable(text).translate(_SIGNS)


def attribution_table(shown: Shown, beside: Beside | None = None) -> tuple[list[str], list[list]]:
    """One line per measure and feature, provenance at its right end: (header, lines).

    The header is COLUMNS + CONSTANT, between them what is known of "evidence", VERDICT, "unstable" and, by each way of
    erasing, VERDICT and "inputs"; before them "version" where there are two. position counts from 1; start and end are
    characters; value and place are empty where the text masks the feature, value of places too.
    """
    versions = [("", shown)] if beside is None else beside.versions(shown)
    known = any(one.example.evidence for _, one in versions)
    named = beside is not None
    lines = [[name] * named + line for name, one in versions for line in _lines(one, known, shown)]
    judged = [*(VERDICT if shown.verdicts is not None else []), *(["unstable"] if shown.unstable else [])]
    judged += [f"{name} ({erasure})" for erasure in shown.erased for name in (*VERDICT, "inputs")]
    return ["version"] * named + COLUMNS + ["evidence"] * known + judged + CONSTANT, lines


def _judged_cells(shown: Shown, wanted: Shown, measure: str) -> list:
    """A measure's cells under the columns of `wanted`, empty where this version has none."""
    found = verdict_columns(shown.verdicts, measure) if wanted.verdicts is not None else []
    if wanted.unstable:
        found = [*found, unstable_cell(measure, shown.unstable)]
    for erasure in wanted.erased:
        under = shown.erased.get(erasure)
        cells = verdict_columns(None if under is None else under.report, measure)
        found = [*found, *cells, None if under is None else under.inputs(measure)]
    return found


def _lines(shown: Shown, known: bool, wanted: Shown) -> list[list]:
    """The lines of one version; known: whether evidence has a column; wanted: whose columns are written."""
    software = [f"{name} {shown.provenance[name]}" for name in versions() if name in shown.provenance]
    facts = shown.provenance | {"software": ", ".join(software)}
    constant = [facts.get(name, "") for name in CONSTANT[:-2]]
    lines, words = [], placed_texts(shown.encoded.features)
    marks = feature_mask(shown.encoded, shown.example.evidence) if shown.example.evidence else None
    for row in shown.rows:
        judged = _judged_cells(shown, wanted, row.measure)
        ends = [*judged, *constant, measure(row.measure).version, facts.get("date", "")]
        for i, (feature, word) in enumerate(zip(shown.encoded.features, words)):
            masked = bool(row.masked[i])
            value = None if masked or row.kind == "rank" else float(row.scores[i])
            place = None if masked else int(row.places[i])
            cells = [shown.example.id, i + 1, word, feature.start, feature.end, masked]
            scored = [row.measure, row.variant, value, row.unit, place]
            lines.append([*cells, *scored, *[None if marks is None else bool(marks[i])] * known, *ends])
    return lines


def verdict_columns(report: VerdictReport | None, measure: str) -> list:
    """A measure's cells under VERDICT, empty where it has none."""
    found = None if report is None else report.of(measure)
    return [None] * len(VERDICT) if found is None else [str(found.word), *found.p, *found.worse]


def model_identity(model: Model) -> dict[str, str]:
    """Which model, exactly: name, digest of its files, precision and device."""
    return {"model": model.name, "weights_sha256": model.digest, "precision": model.precision, "device": model.device}


def identity(
    model: Model, encoded: Encoded, example: Example, data: str, data_digest: str, target: Target
) -> dict[str, str]:
    """What an attribution is of: model, data, example, class and unit; cheap enough for every view.

    data, data_digest: name and SHA-256 of the data set, "" for a text of one's own; target: class, or one over another.
    """
    second = {} if encoded.second is None else {"second_text_sha256": _digest(encoded.second)}
    return (
        model_identity(model)
        | {"data": data, "data_sha256": data_digest, "example": example.id, "text_sha256": _digest(encoded.text)}
        | second
        | {"class": target_name(model.labels, target), "feature_unit": encoded.unit}
        | ({} if encoded.maskable == FIRST else {"maskable": encoded.maskable})
    )


def provenance(
    model: Model,
    encoded: Encoded,
    example: Example,
    data: str,
    data_digest: str,
    target: Target,
    now: datetime.datetime | None = None,
) -> dict[str, str]:
    """`identity`, and what it was made with and when: versions, and the date in UTC (ISO 8601)."""
    now = now or datetime.datetime.now(datetime.UTC)
    return (
        identity(model, encoded, example, data, data_digest, target)
        | dict(versions())
        | {"date": now.astimezone(datetime.UTC).isoformat(timespec="seconds")}
    )


@functools.cache
def versions() -> Mapping[str, str]:
    """Versions of Python, of this project and of the packages that results depend on."""
    name, own = settings.project()
    return MappingProxyType(
        {"python": platform.python_version(), name: own} | {package: version(package) for package in PACKAGES}
    )


def picture_line(facts: dict[str, str], *others: dict[str, str]) -> str:
    """Where a picture comes from, by `identity` or `model_identity`; others: those of every other model."""
    shown = (facts, *others)
    parts = [
        " and ".join(f"{one['model']} (weights {one['weights_sha256'][:12]}…, {one['precision']})" for one in shown)
    ]
    classes = [one["class"] for one in shown if "class" in one]
    parts += [f"class {classes[0]}"] if classes and len(set(classes)) == 1 else []
    parts += [f"class {one['class']} of {one['model']}" for one in shown] if len(set(classes)) > 1 else []
    parts += [facts["data"]] if facts.get("data") else []
    # A text of one's own has no place in a data set.
    parts += [facts["example"]] if facts.get("data_sha256") and "example" in facts else []
    parts += [f"text {facts['text_sha256'][:12]}…"] if "text_sha256" in facts else []
    parts += [f"by {facts['feature_unit']}"] if "feature_unit" in facts else []
    return visible(" · ".join([*parts, "Faithscope"]))


def describe(row: WordRow) -> str:
    """A row's variant, which way its numbers go, and its largest one."""
    if row.kind == "rank":
        return "1 = masked first"
    order = {"positive": "↑ matters more, no sign", "signed": "↑ supports, ↓ opposes"}[row.kind]
    return f"{row.variant} · {order} · largest {row.largest:.3g}" + (f" {row.unit}" if row.unit != "none" else "")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return "" if math.isnan(value) else float(value)
    return safe_cell(str(value))
