"""Say what works with a model before anything is computed: from its small files and the names and shapes of its
weights.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core import settings
from core.loading.headers import Headers, blueprint, read_headers
from core.loading.loading import choose_device
from core.loading.locating import ModelSource, bundled_models, locate
from core.loading.small_files import (
    check_vocabulary,
    longest_input,
    mask_token,
    read_config,
    read_labels,
    read_tokenizer,
)
from core.measures.catalogue import measures
from core.measures.registry import ATTENTION, GRADIENTS, NOTHING, ORACLE, WORDS, Measure
from core.network.architectures import Config, Module, Tokenizer, UnsupportedModel, architecture_of, is_scale_free
from core.wording import in_short

YES, PARTLY, NO = "yes", "partly", "no"
_GENERIC = re.compile(r"(LABEL_|class )\d+")
_ITEM_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# Tokens of one batch of integrated gradients, the largest that keeps its intermediate results.
_BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Support:
    """One row of the check. what: the part, or a measure's name; works: "yes", "partly" or "no"; why: sentences for
    people.
    """

    what: str
    works: str
    why: str


@dataclass(frozen=True)
class ModelCheck:
    """What works with a model.

    usable: loading it is expected to work; labels: names of its classes, as far as they are known;
    note: what is in the way, or how much works, in a sentence.
    """

    name: str
    usable: bool
    findings: tuple[Support, ...]
    labels: tuple[str, ...]
    note: str

    def __getitem__(self, what: str) -> Support:
        """The finding of a part or measure; KeyError if nothing was established."""
        return {finding.what: finding for finding in self.findings}[what]


def check_model(name: str, device: str | None = None, precision: str | None = None) -> ModelCheck:
    """Check a model without reading its weights or running it; never raises.

    From the hub only the small files are fetched, and names and shapes of the tensors are asked for.

    Args:
        name: a bundled name, a folder, a hub id or an adapter.
        device, precision: what it would run with; None takes the settings.
    """
    check = _Check(name if isinstance(name, str) else repr(name))
    check.step("Check", check.run, name, device, precision)
    return check.result()


class _Check:
    """The findings so far; a step that fails leaves its sentence and ends only what builds on it."""

    def __init__(self, name: str):
        self.name, self.labels, self.masking, self.findings = name, (), NO, []

    def add(self, what: str, works: str, why: str) -> None:
        self.findings.append(Support(what, works, why))

    def step(self, what: str, function: Callable, *given: Any) -> Any:
        """What the function returns; None where it raised a sentence, which is then a finding."""
        try:
            return function(*given)
        except (UnsupportedModel, settings.SettingError) as error:
            self.add(what, NO, str(error))
        # A file's damage can surface as anything, a library's own panic included.
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)):
                raise
            self.add(
                what,
                NO,
                f"This part of the model cannot be read ({in_short(error)}). Save the model again with "
                f"save_pretrained.",
            )
        return None

    def run(self, name: str, device: str | None, precision: str | None) -> None:
        where = self.step("Device", _device, device, precision)
        if where:
            self.add("Device", YES, f"It will run on {where[0]} in {where[1]}.")
        source = self.step("Files", locate, name, False)
        if source:
            self.add("Files", YES, _origin(source))
        config = self.step("Family", read_config, source) if source else None
        if source is None or config is None:
            return
        self.add(
            "Family",
            YES,
            f"{config.model_type} is "
            f"supported{' (a LoRA adapter on a base of this family)' if source.adapter else ''}.",
        )
        self.classes(config)
        tokenizer = self.step("Tokenizer", read_tokenizer, source)
        if tokenizer is not None:
            self.tokens(tokenizer, config)
        headers = self.step("Weights", read_headers, source, config)
        module = self.step("Weights", blueprint, source, config, headers) if headers else None
        if headers is not None and module is not None:
            self.weights(headers)
        elif (module := _without_weights(source, config)) is None:
            return
        self.inside(module, config)
        self.memory(module, config, headers, where)

    def classes(self, config: Config) -> None:
        labels = self.step("Classes", read_labels, config, self.name)
        if labels is None:
            return
        self.labels = labels
        named = f"{len(labels)} classes: {', '.join(labels[:10])}{', …' if len(labels) > 10 else ''}."
        if getattr(config, "problem_type", None) in ("multi_label_classification", "regression"):
            kind = "several classes at once" if config.problem_type.startswith("multi") else "numbers"
            self.add(
                "Classes",
                PARTLY,
                f"{named} It was trained to give {kind}; here exactly one class is taken to be right, and "
                f"probabilities add up to 1.",
            )
        elif all(_GENERIC.fullmatch(label) for label in labels):
            self.add(
                "Classes",
                PARTLY,
                f"{named} The names come from the configuration, which says nothing of what they mean; write id2label "
                f"in its config.json.",
            )
        else:
            self.add("Classes", YES, named)

    def tokens(self, tokenizer: Tokenizer, config: Config) -> None:
        self.add("Tokenizer", YES, "It is fast and gives character offsets, so that tokens are joined to words.")
        masking = self.step("Mask token", mask_token, tokenizer, self.name)
        if masking:
            token, notes = tokenizer.convert_ids_to_tokens(masking[0]), masking[1]
            self.masking = PARTLY if notes else YES
            self.add("Mask token", self.masking, notes[0] if notes else f"Masking puts the model's own {token}.")
        most = self.step("Longest input", longest_input, tokenizer, config, architecture_of(config.model_type))
        if most:
            self.add(
                "Longest input",
                YES,
                f"{most:,} tokens, special tokens included; longer texts are cut, and the page says so.",
            )
        if masking and self.step("Vocabulary", _within_vocabulary, tokenizer, masking[0], config, self.name):
            beyond = max(0, len(tokenizer) - config.vocab_size)
            self.add(
                "Vocabulary",
                PARTLY if beyond else YES,
                f"The tokenizer has {len(tokenizer):,} tokens, the model word embeddings for "
                f"{config.vocab_size:,}{f'; a text with one of the last {beyond:,} cannot be read' if beyond else ''}.",
            )

    def weights(self, headers: Headers) -> None:
        if headers.seen:
            self.add(
                "Weights", YES, f"{headers.description} They hold a trained classification head, and every shape fits."
            )
        else:
            self.add(
                "Weights",
                PARTLY,
                "They are not here yet and the hub does not describe them now; whether they fit is seen when the model "
                "is loaded.",
            )

    def inside(self, module: Module, config: Config) -> None:
        L, H = config.num_hidden_layers + 1, config.hidden_size
        self.add(
            "Hidden states", YES, f"{L} outputs of width {H:,}: the embeddings' and one of each of {L - 1} layers."
        )
        eager = _eager_attention(module)
        for measure in measures().values():
            self.add(measure.name, *_measure(measure, config, eager, self.masking))

    def memory(self, module: Module, config: Config, headers: Headers | None, where: tuple[str, str] | None) -> None:
        if headers and headers.bytes:
            self.add("Size on disk", YES, f"{_megabytes(headers.bytes)}{' to fetch' if headers.to_fetch else ''}.")
        if where is None:
            return
        weights, working = memory_bytes(module, config, where[1])
        there, needed = (
            _memory_of(where[0]),
            (
                f"About {_megabytes(weights)} for the weights, and up to {_megabytes(working)} while gradients are "
                f"computed"
            ),
        )
        if there is not None and weights + working > there:
            self.add(
                "Memory",
                PARTLY,
                f"{needed}; {where[0]} has {_megabytes(there)} in all. Set FAITHSCOPE_PRECISION=bfloat16, or "
                f"FAITHSCOPE_DEVICE to another device.",
            )
        else:
            self.add("Memory", YES, f"{needed}.")

    def result(self) -> ModelCheck:
        wrong = [f for f in self.findings if f.works == NO and f.what not in measures()]
        less = [f.what for f in self.findings if f.works != YES]
        note = (
            wrong[0].why
            if wrong
            else f"This model can be used, with limits: {', '.join(less)}."
            if less
            else "Everything works with this model."
        )
        return ModelCheck(self.name, not wrong, tuple(self.findings), self.labels, note)


def memory_bytes(module: Module, config: Config, precision: str) -> tuple[int, int]:
    """Bytes of a module's weights, and roughly those of the intermediate results of its largest batch with
    gradients.
    """
    size = _ITEM_BYTES[precision]
    weights = sum(p.numel() * size for p in module.parameters()) + sum(
        b.numel() * b.element_size() for b in module.buffers()
    )
    inner = next(
        n
        for n in (
            getattr(config, "intermediate_size", None),
            getattr(config, "hidden_dim", None),
            getattr(config, "n_inner", None),
            4 * config.hidden_size,
        )
        if n
    )
    longest = min(config.max_position_embeddings or _BATCH_TOKENS, 2 * _BATCH_TOKENS)
    batch = max(_BATCH_TOKENS, longest) * (8 * config.hidden_size + 2 * inner)
    maps = longest * (8 * config.hidden_size + 2 * inner + config.num_attention_heads * longest)
    return weights, max(batch, maps) * config.num_hidden_layers * size


def _measure(measure: Measure, config, eager: str | None, masking: str) -> tuple[str, str]:
    """Whether a measure works, and why. eager: what stands against attention maps; masking: how the mask token
    works.
    """
    passes = f"Forward passes: {measure.cost}."
    if refused := measure.refusal(config.model_type):
        return NO, refused
    if measure.needs == NOTHING:
        return YES, "It asks nothing of the model."
    if measure.needs == WORDS:
        return YES, "It asks nothing of the model but its training texts: python -m core words measures theirs."
    if measure.needs == ORACLE:
        return masking, {
            YES: f"It needs masked texts only. {passes}",
            NO: "It needs a token that masks.",
            PARTLY: f"It masks with the end-of-sequence token, which the model may not have learned to ignore. "
            f"{passes}",
        }[masking]
    if measure.needs == GRADIENTS:
        if not is_scale_free(architecture_of(config.model_type), config) or measure.scale_free is None:
            return YES, f"It needs gradients with respect to word embeddings, which this family gives. {passes}"
        return PARTLY if measure.scale_free.in_part else NO, (
            f"This family normalises its word embeddings before anything else, {measure.scale_free.why}."
        )
    if measure.needs == ATTENTION:
        return (
            (YES, f"It needs attention maps, which this family gives. {passes}")
            if eager is None
            else (NO, f"This family gives no attention maps ({eager}).")
        )
    return PARTLY, f"It needs {measure.needs}, which is seen when it is computed."


def _eager_attention(module) -> str | None:
    """None where a module can give attention maps, otherwise why not."""
    try:
        module.set_attn_implementation("eager")
    except Exception as error:
        return in_short(error)
    return None if module.config._attn_implementation == "eager" else "the eager implementation is not offered"


def _without_weights(source: ModelSource, config):
    """The module that the configuration describes, on no device, where its weights are not to be had; None if it
    describes none.
    """
    try:
        return blueprint(source, config, Headers(None, None, False, 0, False))
    except UnsupportedModel:
        return None


def _origin(source: ModelSource) -> str:
    if source.base_id or source.adapter_id:
        return f"From the hub, kept in this machine's cache: {source.top.name[:12]}."
    return "It ships with Faithscope." if source.name in bundled_models() else f"The folder {source.top}."


def _within_vocabulary(tokenizer, mask_id: int, config, name: str) -> bool:
    check_vocabulary(tokenizer, mask_id, config, name)
    return True


def _device(device: str | None, precision: str | None) -> tuple[str, str]:
    if device is None or precision is None:
        chosen = settings.read()
        device, precision = chosen.device if device is None else device, precision or chosen.precision
    return choose_device(device), precision


def _memory_of(device: str) -> int | None:
    """Bytes of memory of a device in all; None where it does not say."""
    import torch

    try:
        if device.startswith("cuda"):
            return torch.cuda.get_device_properties(device).total_memory
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError, RuntimeError):
        return None


def _megabytes(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"
