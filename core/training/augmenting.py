"""Adversarial training: each epoch also learns from texts that an attack changed until the model was wrong."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.attacks.attacking import attack_text
from core.attacks.catalogue import attack_named
from core.attacks.victim import Budget
from core.data.tables import LabelledTexts
from core.network.architectures import Module, Tokenizer, architecture_of
from core.network.features import NoFeatures
from core.network.model import Model

# Less than elsewhere: an epoch attacks many texts.
QUERIES = 100


@dataclass(eq=False)
class Attacks:
    """An attack on the module that is being trained.

    module: the classifier; mask_id, max_tokens: as it is trained; data: the training file; name: a registered attack;
    count: texts of an epoch at most; protected: words that stay.
    """

    module: Module
    tokenizer: Tokenizer
    mask_id: int
    max_tokens: int
    data: LabelledTexts
    name: str
    count: int
    protected: tuple[str, ...] = ()

    def of_epoch(
        self, seed: int, epoch: int, progress: Callable[[str, int, int], None]
    ) -> tuple[LabelledTexts, dict[str, int]]:
        """Attack texts drawn by seed and epoch, by the weights as they are now; a text that the model reads nothing of
        is left out.

        Args:
            seed, epoch: of the texts and the attack; the module is in evaluation.
        Returns:
            Those that succeeded, under the label that they had, and what the card records of an epoch.
        Source: RobustInf §3.
        """
        data, name = self.data, attack_named(self.name).name
        chosen = np.random.default_rng([seed, 3, epoch]).permutation(len(data))[: self.count]
        # Made each time: neighbours are those of the embeddings as they are now, also where a run was resumed.
        model, budget, queries, found = self._model(), Budget(queries=QUERIES, protected=self.protected), 0, []
        for done, i in enumerate(chosen.tolist(), start=1):
            second, label = None if data.seconds is None else data.seconds[i], int(data.labels[i])
            with contextlib.suppress(NoFeatures):
                one = attack_text(model, model.encode(data.texts[i], second, "word"), label, name, budget, epoch)
                queries += one.queries
                found += [(one.text, second or "", label)] if one.success else []
            progress(f"{name}, epoch {epoch + 1}", done, len(chosen))
        texts, seconds, labels = ([one[part] for one in found] for part in range(3))
        told = None if data.seconds is None else seconds
        made = replace(data, texts=texts, seconds=told, labels=np.array(labels, dtype=np.int64), rows=())
        return made, {"attacked": len(chosen), "successes": len(made), "queries": queries}

    def _model(self) -> Model:
        architecture = architecture_of(self.module.config.model_type)
        device, about = str(next(self.module.parameters()).device), (self.data.classes, self.mask_id, self.max_tokens)
        return Model(self.name, "", self.module, self.tokenizer, architecture, device, "float32", *about)
