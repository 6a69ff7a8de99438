"""Masking paths as work: one measure's path under one model, and what is chosen of it."""

from dataclasses import dataclass
from typing import Any

from core.explanation.explainer import Cost
from core.explanation.recursive import BY_RATIO, Summary, follow, path_cost, planned_counts, summarise
from core.job import Job
from core.wording import amount
from pages.parts.frame.sidebar import View
from pages.parts.sections.sides import RECURSIVE, Orders, SideWork


@dataclass(frozen=True)
class Choice:
    """What the page's settings say."""

    measures: tuple[str, ...]
    played: str
    sign: str
    step: str
    order: str
    rule: str
    form: str

    @property
    def recompute(self) -> bool:
        return self.order == RECURSIVE


@dataclass(frozen=True, eq=False)
class Path(SideWork):
    """One measure's path under one model; orders: the random ones that it is set against."""

    side: View
    measure: str
    choice: Choice
    orders: Orders
    rests = "measure", "choice.sign", "choice.step", "choice.recompute"

    @property
    def label(self) -> str:
        return f"{self.measure} ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        side, choice = self.side, self.choice
        return path_cost(side.explainer, side.encoded, self.measure, choice.step, choice.recompute)

    @property
    def summary(self) -> Summary | None:
        """What its steps so far say, None before the first; a cancelled path keeps its own."""
        # Taken once: more may come while it is summed up.
        steps, side, choice = self.latest, self.side, self.choice
        if not steps:
            return None
        band, F = self.orders.band, side.encoded.F
        return summarise(steps, F, choice.step, side.explained, band, side.reference, choice.rule, choice.form)

    @property
    def names(self) -> list[dict]:
        """{"name", "count"} of each planned step."""
        encoded = self.side.encoded
        return step_names(encoded.F, encoded.unit, self.choice.step, int(encoded.premasked.sum()))

    def name(self, step: int) -> str:
        """The name of a step."""
        return self.names[step]["name"]

    def run(self, job: Job) -> Any:
        side, choice = self.side, self.choice
        asked = self.measure, side.explained, choice.sign, choice.step, choice.recompute
        return follow(side.explainer, side.encoded, *asked, progress=job.report, cancelled=job.cancelled)


# What each path with steps says so far.
Summaries = dict[Path, Summary]


def step_names(F: int, unit: str, step: str, premasked: int) -> list[dict]:
    """{"name", "count"} of each planned step, for the scrubber; a ratio masks whole features, as many as it holds."""
    counts = planned_counts(F, step, premasked)
    if step == BY_RATIO:
        names = [f"{10 * i} % masked" for i in range(len(counts))]
    else:
        names = [f"{amount(count, unit)} masked" for count in counts]
    return [{"name": name, "count": f"{count} of {F} {unit}s"} for name, count in zip(names, counts)]
