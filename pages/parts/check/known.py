"""What the store knows of a model check, for pages that tell of it and compute none; its answer as pages show it."""

from core.data.browsing import Index
from core.data.parsed import BadData
from core.evaluation.sampling import SAMPLE, draw_sample
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport, metric_of
from core.evaluation.studies.check_sentences import OVER_ALL, check_answer
from core.evaluation.studies.masking_caution import MODEL_CHECK, masking_caution
from core.explanation.explainer import Explainer
from core.validity.marks import SIGN
from core.wording import escaped, linked_name
from pages.parts.frame.links import link_to
from pages.parts.sections.studying import Asking

_LONGEST_LEAD = 330


def answer_parts(found: CheckReport, twin: str = "") -> list[str]:
    """What a check answers, paragraphs of HTML in which all text is escaped: what to take home in bold with what a twin
    says beside it, then what that rests on; one, and nothing in bold, while examples are to come.
    """
    said = check_answer(found)
    if not found.tally.settled:
        return [escaped(said, 900)]
    # A long first sentence says the verdict before its colon.
    lead, stop, rest = said.partition(". ")
    if len(lead) > _LONGEST_LEAD:
        lead, stop, rest = said.partition(": ")
        return [f"<b>{escaped(lead, 400)}{stop}</b>{escaped(rest, 900)} {escaped(twin, 400)}".rstrip()]
    # What is marked begins a paragraph, after what length has to do with it.
    about, sign, marked = rest.partition(SIGN)
    parts = [about.strip(), sign + marked] if about.endswith(". ") else [rest]
    usual, over, all_lengths = parts[0].partition(OVER_ALL)
    parts = [usual.strip(), over + all_lengths, *parts[1:]] if usual and over else parts
    return [f"<b>{escaped(lead, 400)}{stop}</b> {escaped(twin, 400)}".rstrip(), *(escaped(one, 900) for one in parts)]


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
