"""What the page Data set knows of verdicts besides: that of the example that is chosen, and those over the texts for
whoever takes them for granted.
"""

from typing import cast

from core.evaluation.studies.scoring import Scoring
from core.evaluation.studies.verdicts import VerdictsOfTexts
from core.evaluation.studies.verdicts_question import Verdicts, shares_sentence
from core.measures.catalogue import default_measures
from core.verdicts.deciding import Word
from core.wording import joined, linked_name
from pages.parts.frame.links import link_to
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.judged import known_report, words_on
from pages.parts.sections.studying import Asking


def known_shares(asked: Asking) -> str:
    """On how many of these texts the measures that are set against others are better than chance, where that is known,
    a sentence of HTML; nothing is computed for it.
    """
    scored = cast(Scoring, asked.question)
    families = [
        VerdictsOfTexts(names, scored.sign, scored.unit, scored.how.erasure)
        for names in dict.fromkeys((scored.measures, default_measures()))
    ]
    found = known_report(asked.explainer, asked.sample, families)
    page = linked_name("Measures against chance", link_to("data_set", section=Verdicts.name))
    return "" if found is None else shares_sentence(found, scored.measures, page)


def verdict_of_chosen(frame: DataView, asked: Asking) -> str:
    """Which measures are better than chance on the example that is chosen, a sentence of HTML in which all text is
    escaped; "" where that is not known, and nothing is computed for it.
    """
    example, data = frame.example, frame.browsed.index.data
    if example is None or example.id not in {one.id for one in data.examples}:
        return ""
    words = words_on(asked.explainer, data, example, cast(Verdicts, asked.question).study)
    if not words:
        return ""
    name = linked_name(example.id, link_to("attributions", example=example.id))
    better = [measure for measure, word in words.items() if word == Word.BETTER]
    if better:
        are = "is" if len(better) == 1 else "are"
        return f"On the example chosen, {name}, {joined(better)} {are} better than chance."
    untold = all(word == Word.UNTOLD for word in words.values())
    return f"On the example chosen, {name}, {'it cannot be told of any' if untold else 'none of them is shown to be'}."
