"""What followed masking paths say, in words and rows."""

from core.explanation.recursive import Summary, area_cells
from core.explanation.rows import values_taken
from core.measures.catalogue import measures
from core.stability.known import COLUMN, labelled, unstable_cell
from core.validity.marks import STEP_COLUMNS, path_aside, path_clause, path_word, step_cells, with_sign
from core.validity.references import FORMS
from core.wording import escaped, named_word, number
from pages.parts.sections.paths import Path, Summaries
from pages.parts.sections.sides import PROBABILITY, classes_sentence, why_rejected

COLUMNS = [
    "model",
    "measure",
    "values",
    "computed",
    "step",
    "share masked (0 to 1)",
    "features masked",
    "masked features",
    "explained class",
    "class predicted unmasked",
    "models explain the same class",
    PROBABILITY,
    "predicted class",
    "p (calibrated)",
    "p (literal)",
    *STEP_COLUMNS,
    COLUMN,
]


def step_of(value: str | None, count: int) -> int:
    """A step out of an address; 0 for what is none."""
    return (
        min(int(value), count - 1)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6
        else 0
    )


def masking_answer(paths: list[Path], found: Summaries) -> str:
    """The page's result in a sentence or two, HTML in which all text is escaped."""
    asked = [path for path in paths if path.measure == path.choice.played]
    if not asked:
        return "Choose a measure above to see what masking does."
    played = asked[0].measure
    first, mine = asked[0], {path: found[path] for path in asked if path in found}
    if first not in mine:
        return (
            f"{escaped(played)} is being computed."
            if first.runs
            else f"Ask for {escaped(played)} below to see what masking does."
        )
    summary = mine[first]
    validity = path_clause(summary.gate, first.name, summary.smallest, summary.complete, summary.flips)
    said = " ".join(filter(None, [_lead(first, summary), validity, why_rejected(first.side, summary.gate)]))
    for path, summary in mine.items():
        if path is not first:
            said += f" Beside it, <b>{escaped(path.side.model.name)}</b>: {_short(path, summary)}."
    return f"{said} {classes_sentence([path.side for path in asked])}".strip()


def paths_in_words(mine: Summaries) -> str:
    """The figure for those who do not see it."""
    parts = [
        f"{path.measure} ({path.side.model.name}): {path.side.score_kind} "
        f"{', '.join(number(value) for value in summary.values)}"
        for path, summary in mine.items()
    ]
    return f"The score of the explained class at each masking step. {'; '.join(parts)}."


def table_row(path: Path, summary: Summary) -> list[str]:
    """A path as a row of the page's table; what rests on rejected inputs is marked, an unstable ranking labelled."""
    gate = summary.gate
    flip = "not yet" if not summary.complete else "never"
    if summary.flips is not None:
        flip = with_sign(path.name(summary.flips), gate.beyond(summary.flips))
    return [
        path.side.model.name,
        labelled(path.measure, path.unstable),
        flip,
        *area_cells(summary.areas, summary.marked),
        "—" if summary.as_good is None else with_sign(f"{summary.as_good} of {summary.orders}", summary.marked),
        number(summary.smallest),
        path_word(gate, path.name, summary.complete),
    ]


def step_rows(path: Path, summary: Summary, same: bool | None = None) -> list[list]:
    """A path's steps for a CSV file, see COLUMNS; same: of `same_class`."""
    side, rows, order = path.side, [], unstable_cell(path.measure, path.unstable)
    for i, step in enumerate(summary.steps):
        words = " ".join(feature.text for feature, masked in zip(side.encoded.features, step.mask) if masked)
        rows.append(
            [
                side.model.name,
                path.measure,
                values_taken(path.measure, path.choice.sign),
                path.choice.order,
                i,
                float(summary.x[i]),
                step.count,
                words,
                side.class_name,
                side.predicted_name,
                same,
                float(summary.values[i]),
                side.model.labels[int(step.logits.argmax())],
                *(step.p.get(form, "") for form in FORMS),
                *step_cells(summary.gate, i, path.choice.form),
                order,
            ]
        )
    return rows


def _lead(path: Path, summary: Summary) -> str:
    """Whether masking what the measure names changes the prediction, on inputs that the model knows: yes or no, and of
    random orders how many do so as soon; that it cannot be told where the change rests on what it does not know.
    """
    measure, encoded = f"<b>{escaped(path.measure)}</b>", path.side.encoded
    if summary.flips is None:
        if not summary.complete:
            return f"Masking what {measure} names has not changed the prediction so far."
        never = f"masking what {measure} names never changes the prediction"
        return f"<b>No</b>: {never}, not even with every {encoded.unit} masked."
    step = summary.steps[summary.flips]
    words = [
        named_word(feature.text)
        for feature, masked, before in zip(encoded.features, step.mask, encoded.premasked)
        if masked and not before
    ]
    said = f"the {len(words)} {encoded.unit}s" if len(words) > 1 else f"the one {encoded.unit}"
    listed = f" ({', '.join(words)})" if len(words) <= 4 else ""
    new = path.side.model.labels[int(step.logits.argmax())]
    again = f" (and changes again at {', '.join(map(path.name, summary.again))})" if summary.again else ""
    anew = _anew(path, summary.flips)
    changes = f"changes the prediction to <b>{escaped(new)}</b>{again}"
    told = f"masking {said} that {measure} names first{anew}{listed} {changes}"
    told += _at_once(path, summary)
    if not summary.gate.available:
        return f"<b>Cannot be told</b>: {told}, but not whether the model knows such inputs."
    if summary.gate.beyond(summary.flips):
        return f"<b>Cannot be told</b>: {told}, but the model does not know such inputs."
    many = _as_soon(summary)
    if 2 * (summary.as_early or 0) >= summary.orders > 0 and many:
        return f"<b>Yes, but random orders do too</b>: {told}{many}."
    return f"<b>Yes</b>: {told}{many}."


def _at_once(path: Path, summary: Summary) -> str:
    """That the step which changes the prediction masks several features, of which fewer may do; else ""."""
    flips, steps = summary.flips or 0, summary.steps
    new = steps[flips].count - (steps[flips - 1].count if flips else int(path.side.encoded.premasked.sum()))
    return f" (that step masks {new} at once, and fewer may do)" if new > 1 else ""


def _as_soon(summary: Summary) -> str:
    """How many random orders change the prediction as soon, the end of a sentence; "" where that is not known, or rests
    on rejected inputs.
    """
    if summary.as_early is None or summary.random_gate is None or summary.marked:
        return ""
    many = str(summary.as_early) if summary.as_early else "none"
    return f"; of {summary.orders} random orders {many} do{'es' * (summary.as_early < 2)} so as soon"


def _anew(path: Path, step: int) -> str:
    """That the words up to a step are not those of one ranking, where they are not: *Attributions* shows the first."""
    measure = measures()[path.measure]
    once = measure.baseline or measure.recursive or not path.choice.recompute or step < 2
    return "" if once else ", computed anew after each step"


def _short(path: Path, summary: Summary) -> str:
    changed = (
        f"the prediction does not change{'' if summary.complete else ' so far'}"
        if summary.flips is None
        else f"the prediction changes at {path.name(summary.flips)}"
    )
    return f"{changed}, {path_aside(summary.gate, path.name, summary.smallest, summary.complete)}"
