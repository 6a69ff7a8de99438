"""One attribution view as a page of its own: it opens from a disk, runs nothing and asks for nothing."""

import numpy as np

from core.explanation.plausibility import MEANING, evidence_of
from core.explanation.rows import WordRow, agreement, pieces, value_text
from core.figures.palette import OPPOSES, STRONGEST, SUPPORTS, hue
from core.measures.catalogue import measures
from core.reports.exports import Shown, describe
from core.reports.page_parts import (
    BIDI,
    document,
    noted,
    number,
    other,
    prediction,
    provenance_footer,
    second_text,
    typed,
    whole_text,
)


def attribution_page(shown: Shown, top: int = 3) -> str:
    """Write an attribution view as one HTML page, to be saved as UTF-8.

    It holds no script and no reference to anything outside itself, follows the reader's light or dark
    theme, and prints in light colours. Every text of others is escaped.

    Args:
        shown: what to write; without rows the page shows prediction, text and provenance.
        top: k of the top-k overlap.
    """
    title = f"{shown.example.id} · {shown.labels[shown.target]} · {shown.provenance.get('model', 'attributions')}"
    parts = [
        _heading(shown),
        prediction(shown),
        _words(shown),
        _evidence(shown),
        _agreement(shown, top),
        _values(shown),
        _measures(shown),
        provenance_footer(shown.provenance),
    ]
    return document(title, parts)


def _heading(shown: Shown) -> str:
    answer = f'<p class="answer">{typed(shown.answer)}</p>\n' if shown.answer else ""
    return (
        f'<header>\n<p class="eyebrow">Faithscope · attributions of one example</p>\n'
        f"<h1>Which {shown.encoded.unit}s speak for “{other(shown.labels[shown.target])}”?</h1>\n{answer}</header>\n"
    )


def _words(shown: Shown) -> str:
    drawn = "".join(_row(shown, row) for row in shown.rows)
    if not shown.rows:
        drawn = f"{whole_text(shown.encoded.text)}\n"
    return (
        f"<section>\n<h2>The "
        f"{shown.encoded.unit}s</h2>\n{drawn}{second_text(shown)}{_legend(shown)}{noted(shown.notes)}</section>\n"
    )


def _row(shown: Shown, row: WordRow) -> str:
    drawn = "".join(
        _word(row, i, piece, len(row.free)) for i, piece in enumerate(pieces(shown.encoded, shown.example.evidence))
    )
    room = " roomy" if shown.example.evidence else ""
    cut = shown.encoded.truncation
    rest = (
        f' <bdi class="quiet" dir="ltr">… {cut.words - cut.words_read:,} more words</bdi>'
        if cut.words_read < cut.words
        else ""
    )
    return (
        f'<div class="row">\n<p class="head"><span class="swatch" '
        f'style="background:{hue(row.measure)}"></span><b>{typed(row.measure)}</b> '
        f'<span class="quiet">{typed(describe(row))}</span></p>\n<p class="text{room}" '
        f'dir="auto">{drawn}{rest}</p>\n</div>\n'
    )


def _word(row: WordRow, i: int, piece: dict, free: int) -> str:
    value, kinds, style = float(row.shades[i]), ["word"], ""
    if abs(value) > 0.02:
        red, green, blue = (int((OPPOSES if value < 0 else SUPPORTS)[k : k + 2], 16) for k in (1, 3, 5))
        # Transparent over the ground is the same mix as on the page, in either theme.
        style = f' style="background:rgba({red},{green},{blue},{min(1.0, abs(value)) * STRONGEST:.3f})"'
        kinds += [] if row.kind != "signed" else ["against" if value < 0 else "for"]
    kinds += ["masked"] if row.masked[i] else []
    kinds += ["evidence"] if "evidence" in piece else []
    place = f"<sup>{int(row.places[i]) or '—'}</sup>" if row.kind == "rank" else ""
    told = f"{row.measure} {value_text(row, i)}" + (
        "" if row.masked[i] or row.kind == "rank" else f" (place {row.places[i]} of {free})"
    )
    told += ", evidence" if "evidence" in piece else ""
    # Words of a sentence keep the order of its script; one that holds a sign of direction keeps that to itself.
    tag = "bdi" if BIDI.search(piece["text"]) else "span"
    kinds += ["alone"] if tag == "bdi" else []
    gap = other(piece["gap"]) if BIDI.search(piece["gap"]) else typed(piece["gap"])
    return (
        f'{gap}<{tag} class="{" ".join(kinds)}" title="{typed(BIDI.sub("", piece["text"]))}: '
        f'{typed(told)}"{style}>{typed(piece["text"])}{place}</{tag}>'
    )


def _legend(shown: Shown) -> str:
    if not shown.rows:
        return ""
    name = other(shown.labels[shown.target])
    kinds = {row.kind for row in shown.rows}
    keys = []
    if "signed" in kinds:
        keys += [
            f'<span class="key against">opposes “{name}”</span>',
            '<span class="scale both"></span>',
            f'<span class="key for">supports “{name}”</span>',
        ]
    if "positive" in kinds:
        keys += ["<span>matters least</span>", '<span class="scale"></span>', "<span>matters most (no sign)</span>"]
    if "rank" in kinds:
        keys.append(f"<span>{shown.encoded.unit}<sup>1</sup> masked first</span>")
    if any(row.masked.any() for row in shown.rows):
        keys.append(f'<span class="masked">{shown.encoded.unit}</span><span>masked in the text</span>')
    if shown.example.evidence:
        keys.append('<span class="key evidence">overlined: the evidence</span>')
    return (
        f'<p class="legend">{"".join(keys)}</p>\n<p class="quiet">Each row’s colour is scaled to its own largest '
        f"value; the table below has the numbers.</p>\n"
    )


