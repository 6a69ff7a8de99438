"""One text under a model: its attributions, and what tells whether to trust them, computed when it is asked for."""

from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from core.commands import explain as explaining
from core.commands import terminal
from core.commands.remade import choices_of
from core.front.answered import Answered
from core.front.interrupting import whole_imports
from core.reports.answers import Answer, Part, Section
from core.reports.cell import NotebookCell

if TYPE_CHECKING:
    from pandas import DataFrame

# Seconds before a cell of a notebook shows how far work is.
DELAY = 2.0


class TextAnswer(Answered):
    """Parts of what can be told of a text."""

    def __init__(self, options: Namespace, one: terminal.OneText, told: Mapping[str, Part]):
        self._options, self._one, self._told = options, one, told

    @property
    def sections(self) -> list[Section]:
        """Results, with the tables behind them."""
        return list(self._answer(".json").sections)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A line for each measure and feature, step or metric."""
        return [dict(line) for line in self._answer(".csv").lines]

    def _answer(self, ending: str) -> Answer:
        return explaining.answer_of(self._options, self._one, self._told)

    def _bytes(self, ending: str) -> bytes:
        return explaining.text_bytes(self._options, self._one, self._told, ending)


class Explanation(TextAnswer):
    """Attributions of one text; each method computes one thing more, once.

    Attributes
    ----------
    text : str
        The text.
    words : list of str
        Features, in their order: words, or another unit.
    probabilities : dict of str to float
        Of each class, from 0 to 1.
    predicted, explained : str
        The predicted class; the class that is explained.
    """

    def __init__(self, options: Namespace, one: terminal.OneText, bar: terminal.Bar):
        super().__init__(options, one, {"attributions": explaining.tell("attributions", options, one, bar)})
        self._asked: dict[tuple[str, str], TextAnswer] = {}
        model, probabilities = one.explainer.model, one.explainer.probabilities(one.encoded)
        self.text, self.words = one.encoded.text, [feature.text for feature in one.encoded.features]
        self.probabilities = dict(zip(model.labels, probabilities.tolist()))
        self.predicted, self.explained = model.labels[int(probabilities.argmax())], one.class_name

    @whole_imports
    def to_frame(self) -> "DataFrame":
        """Convert attributions to a table.

        Returns
        -------
        pandas.DataFrame
            A row for each word and a column for each measure, higher is more important; of a measure that only ranks,
            places (1 is masked first). NaN where the text itself masks the word.
        """
        from pandas import DataFrame

        rows, found = self._told["attributions"].found, {}
        for row in rows:
            values = row.places if row.kind == "rank" else row.scores
            found[row.measure] = [float("nan") if row.masked[i] else float(values[i]) for i in range(len(self.words))]
        return DataFrame({"word": self.words} | found, columns=["word", *found])

    def verdicts(self, **choices: Any) -> TextAnswer:
        """Test whether each measure is better than random orders of masking.

        Parameters
        ----------
        **choices
            ``direction``, ``orders``, ``erasures``, ``causes``, ``rule``, ``form``.

        Returns
        -------
        TextAnswer
            A line for each measure: verdict, Holm-adjusted p-values, AOPC and NAOPC.
        """
        return self._ask("verdicts", choices)

    def limits(self, **choices: Any) -> TextAnswer:
        """Set AOPC between the limits that the model allows on this text.

        Parameters
        ----------
        **choices
            ``exact``, ``width``, ``direction``.

        Returns
        -------
        TextAnswer
            A line for each measure: AOPC and NAOPC (0 to 1, higher is better) of comprehensiveness, and sufficiency.
        """
        return self._ask("limits", choices)

    def steps(self, measures: Iterable[str] | None = None) -> TextAnswer:
        """Mask step by step what a measure ranks first, computing it again on what is left.

        Parameters
        ----------
        measures : iterable of str, optional
            Those to follow; all of the explanation's unless given.

        Returns
        -------
        TextAnswer
            A line for each measure and step: words masked, score, prediction, and MaSF's p of the input.
        """
        return self._ask("steps", {} if measures is None else {"measures": list(measures)})

    def p_values(self) -> "DataFrame":
        """Test with MaSF whether the masked inputs of each step are in-distribution.

        Returns
        -------
        pandas.DataFrame
            A row for each masking ratio and a column for each measure, p in [0, 1]; NaN without a reference.
        """
        frame = self.steps().to_frame()
        return frame.pivot(index="share", columns="measure", values="p").reindex(columns=frame["measure"].unique())

    def metrics(self, metrics: Iterable[str] | None = None) -> TextAnswer:
        """Score attributions by faithfulness metrics, for the predicted class.

        Parameters
        ----------
        metrics : iterable of str, optional
            Such as ``"NC"`` or ``"Soft-NS"``.

        Returns
        -------
        TextAnswer
            A line for each measure and metric, beside 30 random attributions.
        """
        return self._ask("metrics", {} if metrics is None else {"metrics": list(metrics)})

    def sets(self) -> TextAnswer:
        """Find the smallest set of words that changes the prediction, and the smallest that keeps it.

        Returns
        -------
        TextAnswer
            A line for each of the two: words, probability, and MaSF's p of the input that it leaves.
        """
        return self._ask("sets", {})

    def pairs(self, **choices: Any) -> TextAnswer:
        """Find pairs of words that work only together, or say the same.

        Parameters
        ----------
        **choices
            ``exact``, ``sampled``, ``pairs``.

        Returns
        -------
        TextAnswer
            A line for each pair.
        """
        return self._ask("pairs", choices)

    def stability(self, **choices: Any) -> TextAnswer:
        """Measure how far attributions move by what should not matter.

        Parameters
        ----------
        **choices
            ``runs``: seeds of measures that draw.

        Returns
        -------
        TextAnswer
            A line for each measure and change.
        """
        return self._ask("stability", choices)

    @whole_imports
    def _ask(self, name: str, choices: Mapping[str, Any]) -> TextAnswer:
        """One part, which stands in what is saved from then on."""
        key = name, repr(sorted(choices.items()))
        if key not in self._asked:
            choices_of(explaining, choices)
            options = Namespace(**vars(self._options) | dict(choices) | {"what": [name]})
            explaining.refuse_choices(options)
            with terminal.Bar(DELAY) as bar:
                self._asked[key] = TextAnswer(
                    options, self._one, {name: explaining.tell(name, options, self._one, bar)}
                )
        found = self._asked[key]
        self._told = {**self._told, **found._told}
        return found

    def _cell(self) -> NotebookCell:
        answer = self._answer(".html")
        shown = explaining.shown_text(self._one, self._told, answer.facts)
        return NotebookCell(shown, [one for one in answer.sections if one.title != "attributions"])
