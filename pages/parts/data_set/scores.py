"""What the page Data set adds to scores over many texts: where it is tested what is not tested here."""

from core.wording import linked_name
from pages.parts.frame.links import link_to


def where_tested(known: str) -> str:
    """Which pages compare measures by tests, and test inputs, and what is known of means over this data; HTML."""
    pairs = linked_name("Scoreboard", link_to("scoreboard", on="a sample of the data"))
    inputs = linked_name("Hard and soft erasure", link_to("hard_and_soft_erasure"))
    of_texts = f"{pairs} can compare measures by paired tests, and say of which texts inputs are rejected"
    return f"{of_texts}; {inputs} tests those of one text. {known}".rstrip()
