"""How faithful each row of words is: what is known of RACU, NAOPC and validity, as words that lead to their proof."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.explanation.limiting import left_over
from core.explanation.recursive import BY_RATIO, NO_AREA, STEPS, Summary
from core.explanation.row_scores import RowScore, reach_sentence, reach_text
from core.explanation.standings import COMPREHENSIVENESS, Standing, StandingTable
from core.mathematics.search.limits import EXACT
from core.stability.known import known_stability
from core.stability.telling import MEANS, UNSTABLE, Stability, unstable_text
from core.validity.marks import HOLM, RULES, path_word, why_unavailable, with_sign
from core.validity.references import CALIBRATED, FORMS
from core.verdicts.deciding import Cause, Reasons, VerdictReport, Word
from core.verdicts.reasons import find_unstable, known_pairs, stepwise_of
from core.verdicts.telling import ERROR_RATE, reason_text, verdict_about
from core.wording import estimate, number
from pages.parts.components.words import chip
from pages.parts.frame.links import held_of, link_to
from pages.parts.frame.sidebar import View
from pages.parts.frame.working import PageWork
from pages.parts.sections.paths import Choice, Path
from pages.parts.sections.sides import ONCE, RECURSIVE, Orders, Side
from pages.parts.sections.standings import KnownLimits, LimitsChoice, tag

# The names of the scores of a row.
_SCORE, _BETWEEN = "RACU ↑", "NAOPC ↑"
_RACU = (
    "RACU: area between its curve and random order as words are masked step by step, the measure computed again on "
    "what is left; 0 is random, higher is better, and above 1 where the score falls below that of the fully masked text"
)
_NAOPC = (
    "NAOPC: AOPC of the order coloured here, between the worst and the best order that this model allows; 1 is the best"
)
_VERDICT = "Verdict: AOPC of the order coloured here among random orders of the same words. " + ERROR_RATE
_VALIDITY = (
    "Whether masked inputs along its own path are rejected as out-of-distribution; not rejected is no proof. Random "
    "orders have inputs of their own: where those are rejected, the verdict says so"
)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The same work as that of Recursive masking and of AOPC and NAOPC, with the choices that hold there."""

    paths: dict[str, Path]
    limits: KnownLimits | None

    @classmethod
    def of(cls, view: View, measures: Sequence[str], sign: str, planned: int = 0) -> "ScoredRows":
        """The work of these measures on what the page shows; planned: measures that are chosen in all."""
        side = Side(view.explainer, view.encoded, view.target, view.predicted, view.than)
        rule, form = held_of("rule", list(RULES), HOLM), held_of("form", FORMS, CALIBRATED)
        step, order = held_of("steps", STEPS, BY_RATIO), held_of("computed", (RECURSIVE, ONCE), RECURSIVE)
        chosen = tuple(measures)
        choice = Choice(chosen, "", sign, step, order, rule, form)
        orders = Orders(side, step)
        limits = LimitsChoice(chosen, sign, rule, form, COMPREHENSIVENESS, planned)
        between = KnownLimits.of(side, limits) if chosen and left_over(view.encoded) else None
        return cls({name: Path(side, name, choice, orders) for name in chosen}, between)

    @property
    def works(self) -> list[PageWork]:
        """What may start unasked, or is under way or done already; verdicts come last."""
        every: list[PageWork] = [*self.paths.values(), *[path.orders for path in self.paths.values()][:1]]
        every += [] if self.limits is None else self.limits.works
        return [work for work in every if work.at_once or work.job is not None]

    @property
    def scores(self) -> dict[str, RowScore]:
        """What is known so far."""
        return self._scores(self._board)

    def _scores(self, board: StandingTable | None) -> dict[str, RowScore]:
        standings, report = _standings(board), self.report
        found = {name: _score(path, path.summary, standings.get(name)) for name, path in self.paths.items()}
        told = {} if report is None else {one.measure: one.word == Word.BETTER for one in report.verdicts if one.told}
        return {name: replace(one, better=told.get(name)) for name, one in found.items()}

    @property
    def report(self) -> VerdictReport | None:
        """The verdicts, with what is known of why measures fail; None before they are there."""
        known = self.limits
        if known is None or known.verdicts is None or not known.verdicts.complete:
            return None
        side, stepwise = known.side, {}
        for name, path in self.paths.items():
            summary = path.summary if path.choice.recompute else None
            if summary is not None:
                stepwise[name] = stepwise_of(summary, path.orders.band, side.explained)
        about = side.explainer, side.encoded, side.explained
        unstable = find_unstable(*about, tuple(self.paths), known.choice.sign)
        return known.report(Reasons(None, stepwise, unstable, known_pairs(*about)))

    @property
    def reach(self) -> str:
        """What random orders reach, where measures do no better, HTML in which all text is escaped; "" elsewhere."""
        board, report = self._board, self.report
        anew = report is not None and any(Cause.REDUNDANCY in one.causes for one in report.verdicts)
        return "" if board is None else reach_sentence(board, self._scores(board), anew)

    @property
    def unstable(self) -> dict[str, str]:
        """Why rankings are unstable, "" where they are not, of measures of which that is known."""
        known = [_steady(path) for path in self.paths.values()]
        return {one.measure: unstable_text(one) for one in known if one is not None}

    @property
    def cells(self) -> dict[str, list[dict]]:
        """Of each measure its figures as `pages.parts.components.words.words` draws them."""
        board, report = self._board, self.report
        return {name: self._cells(name, path, board, report) for name, path in self.paths.items()}

    @property
    def verdict_cells(self) -> dict[str, list[dict]]:
        """Those of them that tell whether to believe it: where verdicts are asked for, other scores tell no more."""
        return {
            name: [one for one in told if one["name"] not in (_SCORE, _BETWEEN)] for name, told in self.cells.items()
        }

    @property
    def _board(self) -> StandingTable | None:
        return None if self.limits is None else self.limits.table

    def _cells(self, name: str, path: Path, board: StandingTable | None, report: VerdictReport | None) -> list[dict]:
        choice, summary, standing = path.choice, path.summary, _standings(board).get(name)
        held = {"steps": choice.step, "computed": choice.order, "rule": choice.rule, "form": choice.form}
        proof = link_to("recursive_masking", **held, play=name)
        score = _score(path, summary, standing)
        racu, naopc = _value(score.racu, score.racu_marked), _value(score.naopc, score.naopc_marked)
        tested = "" if summary is None else path_word(summary.gate, path.name, summary.complete)
        between = [] if self.limits is None else [self._between(name, naopc)]
        flat = score.racu is not None and math.isnan(score.racu) and not score.unstable
        racu, about = (f"{racu} (no area)", f"{_RACU}. Here {NO_AREA}") if flat else (racu, _RACU)
        return [
            *([] if self.limits is None else [self._verdict(name, report, "" if board is None else reach_text(board))]),
            *_unstable(path),
            _cell(_SCORE, "unstable" if score.unstable else racu, proof, about, [path, path.orders]),
            *between,
            _cell("its masked inputs:", tested, proof, _VALIDITY, [path]),
        ]

    def _proof(self, choice: LimitsChoice) -> str:
        return link_to("aopc_and_naopc", rule=choice.rule, form=choice.form, curves=COMPREHENSIVENESS)

    def _verdict(self, name: str, report: VerdictReport | None, reach: str) -> dict:
        known = self.limits
        assert known is not None
        verdicts, found = known.verdicts, None if report is None else report.of(name)
        why = "" if report is None or found is None else reason_text(report, found)
        # They rest on scored orders alone: a search, or exact limits that nobody asked for, are not their price.
        works = [*known.scored, *filter(None, [verdicts])]
        text = "" if found is None else verdict_about(found)
        if report is not None and found is not None and found.told and report.planned > 1:
            # A verdict is one of a family: its p is adjusted for as many.
            text += f", adjusted for {report.planned} measures"
        about = [f"{why}." if why and why[-1] != "." else why, f"{reach}." if reach else "", _VERDICT]
        proof, told = self._proof(known.choice), " ".join(filter(None, about))
        return _cell("verdict:", text, proof, told, works) if found is None else chip(found.word, text, proof, told)

    def _between(self, name: str, value: str) -> dict:
        known = self.limits
        assert known is not None
        found, proof = known.found, self._proof(known.choice)
        how = "" if found is None or found.limits.method == EXACT else f"; limits by {tag(found.limits)}"
        scored = [work for work in known.scored if work.measure == name]
        searches = [one for one in (known.narrower, known.search) if one is not None]
        return _cell(_BETWEEN, value, proof, _NAOPC + how, [*scored, *searches[:1]])


