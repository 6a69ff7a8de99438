"""Say what works with a model before anything is computed, from its small files and the shapes of its weights."""

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core import settings
from core.loading import lora
from core.loading.loading import (
    build_classifier,
    building,
    check_complete,
    choose_device,
    merged,
    training_card,
    unreadable,
    weights_of,
)
from core.loading.locating import ModelSource, bundled_models, locate
from core.loading.model_files import SAVE_AGAIN, ForeignFile
from core.loading.small_files import (
    check_vocabulary,
    longest_input,
    mask_token,
    only_count,
    read_config,
    read_labels,
    read_tokenizer,
)
from core.measures.catalogue import measures
from core.measures.registry import ATTENTION, GRADIENTS, NOTHING, ORACLE, WORDS, Measure
from core.network.architectures import Config, Module, Tokenizer, UnsupportedModel, architecture_of, is_scale_free
from core.network.memory import IMPORTING
from core.network.model import MULTI_LABEL, REGRESSION
from core.network.one_label import SIGN
from core.storage import hub
from core.wording import bytes_text, in_short, listed


@dataclass(frozen=True)
class Headers:
    """What the heads of a model's files say.

    base, adapter: {tensor's name: (dtype, shape)}; None where that is not known (or there is no
    adapter). bytes: of the files, or of the tensors where they have yet to be fetched; 0: not known.
    """

    base: dict[str, tuple[str, tuple[int, ...]]] | None
    adapter: dict[str, tuple[str, tuple[int, ...]]] | None
    seen: bool
    bytes: int
    to_fetch: bool


def read_headers(source: ModelSource, config: Config) -> Headers:
    """Names and shapes of a model's tensors, from its files or the hub; UnsupportedModel where there are none."""
    base, here = _tensors(source.base, source.base_id, lambda: _weights(source, config), adapter=False)
    adapter, found, files = None, [base], source.adapter_files
    if files is not None:
        read = partial(lora.read_adapter, files, heads=True)
        adapter, also_here = _tensors(files.folder, source.adapter_id, read, adapter=True)
        here, found = here and also_here, [base, adapter]
    size = sum(one.size for one in source.files) if here else _bytes(found)
    return Headers(base, adapter, None not in found, size, not here)


def blueprint(source: ModelSource, config: Config, headers: Headers) -> Module:
    """Build the module without memory for its weights, and hold the files' tensors against it.

    Returns:
        the module, its parameters on the meta device.
    Raises:
        UnsupportedModel: what `load` would raise: tensors that are missing or of another shape.
    """
    with IMPORTING:
        import torch
        from transformers import AutoModelForSequenceClassification

    adapter = lora.adapter_settings(source.adapter_files) if source.adapter_files else None
    try:
        if not headers.seen:
            with building(), torch.device("meta"):
                return AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
        module, missing = build_classifier(config, _shapes(headers.base), device_map="meta", dtype=torch.float32)
    except Exception as error:
        raise unreadable(source.name, error) from error
    if adapter:
        missing -= merged(module, source, adapter, _shapes(headers.adapter))
    check_complete(source, missing)
    return module


def _shapes(tensors: dict | None) -> dict:
    import torch

    return {name: torch.empty(shape, device="meta") for name, (_, shape) in (tensors or {}).items()}


def _tensors(folder: Path, hub_id: str | None, read: Callable[[], dict], adapter: bool) -> tuple[dict | None, bool]:
    """The tensors of one folder's weights (None: the hub does not tell), and whether they are here."""
    try:
        return read(), True
    except ForeignFile:
        raise
    except UnsupportedModel:
        found = None if hub_id is None else hub.tensor_shapes(hub_id, folder, adapter)
        if hub_id is None or found == {}:
            raise
        return found, False


def _weights(source: ModelSource, config) -> dict[str, tuple[str, tuple[int, ...]]]:
    named = weights_of(source, config)
    try:
        return {name: about for file in named for name, about in source.base_files.heads(file).items()}
    except Exception as error:
        raise unreadable(source.name, error) from error


