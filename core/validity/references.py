"""References of MaSF on disk: what a model's hidden states look like on inputs that it was trained for."""

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as tensors

from core.loading.model_files import REFERENCE_FILE, kept_place, parse_json
from core.mathematics.masking import RATIOS, TRAINING_STRATEGIES
from core.network.model import POOLINGS, Model
from core.storage.files import read_plain, write_whole
from core.validity.masf import Combine, Ecdf, Masf

CALIBRATED, LITERAL = "calibrated", "literal"
FORMS = (CALIBRATED, LITERAL)
LEVELS = ("first level", "second level", "last level")
# 1 counted several maskings of a text as so many texts.
_VERSION = 2
# Of how `core.validity.masf` makes p-values of a file: raised when they change, and with it every key of theirs.
_READING = b"3"
# A reference of a large model and 5,000 observations takes half a gigabyte; more is no reference.
_MOST_BYTES = 4_000_000_000


class BadReference(ValueError):
    """A reference cannot be used; the message says why and how to fit another."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Both forms of MaSF, fitted for one model, and what they were fitted on.

    about: model (digest), precision, pooling, training (strategy), source, sha256, texts,
    observations ({part: count}), tokens (the 0, 5, 50, 95, 100 % quantiles of the texts' lengths), seed, maskings,
    compact, and false_rejection: {form: share rejected at 5 % at each ratio, or None, "texts", "source"};
    digest: SHA-256 of the file and of the version by which it is read, so that no p-value of another version is served.
    """

    forms: dict[str, Masf]
    about: dict
    digest: str

    @property
    def pooling(self) -> str:
        return self.about["pooling"]

    def floor(self, form: str = CALIBRATED) -> float:
        """The smallest p that a form can give."""
        return self.about["floor"][form]

    @property
    def texts(self) -> int:
        """Texts that a calibrated p-value is a rank among, n."""
        return self.forms[CALIBRATED].n

    def false_rejections(self, form: str = CALIBRATED) -> str:
        """How often it rejects held-out texts that it should not, at 5 %: "4.6 % unmasked, 3.4 to 6.1 % at 10 to 90 %
        masked, 4.4 % all masked".
        """
        shares = self.about["false_rejection"][form]
        if shares is None:
            return "not measured"
        percent = [f"{100 * share:.1f}" for share in shares]
        if len(percent) == 1:
            return f"{percent[0]} % unmasked"
        between = sorted(percent[1:-1], key=float)
        return (
            f"{percent[0]} % unmasked, {between[0]} to {between[-1]} % at 10 to 90 % masked, {percent[-1]} % all masked"
        )


@dataclass(frozen=True)
class HeldOut:
    """What the test says of texts on which it was tried when it was fitted, like those of its reference: of m texts
    int[K] are rejected by the calibrated form at 5 %, a ratio each; unmasked: whether they are so at each, as with the
    reference of a model that was never masked.
    """

    m: int
    rejected: tuple[int, ...]
    unmasked: bool = False

    def share(self, k: int) -> float:
        """Of these texts at a ratio, in [0, 1]."""
        return self.rejected[k] / self.m


def held_out_of(reference: Reference) -> HeldOut | None:
    """What a reference says of held-out texts; None where that was not measured."""
    told, K = reference.about["false_rejection"], len(RATIOS)
    shares, m = told[CALIBRATED], told["texts"]
    if not shares or not m:
        return None
    every = shares * K if len(shares) == 1 else shares
    rejected = tuple(round(share * m) for share in every)
    return HeldOut(m, rejected, len(shares) == 1) if len(every) == K else None


def pack(forms: dict[str, Masf], about: dict) -> Reference:
    """Make a reference of fitted forms, which share their first level; `about` as in `Reference`, without floor."""
    about = about | {"floor": {name: form.floor for name, form in forms.items()}}
    return Reference(forms, about, _digest(_packed(forms, about)))


def write_reference(reference: Reference, path: Path) -> None:
    """Write a reference as safetensors, whole or not at all; OSError as `write_whole`."""
    write_whole(path, _packed(reference.forms, reference.about), replaces=True)


def find_reference(model: Model, kept: Path | None = None) -> Reference | None:
    """The newer of the references that lie in a model's folder and that were fitted here; None where there is none.

    One that cannot be used is passed over for the other.

    Args:
        kept: a folder of references by the model's digest, for models whose own folder is not ours to write.
    Raises:
        BadReference: files are there, but each is damaged, or of another model, tokenizer or version.
    """
    places = [model.folder / REFERENCE_FILE] if model.folder is not None else []
    places += [kept_place(kept, model)] if kept is not None else []
    there, problem = [place for place in places if place.is_file()], None
    for place in sorted(there, key=lambda place: place.stat().st_mtime_ns, reverse=True):
        try:
            return read_reference(place, model)
        except BadReference as error:
            problem = problem or error
    if problem is not None:
        raise problem
    return None


def fitted_at(kept: Path, model: Model) -> int:
    """When a reference was fitted here for a model, in ns; 0 where there is none."""
    try:
        return kept_place(kept, model).stat().st_mtime_ns
    except OSError:
        return 0


