"""Whether a model check's rejected texts are those that are longer or shorter than its reference's."""

from dataclasses import dataclass, field

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.studies.check_report import REJECTED, CheckReport, X
from core.evaluation.studies.check_words import masked_in_words
from core.evaluation.studies.model_check import Passed
from core.mathematics.masking import RATIOS
from core.mathematics.statistics import holm_adjusted, more_often, rejected_count_p, significant
from core.validity.marks import OUT, alone
from core.validity.references import CALIBRATED
from core.wording import amount, joined, number, share_text


@dataclass(frozen=True)
class LengthSplit:
    """Texts rejected by themselves at a masking ratio, split by length: low, high: tokens, between which nine of ten
    texts of the reference are; alike: (rejected, texts) between them; others: the same of the longer and shorter ones;
    together: the ratios at which those between are rejected together, by count and Holm, None where nobody knows;
    whole: what is masked there, "" where more is left of a text than its length; rejected: (of those between, of the
    others) int64[K], at every ratio; p: float64[K], by count, unadjusted, of those between, None where together is.
    """

    low: int
    high: int
    alike: tuple[int, int]
    others: tuple[int, int]
    together: tuple[float, ...] | None = None
    whole: str = ""
    rejected: tuple[np.ndarray, np.ndarray] | None = field(default=None, compare=False)
    p: np.ndarray | None = field(default=None, compare=False)

    @property
    def rows(self) -> list[tuple[str, list[str]]]:
        """What a table of ratios says of either lot: (what it is, a cell for each ratio)."""
        if self.rejected is None:
            return []
        lots = (f"of {self.low:,} to {self.high:,} tokens", self.alike), ("shorter or longer", self.others)
        rows = [
            (f"{name}: rejected of {n:,}", [f"{count:,}" for count in counts])
            for (name, (_, n)), counts in zip(lots, self.rejected)
        ]
        if self.p is not None:
            rows.insert(1, (f"{lots[0][0]}: p by count", [*map(number, self.p.tolist())]))
        return rows

    @property
    def more(self) -> bool | None:
        """Whether the others are rejected more often, by Fisher's exact test, one-sided at 5 %; None where there are
        fewer than 20 of either.
        """
        (count, m), (other, n) = self.alike, self.others
        return None if min(m, n) < FEW else bool(more_often(np.array([other]), n, np.array([count]), m)[0])

    @property
    def parted(self) -> bool:
        """Whether those of usual length are rejected together nowhere, and the others more often: then lengths come
        first in the answer.
        """
        return self.more is True and self.together == ()

    def lead(self, model: str, masked: str, where: str, held: str = "") -> str:
        """That: what holds of usual lengths, and of all, in a sentence, then what it does not show; masked: as of
        `beyond`; where: at which ratios all of the texts are rejected together; held: more on those, a sentence.
        """
        m, every = self.alike[1], self.alike[1] + self.others[1]
        return (
            f"On texts of {self.low:,} to {self.high:,} tokens ({m:,} of {every:,}) masked inputs, tested together, "
            f"are not {OUT} at any ratio; over all {every:,} they are, {where}.{held} Not rejected is no proof that "
            f"{model} knows these {m:,} texts. {self.beyond(masked)}"
        )

    def beyond(self, masked: str) -> str:
        """What cannot be told of other lengths; masked: how much is masked at that ratio, as a sentence goes on."""
        other, n = self.others
        return (
            f"On the {n:,} shorter or longer ones it cannot be told: {masked} {share_text(other / n)} of them are "
            "rejected, but the test was fitted on few of such lengths."
        )

    @property
    def beside_lead(self) -> str:
        """What else there is to say of length where the answer begins with it."""
        if not self.whole:
            return "Length may be why these are rejected, and the test may be off for the length alone."
        return (
            f"With {self.whole} masked nothing but its length is left of a text, so texts are rejected there for their "
            "length alone, for which the test may be off."
        )

    @property
    def sentence(self) -> str:
        """What length has to do with it, as far as these texts tell; plain text."""
        (count, m), (other, n) = self.alike, self.others
        ends = f"{self.low:,} to {self.high:,} tokens"
        if self.more:
            return self._why(ends)
        begins = f"{n:,} of {amount(m + n, 'text')} are longer or shorter than nine of ten of its reference’s ({ends})"
        if self.more is None:
            return f"{begins}; {'none is' if not m else f'only {m:,} are'} not, too few to tell whether that is why."
        shares = f"{share_text(other / n)} of them are rejected there, of the others {share_text(count / m)}"
        return f"{begins}: {shares}, so length is not shown to be why."

    def _why(self, ends: str) -> str:
        """That length may be why, and whether masking texts of usual length is rejected."""
        (count, m), (other, n) = self.alike, self.others
        there = f"with {self.whole} masked, where nothing but its length is left of a text" if self.whole else "there"
        usual = f"the {m:,} texts of {ends}, as long as most that the test was fitted on,"
        parted = f"{share_text(other / n)} of the {n:,} shorter or longer ones"
        at = joined([f"{100 * ratio:g}" for ratio in self.together or ()])
        too = f" Together, those of usual length are rejected, too, at {at} % masked." if at else ""
        if self.together == ():
            none = f"{usual} are not rejected at any ratio when they are tested together"
            return f"Length may be why: {none}, but {parted} are, {there}."
        return f"Length may be why: {there}, {share_text(count / m)} of {usual} are rejected, and {parted}.{too}"


