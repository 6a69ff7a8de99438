"""Which pages there are, in the order of the sidebar, and the question that each answers."""

from typing import NamedTuple

# Of Model check: the key of its open tab, and the tab that trains, with its name in an address.
CHECK_TABS, MAKING, MEASURABLE = "parts-of-check", "Make it measurable", "measurable"


class Page(NamedTuple):
    """A page: its file, title and icon, and its question, which is its heading and stands on Home and in the README."""

    path: str
    title: str
    icon: str
    question: str


PAGES = (
    Page("app.py", "Home", ":material/home:", "Faithscope: which explanation is faithful?"),
    Page("pages/examples.py", "Examples", ":material/table_rows:", "Which example is worth looking at?"),
    Page(
        "pages/attributions.py",
        "Attributions",
        ":material/format_color_text:",
        "Which words matter, and which explanation is faithful?",
    ),
    Page(
        "pages/recursive_masking.py",
        "Recursive masking",
        ":material/skip_next:",
        "Does masking the important words change the prediction?",
    ),
    Page(
        "pages/aopc_and_naopc.py",
        "AOPC and NAOPC",
        ":material/straighten:",
        "How close does each measure come to the best order?",
    ),
    Page(
        "pages/hard_and_soft_erasure.py",
        "Hard and soft erasure",
        ":material/ink_eraser:",
        "Does it matter whether words are erased whole or in part?",
    ),
    Page(
        "pages/model_check.py",
        "Model check",
        ":material/fact_check:",
        "Are masked texts in-distribution for this model?",
    ),
    Page("pages/data_set.py", "Data set", ":material/dataset:", "Does what one example shows hold over the data?"),
    Page("pages/scoreboard.py", "Scoreboard", ":material/leaderboard:", "Which measure is faithful, and at what cost?"),
)


def page_of(title: str) -> Page:
    """The page of this title."""
    return next(page for page in PAGES if page.title == title)
