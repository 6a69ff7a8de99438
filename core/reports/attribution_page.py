"""One attribution view as a page of its own: it opens from a disk, runs nothing and asks for nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.explanation.edits import aligned, largest_of
from core.explanation.plausibility import MEANING, evidence_of
from core.explanation.rows import WordRow, agreement, pieces, value_text
from core.interactions.pairs import RULE
from core.interactions.telling import COLUMNS, MASKED
from core.measures.catalogue import measure
from core.reports.exports import Beside, Shown, visible
from core.reports.page import BIDI, read_style, shade, straight, write_page
from core.results.result import Result
from core.results.verdicts import TABLE, verdict_badge, verdict_cells
from core.results.word_pairs import pairs_result
from core.terms import PER_UNIT, TERMS
from core.texts.rendering import Form, write_result

if TYPE_CHECKING:
    from markupsafe import Markup

STYLE = read_style("page.css")
# k of the top-k overlap, where there are as many features.
_TOP = 3


def attribution_page(shown: Shown, beside: Beside | None = None, more: Sequence[tuple] = ()) -> str:
    """Write an attribution view as one escaped HTML page for UTF-8, without script or reference, in the reader's theme.

    shown: without rows the page has prediction, text and provenance; beside: another version; more: further
    sections, see `core.reports.answers.written_sections`.
    """
    report = shown.verdicts
    judged = () if report is None else report.verdicts
    cut = shown.encoded.truncation
    return write_page(
        "attribution.html",
        f"{shown.example.id} · {shown.class_name} · {shown.provenance.get('model', 'attributions')}",
        STYLE,
        shown=shown,
        drawn=drawn_rows(shown),
        left=cut.words - cut.words_read,
        evidence=evidence_of(shown.encoded, shown.example.evidence),
        meaning=MEANING,
        squares=_squares(shown),
        measure=measure,
        pairs=_pairs(shown),
        result=None if shown.result is None else written(shown.result),
        verdicts={one.measure: verdict_badge(one) for one in judged},
        judged=[] if report is None else [verdict_cells(report, one) for one in judged],
        judged_head=TABLE,
        per_unit=TERMS[PER_UNIT] if any(row.unit.endswith(PER_UNIT) for row in shown.rows) else "",
        beside=beside,
        more=more,
        change=None if beside is None or beside.result is None else written(beside.result),
        versions=[("", shown)] if beside is None else beside.versions(shown),
        compared=[] if beside is None else _compared(beside.versions(shown)),
    )


def drawn_rows(shown: Shown) -> list[tuple[WordRow, list[dict]]]:
    """Each measure's row with the pieces of the text as templates draw them."""
    words = pieces(shown.encoded, shown.example.evidence)
    return [(row, [_word(row, i, piece) for i, piece in enumerate(words)]) for row in shown.rows]


def _compared(versions: list[tuple[str, Shown]]) -> list[tuple[WordRow, list]]:
    """Of each measure of both versions: of each version its name and words, on one scale, changed ones marked."""
    shown = [one for _, one in versions]
    spelled = [[feature.text for feature in one.encoded.features] for one in shown]
    both = [(i, j) for i, j in aligned(*spelled) if i is not None and j is not None]
    kept = [(i, j) for i, j in both if spelled[0][i] == spelled[1][j]]
    stays = {i for i, _ in kept}, {j for _, j in kept}
    drawn, others = [], {row.measure: row for row in shown[1].rows}
    for row in shown[0].rows:
        if row.measure not in others:
            continue
        sides, largest = [], largest_of(row, others[row.measure])
        for (name, version), one, same in zip(versions, (row, others[row.measure]), stays):
            words = enumerate(pieces(version.encoded, version.example.evidence))
            share = one.largest / largest if largest else 0.0
            sides.append((name, [_word(one, i, piece, share, i not in same) for i, piece in words]))
        drawn.append((row, sides))
    return drawn


def _word(row: WordRow, i: int, piece: dict, share: float = 1.0, changed: bool = False) -> dict:
    """A piece of the text with what is drawn of it: kinds, shade, place, and what pointing at it tells.

    share: of the scale that its row's largest value has; changed: whether another version has another word there.
    """
    value, evidence = share * float(row.shades[i]), "evidence" in piece
    shaded = abs(value) > 0.02
    told = f"{straight(piece['text'])}: {row.measure} {value_text(row, i)}"
    if not row.masked[i] and row.kind != "rank":
        told += f" (place {row.places[i]} of {len(row.free)})"
    if "unknown" in piece:
        told += ", unknown to the tokenizer"
    if evidence:
        told += ", evidence"
    kinds = {
        "word": True,
        "against": shaded and row.kind == "signed" and value < 0,
        "for": shaded and row.kind == "signed" and value > 0,
        "masked": row.masked[i],
        "evidence": evidence,
        "changed": changed,
        # Words of a sentence keep the order of its script; one that holds a sign of direction keeps that to itself.
        "alone": BIDI.search(piece["text"]) is not None,
    }
    return piece | {
        "kinds": [kind for kind, there in kinds.items() if there],
        "shade": shade(value, row.kind) if shaded else "",
        "place": (int(row.places[i]) or "—") if row.kind == "rank" else "",
        "told": told,
    }


def written(result: Result) -> "Markup":
    """A result's headline, facts and caveats, a paragraph each."""
    from markupsafe import Markup

    return Markup(straight(visible(write_result(result, Form.HTML))))


def _pairs(shown: Shown) -> dict | None:
    """The pairs of features that are listed, in text; None where none is known."""
    report = shown.pairs
    if report is None or not report.paired.tests:
        return None
    return {
        "header": [*COLUMNS, *MASKED],
        "lines": [report.cells(one) + report.inputs(one) for one in report.paired.tests],
        "result": written(pairs_result(report)),
        "notes": [f"{report.how}. {RULE}"],
    }


def _squares(shown: Shown) -> dict | None:
    """How far the measures agree; None where there are no two of them, or no two features to rank."""
    if len(shown.rows) < 2 or len(shown.rows[0].free) < 2:
        return None
    k = min(_TOP, len(shown.rows[0].free))
    tau, overlap = agreement(list(shown.rows), k)
    return {"k": k, "tau": tau, "overlap": overlap, "chance": k / len(shown.rows[0].free)}
