"""What the store knows of a model check, for pages that tell of it and compute none."""

from core.data.browsing import Index
from core.data.parsed import BadData
from core.evaluation.sampling import SAMPLE, draw_sample
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport, metric_of
from core.explanation.explainer import Explainer
from core.results.model_check import check_result
from core.results.result import Result
from pages.parts.sections.studying import Asking


def known_result(explainer: Explainer, index: Index, unit: str) -> Result | None:
    """What *Model check* answers of this model on this data, as far as `known_check` knows."""
    found = known_check(explainer, index, unit)
    return None if found is None else check_result(found)


def known_check(explainer: Explainer, index: Index, unit: str) -> CheckReport | None:
    """The report that *Model check* opens with; None where a text of its sample is not computed or has no label."""
    try:
        sample = draw_sample(index.data, explainer.model.labels, SAMPLE)
    except BadData:
        return None
    one = Asking(explainer, sample, MaskingCheck(unit=unit, metric=metric_of(explainer.model)))
    return one.report if one.works[0].found.complete else None
