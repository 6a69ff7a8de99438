"""What the page Data set adds to scores over many texts: where it is tested what is not tested here."""

from core.wording import linked_name
from pages.parts.frame.links import link_to
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.studying import Asking


def where_tested(_frame: DataView, _asked: Asking) -> str:
    """Which pages compare measures by tests, and test inputs, a sentence of HTML."""
    pairs = linked_name("Scoreboard", link_to("scoreboard", on="a sample of the data"))
    inputs = linked_name("Hard and soft erasure", link_to("hard_and_soft_erasure"))
    return f"{pairs} compares measures by paired tests; {inputs} tests the inputs of one text."
