"""What followed masking paths say, in words and rows."""

import numpy as np

from core.explanation.recursive import Summary, area_cells, changed_alone
from core.explanation.rows import values_taken
from core.measures.catalogue import measures
from core.network.features import placed_word
from core.stability.known import COLUMN, labelled, unstable_cell
from core.validity.marks import (
    HOLM,
    OUT,
    PERCENT,
    SIGN,
    STEP_COLUMNS,
    path_aside,
    path_clause,
    path_word,
    step_cells,
    with_sign,
)
from core.validity.references import FORMS
from core.wording import amount, escaped, joined, number
from pages.parts.sections.paths import Path, Summaries
from pages.parts.sections.sides import PROBABILITY, classes_sentence, why_rejected

# Words that an answer lists; of more it says how many.
_LISTED = 8
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


def masking_answer(paths: list[Path], found: Summaries) -> tuple[str, str]:
    """The page's result in a sentence or two, and the p-values of what is not rejected, a sentence or ""; HTML in which
    all text is escaped.
    """
    asked = [path for path in paths if path.measure == path.choice.played]
    if not asked:
        return "Choose a measure above to see what masking does.", ""
    played = asked[0].measure
    first, mine = asked[0], {path: found[path] for path in asked if path in found}
    if first not in mine:
        said = (
            f"{escaped(played)} is being computed." if first.runs else f"{escaped(played)} waits to be asked for below."
        )
        # What is known of another measure answers the question already.
        others = [path for path in found if path.side is first.side and found[path].complete]
        told = f"{said} Of another measure it is known: {_lead(others[0], found[others[0]])}" if others else said
        return told, ""
    summary = mine[first]
    validity, numbers = path_clause(summary.gate, first.name, summary.p, summary.complete, summary.flips)
    why, never = why_rejected(first.side, summary.gate), _never(first, found)
    lead = _lead(first, summary)
    if len(mine) > 1:
        # Two answers, each under the name of its model.
        lead = lead.replace("<b>", f"<b>{escaped(first.side.model.name)}: ", lead.startswith("<b>"))
    said = " ".join(filter(None, [lead, never, validity, why]))
    for path, summary in mine.items():
        if path is not first:
            told = f"<b>{escaped(path.side.model.name)}: {_in_a_word(summary)}</b> by {escaped(played)}"
            said += f" {told}: {_short(path, summary)}."
    return f"{said} {classes_sentence([path.side for path in asked])}".strip(), f"{numbers[:1].upper()}{numbers[1:]}"


def paths_in_words(mine: Summaries) -> str:
    """The figure for those who do not see it."""
    parts = [
        f"{path.measure} ({path.side.model.name}): {path.side.score_kind} "
        f"{', '.join(number(value) for value in summary.values)}"
        for path, summary in mine.items()
    ]
    return f"The score of the explained class at each masking step. {'; '.join(parts)}."


def what_is_tested(found: Summaries) -> str:
    """What the tests of a path are of, where all its steps are tested together, text; "" elsewhere."""
    gates = {path: one.gate for path, one in found.items() if one.gate.available and one.gate.tested is None}
    if not gates or any(gate.rule != HOLM for gate in gates.values()):
        return ""
    fewer = dict.fromkeys(path.side.model.name for path, gate in gates.items() if gate.steps < len(path.names))
    alike = f"; of {joined(list(fewer))} steps that mask the same are one test" if fewer else ""
    tested = f"Each step is tested, the unmasked text included{alike}"
    holds = f"Holm holds the tests of one path together to {PERCENT}"
    return f"{tested}. {holds}, if each by itself falsely rejects no more: how often it does is told below."


def narrow_text(found: Summaries) -> str:
    """What a number without brackets says in the table, the end of a sentence; "" where none is."""
    areas = [area for one in found.values() for area in (one.areas.racu, one.areas.acu) if area.mean == area.mean]
    alike = any(number(area.low) == number(area.high) for area in areas if area.low == area.low)
    return "; none where its ends read alike" if alike else ""


