"""A new page, whole, as an example to read: how sure would the model be if a single word were left of the text?"""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.explanation.explainer import Cost, softmax
from core.storage.store import canonical_key
from core.wording import number
from pages.parts.components.tables import table
from pages.parts.face.headline import Badge, draw_badges
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import view_badges, view_caveats
from pages.parts.frame.working import Work
from pages.parts.sections.streaming import stream


@dataclass(frozen=True, eq=False)
class Isolating(Work):
    """Every word of a text by itself."""

    view: View
    counted = "words"

    @property
    def key(self) -> str:
        view = self.view
        return canonical_key("job/alone", 1, model=view.model.digest, example=view.encoded.digest, target=view.target)

    @property
    def label(self) -> str:
        return "words by themselves"

    @property
    def cost(self) -> Cost:
        F, T = self.view.encoded.F, self.view.encoded.T
        return Cost.of(F, F * T, self.view.model.scheduler.counters)

    def run(self, job):
        """{word: probability}: a word more with each `yield`, which lets others have their turn."""
        view, found = self.view, {}
        oracle = view.explainer.oracles.of(view.encoded)
        for i, mask in enumerate(~np.eye(view.encoded.F, dtype=bool)):
            logits = oracle.logits(mask[None], cancelled=job.cancelled)[0]
            found = found | {view.encoded.features[i].text: float(softmax(logits)[view.target])}
            job.report(i + 1, view.encoded.F)
            yield found
        return found


def words_alone() -> None:
    """Draw the page: it declares its work and what draws what is known of it, where."""
    view = open_page("Words alone")
    said, stage = st.container(), st.container()
    work = Isolating(view)

    def say() -> None:
        found = work.latest or {}
        best = max(found, key=found.get, default=None)
        draw_badges([*view_badges(view), *([Badge(f"best alone: {best}")] if best else [])], view_caveats(view))

    def draw(asks) -> None:
        asks()
        if work.latest:
            table(["word", "probability ↑"], [[word, number(value)] for word, value in work.latest.items()])

    stream([work], (stage, draw), (said, say))


words_alone()
