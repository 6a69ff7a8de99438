"""Studies that follow every example along an order of its features, a measure's or a random one."""

from dataclasses import dataclass

from core.evaluation.study import Found, Study

RANDOM = "random order"


@dataclass(frozen=True)
class OrderStudy(Study[Found]):
    """One order. measure: whose attribution gives it, or RANDOM; sign: which values; unit: what is masked."""

    measure: str = RANDOM
    sign: str = "signed"
    unit: str = "word"

    @property
    def random(self) -> bool:
        return self.measure == RANDOM

    @property
    def leads(self) -> bool:
        """Whether the answer can be told from it alone: of random order; a page starts the first one only."""
        return self.random

    @property
    def label(self) -> str:
        """Its order."""
        return self.measure
