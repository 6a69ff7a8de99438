"""The scoreboard of one text: its figures, and the verdict of each measure against random orders."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import cast

from cachetools import LRUCache

from core.evaluation.sampling import without_labels
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import report_of_row
from core.explanation.limiting import left_over
from core.explanation.recursive import ORDERS
from core.explanation.standings import COMPREHENSIVENESS, StandingGates
from core.measures.catalogue import default_measures
from core.results.caveats import Caveat
from core.results.result import Result
from core.results.verdicts import TABLE, verdict_rows, verdicts_result
from core.verdicts.deciding import Reasons, VerdictReport
from core.verdicts.records import verdict_record
from core.wording import plain
from pages.parts.face.headline import draw_headline
from pages.parts.frame.links import folded
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import about_text, view_badges, view_caveats
from pages.parts.frame.working import Work
from pages.parts.scoreboard.drawing import BoardPlaces, BoardVerdicts, draw_board, is_refused
from pages.parts.sections.judged import known_family
from pages.parts.sections.questions import choose_question
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking
from pages.parts.sections.verdicts import VerdictWork


def board_of_text(view: View, places: BoardPlaces) -> None:
    """Draw the scoreboard of the example, or why there is none."""
    # Whatever class the sidebar asks for: erasure metrics are defined for the one that is predicted.
    view = replace(view, target=view.predicted, than=None)
    with folded(places.settings):
        question = cast(Scoreboard, choose_question(Scoreboard, view.model, one_text=True))
    if is_refused(question, view.model, places.answer):
        return
    if left_over(view.encoded) == 0:
        unit = view.encoded.unit
        places.answer.info(plain(f"Every {unit} is masked already."))
        return
    digest = "" if view.browsed is None else view.browsed.index.data.digest
    sample = replace(without_labels(view.data, digest, [view.example]), maskable=view.encoded.maskable)
    # As many random orders and random attributions as other pages set this text against.
    one = Asking(view.explainer, sample, replace(question, orders=ORDERS), drawn_from=1)
    board = TextBoard(one, view)
    draw, say = partial(_draw, board), partial(_say, view, board)
    stream(lambda: board.works, (places.stage, draw), (places.answer, say), rests_on=lambda: board.state, together=True)
    about_text(view)


@dataclass(frozen=True, eq=False)
class TextBoard:
    """The figures of one text, and the verdicts on its measures; until these are known, on those judged unasked."""

    figures: Asking
    side: View

    @property
    def question(self) -> Scoreboard:
        return cast(Scoreboard, self.figures.question)

    @cached_property
    def verdicts(self) -> VerdictWork:
        return self._of(self.question.measures)

    @cached_property
    def fewer(self) -> VerdictWork | None:
        """The verdicts over fewer of the measures; None where these are all."""
        usual = default_measures()
        return self._of(usual) if set(usual) < set(self.question.measures) else None

    @property
    def works(self) -> list[Work]:
        """The figures first, which most of the verdicts rest on; what waits to be asked for are the verdicts on all."""
        fewer = self.fewer
        beside = fewer is not None and not self.verdicts.runs and (fewer.complete or fewer.at_once)
        return [*self.figures.works, *([fewer] if fewer is not None and beside else []), self.verdicts]

    @property
    def state(self) -> list[tuple]:
        """What there is to draw: of each work whether it is there, and how it is under way."""
        jobs = [work.job for work in self.works]
        return [(None, None) if job is None else (job.state, bool(job.started)) for job in jobs]

    @property
    def report(self) -> VerdictReport | None:
        """What is known: over all of the measures, else over fewer, else what *Data set* knows of the text."""
        for work in (self.verdicts, self.fewer):
            if work is not None and (report := _report_of(work)) is not None:
                return report
        family, found = known_family(self.figures.explainer, self.figures.sample, self.question.verdicts)
        return report_of_row(found, family.study) if found.there.any() else None

    def _of(self, names: Sequence[str]) -> VerdictWork:
        # As the other pages write it, whose verdicts are then these.
        return VerdictWork(self.side, tuple(names), self.question.sign, len(names), COMPREHENSIVENESS)


_reports: LRUCache[str, VerdictReport] = LRUCache(64)
_guard = threading.Lock()


def _report_of(work: VerdictWork) -> VerdictReport | None:
    """What verdicts come to, worked out once; None before they are there."""
    if not work.complete:
        return None
    with _guard:
        report = _reports.get(work.key)
    if report is None:
        report = work.report(StandingGates(work.side.encoded, work.side.reference), Reasons())
    if report is not None:
        with _guard:
            _reports[work.key] = report
    return report


def _say(view: View, board: TextBoard) -> None:
    report = board.report
    left = report is not None and any(report.of(name) is None for name in board.question.measures)
    # Compared with more measures, one may lose its verdict.
    more = [Caveat.PARTIAL] if left else []
    draw_headline(_result(board), *view_badges(view), more=[*more, *view_caveats(view)])


def _draw(board: TextBoard, asks: Callable[[], None]) -> None:
    found, figures = board.report, board.figures.report
    known = BoardVerdicts()
    if found is not None:
        lines = {(0, one.measure): verdict_record(one, len(found.verdicts)) for one in found.verdicts}
        known = BoardVerdicts((TABLE, verdict_rows(found)), lambda: lines)
        figures = figures and replace(figures, better=found.better(board.question.measures))
    draw_board(board.figures, figures, _result(board), known, asks)


def _result(board: TextBoard) -> Result:
    works = [work for work in (board.fewer, board.verdicts) if work is not None]
    return verdicts_result(board.report, len(board.question.measures), any(work.runs for work in works))
