"""What a data set's examples and their predictions come to: a sentence, and rows for a file."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from core.data.browsing import Index, LabelMatch, Predicted, each_text_once, worst
from core.data.examples import hard_note
from core.wording import escaped, linked_name, number

# How much of a text that is named is quoted.
_QUOTED = 100

EXAMPLE_COLUMNS = [
    "id",
    "text",
    "second text",
    "label",
    "predicted",
    "confidence (0 to 1)",
    "probability of label (0 to 1, higher is better)",
    "outcome",
    "words",
    "tags",
    "note",
]


def predictions_sentence(
    index: Index,
    judged: Predicted,
    match: LabelMatch,
    complete: bool,
    link: Callable[[str], str] | None = None,
    left: np.ndarray | None = None,
) -> str:
    """How often the model is right and where it is most surely wrong, without labels where it is least sure; HTML in
    which all text is escaped. complete: whether every example is predicted; link: the address of an example, None where
    its name leads nowhere; left: rows int64[n] that a filter leaves, of which the mistake is, None for all.
    """
    known = int((judged.predicted >= 0).sum())
    if not known:
        return f"<b>{len(index):,}</b> examples. What the model predicts for them is not known yet."
    if share := right_share(judged, complete):
        mistake = _mistake(index, judged, match, complete, link, left)
        hard = f"; {noted}" if (noted := hard_note(index.data)) else ""
        return f"The model is right on {share}{hard}.{_once(index, judged)} {mistake}"
    least = int(np.nanargmin(judged.confidence))
    of = "" if complete else f"Of {known:,} examples so far, "
    return f"{of}{'t' if of else 'T'}he model is least sure about {_says(index, judged, least, ': ', link)}."


def _once(index: Index, judged: Predicted) -> str:
    """How often the model is right where each text counts once, a further sentence; "" where all are different."""
    if index.texts is None:
        return ""
    # The first one that can be judged, as `draw_sample` takes them.
    once = each_text_once(judged.right >= 0, index.texts)
    told, labelled = int((judged.right[once] == 1).sum()), int(once.sum())
    if not labelled:
        return ""
    return f" Each text counted once, on {told:,} of {labelled:,} ({100 * told / labelled:.1f} %)."


def right_share(judged: Predicted, complete: bool) -> str:
    """On how many examples the model is right, as a sentence goes on, HTML; "" where no label is known. complete: as of
    `predictions_sentence`.
    """
    labelled, right = int((judged.right >= 0).sum()), int((judged.right == 1).sum())
    so_far = "" if complete else " so far"
    return f"<b>{right:,} of {labelled:,}</b> examples{so_far} ({100 * judged.accuracy:.1f} %)" if labelled else ""


def _mistake(
    index: Index, judged: Predicted, match: LabelMatch, complete: bool, link: Callable[[str], str] | None, left
) -> str:
    row = worst(judged, left)
    if row is None:
        return (
            f"It makes no mistake {'here' if left is None else 'on those that the filter leaves'}." if complete else ""
        )
    label = escaped(label_text(judged, match, index.data.examples[row].label))
    of = " of those that the filter leaves" if left is not None else ""
    said, so_far = _says(index, judged, row, ": it says ", link), "" if complete else " so far"
    return f"Its most confident mistake{of}{so_far} is {said}, the label is {label}."


def _says(index: Index, judged: Predicted, row: int, says: str, link: Callable[[str], str] | None) -> str:
    name, share = judged.labels[judged.predicted[row]], number(float(judged.confidence[row]))
    example = index.data.examples[row]
    named = linked_name(example.id, None if link is None else link(example.id))
    return f"{named}, “{escaped(example.text, _QUOTED)}”{says}{escaped(name)} with probability {share}"


def label_text(judged: Predicted, match: LabelMatch, label: str | None) -> str:
    """A label as it stands in the data, and the class that it means where that is called otherwise."""
    if label is None:
        return "—"
    meant = match.classes.get(label)
    name = label if meant is None else judged.labels[meant]
    return label if name.casefold() == label.casefold() else f"{label} = {name}"


def example_rows(index: Index, judged: Predicted, rows: Iterable[int], origin: list[str]) -> Iterator[list]:
    """Examples for a CSV file, see EXAMPLE_COLUMNS; origin: further cells, the same of each."""
    for i in rows:
        example = index.data.examples[i]
        yield [
            example.id,
            example.text,
            example.second or "",
            example.label or "",
            judged.labels[judged.predicted[i]] if judged.predicted[i] >= 0 else "",
            float(judged.confidence[i]),
            float(judged.label_probability[i]),
            {1: "right", 0: "wrong", -1: ""}[int(judged.right[i])],
            int(index.lengths[i]),
            "; ".join(example.tags),
            example.note,
            *origin,
        ]
