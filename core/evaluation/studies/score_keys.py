"""What scores of attributions are kept under, beside model, unit, seed and example."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.explanation.explainer import Explainer
from core.explanation.rows import measured
from core.judging.judging import How
from core.metrics.catalogue import metrics
from core.storage.store import canonical_key


@dataclass(frozen=True)
class Attributed:
    """One attribution that is scored: a measure's, the r-th random one, or the r-th shuffle of a measure's."""

    measure: str = ""
    sign: str = "signed"
    r: int = -1

    @property
    def random(self) -> bool:
        return not self.measure

    @property
    def name(self) -> str:
        """As people read it."""
        if self.random:
            return f"random {self.r}"
        return self.measure if self.r < 0 else f"{self.measure}, shuffle {self.r}"


def score_keys(explainer: Explainer, attributions: Sequence[Attributed], names: Sequence[str], how: How) -> list[bytes]:
    """The key of the prediction, then of each attribution's metrics, to be joined with the example's digest."""
    scores = [_score_key(explainer, attributed, name, how) for attributed in attributions for name in names]
    return [bytes.fromhex(key) for key in (canonical_key("scores/prediction", 1), *scores)]


def _score_key(explainer: Explainer, attributed: Attributed, name: str, how: How) -> str:
    """The digest of what a score depends on beside model, seed and example."""
    metric = metrics()[name]
    about = {
        "metric": name,
        "metric_version": metric.version,
        **(how.of_soft(metric) if metric.soft else {"erasure": how.erasure}),
    }
    if attributed.random:
        return canonical_key("scores/random", 1, r=attributed.r, **about)
    about |= measured(explainer, attributed.measure, attributed.sign)
    if attributed.r >= 0:
        return canonical_key("scores/shuffled", 1, r=attributed.r, **about)
    return canonical_key("scores/measure", 1, **about)
