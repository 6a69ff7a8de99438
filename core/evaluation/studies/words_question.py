"""Which words matter over the data: what measures say of each word, from the texts on which they are faithful."""

from dataclasses import dataclass, field

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.studies.known_words import KnownTexts, known_texts
from core.evaluation.studies.verdicts import Verdicts, VerdictsOfTexts
from core.evaluation.studies.word_lines import WordLine, lines_by_word
from core.evaluation.studies.word_rows import lines_of_words
from core.evaluation.studies.word_scores import WordScores
from core.evaluation.study import Answers, Question, Table, choice, register
from core.explanation.rows import SIGNS
from core.measures.catalogue import default_measures
from core.network.features import UNITS
from core.network.model import Model
from core.wording import Tally, as_json, refuse_unknown, share_text, with_ends

# Words of a table for a class and measure.
LISTED = 20
_LINES = ("words", "scores")


@dataclass(frozen=True, eq=False)
class WordsReport:
    """What M measures say of the words of n texts.

    lines: by class and measure, the largest mean in front; faithful: texts of which each measure is heard, see
    `core.evaluation.studies.known_words`; tally: how far it is; cut, picked: as of `VerdictsReport`.
    """

    measures: tuple[str, ...]
    labels: tuple[str, ...]
    lines: tuple[WordLine, ...]
    faithful: tuple[int, ...]
    n: int
    tally: Tally
    cut: int = 0
    picked: str = ""
    sign: str = "signed"

    def of(self, measure: str, label: str) -> list[WordLine]:
        """The words of a class by one measure, the largest mean in front."""
        return [one for one in self.lines if one.measure == measure and one.label == label]

    @property
    def leading(self) -> WordLine | None:
        """Of words in 20 texts or more the one with the largest mean whose interval lies above 0, by the first measure
        that has one.
        """
        for name in self.measures:
            found = [one for one in self.lines if one.measure == name and one.texts >= FEW and one.mean.low > 0]
            if found:
                return max(found, key=lambda one: one.mean.mean)
        return None


@register
@dataclass(frozen=True)
class Words(Question[WordsReport]):
    """Which words matter over the data. Source: glossary, Words over the data."""

    name, order, done = "words", 6, "judged"
    asks = "Which words matter over the data?"

    measures: tuple[str, ...] = field(default_factory=default_measures)
    sign: str = "signed"
    unit: str = "word"
    lines: str = choice("words", (*_LINES,), "lines of files")

    @property
    def scores(self) -> WordScores:
        """What measures say of each text's words."""
        return WordScores(self.measures, self.sign, self.unit)

    @property
    def verdicts(self) -> VerdictsOfTexts:
        """Whether they are better than random on it."""
        return VerdictsOfTexts(self.measures, self.sign, self.unit)

    @property
    def studies(self) -> tuple:
        """Scores first: with verdicts that are known already they give the answer."""
        return (self.scores, self.verdicts)

    def known(self, answers: Answers) -> KnownTexts:
        """The texts that have both by now."""
        return known_texts(answers.found[self.scores], answers.found[self.verdicts])

    def check(self, model: Model | None = None) -> None:
        """As the verdicts; a unit or a kind of values that there is not."""
        refuse_unknown(
            ("unit", (self.unit,), UNITS),
            ("kind of values", (self.sign,), SIGNS),
            ("kind of lines", (self.lines,), _LINES),
        )
        self.verdicts.check(model)

    def conclude(self, answers: Answers) -> WordsReport | None:
        """The words; None before the first text that has both."""
        known, scored, labels = self.known(answers), answers.found[self.scores], answers.model.labels
        if not len(known.at):
            return None
        return WordsReport(
            self.measures,
            labels,
            tuple(lines_by_word(self.measures, known, _right(answers, known), labels)),
            tuple(known.faithful.sum(axis=0).tolist()),
            len(known.at),
            answers.tally((self.scores if self.scores in answers.coming else self.verdicts,)),
            len(scored.cut),
            answers.sample.picked,
            self.sign,
        )

    def without_effect(self, answers: Answers) -> int:
        """As the verdicts."""
        return Verdicts(self.measures, self.sign, self.unit).without_effect(answers)

    def tables(self, report: WordsReport) -> list[Table]:
        """The first words of each class by each measure, and on how many texts each measure is heard."""
        header = [
            "word",
            "class",
            "measure",
            "mean ↑ [95 %]",
            "texts",
            "in top 3",
            "changes alone",
            "accuracy",
            "others",
        ]
        listed = [one for name in report.measures for label in report.labels for one in report.of(name, label)[:LISTED]]
        rows = [
            [one.word, one.label, one.measure, with_ends(one.mean.mean, one.mean.low, one.mean.high), f"{one.texts:,}"]
            + [_share(share) for share in (one.top, one.alone, one.right, one.others)]
            for one in listed
        ]
        heard = [
            [name, f"{count:,}", f"{report.n - count:,}", _share(1 - count / report.n)]
            for name, count in zip(report.measures, report.faithful)
        ]
        about = ["measure", "faithful (texts)", "left out (texts)", "left out"]
        return [(header, rows), (about, heard)] if rows else [(about, heard)]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each word, class and measure: word, class, measure, texts, mean, low, high, top_3, alone,
        accuracy, accuracy_others, and the texts that the measure is heard of, faithful, out of judged; or, asked for
        scores, see `lines_of_words`; then a line for each example.
        """
        if self.lines == "scores":
            return [*lines_of_words(self.known(answers), self.measures, self.unit, answers), *self._examples(answers)]
        report = self.conclude(answers)
        lines, judged = ((), 0) if report is None else (report.lines, report.n)
        heard = {} if report is None else dict(zip(report.measures, report.faithful))
        found = [
            {"word": one.word, "class": one.label, "measure": one.measure, "texts": one.texts}
            | {name: as_json(getattr(one.mean, name)) for name in ("mean", "low", "high")}
            | {"top_3": one.top, "alone": one.alone}
            | {"accuracy": as_json(one.right), "accuracy_others": as_json(one.others)}
            | {"faithful": heard[one.measure], "judged": judged}
            for one in lines
        ]
        return found + self._examples(answers)

    def _examples(self, answers: Answers) -> list[dict]:
        scored, examples = answers.found[self.scores], enumerate(answers.sample.examples)
        return [
            {"example": one.id, "problem": scored.problems.get(i), "cut": i in scored.cut, "measure": None}
            for i, one in examples
        ]


def _share(share: float) -> str:
    return "—" if share != share else share_text(share)


def _right(answers: Answers, known: KnownTexts) -> np.ndarray:
    """Of each text whether the prediction is its label, float64[n]; NaN where it has none of the model's classes."""
    labels, examples = answers.model.labels, answers.sample.examples
    found = [(examples[i].label, labels[text["class"]]) for i, text in zip(known.at, known.texts)]
    return np.array([float(own == predicted) if own in labels else np.nan for own, predicted in found])
