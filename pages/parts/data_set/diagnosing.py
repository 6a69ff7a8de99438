"""Diagnosticity of a data set as work: streamed text by text, cancelled, gone on with, and read from the store."""

from dataclasses import asdict, dataclass

import numpy as np
import streamlit as st

from core.evaluation.studies.diagnosticity_report import DiagnosticityReport, build_diagnosticity_report
from core.evaluation.studies.scoring import SHUFFLED, Scored, Scoring
from core.storage.store import canonical_key
from pages.parts.sections.studying import Studying

# While more texts are still to come, intervals are drawn from fewer resamples.
_STREAMING, _WHOLE = 999, 9_999


@dataclass(frozen=True, eq=False)
class Diagnosing(Studying):
    """Scores of one model on some examples of a data set."""

    study: Scoring

    @property
    def key(self) -> str:
        return canonical_key("job/diagnosticity", 1, rows=super().key, choices=asdict(self.study))

    @property
    def label(self) -> str:
        against = "against shuffles " * (self.study.baseline == SHUFFLED)
        return (
            f"diagnosticity {against}({self.explainer.model.name}, {len(self.sample):,} "
            f"text{'' if len(self.sample) == 1 else 's'})"
        )

    @property
    def report(self) -> DiagnosticityReport | None:
        """All of it in numbers; None before the first text."""
        found = self.found
        done = canonical_key(
            "diagnosticity report",
            1,
            model=self.explainer.model.name,
            there=np.packbits(found.there).tobytes().hex(),
            problems=sorted(found.problems),
        )
        return _report(self.key, done, found, self)


@st.cache_resource(show_spinner=False, max_entries=32)
def _report(key: str, done: str, _found: Scored, _work: Diagnosing) -> DiagnosticityReport | None:
    return build_diagnosticity_report(
        _found,
        _work.explainer.model.name,
        _work.sample.name,
        _work.explainer.model.labels,
        _WHOLE if _found.complete else _STREAMING,
    )