def read_reference(path: Path, model: Model) -> Reference:
    """Read a reference and check that it is this model's.

    Raises:
        BadReference: with a sentence.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BadReference(f"{path.name} is too large. {how_to_fit(model)}")
        data = read_plain(path, _MOST_BYTES)
        about = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["faithscope"]
        reference = _unpacked(tensors.load(data), parse_json(about), _digest(data))
    except BadReference:
        raise
    except (
        OSError,
        SafetensorError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        MemoryError,
    ) as error:
        raise BadReference(
            f"{path.name} of {model.name} is damaged ({type(error).__name__}). {how_to_fit(model)}"
        ) from error
    if reference.about["model"] != model.states_digest:
        raise BadReference(
            f"{path.name} was fitted for other weights or another tokenizer than {model.name} "
            f"({reference.about['model'][:12]}…, not {model.states_digest[:12]}…). {how_to_fit(model)}"
        )
    return reference


def how_to_fit(model: Model) -> str:
    """The command that fits a reference for a model, in a sentence."""
    return f"Fit a MaSF reference on texts like yours: {fitting_command(model)}"


def fitting_command(model: Model) -> str:
    """The command alone."""
    return f"python -m core reference --model {shlex.quote(model.origin or model.name)} --data FILE"


def _digest(data: bytes) -> str:
    return hashlib.sha256(_READING + data).hexdigest()


def _packed(forms: dict[str, Masf], about: dict) -> bytes:
    first = next(iter(forms.values())).first
    if any(form.first is not first for form in forms.values()):
        raise ValueError("forms share their first level")
    arrays, levels = {"first.places": first.places, "first.values": first.values}, {}
    if len(first.places) < first.count:
        # Half precision holds the inner values exactly, since they were rounded to it.
        arrays |= {"first.values": first.values.astype(np.float16), "first.extremes": first.values[:, [0, -1]]}
    for name, form in forms.items():
        arrays |= {f"{name}.second": form.second.values, f"{name}.third": form.third.values}
        levels[name] = {"calibrated": form.calibrated, "tolerance": form.tolerance}
    combine = next(iter(forms.values())).combine
    record = about | {"version": _VERSION, "count": first.count, "forms": levels, "combine": asdict(combine)}
    return tensors.save(
        {name: np.ascontiguousarray(array) for name, array in arrays.items()},
        {"faithscope": json.dumps(record, sort_keys=True)},
    )


def _unpacked(arrays: dict[str, np.ndarray], record: dict, digest: str) -> Reference:
    if record.pop("version") != _VERSION:
        raise BadReference("Another version fitted this MaSF reference. Fit it again: python -m core reference")
    count, levels, combine = record.pop("count"), record.pop("forms"), Combine(**record.pop("combine"))
    kept, places = arrays["first.values"], arrays["first.places"]
    if "first.extremes" in arrays:
        kept = Ecdf.from_compact(kept, arrays["first.extremes"], places, count).values
    first = _ecdf(kept, places, count)
    forms = {}
    for name in FORMS:
        second, third = (arrays[f"{name}.{level}"] for level in ("second", "third"))
        calibrated, tolerance = bool(levels[name]["calibrated"]), float(levels[name]["tolerance"])
        forms[name] = Masf(first, _ecdf(second), _ecdf(third), combine, calibrated, tolerance)
        ratios = len(RATIOS) if name == CALIBRATED and record["training"] != "none" else 1
        if len(first.values) % len(second) or len(third) != ratios:
            raise ValueError("levels do not match")
    if not _is_fine(record):
        raise ValueError("damaged record")
    # Asked again, since the gate rests on it.
    return Reference(forms, record | {"floor": {name: form.floor for name, form in forms.items()}}, digest)


def _is_fine(about: dict) -> bool:
    """Whether the record of a file has the types and ranges that `Reference` promises.

    Raises:
        KeyError, TypeError, AttributeError: something is missing.
    """
    rates, lengths = about["false_rejection"], about["tokens"]
    counts = [about["texts"], rates["texts"], *(about["observations"][level] for level in LEVELS)]
    counts += [about["maskings"], about["seed"], *lengths]
    shares = [share for name in FORMS for share in rates[name] or []]
    texts = about["model"], about["source"], rates["source"], about["precision"]
    return (
        about["pooling"] in POOLINGS
        and about["training"] in TRAINING_STRATEGIES
        and type(about["compact"]) is bool
        and all(isinstance(text, str) for text in texts)
        and all(type(count) is int and count >= 0 for count in counts)
        and (len(lengths) == 5 and lengths == sorted(lengths))
        and all(0 <= share <= 1 for share in shares)
    )


def _ecdf(values: np.ndarray, places: np.ndarray | None = None, count: int | None = None) -> Ecdf:
    """A distribution as it was kept; ValueError unless it is one."""
    places = np.arange(values.shape[1]) if places is None else places
    count = int(values.shape[1]) if count is None else count
    if values.ndim != 2 or not values.size or np.isnan(values).any() or (np.diff(values, axis=1) < 0).any():
        raise ValueError("unsorted values")
    if places.shape != values.shape[1:] or (np.diff(places) < 1).any() or places[0] < 0 or places[-1] >= count:
        raise ValueError("unsorted places")
    return Ecdf(values, places, count)
