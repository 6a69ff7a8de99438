"""What a data set's examples and their predictions come to, as rows for a file."""

from collections.abc import Iterable, Iterator

from core.data.browsing import Index, LabelMatch, Predicted

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