def _standings(board: StandingTable | None) -> dict[str, Standing]:
    return {} if board is None else {one.measure: one for one in board.standings}


def _unstable(path: Path) -> list[dict]:
    """That a ranking is unstable, where that is known; nothing is computed for it."""
    one, proof = _steady(path), link_to("attributions", unfolded="stability")
    about = "" if one is None else f"{unstable_text(one)} {MEANS}"
    return [_cell("order:", UNSTABLE, proof, about, [])] if one is not None and one.unstable else []


def _steady(path: Path) -> Stability | None:
    side = path.side
    about = side.explainer, side.encoded, side.explained
    return known_stability(*about, [path.measure], path.choice.sign).get(path.measure)


def _score(path: Path, summary: Summary | None, standing: Standing | None) -> RowScore:
    between = (
        (None, False)
        if standing is None
        else (standing.naopc[COMPREHENSIVENESS], standing.marked(COMPREHENSIVENESS, True))
    )
    if summary is None or not summary.complete or path.orders.band is None:
        return RowScore(None, between[0], False, between[1])
    untested = why_unavailable(summary.gate)
    return RowScore(summary.racu, between[0], summary.marked, between[1], summary.areas.unstable, untested)


def _value(value: float | None, marked: bool) -> str:
    return "" if value is None else with_sign(number(value), marked and value == value)


def _cell(name: str, text: str, href: str, about: str, works: Sequence[PageWork]) -> dict:
    """A figure, or why it is not there: on its way, with the time that is left where that is known, or its price."""
    waits = [work for work in works if not work.complete]
    if not text and any(work.comes for work in waits):
        known = [left for work in waits if work.runs and (left := work.seconds_left) is not None]
        text = f"… about {estimate(max(known))}" if known else "being computed …"
    elif not text:
        seconds = sum(work.seconds for work in waits)
        text = f"not asked for yet (about {estimate(seconds)})" if waits else "—"
    return {"name": name, "text": text, "href": href, "about": about}