def _evidence(shown: Shown) -> str:
    evidence = evidence_of(shown.encoded, shown.example.evidence)
    if evidence is None or not shown.rows:
        return ""
    found = [(row.measure, evidence.precision(row.scores), evidence.recall(row.scores)) for row in shown.rows]
    lines = "".join(
        f'<tr><th scope="row">{typed(name)}</th><td class="number">{number(precision)}</td><td '
        f'class="number">{number(recall)}</td></tr>\n'
        for name, precision, recall in (
            *found,
            ("random order, on average", evidence.chance_precision, evidence.chance_recall),
        )
    )
    top = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("measure", "average precision ↑", f"recall of the top {evidence.m} ↑")
    )
    return (
        f'<section>\n<h2>Does it find the evidence?</h2>\n<div class="scroll">\n<table '
        f'class="wide">\n<thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{lines}</tbody>\n</table>\n</div>\n"
        f'<p class="quiet">Evidence: {evidence.m} of {evidence.F} {shown.encoded.unit}s. {MEANING}</p>\n</section>\n'
    )


def _agreement(shown: Shown, top: int) -> str:
    if len(shown.rows) < 2 or len(shown.rows[0].free) < 2:
        return ""
    k = min(top, len(shown.rows[0].free))
    tau, overlap = agreement(list(shown.rows), k)
    chance = number(k / len(shown.rows[0].free))
    return (
        '<section>\n<h2>Do the measures agree?</h2>\n<div class="pair">\n'
        + _square(
            shown,
            tau,
            "Rank correlation (Kendall’s τ-b)",
            f"1 ↑ the same order of {shown.encoded.unit}s, 0 unrelated, −1 reversed.",
        )
        + _square(
            shown,
            overlap,
            f"Overlap of the top {k}",
            f"Share of the {k} most important in common: 1 ↑ all; two random orders share {chance} on average.",
        )
        + "</div>\n</section>\n"
    )


def _square(shown: Shown, values: np.ndarray, title: str, note: str) -> str:
    names = [typed(row.measure) for row in shown.rows]
    top = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row">{name}</th>' + "".join(_agreed(float(value)) for value in line) + "</tr>\n"
        for name, line in zip(names, values)
    )
    return (
        f'<div class="scroll">\n<table '
        f'class="square">\n<caption>{title}</caption>\n<thead><tr><td></td>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n'
        f'<p class="quiet">{note}</p>\n</div>\n'
    )


def _agreed(value: float) -> str:
    if value != value:
        return "<td>—</td>"
    red, green, blue = (int((SUPPORTS if value >= 0 else OPPOSES)[k : k + 2], 16) for k in (1, 3, 5))
    return f'<td style="background:rgba({red},{green},{blue},{min(1.0, abs(value)) * STRONGEST:.3f})">{f"{value:.2f}".replace("-", "−")}</td>'


def _values(shown: Shown) -> str:
    if not shown.rows:
        return ""
    top = "".join(
        f'<th scope="col">{typed(row.measure)}<br><span class="quiet">{typed(row.variant)}</span></th>'
        for row in shown.rows
    )
    lines = "".join(
        f'<tr><td class="number">{i + 1}</td><th scope="row">{other(feature.text)}</th>'
        + "".join(_value(row, i) for row in shown.rows)
        + "</tr>\n"
        for i, feature in enumerate(shown.encoded.features)
    )
    return (
        f'<section>\n<h2>All values</h2>\n<div class="scroll">\n<table class="values">\n<thead>'
        f'<tr><th scope="col">#</th><th scope="col">{shown.encoded.unit}</th>{top}</tr></thead>\n'
        f'<tbody>\n{lines}</tbody>\n</table>\n</div>\n<p class="quiet">Small: the place by that measure, 1 matters '
        f"most.</p>\n</section>\n"
    )


def _value(row: WordRow, i: int) -> str:
    place = "" if row.masked[i] or row.kind == "rank" else f" <small>{int(row.places[i])}</small>"
    return f'<td class="number">{typed(value_text(row, i).replace("-", "−"))}{place}</td>'


def _measures(shown: Shown) -> str:
    lines = ""
    for row in shown.rows:
        measure = measures()[row.measure]
        seed = " Seed 0." if measure.seeded else ""
        lines += (
            f"<tr><th "
            f'scope="row">{typed(row.measure)}</th><td>{typed(row.variant)}</td><td>{typed(measure.definition)}{seed}</td>'
            f"<td>{typed(row.unit if row.unit != 'none' else '—')}</td>"
            f'<td>{typed(measure.source)}</td><td class="number">{measure.version}</td></tr>\n'
        )
    if not lines:
        return ""
    top = "".join(
        f'<th scope="col">{name}</th>' for name in ("measure", "variant", "definition", "unit", "source", "version")
    )
    return (
        f'<section>\n<h2>The measures</h2>\n<div class="scroll">\n<table '
        f'class="wide">\n<thead><tr>{top}</tr></thead>\n<tbody>\n{lines}</tbody>\n</table>\n</div>\n'
        '<p class="quiet">Higher is more important in every one of them. A measure’s version rises when its results '
        "change.</p>\n</section>\n"
    )
