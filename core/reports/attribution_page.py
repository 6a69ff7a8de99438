"""One attribution view as a page of its own: it opens from a disk, runs nothing and asks for nothing."""

from core.explanation.plausibility import MEANING, evidence_of
from core.explanation.row_sentences import kinds_sentence
from core.explanation.rows import WordRow, agreement, pieces, value_text
from core.measures.catalogue import measures
from core.reports.exports import Shown
from core.reports.page import BIDI, read_style, shade, straight, write_page

STYLE = read_style("page.css")


def attribution_page(shown: Shown, top: int = 3) -> str:
    """Write an attribution view as one HTML page, to be saved as UTF-8.

    It holds no script and no reference to anything outside itself, follows the reader's light or dark
    theme, and prints in light colours. Every text of others is escaped.

    Args:
        shown: what to write; without rows the page shows prediction, text and provenance.
        top: k of the top-k overlap.
    """
    words, cut = pieces(shown.encoded, shown.example.evidence), shown.encoded.truncation
    return write_page(
        "attribution.html",
        f"{shown.example.id} · {shown.class_name} · {shown.provenance.get('model', 'attributions')}",
        STYLE,
        shown=shown,
        drawn=[(row, [_word(row, i, piece) for i, piece in enumerate(words)]) for row in shown.rows],
        left=cut.words - cut.words_read,
        evidence=evidence_of(shown.encoded, shown.example.evidence),
        meaning=MEANING,
        squares=_squares(shown, top),
        measures=measures(),
    )


def _word(row: WordRow, i: int, piece: dict) -> dict:
    """A piece of the text with what is drawn of it: kinds, shade, place, and what pointing at it tells."""
    value, evidence = float(row.shades[i]), "evidence" in piece
    shaded = abs(value) > 0.02
    told = f"{straight(piece['text'])}: {row.measure} {value_text(row, i)}"
    if not row.masked[i] and row.kind != "rank":
        told += f" (place {row.places[i]} of {len(row.free)})"
    kinds = {
        "word": True,
        "against": shaded and row.kind == "signed" and value < 0,
        "for": shaded and row.kind == "signed" and value > 0,
        "masked": row.masked[i],
        "evidence": evidence,
        # Words of a sentence keep the order of its script; one that holds a sign of direction keeps that to itself.
        "alone": BIDI.search(piece["text"]) is not None,
    }
    return piece | {
        "kinds": [kind for kind, there in kinds.items() if there],
        "shade": shade(value, row.kind) if shaded else "",
        "place": (int(row.places[i]) or "—") if row.kind == "rank" else "",
        "told": told + ", not known to the tokenizer" * ("unknown" in piece) + (", evidence" if evidence else ""),
    }


def _squares(shown: Shown, top: int) -> dict | None:
    """How far the measures agree; None where there are no two of them, or no two features to rank."""
    if len(shown.rows) < 2 or len(shown.rows[0].free) < 2:
        return None
    k = min(top, len(shown.rows[0].free))
    tau, overlap = agreement(list(shown.rows), k)
    chance = k / len(shown.rows[0].free)
    return {"k": k, "tau": tau, "overlap": overlap, "chance": chance, "kinds": kinds_sentence(shown.rows)}
