"""Put masking paths into words and numbers for the stepper, the figure and the table; no Streamlit."""

from typing import Any

import numpy as np

from core.explanation.explainer import Attribution
from core.explanation.recursive import Step, Summary
from core.explanation.rows import build_row, choose_variant, value_text
from core.figures.figures import FigureLine
from core.figures.palette import STRONGEST, hue
from core.mathematics.statistics import ALPHA
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.validity.marks import LATER, PERCENT, Gate, alone, path_word
from core.validity.mask_tests import MaskTest
from core.wording import number
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import unread
from pages.parts.sections.paths import Path
from pages.parts.sections.sides import ONCE, RECURSIVE

# How the order of a path comes about.
_ORDERS = {RECURSIVE: "recursive", ONCE: "one-shot"}


def pane(path: Path, summary: Summary) -> dict:
    """One model's part of what the stepper draws; JSON only. See `pages.parts.components.player.player`."""
    side, choice, gate, names = path.side, path.choice, summary.gate, path.names
    drawn = [_step(path, step, i, summary) for i, step in enumerate(summary.steps)]
    return _about(side) | {
        "detail": f"{path.measure}, {_ORDERS[choice.order]} · explains “{side.class_name}”",
        "hue": hue(path.measure),
        "kind": drawn[0].pop("kind"),
        "gate": {
            "available": gate.available,
            "first": gate.first,
            "limit": gate.cut,
            "text": path_word(gate, path.name, summary.complete),
        },
        "running": path.runs,
        "steps": drawn + [None] * (len(names) - len(drawn)),
    }


def _about(side: View) -> dict:
    """What a pane says of its model; layers: names of the L that its reference tests."""
    reference, layers = side.reference, []
    if reference is not None:
        layers = ["embeddings", *(f"layer {i}" for i in range(1, next(iter(reference.forms.values())).L))]
    return {
        "title": side.model.name,
        "classes": list(side.model.labels),
        "target": side.target,
        "explains": side.class_name,
        "layers": layers,
    }


def by_hand(
    side: View,
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
    return _about(side) | {
        "detail": f"explains “{side.class_name}”{', ' if colours else ''}{colours}",
        "hue": "transparent",
        "kind": "signed",
        "running": True,
        "gate": {"available": gate.available, "first": None, "limit": gate.cut, "text": text},
        "steps": [shown],
    }


def line(measure: str, summary: Summary) -> FigureLine:
    """A path for the figure."""
    gate, values = summary.gate, summary.values
    return FigureLine(measure, hue(measure), summary.x[: len(values)], values, summary.p, gate.rejected, gate.first)


def frame(
    text: str, encoded: Encoded, pieces: list[dict], names: list[dict], step: int, panes: list[dict], **more: Any
) -> dict:
    """Everything that the stepper draws."""
    return {
        "text": text,
        "pieces": pieces,
        "rest": unread(encoded),
        "unit": encoded.unit,
        "steps": names,
        "step": step,
        "strongest": STRONGEST,
        "alpha": ALPHA,
        "alpha_text": PERCENT,
        "beyond_text": LATER,
        "panes": panes,
    } | more


def _step(path: Path, step: Step, i: int, summary: Summary) -> dict:
    named, sign, form = measure(path.measure), path.choice.sign, path.choice.form
    scores = {choose_variant(named, sign): step.scores}
    row = build_row(named, Attribution(named.name, path.side.explained, scores, 0, 0.0), sign, step.mask)
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
