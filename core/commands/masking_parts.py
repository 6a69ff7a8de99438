"""What `python -m core explain` tells of masking a text: step by step, and by faithfulness metrics."""

from argparse import Namespace
from functools import partial
from typing import Any

import numpy as np

from core.commands.terminal import Bar, OneText
from core.explanation.limiting import left_over
from core.explanation.recursive import BY_RATIO, Summary, follow, path_cost, random_band, summarise
from core.explanation.rows import values_taken
from core.figures.palette import RANDOM, hue
from core.judging.baselines import judge_random
from core.judging.judging import How, judge_measure, judging_cost
from core.judging.metric_report import HEADER, MetricReport, head
from core.mathematics.stepwise import finish
from core.metrics.catalogue import of_examples
from core.network.features import placed_texts
from core.network.scheduler import NonFinite
from core.oracle.target import Contrast
from core.reports.answers import Part, Section
from core.reports.curves import CurvePicture
from core.results.erasure import erasure_result
from core.results.recursive_masking import masking_result
from core.stability.known import known_unstable
from core.validity.marks import with_sign
from core.wording import as_json, number, refuse_unknown

STEPS = "measure values step share masked_count words value predicted p rejected beyond".split()


def tell_steps(options: Namespace, one: OneText, bar: Bar) -> Part:
    """What the model says as the words that each measure ranks first are masked, and MaSF's p of each input."""
    band = finish(random_band(one.explainer, one.encoded, BY_RATIO, progress=partial(bar, "random orders")))
    about = one.encoded.F, BY_RATIO, one.target, band, one.explainer.reference, options.rule, options.form
    found: dict[str, Summary] = {}
    for name in options.measures:
        bar.cost(name, path_cost(one.explainer, one.encoded, name))
        walk = follow(one.explainer, one.encoded, name, one.target, options.sign, progress=partial(bar, name))
        try:
            found[name] = summarise(finish(walk), *about)
        except NonFinite as error:
            bar.say(f"{name}: {error}")
    labels, lines = one.explainer.model.labels, []
    sections = [Section(curves=_curves(one, found, band.values(one.target).mean(axis=0)))] if found else []
    for name, summary in found.items():
        steps = [_step(one, summary, i) for i in range(len(summary.steps))]
        values = values_taken(name, options.sign)
        lines += [[name, values, *step.values()] for step in steps]
        cells = [[f"{each['share']:.0%}", *_cells(each)] for each in steps]
        table = (["masked", "words", one.score, "predicted", "MaSF p"], cells)
        sections.append(Section(f"steps: {name}", masking_result(name, summary, one.encoded, labels), [table]))
    return Part(sections, STEPS, lines, {"steps": [dict(zip(STEPS, line)) for line in lines]}, found)


def _curves(one: OneText, found: dict[str, Summary], random: np.ndarray) -> CurvePicture:
    """The score at each step, of random orders last; as a probability from 0 to 1."""
    drawn = [(name, hue(name), summary.values) for name, summary in found.items()]
    drawn.append(("random order", RANDOM, random))
    values = np.concatenate([one for *_, one in drawn])
    low, high = (float(values.min()), float(values.max())) if isinstance(one.target, Contrast) else (0.0, 1.0)
    return CurvePicture(next(iter(found.values())).x, drawn, one.score, low, high if high > low else low + 1)


def _step(one: OneText, summary: Summary, i: int) -> dict[str, Any]:
    """A step by the names of STEPS, from "step" on; None where nothing is tested."""
    step, gate = summary.steps[i], summary.gate
    tested = gate.available and (gate.tested is None or bool(gate.tested[i]))
    return {
        "step": i,
        "share": float(summary.x[i]),
        "masked_count": step.count,
        "words": " ".join(word for word, gone in zip(placed_texts(one.encoded.features), step.mask) if gone),
        "value": float(summary.values[i]),
        "predicted": one.explainer.model.labels[int(step.logits.argmax())],
        "p": as_json(summary.p[i]),
        "rejected": bool(gate.rejected[i]) if tested else None,
        "beyond": gate.beyond(i) if gate.available else None,
    }


def _cells(step: dict[str, Any]) -> list[str]:
    p = "—" if step["p"] is None else with_sign(number(step["p"]), bool(step["beyond"]))
    return [step["words"] or "—", number(step["value"]), step["predicted"], p]


def tell_metrics(options: Namespace, one: OneText, bar: Bar) -> Part:
    """What faithfulness metrics say of each measure, beside random attributions; of the predicted class."""
    explainer, encoded, names, how = one.explainer, one.encoded, tuple(dict.fromkeys(options.metrics)), How()
    refuse_unknown(("metric", names, tuple(of_examples())))
    rated = {}
    for name in options.measures:
        bar.cost(name, judging_cost(explainer, encoded, names, how, name))
        try:
            rated[name] = judge_measure(explainer, encoded, name, options.sign, names, how)
        except NonFinite as error:
            bar.say(f"{name}: {error}")
    chance = finish(judge_random(explainer, encoded, names, how, progress=partial(bar, "random attributions")))
    labels, reference = explainer.model.labels, explainer.reference
    floor = None if reference is None else reference.floor(options.form)
    explained = labels[int(explainer.logits(encoded).argmax())]
    asked = explained, encoded.unit, left_over(encoded), names, options.sign, how, options.rule, options.form, floor
    report = MetricReport(*asked, rated, chance, {}, drawn=names)
    known = known_unstable(explainer, encoded, one.target, rated, options.sign)
    unstable = [name for name, why in known.items() if why]
    board = report.table
    cells = [
        [measure, *(with_sign(number(board.values[i, k]), report.marked[i, k]) for k in range(len(board.metrics)))]
        for i, measure in enumerate(board.measures)
    ]
    table = (["measure", *map(head, board.metrics)], cells)
    section = Section("metrics", erasure_result(report, len(options.measures), unstable=unstable), [table])
    lines = report.rows()
    return Part([section], HEADER, lines, {"metrics": [_plain(line) for line in lines]}, report)


def _plain(line: list) -> dict[str, Any]:
    return {name: as_json(value) if isinstance(value, float) else value for name, value in zip(HEADER, line)}
