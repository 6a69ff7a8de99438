"""The scoreboard of one text: its figures, and the verdict of each measure against random orders."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import cast

import streamlit as st
from cachetools import LRUCache

from core.evaluation.sampling import without_labels
from core.evaluation.studies.board_sentences import METRICS_PART, NO_RANKING, cheapest_believed, parting
from core.evaluation.studies.board_verdicts import elsewhere_sentence, orders_sentence, verdicts_of_text
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import report_of_row
from core.explanation.limiting import left_over
from core.explanation.recursive import ORDERS
from core.explanation.standings import COMPREHENSIVENESS, StandingGates
from core.measures.catalogue import default_measures
from core.verdicts.deciding import Reasons, VerdictReport, Word
from core.verdicts.telling import believe_sentence, chance_sentence, families_sentence, favoured_sentence, told_by
from core.wording import escaped, joined, plain
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import prediction_line, show_notes
from pages.parts.frame.working import PageWork
from pages.parts.scoreboard.drawing import draw_board
from pages.parts.scoreboard.over_texts import known_on_sample
from pages.parts.sections.questions import choose_question
from pages.parts.sections.sides import Side
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking, Studying
from pages.parts.sections.verdicts import VerdictWork


def board_of_text(view: View, order: str) -> None:
    """Draw the scoreboard of the example, or say why there is none."""
    # Whatever class the sidebar asks for: erasure metrics are defined for the one that is predicted.
    view = replace(view, target=view.predicted, than=None)
    said, stage, below = (st.container() for _ in range(3))
    with below:
        st.header("Settings", anchor=False)
        question = cast(Scoreboard, choose_question(Scoreboard, view.model, one_text=True))
        show_notes(view)
    try:
        question.check(view.model)
    except ValueError as error:
        told = str(error).rstrip(".")
        with said:
            st.info(plain(f"{told[:1].upper()}{told[1:]}."))
        return
    if left_over(view.encoded) == 0:
        with said:
            unit = view.encoded.unit
            prediction_line(view, f"Every {unit} is masked in the text already, so there are no orders to compare.")
        return
    digest = "" if view.browsed is None else view.browsed.index.data.digest
    sample = without_labels(view.data, digest, [view.example])
    # As many random orders and random attributions as other pages set this text against.
    one = Asking(view.explainer, sample, replace(question, orders=ORDERS), drawn_from=1)
    board = TextBoard(one, Side(view.explainer, view.encoded, view.predicted, view.predicted))
    draw, say = partial(_draw, board, order), partial(_say, view, board)
    stream(lambda: board.works, stage, draw, said, say, rests_on=lambda: board.state, every=1.0, together=True)


@dataclass(frozen=True, eq=False)
class TextBoard:
    """The figures of one text, and the verdicts on its measures: over those that are chosen, and until these are known
    over those that other pages judge unasked, as far as they are known there or are cheap.
    """

    figures: Asking
    side: Side

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
    def works(self) -> list[PageWork]:
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
    def reports(self) -> list[VerdictReport]:
        """What is known: over all of the measures, and over fewer; where neither is, what *Data set* knows of the
        text.
        """
        found = [_report_of(work) for work in (self.verdicts, self.fewer) if work is not None]
        known = [report for report in found if report is not None]
        return known or [*filter(None, [self._of_data_set()])]

    @property
    def report(self) -> VerdictReport | None:
        """The one of them that is over the most measures; None before there is any."""
        return next(iter(self.reports), None)

    def _of_data_set(self) -> VerdictReport | None:
        for study in self.question.verdicts:
            found = Studying(self.figures.explainer, self.figures.sample, study).found
            if found.there.any():
                return report_of_row(found, study)
        return None

    def _of(self, names: Sequence[str]) -> VerdictWork:
        # As the other pages write it, whose verdicts are then these.
        return VerdictWork(self.side, tuple(names), self.question.sign, len(names), COMPREHENSIVENESS)


_reports: LRUCache[str, VerdictReport] = LRUCache(64)
_guard = threading.Lock()


def _report_of(work: VerdictWork) -> VerdictReport | None:
    """What verdicts that are there come to, worked out once; None of such as are not, or whose job was forgotten."""
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


def _draw(board: TextBoard, order: str, asks: Callable[[], None]) -> None:
    column = verdicts_of_text(board.report, board.question.measures)
    draw_board(board.figures, asks, order, lambda _: column)


def _say(view: View, board: TextBoard) -> None:
    reports, figures = board.reports, board.figures.report
    if not reports:
        prediction_line(view, _waits(board))
        return
    report = reports[0]
    believed = [each.measure for each in report.those(Word.BETTER)]
    cheapest = "" if figures is None else escaped(cheapest_believed(believed, figures), 400)
    others = [name for name in board.question.measures if report.of(name) is None]
    yet = f" Not judged yet: {escaped(joined(others), 400)}. Judged together with them, a measure may lose its verdict."
    left = yet if others else ""
    # The same text may have another word where fewer are judged: said here, and not left to be found.
    also = [families_sentence(report, one) for one in reports[1:]]
    said = " ".join(
        filter(None, [believe_sentence(report, view.encoded, False, False) + left, *also, favoured_sentence(report)])
    )
    # What is believed here may be seldom elsewhere, and the other way round.
    data = None if view.browsed is None else view.browsed.index.data
    over = "" if data is None else known_on_sample(board.figures.explainer, data, board.question, believed)
    alone = f"{NO_RANKING}{'.' if over else ': a sample of the data may give one.'}" if figures is not None else ""
    parts = METRICS_PART if figures is not None and parting(figures).startswith(METRICS_PART.rstrip(".")) else ""
    rests = " ".join(filter(None, [told_by(report), orders_sentence(report), cheapest, parts, alone]))
    prediction_line(view, "", over, after=f"<p>{rests}</p>", first=said)
    if report.null.planned:
        with st.expander("How this is told, and how it can be wrong"):
            st.caption(plain(f"{chance_sentence(report)} {elsewhere_sentence(report)}".rstrip()))


def _waits(board: TextBoard) -> str:
    """Why it is not said yet which measures to believe, HTML."""
    works = [*filter(None, (board.fewer, board.verdicts))]
    jobs = [job for work in works if work.runs and (job := work.job) is not None]
    if any(job.started for job in jobs):
        return "Measures are being set against random orders …"
    if jobs:
        return "Which measures to believe comes after the figures."
    return f"Which measures to believe is not computed yet: ask for it below ({escaped(board.verdicts.price, 200)})."
