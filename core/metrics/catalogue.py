"""All faithfulness metrics: every file in this room is loaded and registers itself."""

from core import metrics as room
from core.metrics.registry import REGISTERED, Metric
from core.registers import load_files


def metrics() -> dict[str, Metric]:
    """Every metric by name, in the order of menus."""
    load_files(room)
    return dict(sorted(REGISTERED.items(), key=lambda item: (item[1].whole, item[1].order, item[0])))


def of_examples() -> dict[str, Metric]:
    """The metrics that judge one attribution of one example."""
    return {name: metric for name, metric in metrics().items() if not metric.whole}


def default_metrics() -> tuple[str, ...]:
    """What is shown unasked."""
    return tuple(name for name, metric in metrics().items() if metric.default)


def hard_and_soft() -> tuple[tuple[str, str], ...]:
    """Each hard metric with the soft one of the same formula, which SoftFaith compares."""
    return tuple((metric.hard, name) for name, metric in metrics().items() if metric.hard)


def hard_and_fixed() -> tuple[tuple[str, str], ...]:
    """Each hard metric with the soft one of the same formula that keeps a fixed share."""
    hard = {soft: name for name, soft in hard_and_soft()}
    return tuple((hard[metric.fixes], name) for name, metric in metrics().items() if metric.fixes)
