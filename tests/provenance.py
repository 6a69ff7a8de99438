"""What every file of every command says of itself."""

from collections.abc import Mapping
from typing import Any

# Of each entry one name: a file of one model, seed or example has no list of them. Digests of models and data stand in
# their lists, where there are such.
PROVENANCE = (
    ("configuration_sha256",),
    ("weights_sha256", "models"),
    ("data_sha256", "data"),
    ("precision",),
    ("feature_unit",),
    ("variant",),
    ("seeds", "seed"),
    ("sample_ids", "example"),
    *((name,) for name in "faithscope python torch numpy commit date".split()),
)


def unsaid(facts: Mapping[str, Any] | str) -> list[tuple[str, ...]]:
    """What facts, or a file as text, do not say."""
    return [names for names in PROVENANCE if not any(one in facts for one in names)]


def undrawn(facts: Mapping[str, Any], page: str) -> list[str]:
    """Of `PROVENANCE` the first facts whose values do not stand on a page, where their names are those of people."""
    first = [next(one for one in names if one in facts) for names in PROVENANCE if names != ("date",)]
    drawn = {one: facts[one] if isinstance(facts[one], list) else [facts[one]] for one in first}
    return [one for one, values in drawn.items() if not all(str(value) in page for value in values)]
