"""What the page Data set draws of scores over texts."""

from functools import partial

from core.evaluation.studies.scoring import ScoresReport, Scoring
from core.figures.erasure_figures import draw_scores
from core.metrics.catalogue import metrics
from core.results.result import Result
from core.results.scores import score_cells
from core.texts.questions import answer_as_json
from core.texts.rendering import headline
from core.validity.marks import SIGN
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table
from pages.parts.data_set.rejected import draw_rejected
from pages.parts.sections.questions import QuestionParts
from pages.parts.sections.saving import about_models, save_records
from pages.parts.sections.studying import Asking


def scores_parts(asked: Asking, report: ScoresReport, result: Result) -> QuestionParts:
    """The means of each measure by each metric; the same as a table, and what they rest on."""
    name, about = [Scoring.name, asked.model.name, asked.sample.name], about_models([asked.model], asked.sample.name)
    question, answers, figure = asked.question, asked.answers, draw_scores([report])
    return QuestionParts(
        None if figure is None else partial(draw_figure, figure, "question", headline(result), name, about),
        {
            "Means": partial(data_table, *means_table(report), "score-means", help=_columns(report)),
            "Out-of-distribution": partial(draw_rejected, report.rejected),
        },
        partial(
            save_records,
            partial(question.records, answers),
            partial(answer_as_json, question, answers),
            name,
            "question",
        ),
    )


def means_table(report: ScoresReport) -> tuple[list[str], list[list]]:
    """The mean of each measure by each metric with its interval, and beside the baseline."""
    header = ["measure", "metric", "mean", "95 % low", "95 % high", "beside baseline", SIGN, "texts"]
    study: Scoring = report.found.study
    beside = {(one.measure, one.metric): one.beside for one in score_cells(report)}
    rows = []
    for one in study.compared:
        for metric in study.metrics:
            mean, sign = report.means[metric, one], SIGN if metric in report.marked else ""
            spans = mean.mean, mean.low, mean.high
            named = f"{metric} {metrics()[metric].arrow}".rstrip()
            rows.append([one, named, *spans, beside.get((one, metric), ""), sign, report.counts[metric, one]])
    return header, rows


def _columns(report: ScoresReport) -> dict[str, str]:
    return {
        "beside baseline": f"Whether the interval lies beside that of {report.found.study.baseline} attributions.",
        SIGN: "The metric rests on out-of-distribution inputs on more texts than chance explains.",
    }
