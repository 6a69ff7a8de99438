"""A model check as tables, each (header, rows) of values, None or NaN where there is none, and its figures in words."""

from typing import Any

from core.evaluation.families import Measured
from core.evaluation.findings import FEW, Finding
from core.evaluation.studies.check_findings import known_split
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.evaluation.studies.disagreement import Disagreement
from core.explanation.recursive import UNSTABLE
from core.validity.marks import SIGN
from core.validity.references import CALIBRATED, FORMS, LITERAL
from core.wording import ends_of, number, percent, share_text

Values = tuple[list[str], list[list[Any]]]
# What the p of a data set asks in each form.
ASKS = {CALIBRATED: "calibrated, by count", LITERAL: "literal, by Simes"}
STRATEGIES = {"half": "every second example masked", "mask": "only masked", "none": "never masked", "": "no card"}
_PLACES = (0, 5, 10)
_EVIDENCE = ["average precision ↑", "recall of top k ↑"]


def training_table(reports: list[CheckReport], form: str) -> Values:
    """Models beside each other: how they were trained, what they reach, and what the test says of them."""
    header = [
        "model",
        "trained",
        f"unmasked {reports[0].metric} ↑",
        f"all{reports[0].sample.of_part} masked ↑",
        f"class majority of {reports[0].majority_of}",
        *(part for of in FORMS for part in (f"smallest p ({ASKS[of]}) ↑", f"masked there ({of})")),
        *(f"rejected at {share_text(X[k])} masked ↓" for k in _PLACES),
        SIGN,
        "texts",
    ]
    rows = [
        [
            one.model,
            STRATEGIES[one.training],
            *(percent(value, one.metric) for value in (one.unmasked, one.masked, one.majority)),
            *(cell for of in FORMS for cell in _smallest(one, of)),
            *(int(one.random.rejected[form][k]) if form in one.random.rejected else None for k in _PLACES),
            SIGN if one.random.marked(form) else None,
            one.n,
        ]
        for one in reports
    ]
    return header, rows


def _smallest(one: CheckReport, form: str) -> tuple[float | None, str | None]:
    if form not in one.random.p or not one.floor:
        return None, None
    p, at = one.smallest(form)
    return p, share_text(at)


def faithfulness_table(found: CheckReport, form: str) -> Values:
    """How faithful each measure is, and where evidence is known how well it finds it; random order last. With
    everything masked all orders are the same input, so the smallest p leaves that out.
    """
    known = with_evidence(found)
    header = [
        "measure",
        "RACU ↑",
        "RACU, 95 % interval",
        "ACU ↑",
        "ACU, 95 % interval",
        "against random order",
        f"smallest p, 0 to {share_text(X[-2])} masked ↑",
        *(_EVIDENCE if known else []),
        SIGN,
        "examples",
    ]
    rows = [_measure_row(found, line, form, bool(known)) for line in found.measured]
    chance = [known[0].chance, None] if known else []
    sign = SIGN if found.random.marked(form) else None
    last = ["random order", 0, None, 0, None, None, _least(found.random, form), *chance, sign, found.n]
    return header, [*rows, last]


def _measure_row(found: CheckReport, line: CurveFigures, form: str, known: bool) -> list[Any]:
    areas = line.areas
    racu = [None, UNSTABLE] if areas.unstable else [areas.racu.mean, ends_of(areas.racu.low, areas.racu.high) or None]
    return [
        line.curve.label,
        *racu,
        areas.acu.mean,
        ends_of(areas.acu.low, areas.acu.high) or None,
        standing(found, line),
        _least(line, form),
        *([line.precision, line.recall] if known else []),
        SIGN if found.marked(line, form) else None,
        line.n,
    ]


def _least(line: CurveFigures, form: str) -> float | None:
    return float(line.p[form][:-1].min()) if form in line.p else None


def standing(found: CheckReport, line: CurveFigures) -> str | None:
    """Whether a measure is more faithful than random order, by the 95 % interval of its ACU: "more", "less" or "not
    shown"; None of fewer than 20 texts, of picked ones, and while texts are to come.
    """
    settled = found.measured_tally.settled and line.n == found.n
    if not settled or found.n < FEW or found.sample.picked or line.acu != line.acu:
        return None
    if line.areas.acu.low > 0:
        return "more"
    return "less" if line.areas.acu.high < 0 else "not shown"


