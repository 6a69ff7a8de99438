"""Which measure is faithful, and at what cost? Every measure under every faithfulness metric, with what it costs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from core.evaluation.studies.board_report import (
    COMPREHENSIVENESS,
    EVIDENCE,
    RANDOM,
    BoardReport,
    arrow,
    build_board,
    figures,
    text_errors,
    text_marks,
    text_values,
)
from core.evaluation.studies.board_rows import FEWER, BoardChance, BoardLimits, BoardMeasure
from core.evaluation.studies.board_tables import board_table, pairs_table
from core.evaluation.studies.scoring import DRAWS
from core.evaluation.studies.verdicts import Verdicts
from core.evaluation.study import Answers, Question, Table, choice, register
from core.explanation.rows import SIGNS, values_taken
from core.measures.catalogue import default_measures, offered_measures, swept_measures
from core.network.features import UNITS
from core.network.model import Model
from core.verdicts.records import NOTED
from core.wording import as_json, refuse_unknown

# By what measures can be compared.
_BY = figures()
# The end of the columns that say so of each figure.
_RESTS = "rests on rejected inputs"


@register
@dataclass(frozen=True)
class Scoreboard(Question[BoardReport]):
    """Measures and random order by AOPC, NAOPC, RACU and erasure metrics, for the predicted class.

    draws: of soft perturbations; by: the figure that decides; orders: random orders and attributions of a text.
    """

    name, order, page, done = "scoreboard", 4, "Scoreboard", "scored"
    asks = "Which measure is faithful, and at what cost?"

    measures: tuple[str, ...] = field(default_factory=swept_measures)
    sign: str = "signed"
    unit: str = "word"
    draws: int = DRAWS
    by: str = choice(COMPREHENSIVENESS, _BY, "the figure by which measures are compared")

    orders: int = FEWER

    @property
    def chance(self) -> BoardChance:
        return BoardChance(self.unit, orders=self.orders)

    @property
    def measured(self) -> tuple[BoardMeasure, ...]:
        return tuple(BoardMeasure(self.unit, self.draws, name, self.sign) for name in self.measures)

    @property
    def limits(self) -> BoardLimits:
        return BoardLimits(self.unit)

    @property
    def studies(self) -> tuple:
        """Random order, each measure, and the limits, which are slow, last."""
        return (self.chance, *self.measured, self.limits)

    @property
    def verdicts(self) -> tuple[Verdicts, ...]:
        """What may be known of the verdicts on each text: by Holm over these measures, or over those judged unasked."""
        families = dict.fromkeys((tuple(self.measures), default_measures()))
        return tuple(Verdicts(names, self.sign, self.unit) for names in families)

    def check(self, model: Model | None = None) -> None:
        """As everywhere."""
        refuse_unknown(
            ("measure", self.measures, offered_measures(self.measures)),
            ("unit", (self.unit,), UNITS),
            ("kind of values", (self.sign,), SIGNS),
            ("figure", (self.by,), _BY),
        )
        if self.draws < 1:
            raise ValueError(f"there must be at least one draw, got {self.draws}")
        if self.orders < 1:
            raise ValueError(f"there must be at least one random order, got {self.orders}")
        if not self.measures:
            raise ValueError("choose at least one measure to set against random order")

    def conclude(self, answers: Answers) -> BoardReport | None:
        """All of it in numbers; None before the first text."""
        return build_board(self, answers)

    def without_effect(self, answers: Answers) -> int:
        """Those on which no random order reaches anything."""
        rows = answers.found[self.chance]
        return int((rows.columns["orders"][rows.there] == 0).all(axis=1).sum())

    def tables(self, report: BoardReport) -> list[Table]:
        """Every measure by every figure, and who beats whom by the figure that they are compared by."""
        return [one for one in (board_table(report), pairs_table(report, self.by)) if one[1]]

    def records(self, answers: Answers, verdicts: Mapping[tuple[int, str], dict] | None = None) -> list[dict]:
        """A line for each example and measure, random order last.

        Columns: class (explained) and its probability, measure, values (null for random order), verdict, ends of p:
        p_better, p_worse (by itself), p_holm (over measures_tested), null where unknown, forward passes, milliseconds,
        each figure, its standard error where it is drawn, whether it rests on rejected inputs (null: unknown), note
        (why it is undefined).

        verdicts: {(which text, measure): as of `core.verdicts.records.verdict_record`}; the question asks for none.
        """
        nobody = dict.fromkeys(NOTED)
        lines, chance = [], answers.found[self.chance]
        rows_of = {study.measure: answers.found[study] for study in self.measured}
        for i, example in enumerate(answers.sample.examples):
            about = {"example": example.id, "problem": chance.problems.get(i), "cut": i in chance.cut}
            if not chance.there[i]:
                lines.append(about)
                continue
            about |= {"class": answers.model.labels[chance.columns["predicted"][i]]}
            about |= {"probability": float(chance.columns["probability"][i])}
            for name in [*(name for name, rows in rows_of.items() if rows.there[i]), RANDOM]:
                told, errors, marks = (of(self, answers, i, name) for of in (text_values, text_errors, text_marks))
                took = rows_of[name].columns["took"][i] if name in rows_of else np.array([0.0, 0.0])
                line = about | {"measure": name, "values": values_taken(name, self.sign)}
                line |= (verdicts or {}).get((i, name), nobody)
                line |= {"forward passes": as_json(took[0]), "milliseconds": as_json(took[1])}
                for figure, value in told.items():
                    line[arrow(figure)] = as_json(value)
                    if figure in errors:
                        line[f"{figure} standard error"] = as_json(errors[figure])
                for figure, mark in marks.items():
                    line |= {f"{figure} {_RESTS}": None if mark != mark else bool(mark)}
                del line[f"{EVIDENCE} {_RESTS}"]
                lines.append(line | {"note": self._note(rows_of.get(name), i)})
        return lines

    def _note(self, rows, i: int) -> str | None:
        kept = "" if rows is None else rows.sentences[rows.columns["notes"][i]]
        told = json.loads(kept) if kept else {}
        return " ".join(f"{figure}: {why}" if figure else why for figure, why in told.items()) or None
