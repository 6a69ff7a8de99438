"""From a line of a sweep to its examples on the page Examples."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from core.loading.locating import member_names
from core.measures.catalogue import is_measure, measure
from core.network.architectures import UnsupportedModel
from core.sweeps.registry import Line
from pages.parts.frame import data, resources

# By which trait the examples of a table are sorted; of those in _OF_MEASURE by the measure's own.
_TRAITS = {"performance": "changes", "fidelity": "changes", "p_values": "rejected"}
_OF_MEASURE = {"aopc": "naopc", "naopc": "naopc", "ranks": "naopc", "areas": "racu"}
Keys = dict[str, dict[str, str]]


def keys_of(models: Sequence[str], name: str) -> Keys:
    """How an address chooses the models of a sweep, members of families too, and its data, of those offered here."""
    found = {Path(key).name: key for key in reversed(resources.models())}
    sets = {Path(key).name: key for key in data.data_sets()}
    named = {model: {"model": found[model]} for model in models if model in found}
    for family in {model.rpartition("/")[0] for model in models} & {*found}:
        # Why a family cannot be used is said when it is to be loaded.
        with contextlib.suppress(UnsupportedModel):
            seeds = {Path(member).name: seed for member, seed in member_names(found[family]).items()}
            members = {f"{family}/{folder}": str(seed) for folder, seed in seeds.items()}
            named |= {one: {"model": found[family], "member": members[one]} for one in models if one in members}
    return named | ({f"data {name}": {"data": sets[name]}} if name in sets else {})


def examples_of_line(line: Line, table: str, keys: Keys) -> dict[str, str]:
    """The choices that show the examples of a line; {} where its model or data are not offered here."""
    model, found = keys.get(line.get("model", "")), keys.get(f"data {line.get('data')}")
    if model is None or found is None:
        return {}
    name, choices = str(line.get("measure", "")), model | found
    if not is_measure(name) or measure(name).baseline:
        return choices | {"order": "confidence"}
    if table in _OF_MEASURE:
        trait = f"{_OF_MEASURE[table]}: {name}"
        return choices | {"order": trait, "columns": trait}
    trait = _TRAITS.get(table)
    return choices | {"along": name} | ({"order": trait, "columns": trait} if trait else {"order": "confidence"})
