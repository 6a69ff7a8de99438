"""What speaks against means over a data set by its model check, in a sentence for pages that tell of it in passing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.evaluation.studies.check_report import (
    CONFUSED,
    DOUBTFUL,
    ONE_CLASS,
    POOR,
    REJECTED,
    UNSURE,
    UNTESTED,
    CheckReport,
    X,
)
from core.evaluation.studies.check_words import ratios_in_words
from core.validity.marks import OUT, PERCENT, SIGN
from core.validity.references import CALIBRATED
from core.wording import amount, joined, share_text

if TYPE_CHECKING:
    from core.evaluation.studies.board_report import RejectedTexts

MODEL_CHECK = "Model check"
# By the verdict; {most} is how many texts are rejected at the ratio where these are the most, {so} what that means.
_SAID = {
    REJECTED: f"finds that inputs of this data are {OUT} when words are masked at random{{most}}{{so}}",
    DOUBTFUL: f"leaves open whether too many inputs of this data, masked at random, are {OUT}{{most}}",
    UNTESTED: "could not test whether the model knows masked inputs of this data",
    CONFUSED: "finds that masking confuses the model on this data, so that scores which rest on masking say little",
    POOR: "finds that the model does not do the task of this data, so that what masking does to it says little",
    UNSURE: "cannot say of this data whether the model can be trusted under masking",
    ONE_CLASS: "gives half an answer on this data, since its texts are of one class",
}


def masking_caution(found: CheckReport | None, page: str = MODEL_CHECK, means: bool = True) -> str:
    """What speaks against means over texts of this data, a sentence; "" where nothing does, or nobody knows.

    Args:
        page: the name of the page that tells more, as it is to stand in the sentence; means: whether means are shown.
    """
    if found is None or found.verdict not in _SAID:
        return ""
    if found.verdict == REJECTED and found.random.gates[CALIBRATED].rejected[0]:
        so = ", so means over them may rest on such inputs" * means
        return f"{page} finds texts of this data {OUT} unmasked already{so}."
    tested = found.verdict in (REJECTED, DOUBTFUL)
    so = ", so means over these texts may rest partly on such inputs" * means
    return f"{page} {_SAID[found.verdict].format(most=_most(found) if tested else '', so=so)}."


def metrics_caution(found: Mapping[str, "RejectedTexts"], page: str) -> str:
    """On how many texts of this data scores by metrics rest on rejected inputs, a sentence; "" for none that is known.

    Args:
        page: the name of the page that tells more, as it is to stand in the sentence.
    """
    alike: dict[RejectedTexts, list[str]] = {}
    for metric, counts in found.items():
        alike.setdefault(counts, []).append(metric)
    if not alike:
        return ""
    parts: dict[bool, list[str]] = {True: [], False: []}
    for one, named in sorted(alike.items(), key=lambda each: -each[0].most):
        every = "all " * (one.least == one.texts)
        apart = " (depending on the measure)" * (one.least < one.most)
        parts[one.marked].append(f"on {every}{_ends(one.least, one.most)} for {joined(named)}{apart}")
    texts = amount(next(iter(alike)).texts, "text")
    begins = f"Of {texts} of this data, the inputs that a metric gives the model are {OUT}"
    explain = f"not shown to be more than the {PERCENT} expected by chance"
    if not parts[True]:
        return f"{begins} {joined(parts[False])}, {explain} ({page})."
    rest = f"; {joined(parts[False])}, {explain}" if parts[False] else f"; {PERCENT} are expected"
    return f"{SIGN} {begins} {joined(parts[True])}{rest} ({page})."


def _ends(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _most(found: CheckReport) -> str:
    """At which masking ratios inputs are rejected, and at which the most single texts are, as a sentence goes on."""
    rejected = found.random.rejected[CALIBRATED]
    most = int(rejected.argmax())
    where = np.flatnonzero(found.random.gates[CALIBRATED].rejected) if found.verdict == REJECTED else np.array([], int)
    of = f"{share_text(rejected[most] / found.n)} of the texts, where {PERCENT} are expected"
    if X[most] < 1:
        masked = "unmasked" if not X[most] else f"with {share_text(X[most])} masked{found.sample.of_first}"
        return f" ({_at(where)}the most {masked}, {of})"
    # What is left then is the same for all texts of a length, but for a second one that stays.
    left = "" if found.sample.paired else "nothing but its length is left of a text then"
    if where.tolist() == [most]:
        return f", but only with {found.sample.whole} masked: {of}{f' ({left})' * bool(left)}"
    return f" ({_at(where)}the most with {found.sample.whole} masked, {of}{f': {left}' * bool(left)})"


def _at(where: np.ndarray) -> str:
    told = ratios_in_words(where)
    return f"{told}; " if told else ""
