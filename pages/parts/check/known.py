"""What the store knows of a model check, for pages that tell of it and compute none; its answer as pages show it."""

from core.data.browsing import Index
from core.data.parsed import BadData
from core.evaluation.sampling import SAMPLE, draw_sample
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport, metric_of
from core.evaluation.studies.check_sentences import check_parts
from core.evaluation.studies.masking_caution import MODEL_CHECK, masking_caution
from core.explanation.explainer import Explainer
from core.wording import escaped, linked_name
from pages.parts.frame.links import link_to
from pages.parts.sections.studying import Asking

_LONGEST_LEAD = 330


def answer_parts(found: CheckReport, twin: str = "") -> list[str]:
    """What a check answers, paragraphs of HTML in which all text is escaped: what to take home in bold with what a twin
    says beside it, then what that rests on; one, and nothing in bold, while examples are to come.
    """
    answer, *parts = check_parts(found)
    if not found.tally.settled:
        return [escaped(answer, 900)]
    # A long first sentence says the verdict before its colon.
    lead, stop, rest = answer.partition(". ")
    if len(lead) > _LONGEST_LEAD:
        lead, stop, rest = " ".join([answer, *parts]).partition(": ")
        return [f"<b>{escaped(lead, 400)}{stop}</b>{escaped(rest, 900)} {escaped(twin, 400)}".rstrip()]
    begins = f"<b>{escaped(lead, 400)}{stop}</b> {escaped(twin, 400)}".rstrip()
    return [begins, *(escaped(one, 900) for one in filter(None, [rest, *parts]))]


def caution(explainer: Explainer, index: Index, unit: str, linked: bool = True, means: bool = True) -> str:
    """What speaks against means over this data by the check that is known of it, a sentence; "" where nothing does, or
    nobody knows; linked: as HTML that leads to the page, else plain text; means: whether means are shown.
    """
    page = linked_name(MODEL_CHECK, link_to("model_check")) if linked else MODEL_CHECK
    return masking_caution(known_check(explainer, index, unit), page, means)


def known_check(explainer: Explainer, index: Index, unit: str) -> CheckReport | None:
    """What *Model check* says of this model on this data as it opens, in random order; None where that was not computed
    for every text of its sample, and where there are no labels of the model's classes.
    """
    try:
        sample = draw_sample(index.data, explainer.model.labels, SAMPLE)
    except BadData:
        return None
    one = Asking(explainer, sample, MaskingCheck(unit=unit, metric=metric_of(explainer.model)))
    return one.report if one.works[0].found.complete else None
