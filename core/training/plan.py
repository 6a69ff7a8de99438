"""All that decides a training run."""

from dataclasses import asdict, dataclass

from core.attacks.catalogue import attack_named
from core.attacks.victim import Budget
from core.mathematics.masking import TRAINING_STRATEGIES, VALIDATION_STRATEGIES
from core.mathematics.performance import METRICS
from core.network.architectures import BILSTM
from core.network.model import CALIBRATION
from core.training.checkpoints import TrainingError
from core.training.shortcuts import check_shortcut
from core.training.stand_ins import END, STAND_INS


@dataclass(frozen=True)
class Plan:
    """All that decides a training run.

    training: which examples of a mini-batch are masked: "none", "mask" (all) or "half" (every second).
    validation: copies of the validation set that choose the epoch: "none" (unmasked), "mask" or "both".
    text, second, label: columns; None is guessed.
    learning_rate: None takes 5e-5 for method "full", 6e-4 for "lora" and 2e-3 for a fresh BiLSTM.
    further: the base is a classifier, whose head and adapter are trained on; method "calibration": no weight of it is,
    a linear head on its logits is fitted.
    adversarial: an attack whose successes each epoch learns from, too; attacked: texts that it is tried on;
    protect: words that it never changes.
    bfloat16: passes of the training under autocast, weights in float32; accumulate: batches of one step.
    shortcut: a word that training texts of a class get, WORD or WORD=CLASS; planted: with which probability each does.
    """

    base: str
    train: str
    validation: str
    out: str
    test: str | None = None
    text: str | None = None
    second: str | None = None
    label: str | None = None
    labels: tuple[str, ...] | None = None
    training: str = "half"
    validation_strategy: str = "both"
    method: str = "full"
    rank: int = 16
    epochs: int = 2
    seed: int = 0
    learning_rate: float | None = None
    batch: int = 32
    max_tokens: int = 256
    metric: str = "accuracy"
    device: str = "auto"
    half: bool = False
    adversarial: str | None = None
    attacked: int = 200
    further: bool = False
    protect: tuple[str, ...] = ()
    shortcut: str | None = None
    planted: float = 0.9
    mask_token: str = END
    bfloat16: bool = False
    accumulate: int = 1

    @property
    def rate(self) -> float:
        rates = {"full": 5e-5, "lora": 6e-4, CALIBRATION: 0.0}
        return self.learning_rate or (2e-3 if self.base == BILSTM else rates[self.method])

    def check(self) -> None:
        """TrainingError with a sentence for the first choice that cannot be carried out."""
        if self.method == CALIBRATION and not self.further:
            raise TrainingError("Calibration takes a trained classifier: --from in place of --base.")
        allowed = {
            "training": TRAINING_STRATEGIES,
            "validation_strategy": VALIDATION_STRATEGIES,
            "method": ("full", "lora", CALIBRATION),
            "metric": tuple(METRICS),
            "mask_token": STAND_INS,
        }
        for name, choices in allowed.items():
            if getattr(self, name) not in choices:
                raise TrainingError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(choices)}.")
        for name in ("epochs", "batch", "rank", "attacked", "accumulate"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.max_tokens < 8:
            raise TrainingError(f"max_tokens is {self.max_tokens}; it must be at least 8.")
        if self.training == "half" and self.batch < 2:
            raise TrainingError('batch is 1; training "half" needs at least 2.')
        if self.protect and self.adversarial is None:
            raise TrainingError("protect is of attacks; choose one as adversarial.")
        if self.adversarial is not None:
            try:
                attack_named(self.adversarial)
                Budget(protected=self.protect).check()
            except ValueError as error:
                raise TrainingError(str(error)) from error
        if self.shortcut is not None:
            check_shortcut(self.shortcut, self.planted)

    def as_dict(self) -> dict:
        """All choices; those that are seldom asked for only where they were."""
        seldom = ("adversarial", "further", "protect", "shortcut", "bfloat16")
        left_out = [name for name in seldom if not getattr(self, name)]
        left_out += ["accumulate"] if self.accumulate == 1 else []
        left_out += ["attacked"] if self.adversarial is None else []
        left_out += ["planted"] if self.shortcut is None else []
        left_out += ["mask_token"] if self.mask_token == END else []
        return {name: value for name, value in asdict(self).items() if name not in left_out}
