"""What the page Data set adds to verdicts over many texts: that of the example that is chosen, where it is known."""

from dataclasses import replace
from typing import cast

from core.evaluation.sampling import without_labels
from core.evaluation.studies.verdicts import WORDS
from core.evaluation.studies.verdicts_question import Verdicts
from core.verdicts.deciding import Word
from core.wording import joined, linked_name
from pages.parts.frame.links import link_to
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.studying import Asking


def verdict_of_chosen(frame: DataView, asked: Asking) -> str:
    """Which measures are better than chance on the example that is chosen, a sentence of HTML in which all text is
    escaped; "" where that is not known, and nothing is computed for it.
    """
    example, data = frame.example, frame.browsed.index.data
    if example is None or example.id not in {one.id for one in data.examples}:
        return ""
    one = replace(asked, sample=without_labels(data.name, data.digest, (example,)), of=0, begins=False, beginnings=())
    question, (work,) = cast(Verdicts, asked.question), one.works
    if not work.found.there.any():
        return ""
    words = [WORDS.get(value, str(Word.UNTOLD)) for value in work.found.columns["word"][0]]
    name = linked_name(example.id, link_to("attributions", example=example.id))
    better = [measure for measure, word in zip(question.measures, words) if word == Word.BETTER]
    if better:
        are = "is" if len(better) == 1 else "are"
        return f"On the example chosen, {name}, {joined(better)} {are} better than chance."
    untold = all(word == Word.UNTOLD for word in words)
    return f"On the example chosen, {name}, {'it cannot be told of any' if untold else 'none of them is shown to be'}."