def _bytes(found: list[dict | None]) -> int:
    """Bytes of tensors, by their heads; 0 where some are not known."""
    about = [] if None in found else [one for tensors in found if tensors for one in tensors.values()]
    bits = ((re.search(r"\d+", dtype), shape) for dtype, shape in about)
    return sum(math.prod(shape) * max(1, int(number[0]) // 8 if number else 1) for number, shape in bits)


YES, PARTLY, NO = "yes", "partly", "no"
_ITEM_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# Tokens of one batch of integrated gradients, the largest that keeps its intermediate results.
_BATCH_TOKENS = 4096
# Pages of this machine's memory, and bytes of each.
_MEMORY = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
_OTHER_TASKS = {
    MULTI_LABEL: f"Multi-label: one label is read at a time, named behind {SIGN}.",
    REGRESSION: "Regression; here exactly one class is right.",
}
_NAMELESS = "These names say nothing; write id2label in its config.json."


@dataclass(frozen=True)
class Support:
    """One row of the check. what: the part, or a measure's name; works: "yes", "partly" or "no"; why: for people."""

    what: str
    works: str
    why: str


@dataclass(frozen=True)
class ModelCheck:
    """What works with a model.

    usable: loading it is expected to work; labels: names of its classes, as far as they are known;
    note: what is in the way, or how much works, in a sentence; masked: whether it was trained with masking, as far as
    its card says.
    """

    name: str
    usable: bool
    findings: tuple[Support, ...]
    labels: tuple[str, ...]
    note: str
    masked: bool = False

    def __getitem__(self, what: str) -> Support:
        """The finding of a part or measure; KeyError if nothing was established."""
        return {finding.what: finding for finding in self.findings}[what]


def check_model(name: str) -> ModelCheck:
    """Check a model (bundled name, folder, hub id or adapter) without reading weights or running it; never raises.

    From the hub only the small files are fetched, and names and shapes of the tensors are asked for.
    """
    check = _Check(name if isinstance(name, str) else repr(name))
    check.step("Check", check.run, name)
    return check.result()


class _Check:
    """The findings so far; a step that fails leaves its sentence and ends only what builds on it."""

    def __init__(self, name: str):
        self.name, self.labels, self.masking, self.findings = name, (), NO, []
        self.masked = False

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
            why = f"This part cannot be read ({in_short(error)}). {SAVE_AGAIN}"
            self.add(what, NO, why)
        return None

    def run(self, name: str) -> None:
        where = self.step("Device", _device)
        if where:
            self.add("Device", YES, f"{where[0]}, {where[1]}.")
        source = self.step("Files", locate, name, False)
        if source:
            self.add("Files", YES, _origin(source))
            card = training_card(source.top)
            self.masked = card is not None and card["plan"]["training"] != "none"
        config = self.step("Family", read_config, source) if source else None
        if source is None or config is None:
            return
        self.add("Family", YES, f"{config.model_type}{', LoRA adapter' if source.adapter else ''}.")
        self.classes(config)
        tokenizer = self.step("Tokenizer", read_tokenizer, source)
        if tokenizer is not None:
            self.tokens(tokenizer, config)
        headers = self.step("Weights", read_headers, source, config)
        module = self.step("Weights", blueprint, source, config, headers) if headers else None
        if headers is not None and module is not None:
            self.weights(headers)
        else:
            try:
                module = blueprint(source, config, Headers(None, None, False, 0, False))
            except UnsupportedModel:
                # The configuration describes none.
                return
        self.inside(module, config)
        self.memory(module, config, headers, where)

    def classes(self, config: Config) -> None:
        found = self.step("Classes", read_labels, config, self.name)
        if found is None:
            return
        labels, odd = found
        self.labels = labels
        why = [*odd, *([_NAMELESS] if only_count(labels) and not odd else [])]
        why += [_OTHER_TASKS[kind]] if (kind := getattr(config, "problem_type", None)) in _OTHER_TASKS else []
        self.add("Classes", PARTLY if why else YES, " ".join([f"{len(labels)}: {listed(labels, 10)}.", *why]))

    def tokens(self, tokenizer: Tokenizer, config: Config) -> None:
        self.add("Tokenizer", YES, "Fast, with character offsets.")
        masking = self.step("Mask token", mask_token, tokenizer, self.name)
        if masking:
            self.masking = PARTLY if masking[1] else YES
            self.add("Mask token", self.masking, *masking[1] or (f"{tokenizer.mask_token}.",))
        most = self.step("Longest input", longest_input, tokenizer, config, architecture_of(config.model_type))
        if most:
            self.add("Longest input", YES, f"{most:,} tokens.")
        if masking:
            self.step("Vocabulary", self.vocabulary, tokenizer, masking[0], config)

    def vocabulary(self, tokenizer: Tokenizer, mask_id: int, config: Config) -> None:
        check_vocabulary(tokenizer, mask_id, config, self.name)
        tokens, embeddings = len(tokenizer), config.vocab_size
        why = f"{tokens:,} tokens, {embeddings:,} word embeddings; a text with a token beyond these is refused."
        self.add("Vocabulary", PARTLY if tokens > embeddings else YES, why)

    def weights(self, headers: Headers) -> None:
        if headers.seen:
            every = (headers.base or {}, headers.adapter or {})
            kinds = sorted({dtype for tensors in every for dtype, _ in tensors.values()})
            self.add("Weights", YES, f"Safetensors, stored as {', '.join(kinds)}. All shapes fit.")
        else:
            self.add("Weights", PARTLY, "Not fetched; checked when the model is loaded.")

    def inside(self, module: Module, config: Config) -> None:
        L, H = config.num_hidden_layers + 1, config.hidden_size
        self.add("Hidden states", YES, f"{L} outputs of width {H:,}: embeddings and {L - 1} layers.")
        eager = _eager_attention(module)
        for measure in measures().values():
            self.add(measure.name, *_measure(measure, config, eager, self.masking))

    def memory(self, module: Module, config: Config, headers: Headers | None, where: tuple[str, str] | None) -> None:
        if headers and headers.bytes:
            fetching = " to fetch" if headers.to_fetch else ""
            self.add("Size on disk", YES, f"{bytes_text(headers.bytes)}{fetching}.")
        if where is None:
            return
        weights, working = memory_bytes(module, config, where[1])
        there = _memory_of(where[0])
        has = bytes_text(there) if there else "unknown memory"
        why = f"{bytes_text(weights)} for weights, {bytes_text(working)} for gradients; {where[0]} has {has}."
        self.add("Memory", PARTLY if there and weights + working > there else YES, why)

    def result(self) -> ModelCheck:
        wrong = [f.why for f in self.findings if f.works == NO and f.what not in measures()]
        less = [f.what for f in self.findings if f.works != YES]
        note = wrong[0] if wrong else f"Usable; limits: {', '.join(less) or 'none'}."
        return ModelCheck(self.name, not wrong, tuple(self.findings), self.labels, note, self.masked)


def memory_bytes(module: Module, config: Config, precision: str) -> tuple[int, int]:
    """Bytes of a module's weights, and roughly those of its largest batch with gradients."""
    size = _ITEM_BYTES[precision]
    weights = sum(p.numel() * size for p in module.parameters()) + sum(
        b.numel() * b.element_size() for b in module.buffers()
    )
    named = (getattr(config, name, None) for name in ("intermediate_size", "hidden_dim", "n_inner"))
    inner = next(filter(None, named), 4 * config.hidden_size)
    longest = min(config.max_position_embeddings or _BATCH_TOKENS, 2 * _BATCH_TOKENS)
    batch = max(_BATCH_TOKENS, longest) * (8 * config.hidden_size + 2 * inner)
    maps = longest * (8 * config.hidden_size + 2 * inner + config.num_attention_heads * longest)
    return weights, max(batch, maps) * config.num_hidden_layers * size


def _measure(measure: Measure, config, eager: str | None, masking: str) -> tuple[str, str]:
    """Whether a measure works, and why. eager: what stands against attention maps; masking: how masking works."""
    why = f"Needs: {measure.needs}. Forward passes: {measure.cost}."
    if refused := measure.refusal(config.model_type):
        return NO, refused
    if measure.needs in (NOTHING, WORDS):
        return YES, why
    if measure.needs == ORACLE:
        return masking, why
    if measure.needs == GRADIENTS:
        if not is_scale_free(architecture_of(config.model_type), config) or measure.scale_free is None:
            return YES, why
        return (
            PARTLY if measure.scale_free.in_part else NO,
            f"Word embeddings are normalised, {measure.scale_free.why}.",
        )
    if measure.needs == ATTENTION:
        return (YES, why) if eager is None else (NO, f"No maps: {eager}.")
    return PARTLY, why


def _eager_attention(module) -> str | None:
    """None where a module can give attention maps, otherwise why not."""
    try:
        module.set_attn_implementation("eager")
    except Exception as error:
        return in_short(error)
    return None if module.config._attn_implementation == "eager" else "no eager implementation"


def _origin(source: ModelSource) -> str:
    if source.base_id or source.adapter_id:
        return f"Hub, {source.top.name[:12]}."
    return "Bundled." if source.name in bundled_models() else f"{source.top}."


def _device() -> tuple[str, str]:
    chosen = settings.read()
    return choose_device(chosen.device), chosen.precision


def _memory_of(device: str) -> int | None:
    """Bytes of memory of a device in all; None where it does not say."""
    import torch

    try:
        if device.startswith("cuda"):
            return torch.cuda.get_device_properties(device).total_memory
        return math.prod(map(os.sysconf, _MEMORY))
    except (AttributeError, ValueError, OSError, RuntimeError):
        return None
