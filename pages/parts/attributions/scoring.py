"""How faithful each row of words is: its badge and its RACU, each a link to its proof, and a table of all numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.explanation.limiting import left_over
from core.explanation.recursive import BY_RATIO, NO_AREA, STEPS, Summary
from core.explanation.standings import COMPREHENSIVENESS, Standing
from core.results.result import Result
from core.results.verdicts import (
    TABLE,
    Status,
    reason_text,
    verdict_rows,
    verdict_status,
    verdicts_result,
    words_result,
)
from core.validity.marks import SIGN, with_sign
from core.verdicts.deciding import VerdictReport
from core.verdicts.reasons import stepwise_of
from core.verdicts.records import p_text
from core.wording import number
from pages.parts.components.tables import meaning_of
from pages.parts.components.words import chip
from pages.parts.frame.links import held_of, link_to
from pages.parts.frame.sidebar import View, chosen_method
from pages.parts.frame.working import Work
from pages.parts.sections.paths import Choice, Path
from pages.parts.sections.sides import ONCE, RECURSIVE, Orders
from pages.parts.sections.standings import KnownLimits, LimitsChoice

# The names of what stands beside a row.
RACU, VERDICT = "RACU ↑", "verdict:"
ALL_NUMBERS = [*TABLE, RACU, "NAOPC ↑", SIGN]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The same work as that of Recursive masking and of AOPC and NAOPC, with the choices that hold there; planned:
    measures that are chosen in all.
    """

    paths: dict[str, Path]
    limits: KnownLimits | None
    planned: int

    @classmethod
    def of(cls, view: View, measures: Sequence[str], sign: str, planned: int = 0) -> "ScoredRows":
        """The work of these measures on what the page shows; planned: measures that are chosen in all."""
        form, rule = chosen_method()
        step, order = held_of("steps", STEPS, BY_RATIO), held_of("computed", (RECURSIVE, ONCE), RECURSIVE)
        chosen = tuple(measures)
        choice = Choice(chosen, "", sign, step, order, rule, form)
        orders = Orders(view, step)
        limits = LimitsChoice(chosen, sign, rule, form, COMPREHENSIVENESS, planned)
        between = KnownLimits.of(view, limits) if chosen and left_over(view.encoded) else None
        return cls({name: Path(view, name, choice, orders) for name in chosen}, between, planned)

    @property
    def works(self) -> list[Work]:
        """What may start unasked, or is under way or done already; verdicts come last."""
        every: list[Work] = [*self.paths.values(), *[path.orders for path in self.paths.values()][:1]]
        every += [] if self.limits is None else self.limits.works
        return [work for work in every if work.at_once or work.job is not None]

    @property
    def report(self) -> VerdictReport | None:
        """The verdicts, with what is known of why measures fail; None before they are there."""
        return None if self.limits is None else self.limits.report_with_reasons(self._stepwise)

    def _stepwise(self) -> dict[str, float]:
        return {
            name: stepwise_of(summary, path.orders.band, path.side.explained)
            for name, path in self.paths.items()
            if path.choice.recompute and (summary := path.summary) is not None
        }

    @property
    def result(self) -> Result:
        """What the verdicts come to, as far as they are known."""
        if self.limits is None and self.paths:
            # Every word is masked in the text already.
            return words_result({})
        return verdicts_result(self.report, self.planned, asked=self._comes)

    @property
    def offered(self) -> list[Work]:
        """What the verdicts wait for until somebody asks for it; none where they come or are there."""
        return [] if self._comes else [work for work in self._verdict_works if not work.complete]

    @property
    def _verdict_works(self) -> list[Work]:
        """All that verdicts rest on: a search, or exact limits that nobody asked for, are not their price."""
        known = self.limits
        if known is None:
            return []
        return [*known.scored, *([] if known.verdicts is None else [known.verdicts])]

    @property
    def _comes(self) -> bool:
        # After a cancel nothing starts by itself.
        stopped = any(work.stopped for work in self.works)
        return any(work.runs or (work.comes and not stopped) for work in self._verdict_works)

    @property
    def unstable(self) -> dict[str, str]:
        """Why rankings are unstable, "" where they are not, of measures of which that is known."""
        path = next(iter(self.paths.values()), None)
        return {} if path is None else path.side.unstable(self.paths, path.choice.sign)

    @property
    def cells(self) -> dict[str, list[dict]]:
        """Of each measure its badge and its RACU as `pages.parts.components.words.words` draws them."""
        report = self.report
        return {name: [*self._badge(name, report), _racu(path)] for name, path in self.paths.items()}

    def _badge(self, name: str, report: VerdictReport | None) -> list[dict]:
        known, one = self.limits, None if report is None else report.of(name)
        if known is None:
            return []
        choice = known.choice
        proof = link_to("aopc_and_naopc", rule=choice.rule, form=choice.form, curves=COMPREHENSIVENESS)
        if report is None or one is None:
            about = meaning_of("verdict")
            if self._comes:
                return [_cell(VERDICT, "", proof, about, self._verdict_works)]
            return [chip(Status.NOT_TESTED, "", proof, about)]
        about = reason_text(report, one) or meaning_of("verdict")
        return [chip(verdict_status(one), p_text(one.adjusted) if one.told else "", proof, about)]

    def rows(self, report: VerdictReport) -> list[list[Any]]:
        """A row a measure under `ALL_NUMBERS`, None where there is no number."""
        board = None if self.limits is None else self.limits.table
        standings = {} if board is None else {one.measure: one for one in board.standings}
        return [[*row, *_scores(self.paths[row[0]].summary, standings.get(row[0]))] for row in verdict_rows(report)]


def _scores(summary: Summary | None, standing: Standing | None) -> list[Any]:
    """RACU, NAOPC, and the sign where either rests on rejected inputs."""
    racu = None if summary is None or not summary.complete or summary.areas.unstable else summary.racu
    naopc = None if standing is None else standing.naopc[COMPREHENSIVENESS]
    marked = (racu is not None and summary is not None and summary.marked) or (
        standing is not None and standing.marked(COMPREHENSIVENESS, True)
    )
    return [racu, naopc, SIGN if marked else None]


def _racu(path: Path) -> dict:
    choice, summary = path.choice, path.summary
    held = {"steps": choice.step, "computed": choice.order, "rule": choice.rule, "form": choice.form}
    proof, about = link_to("recursive_masking", **held, play=path.measure), meaning_of("RACU")
    if summary is None or not summary.complete or path.orders.band is None:
        return _cell(RACU, "", proof, about, [path, path.orders])
    if summary.areas.unstable:
        return _cell(RACU, "unstable", proof, about, [])
    if math.isnan(summary.racu):
        return _cell(RACU, "no area", proof, f"Here {NO_AREA}", [])
    return _cell(RACU, with_sign(number(summary.racu), summary.marked), proof, about, [])


def _cell(name: str, text: str, href: str, about: str, works: Sequence[Work]) -> dict:
    """A figure, or that it is on its way or waits to be asked for."""
    waits = [work for work in works if not work.complete]
    if not text and any(work.comes for work in waits):
        text = "computing …"
    elif not text:
        text = "not computed" if waits else "—"
    return {"name": name, "text": text, "href": href, "about": about}