def by_length(
    passed: Passed, span: tuple[int, int], form: str, k: int, fitted: int = 0, whole: str = ""
) -> LengthSplit | None:
    """Texts rejected at the k-th ratio in a form by length; None where lengths are not known.

    fitted: texts of the reference's last level, 0 where nobody knows; whole: as of `LengthSplit`.
    """
    if passed.tokens is None:
        return None
    told = passed.there & ~np.isnan(passed.tokens)
    rejected = alone(passed.p[form][told])
    alike = (passed.tokens[told] >= span[0]) & (passed.tokens[told] <= span[1])
    mine, others = rejected[alike].sum(axis=0), rejected[~alike].sum(axis=0)
    m, n = int(alike.sum()), int((~alike).sum())
    together = p = None
    if fitted and m >= FEW:
        p = rejected_count_p(mine, m, fitted)
        together = tuple(ratio for ratio, one in zip(RATIOS, holm_adjusted(p).tolist()) if significant(one))
    return LengthSplit(*span, (int(mine[k]), m), (int(others[k]), n), together, whole, (mine, others), p)


def leads_by_length(found: CheckReport) -> bool:
    """Whether the answer begins with the lengths of which texts are rejected, and of which they are not."""
    split = length_split(found)
    masked_alone = found.verdict == REJECTED and not found.random.gates[CALIBRATED].rejected[0]
    return masked_alone and split is not None and split.parted


def length_split(found: CheckReport) -> LengthSplit | None:
    """The texts rejected where most are by length; None where nobody knows, and where lengths are usual."""
    span = found.other_lengths
    k, sample = found.worst(), found.sample
    whole = sample.whole * (k == len(X) - 1 and not sample.paired)
    return None if span is None else by_length(found.followed, span, CALIBRATED, k, found.fitted, whole)


def split_told(found: CheckReport) -> LengthSplit | None:
    """The same of the whole sample, where there is enough to tell of it at every ratio."""
    enough = found.tally.settled and found.n >= FEW and CALIBRATED in found.random.gates
    split = length_split(found) if enough else None
    return None if split is None or split.rejected is None else split


def told_of_lengths(found: CheckReport, split: LengthSplit) -> str:
    """What stands of lengths beside the first sentence of the answer, where that is told alone; plain text."""
    masked = masked_in_words(found.worst(), found.sample.whole)
    return f"That is no proof. {split.beyond(masked)}" if leads_by_length(found) else split.sentence
