"""Put masking paths into words and numbers for the stepper, the figure and the table; no Streamlit."""

from collections.abc import Callable

import numpy as np

from core.explanation.explainer import Attribution
from core.explanation.recursive import BY_RATIO, Step, Summary, planned_counts
from core.explanation.rows import build_row, choose_variant, value_text
from core.figures.figures import FigureLine
from core.figures.palette import STRONGEST, hue
from core.mathematics.statistics import ALPHA
from core.measures.registry import Measure
from core.validity.marks import LATER, PERCENT, Gate, alone, path_text
from core.validity.mask_tests import MaskTest
from core.validity.references import Reference
from core.wording import number
from pages.parts.sections.sides import Side


def step_names(F: int, unit: str, step: str, premasked: int) -> list[dict]:
    """{"name", "count"} of each planned step, for the scrubber."""
    counts = planned_counts(F, step, premasked)
    whole = [f"{count} of {F} {unit}s" for count in counts]
    if step == BY_RATIO:
        return [{"name": f"{10 * i} % masked", "count": said} for i, said in enumerate(whole)]
    return [
        {"name": f"{count} {unit}{'' if count == 1 else 's'} masked", "count": said}
        for count, said in zip(counts, whole)
    ]


def naming(names: list[dict]) -> Callable[[int], str]:
    """The name of a step, of those of `step_names`."""
    return lambda step: names[step]["name"]


def pane(
    side: Side, measure: Measure, sign: str, summary: Summary, names: list[dict], form: str, detail: str, running: bool
) -> dict:
    """One model's part of what the stepper draws; JSON only. See `pages.parts.components.player.player`."""
    drawn = [_step(side, measure, sign, step, i, summary, form) for i, step in enumerate(summary.steps)]
    gate = summary.gate
    return {
        "title": side.model.name,
        "detail": f"{detail} · explains “{side.class_name}”",
        "hue": hue(measure.name),
        "kind": drawn[0].pop("kind"),
        "classes": list(side.model.labels),
        "target": side.target,
        "layers": layer_names(side.reference),
        "gate": {
            "available": gate.available,
            "first": gate.first,
            "text": path_text(gate, naming(names), smallest(summary.steps, form), summary.complete),
        },
        "running": running,
        "steps": drawn + [None] * (len(names) - len(drawn)),
    }


def layer_names(reference: Reference | None) -> list[str]:
    """Names of the L layers that a reference tests."""
    if reference is None:
        return []
    return ["embeddings", *(f"layer {i}" for i in range(1, next(iter(reference.forms.values())).L))]


def smallest(steps: tuple[Step, ...], form: str) -> float:
    """The smallest p-value of the steps so far; NaN without a reference."""
    return min((step.p[form] for step in steps if form in step.p), default=float("nan"))


def by_hand(
    side: Side,
    mask: np.ndarray,
    judged: MaskTest,
    whole: MaskTest,
    shades: list[float],
    colours: str,
    form: str,
    gate: Gate,
    text: str,
) -> dict:
    """One model's part of what-if: a single step, for a mask that a person set; colours: what its shades are."""
    step = Step.of(mask, np.zeros(len(mask)), judged)
    changed = int(judged.logits[0].argmax()) != int(whole.logits[0].argmax())
    shown = _judged(step, form, changed, bool(gate.rejected[0]), False) | {
        "masked": np.flatnonzero(mask).tolist(),
        "shades": shades,
        "values": [""] * len(mask),
        "places": [""] * len(mask),
    }
    return {
        "title": side.model.name,
        "detail": f"explains “{side.class_name}”{', ' if colours else ''}{colours}",
        "hue": "transparent",
        "kind": "signed",
        "classes": list(side.model.labels),
        "target": side.target,
        "layers": layer_names(side.reference),
        "running": True,
        "gate": {"available": gate.available, "first": None, "text": text},
        "steps": [shown],
    }


def line(measure: str, summary: Summary, form: str) -> FigureLine:
    """A path for the figure."""
    p = np.array([step.p.get(form, np.nan) for step in summary.steps])
    return FigureLine(
        measure, hue(measure), summary.x[: len(p)], summary.values, p, summary.gate.rejected, summary.gate.first
    )


def frame(text: str, encoded, pieces: list[dict], names: list[dict], step: int, panes: list[dict], **more) -> dict:
    """Everything that the stepper draws."""
    cut = encoded.truncation
    rest = f"… {cut.words - cut.words_read:,} more words" if cut.words_read < cut.words else ""
    return {
        "text": text,
        "pieces": pieces,
        "rest": rest,
        "unit": encoded.unit,
        "steps": names,
        "step": step,
        "strongest": STRONGEST,
        "alpha": ALPHA,
        "alpha_text": PERCENT,
        "beyond_text": LATER,
        "panes": panes,
    } | more


def _step(side: Side, measure: Measure, sign: str, step: Step, i: int, summary: Summary, form: str) -> dict:
    row = build_row(
        measure,
        Attribution(measure.name, side.target, {choose_variant(measure, sign): step.scores}, 0, 0.0),
        sign,
        step.mask,
    )
    changed = summary.flips is not None and int(step.logits.argmax()) != int(summary.first_predicted)
    return _judged(step, form, changed, bool(summary.gate.rejected[i]), summary.gate.beyond(i)) | {
        "kind": row.kind,
        "masked": np.flatnonzero(step.mask).tolist(),
        "shades": [round(float(shade), 3) for shade in row.shades],
        "values": ["masked" if masked else value_text(row, j) for j, masked in enumerate(step.mask)],
        "places": [int(place) or "—" for place in row.places],
    }


def _judged(step: Step, form: str, changed: bool, rejected: bool, beyond: bool) -> dict:
    p, layers, probabilities = step.p.get(form), step.layers.get(form), step.probabilities
    return {
        "probabilities": [float(value) for value in probabilities],
        "probability_texts": [number(float(value)) for value in probabilities],
        "predicted": int(step.logits.argmax()),
        "changed": changed,
        "p": p,
        "p_text": "" if p is None else number(p),
        "layer_ps": None if layers is None else [float(value) for value in layers],
        "layer_outs": [] if layers is None else alone(layers).tolist(),
        "layer_texts": [] if layers is None else [number(float(value)) for value in layers],
        "rejected": rejected,
        "beyond": beyond,
    }
