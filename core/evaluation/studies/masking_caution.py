"""What speaks against means over a data set by its model check, in a sentence for pages that tell of it in passing."""

from core.evaluation.studies.check_report import (
    CONFUSED,
    DOUBTFUL,
    ONE_CLASS,
    POOR,
    REJECTED,
    UNSURE,
    UNTESTED,
    CheckReport,
)
from core.validity.marks import OUT, PERCENT
from core.validity.references import CALIBRATED
from core.wording import share_text

MODEL_CHECK = "Model check"
# By the verdict; {most} is how many texts are rejected at the ratio where these are the most.
_SAID = {
    REJECTED: (
        f"finds inputs of this data {OUT} when words are masked at random ({{most}}), so means over these texts may "
        "rest partly on such inputs"
    ),
    DOUBTFUL: f"leaves open whether too many inputs of this data, masked at random, are {OUT} ({{most}})",
    UNTESTED: "could not test whether the model knows masked inputs of this data",
    CONFUSED: "finds that masking confuses the model on this data, so that scores which rest on masking say little",
    POOR: "finds that the model does not do the task of this data, so that what masking does to it says little",
    UNSURE: "cannot say of this data whether the model can be trusted under masking",
    ONE_CLASS: "gives half an answer on this data, since its texts are of one class",
}


def masking_caution(found: CheckReport | None, page: str = MODEL_CHECK) -> str:
    """What speaks against means over texts of this data, a sentence; "" where nothing does, or nobody knows.

    Args:
        page: the name of the page that tells more, as it is to stand in the sentence.
    """
    if found is None or found.verdict not in _SAID:
        return ""
    if found.verdict == REJECTED and found.random.gates[CALIBRATED].rejected[0]:
        return f"{page} finds texts of this data {OUT} unmasked already, so means over them may rest on such inputs."
    tested = found.verdict in (REJECTED, DOUBTFUL)
    share = share_text(found.most_rejected().mean) if tested else ""
    most = f"at a masking ratio up to {share} of the texts, where {PERCENT} are expected"
    return f"{page} {_SAID[found.verdict].format(most=most)}."
