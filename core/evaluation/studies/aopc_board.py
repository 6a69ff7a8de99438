"""The scoreboard by AOPC alone, or between its limits; rows of a whole board serve for its own."""

from dataclasses import asdict, dataclass

from core.evaluation.studies.board_rows import BoardChance, BoardMeasure
from core.evaluation.studies.scoreboard import Scoreboard


@dataclass(frozen=True)
class AopcChance(BoardChance):
    """AOPC of random orders; the rest of a row is NaN."""

    whole, _part = False, "chance, AOPC"

    @property
    def wider(self) -> BoardChance:
        return BoardChance(**asdict(self))


@dataclass(frozen=True)
class AopcMeasure(BoardMeasure):
    """AOPC of a measure's orders; paths and erasure metrics are NaN."""

    whole, _part = False, "measure, AOPC"

    @property
    def wider(self) -> BoardMeasure:
        return BoardMeasure(**asdict(self))


@dataclass(frozen=True)
class AopcBoard(Scoreboard):
    """The scoreboard's AOPC, and NAOPC where limits are asked for; other figures have no value."""

    limited: bool = False

    @property
    def chance(self) -> AopcChance:
        return AopcChance(self.unit, orders=self.orders)

    @property
    def measured(self) -> tuple[AopcMeasure, ...]:
        return tuple(AopcMeasure(self.unit, self.draws, name, self.sign) for name in self.measures)

    @property
    def studies(self) -> tuple:
        """Random order, each measure, and the limits where they are asked for."""
        return super().studies if self.limited else super().studies[:-1]
