"""The register of importance measures: what menus, colours, tables, the README, sweeps and the contract tests read."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.network.features import Feature
from core.network.scheduler import THERE_AND_BACK, NonFinite
from core.oracle.target import Target, logit_of

if TYPE_CHECKING:
    from core.oracle.inside import Inside
    from core.oracle.together import Together

ORACLE, GRADIENTS, ATTENTION, NOTHING = "masking oracle", "gradients", "attention", "nothing"
# A training split, and of the model nothing.
WORDS = "training texts"
# Place in menus of a measure that asks for none: behind those that do, by name.
LAST = 1000


class NotApplicable(NonFinite):
    """A measure says nothing of this model or example; the message says why. Handled like NaN of a model."""


@dataclass(frozen=True, eq=False)
class WordBits:
    """Bits of words, {word, its case folded: bits}; unseen: of any other word; digest: of all this."""

    words: dict[str, float]
    unseen: float
    digest: str = ""

    def of(self, word: str) -> float:
        """Bits of a word, at least 0."""
        return self.words.get(word.casefold(), self.unseen)


@dataclass(eq=False)
class Explained:
    """What a measure is asked to explain.

    Attributes:
        logits: the masking oracle, bool[M, F] → float[M, C].
        F: number of features.
        target: the explained class, or one class rather than another.
        masked: bool[F], features that are masked already.
        seed, example: integers that seed what is drawn; `example` tells examples apart.
        inside: gradients and attention of the model; None where only an oracle exists.
        words: mutual information of its training texts' words; None where none was measured.
        features: spelling and place in the text of each; empty where only an oracle exists.
        watcher: called with {variant: float64[F]} while scores are computed, NaN where there is none yet.
    """

    logits: Callable[[np.ndarray], np.ndarray]
    F: int
    target: Target
    masked: np.ndarray
    seed: int = 0
    example: int = 0
    inside: "Inside | None" = None
    words: WordBits | None = None
    features: tuple[Feature, ...] = ()
    watcher: Callable[[Mapping[str, np.ndarray]], None] | None = None

    @property
    def network(self) -> "Inside":
        """Gradients and attention; ValueError where only an oracle exists."""
        if self.inside is None:
            raise ValueError("gradients and attention need a model")
        return self.inside

    def value(self, masks: np.ndarray) -> np.ndarray:
        """v of bool[M, F] on top of what is masked already: the target's logit or difference of logits, float64[M]."""
        return logit_of(np.asarray(self.logits(masks | self.masked), dtype=np.float64), self.target)


