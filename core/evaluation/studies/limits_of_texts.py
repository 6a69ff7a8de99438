"""How close does each measure come to the best order of masking? AOPC between its limits on many texts."""

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from core.evaluation.findings import of_enough
from core.evaluation.study import Answers, Column, Row, Rows, Study, Subject, Table, register
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import (
    Found,
    default_exact,
    exact_cost,
    find_exact,
    find_searched,
    left_over,
    score,
    score_cost,
    search_cost,
)
from core.explanation.rows import measured_each, values_taken
from core.mathematics.search.limits import EXACT, MOST_EXACT, TooDear, widened
from core.mathematics.statistics import Interval, mean_interval
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, offered_measures
from core.network.features import Encoded, NoFeatures
from core.network.model import Model
from core.network.scheduler import NonFinite, OutOfMemory
from core.wording import Tally, as_json, number, refuse_unknown

# Columns of a measure in a line, and what of a row each is; means are those of the last two, between 0 and 1.
_NAOPCS = {"NAOPC comprehensiveness ↑": "comprehensiveness NAOPC", "NAOPC sufficiency ↓": "sufficiency NAOPC"}
_FIGURES = {"AOPC comprehensiveness ↑": "comprehensiveness", "AOPC sufficiency ↓": "sufficiency"} | _NAOPCS


@dataclass(frozen=True, eq=False)
class LimitsReport:
    """What M measures reach between the limits of n texts.

    means: {measure: mean NAOPC comprehensiveness ↑ and sufficiency ↓, in [0, 1], each with a 95 % interval from 20
    texts on}; counts: {measure: texts on which they are defined}; exact: texts whose limits are exact; apart: texts of
    which models beside explain another class; tally: how far it is; cut: texts that are longer than the model reads;
    picked: as of `Sample`.
    """

    means: Mapping[str, tuple[Interval, Interval]]
    counts: Mapping[str, int]
    n: int
    exact: int
    apart: int
    tally: Tally
    sign: str = "signed"
    cut: int = 0
    picked: str = ""

    @property
    def measures(self) -> list[str]:
        """Those that have a mean, the closest to the best order first."""
        known = [name for name, count in self.counts.items() if count]
        return sorted(known, key=lambda name: -self.means[name][0].mean)


