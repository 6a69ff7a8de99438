"""Can a model be trusted under masking? Random order and each measure's on every example, told together."""

from dataclasses import dataclass, replace

from core.evaluation.studies import check_tables
from core.evaluation.studies.check_report import CheckReport, X, build_check_report
from core.evaluation.studies.model_check import Curve
from core.evaluation.study import Answers, Question, Table, choice, register
from core.explanation.rows import SIGNS, values_taken
from core.measures.catalogue import measures
from core.network.features import UNITS
from core.network.model import Model
from core.validity.references import CALIBRATED, FORMS
from core.wording import as_cell, as_json, refuse_unknown

EACH_STEP, ONCE = "at each step", "once"
SEEDS = 1, 3, 5


@register
@dataclass(frozen=True)
class MaskingCheck(Question[CheckReport]):
    """Performance and p-values at every masking ratio, explaining the label.

    computed: EACH_STEP or ONCE; metric: another than the card's, so that models are measured alike.
    """

    name, order, page, done, labelled = "model check", 3, "Model check", "checked", True
    asks = "Can the model be trusted under masking, and how faithful are the measures?"

    measures: tuple[str, ...] = ()
    sign: str = "signed"
    unit: str = "word"
    computed: str = choice(EACH_STEP, (EACH_STEP, ONCE), "recursive masking, or the order of the unmasked text")
    seeds: int = choice(1, SEEDS, "random orders of each text whose mean measures are set against")
    seed: int = 0
    metric: str | None = None

    @property
    def studies(self) -> tuple[Curve, ...]:
        """Random order, each measure's, and more random orders."""
        recompute = self.computed == EACH_STEP
        orders = (Curve(name, self.sign, self.unit, recompute, self.seed) for name in self.measures)
        first, *more = (Curve(unit=self.unit, seed=self.seed + i) for i in range(self.seeds))
        return (first, *orders, *more)

    def beside(self) -> "MaskingCheck":
        """Random order alone."""
        return replace(self, measures=(), seeds=1)

    def check(self, model: Model | None = None) -> None:
        """As everywhere."""
        refuse_unknown(
            ("measure", self.measures, measures()),
            ("unit", (self.unit,), UNITS),
            ("kind of values", (self.sign,), SIGNS),
            ("number of random orders", (str(self.seeds),), tuple(map(str, SEEDS))),
            ("way to compute", (self.computed,), (EACH_STEP, ONCE)),
        )

    def conclude(self, answers: Answers) -> CheckReport | None:
        """All of it in numbers; None before the first example in random order."""
        found = build_check_report(answers.model, answers.reference, answers.sample, answers.found, self.metric)
        if found is None:
            return None
        return replace(found, tally=answers.tally(self.studies[:1]), measured_tally=answers.tally())

    def tables(self, report: CheckReport) -> list[Table]:
        """Random order, and how faithful the measures are."""
        measured = [check_tables.faithfulness_table(report, CALIBRATED)] if report.measured else []
        tables = [check_tables.training_table([report], CALIBRATED), *measured]
        return [(header, [[as_cell(value) for value in row] for row in rows]) for header, rows in tables]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example, order and masking ratio.

        Columns: label, measure (or "random order"), values (its variant; null for random), seed (of random order, else
        null), ratio (masked), predicted (class there), value (probability of the label there), a p of each form (null
        without a reference).
        """
        lines, labels = [], answers.model.labels
        for i, example in enumerate(answers.sample.examples):
            for curve, one in answers.found.items():
                about = {"example": example.id, "problem": one.problems.get(i), "label": example.label}
                about |= {"cut": i in one.cut, "measure": curve.measure}
                about |= {"values": values_taken(curve.measure, curve.sign)}
                about |= {"seed": curve.seed if curve.random else None}
                there = [
                    {
                        "ratio": float(x),
                        "predicted": labels[one.predicted[i, k]],
                        "value": float(one.values[i, k]),
                        **{f"p {form}": as_json(one.p[form][i, k]) for form in FORMS},
                    }
                    for k, x in enumerate(X if one.there[i] else ())
                ]
                lines += [about | told for told in there or [{}]]
        return lines
