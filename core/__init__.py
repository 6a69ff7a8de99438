"""Which explanation of a text classifier is faithful: Faithscope in notebooks and scripts.

`load` a model, `explain` a text, `evaluate` a question over data, `register` a measure, metric or question of your
own. The rooms of the library stand in core/README.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.evaluation.mean_of import MeanOf
    from core.explanation.explainer import Explainer
    from core.front.answered import Answered
    from core.front.asking import Evaluation
    from core.front.asking import ask_data as evaluate
    from core.front.asking import explain_text as explain
    from core.front.asking import open_explainer as load
    from core.front.explanation import Explanation, TextAnswer
    from core.measures.registry import Measure
    from core.metrics.registry import Metric
    from core.plugins import load_plugin, register

__all__ = [
    "Answered",
    "Evaluation",
    "Explainer",
    "Explanation",
    "MeanOf",
    "Measure",
    "Metric",
    "TextAnswer",
    "evaluate",
    "explain",
    "load",
    "load_plugin",
    "register",
]
# Imported when they are asked for: whoever imports a room of the library does not wait for the door.
_HOMES = {
    "Answered": "core.front.answered:Answered",
    "Evaluation": "core.front.asking:Evaluation",
    "Explainer": "core.explanation.explainer:Explainer",
    "Explanation": "core.front.explanation:Explanation",
    "MeanOf": "core.evaluation.mean_of:MeanOf",
    "Measure": "core.measures.registry:Measure",
    "Metric": "core.metrics.registry:Metric",
    "TextAnswer": "core.front.explanation:TextAnswer",
    "evaluate": "core.front.asking:ask_data",
    "explain": "core.front.asking:explain_text",
    "load": "core.front.asking:open_explainer",
    "load_plugin": "core.plugins:load_plugin",
    "register": "core.plugins:register",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    from core.front.interrupting import whole_imports

    if name not in _HOMES:
        raise AttributeError(f"module 'core' has no attribute {name!r}")
    module, _, own = _HOMES[name].partition(":")
    return getattr(whole_imports(import_module)(module), own)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
