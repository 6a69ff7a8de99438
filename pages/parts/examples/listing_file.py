"""The examples that the filters leave, as a file."""

from collections.abc import Iterator

import streamlit as st

from core.evaluation.predictions_report import EXAMPLE_COLUMNS, example_rows
from core.evaluation.studies.traits import trait_cell
from core.wording import amount, safe_name
from pages.parts.examples.trait_names import trait_facts, trait_name
from pages.parts.frame.adding import data_notes
from pages.parts.frame.picking import Browsed, sought_traits
from pages.parts.frame.sidebar import Frame
from pages.parts.sections.saving import save_table


def save_listing(frame: Frame, browsed: Browsed) -> None:
    """Draw what saves the examples that the filters leave, in their order, with the traits that are shown."""
    model, of = None if frame.explainer is None else frame.explainer.model, browsed.index.data
    origin = [*([model.name, model.digest] if model else ["", ""]), of.name, of.digest]
    traits, asked = browsed.judged.traits, sought_traits()
    facts = trait_facts(traits, asked)

    def rows() -> Iterator[list]:
        for i, row in zip(browsed.rows, example_rows(browsed.index, browsed.judged, browsed.rows, [])):
            yield [*row, *(trait_cell(name, trait, int(i)) for name, trait in traits.items()), *facts.values(), *origin]

    with st.container(horizontal=True, vertical_alignment="center"):
        save_table(
            f"Download {'this' if len(browsed.rows) == 1 else 'these'} {amount(len(browsed.rows), 'example')} (CSV)",
            [
                *EXAMPLE_COLUMNS,
                *(trait_name(name, asked.unit) for name in traits),
                *facts,
                "model",
                "weights (SHA-256)",
                "data",
                "data (SHA-256)",
            ],
            rows,
            safe_name(["examples", of.name, *([model.name] if model else [])], "csv"),
            key="save-examples",
        )
        data_notes(browsed)
