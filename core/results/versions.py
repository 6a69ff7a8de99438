"""Two versions of a text: does what changed change the prediction?"""

from collections.abc import Iterable, Sequence

from core.explanation.edits import Version, changed_places
from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result


class VersionsOutcome(Outcome):
    """What an edit does to the prediction."""

    CHANGES = "prediction changes"
    STAYS = "prediction stays"
    SAME_WORDS = "same words"


def versions_result(
    first: Version, second: Version, places: list, labels: Sequence[str], caveats: Iterable[Caveat]
) -> Result:
    """What changes from one version to the other under one model.

    Args:
        places: as `core.explanation.edits.aligned` gives them; labels: names of the model's C classes; caveats: what
            limits predictions on both.
    """
    changed, shares = len(changed_places(first, second, places)), [first.probabilities, second.probabilities]
    facts = [
        Fact("changed", "places that changed", changed, Kind.COUNT, of=len(places)),
        Fact("before", f"probability, {first.name}", float(shares[0].max())),
        Fact("after", f"probability, {second.name}", float(shares[1].max())),
    ]
    slots = {"label": labels[first.predicted], "after": labels[second.predicted]}
    if first.predicted != second.predicted:
        return Result.of(VersionsOutcome.CHANGES, facts, caveats, **slots)
    if not changed:
        return Result.of(VersionsOutcome.SAME_WORDS, facts, caveats, **slots)
    return Result.of(VersionsOutcome.STAYS, facts, caveats, **slots)
