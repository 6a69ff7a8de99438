"""`python -m core.tools store`: how large the store is, what of it belongs to which model, deleting it by model."""

from core import settings
from core.commands.options import Option, Options
from core.storage.holdings import delete_holding, holdings
from core.storage.store import Store
from core.wording import amount

HELP = "how large the store is by model; delete the results of one"


def add(option: Option) -> None:
    """What it takes."""
    option("--delete", metavar="MODEL", help="name, or beginning of the digest, whose results go; never notes or texts")


def run(options: Options) -> int:
    """Carry out the command; 0. ValueError for a model of which nothing is stored, or a beginning of several."""
    store = Store(settings.read().cache)
    found = holdings(store)
    if options.delete is None:
        for one in found:
            print(f"{one.size / 1e6:10,.1f} MB {one.files:8,} files  {one.label} {one.model[:12]}".rstrip())
        print(f"{sum(one.size for one in found) / 1e6:10,.1f} MB in all: {store.root}")
        return 0
    asked = options.delete
    meant = [one for one in found if asked in (one.label, one.model)]
    meant = meant or [one for one in found if asked and one.model.startswith(asked)]
    if not meant:
        raise ValueError(
            f"nothing is stored of {asked!r}; there is {', '.join(one.label for one in found) or 'nothing'}"
        )
    if len(meant) > 1:
        raise ValueError(f"{asked!r} is {' and '.join(one.model[:12] for one in meant)}; name one of them")
    print(f"{amount(delete_holding(store, meant[0].model), 'file')} of {meant[0].label} deleted.")
    return 0