def table_row(path: Path, summary: Summary) -> list[str]:
    """A path as a row of the page's table; what rests on rejected inputs is marked, an unstable ranking labelled."""
    gate, as_good = summary.gate, (summary.as_early, summary.as_good)
    flip = "not yet" if not summary.complete else "never"
    if summary.flips is not None:
        first, *again = (with_sign(path.name(k), gate.beyond(k)) for k in (summary.flips, *summary.again))
        flip = first + f", again at {joined(again)}" * bool(again)
    return [
        path.side.model.name,
        labelled(path.measure, path.unstable),
        flip,
        *area_cells(summary.areas, summary.marked),
        *("—" if one is None else with_sign(f"{one} of {summary.orders}", summary.marked) for one in as_good),
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
    random orders how many change it as soon; that it cannot be told where the change rests on what it does not know.
    """
    measure, encoded = f"<b>{escaped(path.measure)}</b>", path.side.encoded
    if summary.flips is None:
        if not summary.complete:
            return f"Masking what {measure} names has not changed the prediction so far."
        never = f"masking what {measure} names never changes the prediction"
        return f"<b>No</b>: {never}, not even with every {encoded.unit} masked."
    step, unit = summary.steps[summary.flips], encoded.unit
    words = [placed_word(encoded.features, i) for i in _in_order(summary, summary.flips) if not encoded.premasked[i]]
    those = f"the {len(words)} {unit}s" if len(words) > 1 else f"the one {unit}"
    listed = f"{joined(words)}, " if len(words) <= _LISTED else ""
    anew = _anew(path, summary.flips)
    named = f"{listed}{those} that {measure} names first{anew}{',' * bool(listed or anew)}"
    new = escaped(path.side.model.labels[int(step.logits.argmax())])
    told = f"masking {named} changes the prediction to <b>{new}</b>"
    more = _at_once(path, summary) + _again(path, summary)
    if not summary.gate.available:
        return f"<b>Cannot be told</b>: {told}, but not whether the model knows such inputs.{more}"
    if summary.gate.beyond(summary.flips):
        return f"<b>Cannot be told</b>: {told}, but the model does not know such inputs.{more}"
    told += _in_the_end(path, summary)
    return f"<b>Yes{_as_soon(summary)}</b>: {told}.{_none_as_soon(summary)}{_as_far(summary)}{more}"


def _in_order(summary: Summary, step: int) -> list[int]:
    """The features that a step masks, the first to go first; those of one step as they stand in the text."""
    masks = np.array([one.mask for one in summary.steps[: step + 1]])
    return sorted(np.flatnonzero(masks[-1]).tolist(), key=lambda i: (int(masks[:, i].argmax()), i))


def _never(first: Path, found: Summaries) -> str:
    """Which other measures never change the prediction of the same model, a sentence where the first one does; else
    "".
    """
    if found[first].flips is None:
        return ""
    others = {path: one for path, one in found.items() if path.side is first.side and path is not first}
    never = [f"<b>{escaped(path.measure)}</b>" for path, one in others.items() if one.complete and one.flips is None]
    return f"Masking what {joined(never)} {'names' if len(never) == 1 else 'name'} never changes it." if never else ""


def _in_the_end(path: Path, summary: Summary) -> str:
    """That any order ends with that prediction, as a sentence goes on, where it changes before that; else ""."""
    last = len(summary.steps) - 1
    if not summary.complete or summary.flips in (None, last):
        return ""
    new, final = (int(summary.steps[k].logits.argmax()) for k in (summary.flips or 0, last))
    encoded = path.side.encoded
    whole = f"every {encoded.unit}" if encoded.second is None else "all of the first text"
    return f", as it is with {whole} masked" if new == final else ""


def _at_once(path: Path, summary: Summary) -> str:
    """That the step which changes the prediction masks several features, and whether one of them is known to do so
    alone, a sentence; else "".
    """
    flips, steps, side = summary.flips or 0, summary.steps, path.side
    new = steps[flips].count - steps[flips - 1].count if flips else 0
    if new < 2:
        return ""
    alone, fewer = changed_alone(side.explainer.oracles.of(side.encoded), steps, flips), "fewer may do"
    if alone:
        fewer = (
            f"{placed_word(side.encoded.features, alone[0])} alone is enough, which no step tests: What if? below can"
        )
    elif alone is not None and new == 2:
        fewer = "neither does it alone"
    return f" That step {'adds' if flips > 1 else 'masks'} {new} {side.encoded.unit}s; {fewer}."


def _again(path: Path, summary: Summary) -> str:
    """That the prediction changes more than once, a sentence; else ""."""
    return f" The prediction changes again at {joined(list(map(path.name, summary.again)))}." if summary.again else ""


def _told_as_soon(summary: Summary) -> bool:
    """Whether it is known how many random orders change the prediction as soon, on inputs that are not rejected."""
    return summary.as_early is not None and summary.random_gate is not None and not summary.marked


def _as_soon(summary: Summary) -> str:
    """How many random orders change the prediction as soon, behind "Yes"; "" where none does, or nobody knows."""
    if not _told_as_soon(summary) or not summary.as_early:
        return ""
    changes = "changes" if summary.as_early == 1 else "change"
    return f", but {summary.as_early} of {amount(summary.orders, 'random order')} {changes} it as soon"


def _none_as_soon(summary: Summary) -> str:
    """That no random order changes the prediction as soon, a sentence; else ""."""
    known = _told_as_soon(summary) and not summary.as_early
    return f" None of {amount(summary.orders, 'random order')} changes it as soon." if known else ""


def _as_far(summary: Summary) -> str:
    """How many random orders take the score down as far over all steps, where it is another number; else ""."""
    good = summary.as_good
    if not _told_as_soon(summary) or good is None or good == summary.as_early:
        return ""
    those = f"of the {summary.orders}" if summary.as_early else f"of {amount(summary.orders, 'random order')}"
    lower = "lower" if good > 1 else "lowers"
    return f" On average over all steps {good or 'none'} {those} {lower} the score as much."


def _anew(path: Path, step: int) -> str:
    """That the words up to a step are not those of one ranking, where they are not: *Attributions* shows the first."""
    measure = measures()[path.measure]
    once = measure.baseline or measure.recursive or not path.choice.recompute or step < 2
    return "" if once else ", computed anew after each step"


def _in_a_word(summary: Summary) -> str:
    """What `_lead` begins with."""
    if summary.flips is None:
        return "No" if summary.complete else "So far"
    return "Yes" if summary.gate.available and not summary.gate.beyond(summary.flips) else "Cannot be told"


def _short(path: Path, summary: Summary) -> str:
    changed = (
        f"the prediction does not change{'' if summary.complete else ' so far'}"
        if summary.flips is None
        else f"the prediction changes at {path.name(summary.flips)}"
    )
    gate = summary.gate
    if summary.flips is not None and gate.available and gate.first is not None and gate.beyond(summary.flips):
        # Why it cannot be told is that order, not that something is rejected somewhere.
        after = "where" if gate.first == summary.flips else "after"
        since = "" if gate.first == summary.flips else f" (from {path.name(gate.first)} on)"
        only = changed.replace("changes at", "changes only at")
        return f"{only}, {after} {SIGN} inputs are {OUT}{since}"
    return f"{changed}, {path_aside(gate, path.name, summary.smallest, summary.complete)}"