def with_evidence(found: CheckReport) -> list[CurveFigures]:
    """The lines of measures for which it is known how well they find the evidence."""
    return [line for line in found.measured if line.precision == line.precision]


def ratios_table(reports: list[CheckReport], form: str) -> Values:
    """How many texts are rejected at each masking ratio, random order first, and the p-values of the data set; in the
    calibrated form those of usual length and the others by themselves, too, where many are unusual.
    """
    header = ["masked", "of", *(share_text(ratio) for ratio in X)]
    rows: list[list[Any]] = []
    for place, one in enumerate(reports):
        for line in one.shown if place == 0 else (one.random,):
            if form in line.rejected:
                name = f"{one.model}, {line.curve.label}" if len(reports) > 1 else line.curve.label
                rows += _ratio_rows(name, line, form)
                rows += _length_rows(name, one) if line is one.random and form == CALIBRATED else []
        if len(reports) > 1:
            rows.append([f"{one.model}: log loss ↓", one.n, *one.random.loss.tolist()])
    return header, rows


def _ratio_rows(name: str, line: CurveFigures, form: str) -> list[list[Any]]:
    """What the figure above them draws; p by Simes in the calibrated form is in the file."""
    rows: list[list[Any]] = [[f"{name}: rejected", line.n, *line.rejected[form].tolist()]]
    for of, how in ((CALIBRATED, "by count"), (LITERAL, "by Simes")):
        if of in line.p and form in (of, CALIBRATED):
            rows.append([f"{name}: {of} p {how}", line.n, *line.p[of].tolist()])
    return rows


def _length_rows(name: str, one: CheckReport) -> list[list[Any]]:
    split = known_split(one)
    if split is None or split.rejected is None:
        return []
    usual, (mine, others) = f"{name}, {split.low:,} to {split.high:,} tokens", split.rejected
    rows: list[list[Any]] = [[f"{usual}: rejected", split.alike[1], *mine.tolist()]]
    if split.p is not None:
        rows.append([f"{usual}: p by count", split.alike[1], *split.p.tolist()])
    return [*rows, [f"{name}, shorter or longer: rejected", split.others[1], *others.tolist()]]


def findings_table(findings: list[Finding]) -> Values:
    """What FMM found, its figure, that of this data, and whether the two agree."""
    header = ["FMM found", "paper", "this data", "agrees", "tests"]
    return header, [[one.claim, one.paper or None, one.here, one.word, one.more or None] for one in findings]


def disagreement_table(parts: Disagreement) -> Values:
    """The two measures of the example at which finding the evidence and being faithful part most."""
    rows = zip((parts.finder, parts.faithful), parts.precision, parts.acu)
    return ["measure", "average precision ↑", "ACU ↑"], [list(row) for row in rows]


# ---- figures in words


def curves_in_words(reports: list[CheckReport]) -> str:
    """The figure of performance for those who do not see it."""
    parts = (
        f"{one.model}, {line.curve.label}: {', '.join(f'{value:.2f}' for value in line.performance)}"
        for one in reports
        for line in one.shown
    )
    return f"Performance at each masking ratio. {'; '.join(parts)}."


def p_in_words(reports: list[CheckReport]) -> str:
    """The figure of the data set's p-values for those who do not see it."""
    parts = (
        f"{one.model}, {line.curve.label}, {form}: {', '.join(map(number, line.p[form].tolist()))}"
        for one in reports
        for line in one.shown
        for form in FORMS
        if form in line.p
    )
    return f"p of the data set at each masking ratio. {'; '.join(parts)}."


def spans_in_words(cards: list[Measured]) -> str:
    """What models reach by their cards, for those who do not see the figure."""
    return "; ".join(
        f"{one.name}: {percent(one.unmasked, one.metric)} unmasked, {percent(one.masked, one.metric)} masked"
        for one in cards
    )
