"""Traits of examples (`core.data.browsing.TRAITS`), read off studies and the predictions of a twin."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from core.data.browsing import TRAITS, Predicted, Trait, trait_of_measure
from core.data.examples import DataSet
from core.evaluation.sampling import Sample
from core.evaluation.studies.behaviour import Changes, Walked
from core.evaluation.studies.board_report import NAOPC_C, X, text_values
from core.evaluation.studies.board_rows import BoardMeasure
from core.evaluation.studies.fewest import FewestFeatures, Searched
from core.evaluation.studies.model_check import Curve, Passed
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import WORDS, VerdictsOfTexts, first_verdict
from core.evaluation.study import Answers, Column, Known, Rows, Study, Subject
from core.explanation.explainer import Cost, Explainer
from core.explanation.recursive import BY_RATIO, planned_counts
from core.explanation.rows import choose_variant, measured_each
from core.mathematics.curves import racu
from core.mathematics.masking import RATIOS
from core.mathematics.ranking import kendall_tau
from core.measures.catalogue import default_measures, measure, offered_measures
from core.network.features import Encoded
from core.network.model import Model
from core.network.scheduler import NonFinite
from core.storage.content import Content, Numbers
from core.validity.marks import decide_path
from core.validity.references import CALIBRATED
from core.wording import number, refuse_unknown, share_text


@dataclass(frozen=True)
class Agreement(Study[Rows]):
    """Kendall's τ-b of each two measures (at least two) for the predicted class over the features that the text does
    not mask, float64[M(M − 1)/2]; NaN where one of them has no order. Source: glossary, Agreement.
    """

    name = "agreement"
    columns: ClassVar = {"tau": Column((0,))}
    label = "disagreement of measures"

    measures: tuple[str, ...]
    sign: str = "signed"
    unit: str = "word"

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On each measure."""
        return {"measures": measured_each(explainer, self.measures, self.sign)}

    def check(self, model: Model | None = None) -> None:
        """As everywhere: a measure that there is not, or fewer than two."""
        refuse_unknown(("measure", self.measures, offered_measures(self.measures)))
        if len(self.measures) < 2:
            raise ValueError(f"measures can only disagree where there are two, got {self.measures}")

    def row(self, subject: Subject) -> dict[str, Any]:
        """How far each two measures agree."""
        encoded, cancelled = subject.encoded, subject.cancelled
        target, free = int(subject.explainer.probabilities(encoded).argmax()), ~encoded.premasked
        scores = []
        for name in self.measures:
            found = subject.explainer.attribute(encoded, name, target, cancelled=cancelled)
            scores.append(found.scores[choose_variant(measure(name), self.sign)][free])
            if np.isnan(scores[-1]).any():
                raise NonFinite(f"{name} gave NaN scores.")
        return {"tau": np.array([kendall_tau(first, second) for first, second in combinations(scores, 2)])}

    def content(self, explainer: Explainer) -> Content:
        """A correlation for each two."""
        M = len(self.measures)
        return Content({"tau": Numbers("float64", (M * (M - 1) // 2,), -1, 1, nan=True)})

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What the attributions of an example take; what is known already is not counted off."""
        return Cost.sum([Cost(1, 0.0), *(explainer.cost(encoded, name) for name in self.measures)])


def least_agreement(rows: Rows) -> np.ndarray:
    """The smallest τ-b among each two measures of N examples, float64[N] in [−1, 1]; NaN where there is none."""
    # Of rows that are not known the column holds NaN, too.
    tau = rows.columns["tau"]
    there = ~np.isnan(tau)
    return np.where(there.any(axis=1), np.where(there, tau, np.inf).min(axis=1, initial=np.inf), np.nan)


REJECTED, CHANGES, DISAGREEMENT, TWIN, VERDICT = "rejected", "changes", "disagreement", "twin", "verdict"
FEWEST, BEST, NAOPC, AREA, EVIDENCE = "smallest", "best", "naopc", "racu", "evidence"
# Those of which a file has numbers.
_NUMBERS = {DISAGREEMENT, NAOPC, AREA, EVIDENCE}


def trait_studies(measure: str, unit: str) -> dict[str, tuple[Study, ...]]:
    """The studies of every trait but the twin's; measure: whose order is followed, by magnitudes, which all measures
    have, and whose verdict is asked for among those shown unasked, and whose figures the scoreboard has.
    """
    curve = Curve(measure, unit=unit)
    verdicts = VerdictsOfTexts(tuple(dict.fromkeys((measure, *default_measures()))), unit=unit)
    board = Scoreboard((measure,), unit=unit)
    return {
        REJECTED: (curve,),
        EVIDENCE: (curve,),
        CHANGES: (Changes(measure, unit=unit),),
        FEWEST: (FewestFeatures(unit),),
        DISAGREEMENT: (Agreement(default_measures(), "absolute", unit),),
        VERDICT: (verdicts,),
        BEST: (verdicts,),
        AREA: board.studies[:-1],
        NAOPC: board.studies,
    }


def studies_of(name: str, measure: str, unit: str) -> tuple[Study, ...]:
    """The studies of a trait, of its own measure where it has one, else as of `trait_studies`."""
    kind, own = trait_of_measure(name)
    return trait_studies(own or measure, unit)[kind]


def predicted_sample(data: DataSet, judged: Predicted, rows: np.ndarray) -> Sample:
    """Those of some examples (places, int64[n]) that are predicted, as a sample that explains the prediction."""
    there = np.array([i for i in rows if judged.predicted[i] >= 0], dtype=np.int64)
    return Sample(data.name, data.digest, tuple(data.examples[i] for i in there), judged.predicted[there])


def first_rejected(found: Passed, explainer: Explainer, sample: Sample, unit: str) -> np.ndarray:
    """The ratio of the first rejected step of each path by Holm in the calibrated form, float64[N] in [0, 1]; infinity
    where none is, NaN where it is not computed; unit: what was masked as one piece.
    """
    reference = explainer.reference
    values = np.full(len(found), np.nan)
    by_features = reference is not None and reference.forms[CALIBRATED].R == 1
    for i in np.flatnonzero(found.there) if reference is not None else ():
        counts = np.arange(len(RATIOS))
        if by_features:
            # Steps that mask the same features are one test.
            example = sample.examples[i]
            one = explainer.encode(example.text, example.second, unit, sample.maskable)
            counts = planned_counts(one.F, BY_RATIO, int(one.premasked.sum()))
        gate = decide_path(found.p[CALIBRATED][i], counts, counts, reference, by_ratio=True)
        if gate.available:
            values[i] = np.inf if gate.first is None else RATIOS[gate.first]
    return values


def words_until_change(found: Walked) -> np.ndarray:
    """Features erased when the prediction first changes, float64[N]; infinity: never, NaN: not computed."""
    if not found.there.any():
        return np.full(len(found), np.nan)
    flips = found.flips[:, 0].astype(np.float64)
    return np.where(found.there, np.where(flips > 0, flips, np.inf), np.nan)


def best_verdict(found: Rows) -> np.ndarray:
    """The best verdict of any measure on N texts, float64[N], as of `VALUES`; NaN where one that cannot be told may be
    better, or nothing is computed.
    """
    words = found.columns["word"]
    if not words.shape[1]:
        return np.full(len(found), np.nan)
    return np.where((words == 1).any(axis=1), 1.0, words.max(axis=1))


def fewest_to_change(found: Searched) -> np.ndarray:
    """Features of the smallest set found that changes the prediction, float64[N]; infinity: none does."""
    return np.where(found.there, np.where(found.fewest > 0, found.fewest, np.inf), np.nan)


def _areas(chance: Rows, measured: Rows) -> np.ndarray:
    """RACU of each text's path against its random orders, float64[N]; NaN where it is not computed, or undefined."""
    values = np.full(len(chance), np.nan)
    for i in np.flatnonzero(chance.there & measured.there):
        values[i] = racu(X, measured.columns["curve"][i], chance.columns["curves"][i].mean(axis=0))
    return values


def _naopc(found: dict[Study, Known], explainer: Explainer, sample: Sample) -> np.ndarray:
    """NAOPC comprehensiveness of one measure on each text, as *Scoreboard* has it, float64[N]; NaN as of `_areas`."""
    (measured,) = (study.measure for study in found if isinstance(study, BoardMeasure))
    board = Scoreboard((measured,), unit=next(iter(found)).unit)
    answers, values = Answers(explainer.model, explainer.reference, sample, found), np.full(len(sample), np.nan)
    for i in np.flatnonzero(np.logical_and.reduce([one.there for one in found.values()])):
        values[i] = text_values(board, answers, i, measured)[NAOPC_C]
    return values


def trait_of(name: str, found: dict[Study, Known], explainer: Explainer, sample: Sample, unit: str) -> Trait:
    """A trait of the examples of a sample from what its studies report; the rest as of `first_rejected`."""
    reports: list[Any] = list(found.values())
    # A text without a row of one study has no trait, and nothing more is to come of it.
    over = [one.there | np.isin(np.arange(len(one)), list(one.problems)) for one in reports]
    values = {
        REJECTED: lambda one: first_rejected(one, explainer, sample, unit),
        EVIDENCE: lambda one: np.where(one.there, one.found[:, 1], np.nan),
        CHANGES: words_until_change,
        FEWEST: fewest_to_change,
        DISAGREEMENT: least_agreement,
        VERDICT: first_verdict,
        BEST: best_verdict,
        AREA: _areas,
        NAOPC: lambda *_: _naopc(found, explainer, sample),
    }[trait_of_measure(name)[0]](*reports)
    return Trait(values, np.logical_and.reduce(over))


def twin_differs(mine: np.ndarray, labels: Sequence[str], other: np.ndarray, other_labels: Sequence[str]) -> Trait:
    """Whether another model predicts another class by name; mine, other: int64[N], −1 without a prediction."""
    known = (mine >= 0) & (other >= 0)
    names, others = (np.array([*(name.casefold() for name in one), ""]) for one in (labels, other_labels))
    return Trait(np.where(known, (names[mine] != others[other]).astype(np.float64), np.nan), known)


def joined_traits(whole: Trait, rows: np.ndarray, part: Trait) -> Trait:
    """What is known of all, and of some rows from elsewhere."""
    values, known = whole.values.copy(), whole.known.copy()
    new = rows[part.known]
    values[new], known[new] = part.values[part.known], True
    return Trait(values, known)


def trait_cell(name: str, trait: Trait, i: int) -> str | float:
    """What a file holds of a trait of one example: numbers as numbers, the rest as a table shows it."""
    value = float(trait.values[i])
    return (
        value
        if trait_of_measure(name)[0] in _NUMBERS and trait.known[i] and value == value
        else trait_text(name, trait, i)
    )


def trait_text(name: str, trait: Trait, i: int) -> str:
    """What a table shows of a trait of one example."""
    value = float(trait.values[i])
    if not trait.known[i]:
        return "not computed"
    if value != value:
        return "cannot be told" if name in (VERDICT, BEST) else "—"
    if name in (VERDICT, BEST):
        return WORDS[value] if name == VERDICT else TRAITS[BEST][value]
    if name == REJECTED:
        return "no step" if value == np.inf else f"at {share_text(value)}"
    if name in (CHANGES, FEWEST):
        return "never" if value == np.inf else f"{value:.0f}"
    if name == TWIN:
        return "differs" if value else "same"
    return share_text(value) if name == EVIDENCE else number(value)
