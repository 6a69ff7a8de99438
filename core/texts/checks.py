"""Model checks and behaviour under masking as plain values for a file, each model with what its result says."""

from collections.abc import Sequence
from typing import Any

from core.evaluation.studies.behaviour_question import behaviour_json
from core.evaluation.studies.behaviour_report import BehaviourReport
from core.evaluation.studies.check_question import check_json, findings_json
from core.evaluation.studies.check_report import CheckReport
from core.results.behaviour import behaviour_result
from core.results.model_check import check_result
from core.results.result import Result, as_record
from core.texts.rendering import headline


def checks_as_json(reports: Sequence[CheckReport]) -> dict[str, Any]:
    """Model checks and the findings of papers beside them."""
    models = [check_json(one) | _written(check_result(one)) for one in reports]
    return {"models": models, "findings": findings_json(list(reports))}


def behaviour_as_json(reports: Sequence[BehaviourReport]) -> dict[str, Any]:
    """Behaviour under masking of models beside each other."""
    results, found = [behaviour_result(one) for one in reports], behaviour_json(list(reports))
    models = [one | _written(result) for one, result in zip(found["models"], results)]
    return found | {"answer": [headline(one) for one in results], "models": models}


def _written(result: Result) -> dict[str, Any]:
    kept = as_record(result)
    return {"sentence": headline(result), **{key: kept[key] for key in ("outcome", "facts", "caveats")}}
