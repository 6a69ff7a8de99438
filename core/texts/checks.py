"""Model checks and behaviour under masking as plain values for a file, each model with what its result says."""

from collections.abc import Sequence
from typing import Any

from core.evaluation.studies.behaviour_question import behaviour_json
from core.evaluation.studies.behaviour_report import BehaviourReport
from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_question import check_json, findings_json
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.evaluation.studies.check_tables import findings_table
from core.evaluation.study import Table
from core.explanation.recursive import area_cells
from core.results.behaviour import behaviour_result
from core.results.result import Result, as_record
from core.texts.rendering import headline
from core.wording import as_cell, fixed_number, share_text


def checks_as_json(reports: Sequence[CheckReport], results: Sequence[Result]) -> dict[str, Any]:
    """Model checks, with what each comes to, and the findings of papers beside them."""
    models = [check_json(one) | _written(result) for one, result in zip(reports, results)]
    return {"models": models, "findings": findings_json(list(reports))}


def curves_table(found: CheckReport) -> Table:
    """Every curve of a model check with its performance, p and rejected texts at each ratio, as text."""
    header = ["curve", "ACU ↑ (95 %)", "RACU ↑ (95 %)", "evidence AP ↑", "its chance", "", *map(share_text, X)]
    return header, [row for line in found.lines for row in _curve_rows(line, found)]


def findings_tables(reports: Sequence[CheckReport]) -> list[Table]:
    """What papers found, beside what is found here; [] where there is nothing to compare."""
    found = check_findings(list(reports))
    if not found:
        return []
    header, rows = findings_table(found)
    return [(header, [[as_cell(value) for value in row] for row in rows])]


def _curve_rows(line: CurveFigures, one: CheckReport) -> list[list[str]]:
    racu, acu = area_cells(line.areas, False, fixed_number)
    evidence = map(fixed_number, (line.precision, line.chance))
    found = [[line.curve.label, acu, racu, *evidence, one.metric, *map(fixed_number, line.performance)]]
    for form in line.p:
        found.append([*[""] * 5, f"p {form}", *(f"{value:.3g}" for value in line.p[form])])
        rejected = [f"{value:,}" for value in line.rejected[form]]
        found.append([*[""] * 5, f"rejected {form}, of {line.n:,}", *rejected])
    return found


def behaviour_as_json(reports: Sequence[BehaviourReport]) -> dict[str, Any]:
    """Behaviour under masking of models beside each other."""
    results, found = [behaviour_result(one) for one in reports], behaviour_json(list(reports))
    models = [one | _written(result) for one, result in zip(found["models"], results)]
    return found | {"answer": [headline(one) for one in results], "models": models}


def _written(result: Result) -> dict[str, Any]:
    kept = as_record(result)
    return {"sentence": headline(result), **{key: kept[key] for key in ("outcome", "facts", "caveats")}}
