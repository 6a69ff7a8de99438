"""AOPC and NAOPC text by text: what models are compared on, and how a table over texts is counted again."""

from core.data.browsing import length_band
from core.evaluation.studies.board_report import arrow
from core.sweeps.naopc import NORMALISED, ask_limits
from core.sweeps.registry import Line, Reply, SweepTable, register

# As data hold several tags in one cell.
BETWEEN_TAGS = ";"
FIGURES = [figure for both in NORMALISED.items() for figure in both]


def text_lines(reply: Reply) -> list[Line]:
    """A line for each text and measure; right: None of a text without a label of the model's."""
    answers, lines = reply.answers, []
    sample, about = answers.sample, {}
    for example in sample.examples:
        label = sample.match.classes.get(example.label or "")
        about[example.id] = (
            {
                "example": example.id,
                "label": example.label,
                "tags": BETWEEN_TAGS.join(example.tags),
                "length": length_band(len(example.text.split())),
            },
            None if label is None else answers.model.labels[label],
        )
    for record in reply.question.records(answers):
        if record.get("measure") is None:
            continue
        text, label = about[record["example"]]
        right = None if label is None else record["class"] == label
        values = {figure: record.get(arrow(figure)) for figure in FIGURES}
        line = {"predicted": record["class"], "right": right, "measure": record["measure"]}
        lines.append(reply.about | text | line | values)
    return lines


register(
    SweepTable(
        "texts",
        "NAOPC §5",
        ask_limits,
        text_lines,
        ("model", "data", "example", "measure"),
        {figure: arrow(figure) for figure in FIGURES},
    )
)
