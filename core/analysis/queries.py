"""Ready-made queries over the examples of a data set, each one press away."""

from dataclasses import dataclass, replace

from core.data.browsing import TRAITS, WRONG, Query

_NOT_UNMASKED = tuple(TRAITS["rejected"].values())[1:]


@dataclass(frozen=True)
class ReadyQuery:
    """A query that is ready-made. name: in events; label: as people read it; query: what it asks for."""

    name: str
    label: str
    query: Query


_WRONG = Query("", {"outcome": (WRONG,)}, "confidence", True)
READY = (
    ReadyQuery("sure", "Confident and wrong", _WRONG.toggled("confidence", "95 % and more")),
    ReadyQuery("known", "Wrong, in-distribution", replace(_WRONG, facets={**_WRONG.facets, "rejected": _NOT_UNMASKED})),
    ReadyQuery("parted", "Measures disagree most", Query(order="disagreement")),
    ReadyQuery("worse", "All measures worse", Query("", {"best": ("all worse",)})),
    ReadyQuery("one", "One word decides", Query("", {"smallest": ("1 masked",)})),
    ReadyQuery("missed", "Evidence missed", Query("", {"evidence": ("missed",)})),
    ReadyQuery("models", "Two models differ", Query("", {"twin": ("differs",)})),
)


def ready_query(name: object) -> Query | None:
    """The query of this name; None where there is none."""
    return next((one.query for one in READY if one.name == name), None)