@dataclass(frozen=True)
class Limit:
    """Why a measure cannot be had of an architecture; in_part: it says something; note: of the measure."""

    in_part: bool
    why: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One importance measure; all that is said of it anywhere stands in its registration.

    Attributes:
        variants: names of its scores, the default first.
        signed: variants whose sign means support (+) or opposition (−).
        definition: one sentence.
        cost, passes: forward passes at most, as text and as a function of F.
        needs: what it asks of a model: ORACLE, GRADIENTS, ATTENTION, WORDS or NOTHING.
        source: a paper, by its short name or by author and year.
        unit: of the scores.
        compute: `Explained` → {variant: float64[F]}; higher is more important, 0 at features masked already.
        hue: "#rrggbb" with a contrast of 3 or more to both themes; a baseline without one is grey.
        order: place in menus, ascending.
        default: shown unasked.
        scale_free: its limit where a family normalises word embeddings before anything else.
        families: types of `transformers` models that it is defined for; empty: all.
        most: the number of features that it can explain; None: any.
        complete: signed scores should add up to v(∅) − v(all masked).
        rank_only: scores are places, without magnitudes.
        recursive: its order masks step by step already, so recursive masking does not compute it again.
        baseline: what measures must beat; behind them in menus.
        seeded: it draws at random.
        counted: the option that says how many samples it draws; "" for none.
        path: `Explained` and steps → (what scores of all tokens add up to, f(x) − f(baseline), which is due).
        swept: scored over a data set unasked, unless it is a baseline or has places only.
        alone: a score is the fall of the logit when that feature alone is masked.
        forward_only: it reads attention and needs no gradient.
        options: name → (default, function that reads a value; ValueError says which there are).
        varied: what differs in the registration with options.
        ahead: computes for several inputs at once what `compute` asks of each; None: it is asked text by text.
        version: raised when results change.
    """

    name: str
    variants: tuple[str, ...] = ("signed", "absolute")
    signed: frozenset[str] = frozenset({"signed"})
    definition: str
    cost: str
    passes: Callable[[int], int]
    needs: str
    source: str
    unit: str
    compute: Callable[[Explained], Mapping[str, np.ndarray]] = field(repr=False)
    hue: str = ""
    order: int = LAST
    default: bool = False
    scale_free: Limit | None = None
    families: tuple[str, ...] = ()
    most: int | None = None
    complete: bool = False
    rank_only: bool = False
    recursive: bool = False
    baseline: bool = False
    seeded: bool = False
    counted: str = ""
    path: Callable[[Explained, int], tuple[float, float]] | None = field(default=None, repr=False)
    swept: bool = True
    alone: bool = False
    forward_only: bool = False
    options: Mapping[str, tuple[Any, Callable[[str], Any]]] = field(default_factory=dict)
    varied: Callable[..., Mapping[str, Any]] = field(default=dict, repr=False)
    ahead: "Callable[[Together], None] | None" = field(default=None, repr=False)
    version: int = 1

    @property
    def backward(self) -> bool:
        """Whether it takes the way back through the network, too."""
        return self.needs in (GRADIENTS, ATTENTION) and not self.forward_only

    @property
    def weight(self) -> int:
        """What one of its passes takes, in forward passes."""
        return THERE_AND_BACK if self.backward else 1

    def require(self, family: str, F: int) -> None:
        """NotApplicable where it does not apply to models of a family, or to F features not masked yet."""
        if self.families and family not in self.families:
            raise NotApplicable(f"{self.name} needs a model of type {', '.join(self.families)}, not {family}.")
        if self.most is not None and F > self.most:
            raise NotApplicable(f"{self.name} takes at most {self.most} features; this text has {F} unmasked.")

    def refusal(self, family: str, F: int = 0) -> str:
        """Why it does not apply, in a sentence; "" where it does."""
        try:
            self.require(family, F)
        except NotApplicable as why:
            return str(why)
        return ""

    def asked(self, written: str) -> "Measure":
        """The measure with options, "steps=50, baseline=mask", named so; ValueError for no such option or value."""
        found = {}
        for part in written.split(","):
            name, _, value = (piece.strip() for piece in part.partition("="))
            if name not in self.options:
                raise ValueError(f"{self.name} has no option {name!r}; it has {', '.join(self.options) or 'none'}")
            default, read = self.options[name]
            found[name] = read(value)
            if found[name] == default:
                del found[name]
        # Each once and in one order, so that the same is stored once.
        spelled = ", ".join(f"{name}={found[name]}" for name in self.options if name in found)
        return replace(self, name=f"{self.name} [{spelled}]", **self.varied(**found)) if found else self


# Those registered so far, by name; `core.measures.catalogue.measures` loads them all.
REGISTERED: dict[str, Measure] = {}


def register(measure: Measure) -> Measure:
    """Add a measure; ValueError if its name or hue is taken or none, or a signed variant is none of its variants."""
    if measure.name in REGISTERED:
        raise ValueError(f"{measure.name!r} is registered already")
    if not measure.variants or not measure.signed <= set(measure.variants):
        raise ValueError(f"{measure.name!r}: variants {measure.variants}, signed {sorted(measure.signed)}")
    if not measure.baseline:
        if not re.fullmatch("#[0-9a-f]{6}", measure.hue):
            raise ValueError(f"{measure.name!r}: hue {measure.hue!r} is not '#rrggbb'")
        for other in REGISTERED.values():
            if other.hue == measure.hue:
                raise ValueError(f"{measure.name!r}: hue {measure.hue} is taken by {other.name!r}")
    REGISTERED[measure.name] = measure
    return measure


def read_count(what: str, least: int, most: int, written: str) -> int:
    """An option's whole number; ValueError says which there are."""
    if not written.isascii() or not written.isdigit() or not least <= int(written) <= most:
        raise ValueError(f"{what} must be {least} to {most}, not {written!r}")
    return int(written)


def read_choice(what: str, written: str, offered: Iterable[str]) -> str:
    """An option that is one of several; ValueError says which there are."""
    if written not in offered:
        raise ValueError(f"{what} must be one of {', '.join(offered)}, not {written!r}")
    return written


def zero_scores(name: str) -> Limit:
    """The limit of a measure whose scores vanish where word embeddings are normalised alone."""
    return Limit(False, "so all scores are zero up to rounding", f"{name} is zero up to rounding here")


def with_absolute(signed: np.ndarray, absolute: np.ndarray, masked: np.ndarray) -> dict[str, np.ndarray]:
    """Both variants of a measure, 0 at features that are masked already."""
    return {"signed": np.where(masked, 0.0, signed), "absolute": np.where(masked, 0.0, absolute)}
