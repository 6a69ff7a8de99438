"""The words of the page's example, coloured by what measures say of them."""

from core.explanation.rows import WordRow, pieces
from core.measures.catalogue import measures
from pages.parts.components.words import words
from pages.parts.frame.sidebar import View
from pages.parts.sections.saving import about_view, attributions_name


def coloured_words(
    view: View, rows: list[WordRow], rest: str = "", scores: dict[str, list[dict]] | None = None
) -> int | None:
    """Draw a row of words for each measure, without any the text itself, and the rest of it; the clicked word's index,
    or None. scores: figures beside the measures' names.
    """
    return words(
        rows,
        pieces(view.encoded, view.example.evidence),
        view.class_name,
        {measure.name: measure.definition for measure in measures().values()},
        rest=rest,
        name=attributions_name(view),
        about=about_view(view),
        unit=view.encoded.unit,
        scores=scores,
    )