@register
@dataclass(frozen=True)
class LimitsOfTexts(Study[Rows]):
    """The limits of each text beside the AOPC of each of M measures. Columns: row, JSON of `limit_row`; seconds that it
    took.

    sign: which values; unit: what is masked as one piece; target: "predicted" or a class; width: of a beam, None for
    insertion searches; exact_up_to: scores that exact limits may cost, None for what suits the device; full: never
    search in half precision. Source: NAOPC §3; glossary, NAOPC.
    """

    name, order, done = "limits", 7, "set between limits"
    asks = "How close does each measure come to the best order of masking?"
    columns: ClassVar = {"row": Column((), ""), "seconds": Column()}
    label = "limits"
    leaves_out = NoFeatures, NonFinite, OutOfMemory

    measures: tuple[str, ...] = field(default_factory=default_measures)
    sign: str = "signed"
    unit: str = "word"
    target: str = "predicted"
    width: int | None = None
    exact_up_to: int | None = None
    full: bool = False

    def check(self, model: Model | None = None) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        refuse_unknown(("measure", self.measures, offered_measures(self.measures)))
        if model is not None and self.target not in ("predicted", *model.labels):
            raise ValueError(f"there is no class {self.target!r}; choose predicted or one of {', '.join(model.labels)}")
        if self.width is not None and self.width < 1:
            raise ValueError(f"the beam's width is {self.width}; it must be at least 1")
        if self.exact_up_to is not None and self.exact_up_to > 1 << MOST_EXACT:
            raise ValueError(
                f"exact limits may cost at most {1 << MOST_EXACT:,} scores ({MOST_EXACT} features), not "
                f"{self.exact_up_to:,}"
            )

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On each measure, on how limits are found, and on what classes are called."""
        found = {"width": self.width, "half": not self.full, "exact": self.allowed(explainer.model.device)}
        about = {"target": self.target, "classes": list(explainer.model.labels)}
        return found | about | {"measures": measured_each(explainer, self.measures, self.sign)}

    def allowed(self, device: str) -> int:
        """How many scores exact limits may cost."""
        return min(default_exact(device) if self.exact_up_to is None else self.exact_up_to, 1 << MOST_EXACT)

    def row(self, subject: Subject) -> Row:
        """The limits of one text."""
        if subject.encoded.premasked.all():
            raise NoFeatures("Every feature is masked already.")
        began = time.perf_counter()
        found = limit_row(subject.explainer, subject.encoded, self, subject.cancelled)
        return {"row": json.dumps(found, ensure_ascii=False), "seconds": time.perf_counter() - began}

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What one text takes at most: its limits, and the scores of the measures."""
        exact = 1 << left_over(encoded) <= self.allowed(explainer.model.device)
        limits = exact_cost(explainer, encoded) if exact else search_cost(explainer, encoded, self.width, not self.full)
        costs = [limits, *(score_cost(explainer, encoded, name) for name in self.measures)]
        return Cost.sum(costs)

    def together(self, every: Sequence[Answers]) -> list[Answers]:
        """With whether all models explain the same class of a text, without which their scores do not compare."""
        classes = [[one.get("class") for one in self.lines(answers)] for answers in every]
        same = np.array([np.nan if None in one else len(set(one)) == 1 for one in zip(*classes)])
        rows = [answers.found[self] for answers in every]
        marked = [replace(one, columns=one.columns | {"same": same}) for one in rows]
        return [replace(answers, found={self: one}) for answers, one in zip(every, marked)]

    def conclude(self, answers: Answers) -> LimitsReport | None:
        """Means over the texts; None before there is one."""
        rows, lines = answers.found[self], self.lines(answers)
        if not rows.there.any() and not rows.complete:
            return None
        found = [line for line in lines if "method" in line]
        means, counts = {}, {}
        for name in self.measures:
            reached = [[line[f"{name}: {one}"] for one in _NAOPCS.values()] for line in found]
            naopc = np.array(reached, dtype=np.float64).reshape(-1, len(_NAOPCS))
            counts[name] = int((~np.isnan(naopc[:, 0])).sum())
            means[name] = tuple(of_enough(mean_interval(one, answers.resamples), counts[name]) for one in naopc.T)
        exact = sum(line["method"] == EXACT for line in found)
        apart = sum(line.get("same_class") is False for line in found)
        about = answers.tally(), self.sign, sum(bool(line["cut"]) for line in found), answers.sample.picked
        return LimitsReport(means, counts, len(found), exact, apart, *about)

    def without_effect(self, answers: Answers) -> int:
        """Those on which no order changes anything."""
        return sum(line.get("lower") == line.get("upper") == 0 for line in self.lines(answers))

    def tables(self, report: LimitsReport) -> list[Table]:
        """Each measure's mean NAOPC, the closest to the best order first."""
        header = ["measure", "NAOPC", "mean", "95 % low", "95 % high", "texts"]
        rows = [
            [name, of.removeprefix("NAOPC "), *map(number, (one.mean, one.low, one.high)), f"{report.counts[name]:,}"]
            for name in report.measures
            for of, one in zip(_NAOPCS, report.means[name])
        ]
        return [(header, rows)] if rows else []

    def lines(self, answers: Answers) -> list[dict]:
        """Of each example what `limit_row` says; where it has no row, the problem; {} where it is not known yet."""
        rows, found = answers.found[self], []
        for i in range(len(answers.sample)):
            line = {"problem": rows.problems[i]} if i in rows.problems else {}
            if rows.there[i]:
                line = json.loads(rows.sentences[rows.columns["row"][i]])
                line |= {"seconds": as_json(rows.columns["seconds"][i]), "problem": None}
            if "same" in rows.columns:
                line["same_class"] = {0.0: False, 1.0: True}.get(float(rows.columns["same"][i]))
            found.append(line)
        return found

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example and measure: values, AOPC and NAOPC of both directions (null where the limits
        coincide), class (explained), predicted, tokens (read), cut (longer), features, lower, upper, lowest_order and
        highest_order (places, masked first comes first), method, width, scores, searched (its precision), seconds; with
        models beside it same_class, null where one of them has no limits.
        """
        found = []
        for example, line in zip(answers.sample.examples, self.lines(answers)):
            about = {"example": example.id, "problem": line.get("problem"), "weights": answers.model.digest}
            text = {name: value for name, value in line.items() if ": " not in name}
            named = self.measures if "method" in line else ()
            found += [] if named else [about | text]
            for name in named:
                figures = {column: line[f"{name}: {one}"] for column, one in _FIGURES.items()}
                found.append(about | {"measure": name, "values": line[f"{name}: values"]} | figures | text)
        return found


def chosen_exact(setting: int | None) -> dict[str, int]:
    """The choice that a setting of how many scores exact limits may cost makes; {} without one."""
    return {} if setting is None else {"exact_up_to": min(setting, 1 << MOST_EXACT)}


def limits_of(
    explainer: Explainer,
    encoded: Encoded,
    target: int,
    asked: LimitsOfTexts,
    cancelled: Callable[[], bool] | None = None,
) -> Found:
    """Exact limits where scores and memory allow, else those of a search; raises as the oracle."""
    allowed = asked.allowed(explainer.model.device)
    if 1 << left_over(encoded) <= allowed:
        with contextlib.suppress(TooDear):
            return finish(find_exact(explainer, encoded, target, allowed, cancelled=cancelled))
    half = not asked.full
    return finish(find_searched(explainer, encoded, target, asked.width, half, early=False, cancelled=cancelled))


def limit_row(
    explainer: Explainer, encoded: Encoded, asked: LimitsOfTexts, cancelled: Callable[[], bool] | None = None
) -> dict:
    """One example's limits and scores as plain values, see `LimitsOfTexts.records`."""
    labels, predicted = explainer.model.labels, int(explainer.logits(encoded).argmax())
    target = predicted if asked.target == "predicted" else labels.index(asked.target)
    scored = tuple(score(explainer, encoded, name, target, asked.sign, cancelled=cancelled) for name in asked.measures)
    found = limits_of(explainer, encoded, target, asked, cancelled)
    limits = widened(found.limits, ((one.order, one.aopc) for every in scored for one in every.walks.values()))
    row = {
        "class": labels[target],
        "predicted": labels[predicted],
        "tokens": encoded.T,
        "cut": encoded.truncation.cut,
        "typed_special": encoded.typed_special,
        "features": [feature.text for feature in encoded.features],
        "lower": limits.lower,
        "upper": limits.upper,
        "lowest_order": limits.lowest.tolist(),
        "highest_order": limits.highest.tolist(),
        "method": limits.method,
        "width": limits.width,
        "scores": limits.scores,
        "searched": found.searched,
    }
    for one in scored:
        row[f"{one.measure}: values"] = values_taken(one.measure, asked.sign)
        row |= {f"{one.measure}: {way}": reached for way, reached in one.aopc.items()}
        row |= {f"{one.measure}: {way} NAOPC": as_json(value) for way, value in one.naopc(limits).items()}
    return row
