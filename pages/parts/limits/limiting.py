"""Beam-size studies as work: of one text, and of some texts of a data set."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.data.examples import Example
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import exact_cost, left_over, search_cost, study_width
from core.job import Job
from core.mathematics.search.limits import BeamStudy, exact_affordable
from core.mathematics.stepwise import relay
from core.network.features import Encoded
from core.oracle.target import Target, score_kind, target_key
from core.storage.store import canonical_key
from core.wording import amount
from pages.parts.frame.picking import Browsed
from pages.parts.frame.working import PageWork
from pages.parts.sections.sides import Side
from pages.parts.sections.standings import KnownLimits, affordable_scores

# Texts of a data set that a beam-size study asks about, and the widest beam that it tries.
STUDIED, WIDEST = 10, 64
_EXPECTED_WIDTH = 8


@dataclass(frozen=True, eq=False)
class WidthStudy(PageWork):
    """The beam-size study of one text, or of some texts of a data set under one model; name: what is studied, in
    words; affordable: scores that exact limits to compare with may cost in all.
    """

    explainer: Explainer
    cases: tuple[tuple[Encoded, Target | None], ...]
    name: str
    half: bool
    affordable: int
    batch = True

    @cached_property
    def key(self) -> str:
        model = self.explainer.model
        return canonical_key(
            "job/beam study",
            2,
            affordable=self.affordable,
            model=model.digest,
            precision=model.precision,
            half=self.half,
            cases=[[encoded.digest, None if target is None else target_key(target)] for encoded, target in self.cases],
        )

    @property
    def label(self) -> str:
        return f"beam sizes on {self.name} ({self.explainer.model.name})"

    @property
    def score_kind(self) -> str:
        """What its limits are of, in words; a case without a class explains the one that is predicted."""
        target = self.cases[0][1]
        return "probability" if target is None else score_kind(target)

    @property
    def cost(self) -> Cost:
        """At most as far as a beam of eight, and exact limits where they are affordable; wider beams are tried where
        the limits still move.
        """
        every = [search_cost(self.explainer, encoded, _EXPECTED_WIDTH, self.half) for encoded, _ in self.cases]
        exact = exact_affordable([left_over(encoded) for encoded, _ in self.cases], self.affordable)
        every += [exact_cost(self.explainer, encoded) for (encoded, _), one in zip(self.cases, exact) if one]
        return Cost.sum(every)

    @property
    def price(self) -> str:
        """What it costs, in words: how wide it must go is what it finds out."""
        return (
            f"about {amount(self.cost.passes, 'forward pass')}, {self.takes}, if a beam of "
            f"{_EXPECTED_WIDTH // 4} is enough; more if not"
        )

    @property
    def at_once(self) -> bool:
        return False

    def run(self, job: Job) -> Any:
        """What the job does: a case without a class explains the one that is predicted."""
        cases = [
            (encoded, int(self.explainer.logits(encoded).argmax()) if target is None else target)
            for encoded, target in self.cases
        ]
        done = 0

        def report(study: BeamStudy | None) -> BeamStudy | None:
            nonlocal done
            done += study is None
            # How many widths there will be is not known: four are expected.
            job.report(done, max(4 * len(cases), done + 1))
            return study

        search = study_width(
            self.explainer, cases, half=self.half, widest=WIDEST, affordable=self.affordable, cancelled=job.cancelled
        )
        return relay(search, report)


def studies_of(known: KnownLimits, browsed: Browsed | None) -> list[WidthStudy]:
    """The study of this text, and that of the first texts of the data that the filters leave, where there are some."""
    side, half = known.side, known.choice.half
    allowed = affordable_scores(side)
    studies = [WidthStudy(side.explainer, ((side.encoded, side.explained),), "this text", half, allowed)]
    examples = [] if browsed is None else [browsed.index.data.examples[row] for row in browsed.rows[:STUDIED]]
    cases = tuple(_cases(side, examples))
    if browsed is not None and len(cases) > 1:
        name = f"{len(cases)} texts of {browsed.index.data.name}"
        studies.append(WidthStudy(side.explainer, cases, name, half, allowed))
    return studies


def _cases(side: Side, examples: Sequence[Example]) -> Iterator[tuple]:
    """Texts as cases of a study, those that cannot be encoded or have nothing to order left out; the predicted class is
    explained.
    """
    for example in examples:
        with contextlib.suppress(ValueError):
            encoded = side.explainer.encode(example.text, example.second, side.encoded.unit)
            if left_over(encoded) > 1:
                yield encoded, None
