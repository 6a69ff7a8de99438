"""Whether a model check's rejected texts are those that are longer or shorter than its reference's."""

from dataclasses import dataclass

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.studies.model_check import Passed
from core.mathematics.statistics import more_often
from core.validity.marks import alone
from core.wording import amount, share_text


@dataclass(frozen=True)
class LengthSplit:
    """Texts rejected by themselves at a masking ratio, split by length: low, high: tokens, between which nine of ten
    texts of the reference are; alike: (rejected, texts) between them; others: the same of the longer and shorter ones.
    """

    low: int
    high: int
    alike: tuple[int, int]
    others: tuple[int, int]

    @property
    def more(self) -> bool | None:
        """Whether the others are rejected more often, by Fisher's exact test, one-sided at 5 %; None where there are
        fewer than 20 of either.
        """
        (count, m), (other, n) = self.alike, self.others
        return None if min(m, n) < FEW else bool(more_often(np.array([other]), n, np.array([count]), m)[0])

    @property
    def sentence(self) -> str:
        """What length has to do with it, as far as these texts tell; plain text."""
        (count, m), (other, n) = self.alike, self.others
        ends = f"{self.low:,} to {self.high:,} tokens"
        if self.more:
            return (
                f"Length may be why: of the {m:,} texts of {ends}, as long as most that the test was fitted on, "
                f"{share_text(count / m)} are rejected there, of the {n:,} shorter or longer ones "
                f"{share_text(other / n)}."
            )
        begins = f"{n:,} of {amount(m + n, 'text')} are longer or shorter than nine of ten of its reference’s ({ends})"
        if self.more is None:
            return f"{begins}; {'none is' if not m else f'only {m:,} are'} not, too few to tell whether that is why."
        shares = f"{share_text(other / n)} of them are rejected there, of the others {share_text(count / m)}"
        return f"{begins}: {shares}, so length is not shown to be why."


def by_length(passed: Passed, span: tuple[int, int], form: str, k: int) -> LengthSplit | None:
    """Texts rejected at the k-th ratio in a form by length; None where lengths are not known."""
    if passed.tokens is None:
        return None
    told = passed.there & ~np.isnan(passed.tokens)
    rejected = alone(passed.p[form][told, k])
    alike = (passed.tokens[told] >= span[0]) & (passed.tokens[told] <= span[1])
    mine, others = ((int(rejected[which].sum()), int(which.sum())) for which in (alike, ~alike))
    return LengthSplit(*span, mine, others)
