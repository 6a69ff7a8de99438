"""Attack every text, and set how a model behaves on those that succeed beside how it does on the originals."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from core.attacks.attacking import OUTCOMES, Attacked, attacked
from core.attacks.catalogue import attack_named, attacks
from core.attacks.encoder import encoder_digest
from core.attacks.victim import QUERIES, SHARE, SIMILARITY, AttackOutcome, Budget
from core.evaluation.studies.attacks_report import AttacksReport, attacks_report, attacks_tables
from core.evaluation.studies.behaviour import ORDERS, Course
from core.evaluation.studies.behaviour_report import ALL, HALF
from core.evaluation.studies.orders import RANDOM
from core.evaluation.study import Answers, Column, Row, Rows, Study, Subject, Table, choice, register
from core.explanation.explainer import Cost, Explainer
from core.network.features import FIRST, Encoded, NoFeatures
from core.network.model import Model
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key
from core.validity.references import FORMS
from core.wording import as_json

# The original and the attacked text; shares masked whose embeddings are kept.
SIDES, KEPT = 2, (0, HALF, ALL)
ORDERS_OFFERED = ("integrated gradients", "input × gradient", "leave-one-out", RANDOM)


@register
@dataclass(frozen=True)
class Attacking(Study[Rows]):
    """Attack each text whose label the model predicts; of each that succeeds, both texts' MaSF p unmasked, when their
    predictions change along an order, and their embeddings at 0, 50 and 100 %.

    Departure: RobustInf attacks its own models with TextAttack and masks by the unknown token; here definitions of the
    papers, and the mask token.

    Source: RobustInf §3, §4, Table 3; the rejection of attacked texts is ours.
    """

    name, order, page, done, labelled, seldom_all = "attacks", 5, "Model check", "attacked", True, True
    asks = "How often does an attack change the prediction, and does MaSF notice?"
    columns: ClassVar = {
        "outcome": Column((), np.int32(0)),
        "queries": Column((), np.int32(0)),
        "changed": Column(),
        "similarity": Column(),
        "text": Column((), ""),
        "p": Column((SIDES, len(FORMS))),
        "flips": Column((SIDES, 0), np.int32(0)),
        "free": Column((SIDES,), np.int32(0)),
        "states": Column((SIDES, len(KEPT), 0), np.float16(0)),
    }

    unit: str = "word"
    seed: int = 0
    attack: str = choice("DeepWordBug", tuple(attacks()), "how texts are attacked")
    share: float = choice(SHARE, (0.1, 0.2, 0.5), "words that may be changed")
    queries: int = choice(QUERIES, (100, 2000), "inputs that an attack may read")
    similarity: float = choice(SIMILARITY, (-1.0, 0.4, 0.8), "least cosine of sentence embeddings")
    # Words that stay.
    protect: tuple[str, ...] = ()
    follows: str = choice(ORDERS_OFFERED[0], ORDERS_OFFERED[1:], "order of fidelity")

    @property
    def budget(self) -> Budget:
        """What the attack may do."""
        return Budget(self.share, self.queries, self.similarity, self.protect)

    @property
    def course(self) -> Course:
        """Along what predictions are followed."""
        return Course(self.follows, "signed", self.unit, seed=self.seed)

    @property
    def label(self) -> str:
        """The attack."""
        return self.attack

    def check(self, model: Model | None = None) -> None:
        """No such attack, or a unit that is none of an attack's."""
        attack_named(self.attack)
        self.budget.check()
        if self.unit != "word":
            raise ValueError(f"attacks change words; choose the unit word, not {self.unit}")

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On the attack and its budget, the order that is followed, and the reference."""
        attack = attack_named(self.attack)
        about = {"attack": attack.name, "attack version": attack.version, "budget": asdict(self.budget)}
        about |= {"encoder": encoder_digest(), "seed": self.seed}
        return about | {"course": self.course.key(explainer), "reference": explainer.tests_by}

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it, and its label."""
        return [canonical_key("attacks/row", 1, example=subject.encoded.digest, label=subject.label)]

    def content(self, explainer: Explainer) -> Content:
        """As each column says, within its range."""
        numbers = {name: column.numbers for name, column in self.columns.items()}
        numbers["outcome"] = Numbers("int32", (), 0, len(OUTCOMES) - 1)
        numbers["similarity"] = Numbers("float64", (), -1, 1)
        numbers["changed"] = Numbers("float64", (), 0, 1)
        numbers["p"] = Numbers("float64", (SIDES, len(FORMS)), 0, 1, nan=True)
        numbers["states"] = Numbers("float16", (SIDES, len(KEPT), explainer.model.H))
        return Content(numbers)

    def row(self, subject: Subject) -> Row:
        """The attack, and where it succeeds what both texts come to."""
        explainer, encoded = subject.explainer, subject.encoded
        if encoded.maskable != FIRST:
            raise NoFeatures("Attacks change the first text of a pair; mask that.")
        found = attacked(
            explainer.model,
            explainer.store,
            encoded,
            subject.label,
            self.attack,
            self.budget,
            self.seed,
            cancelled=subject.cancelled,
        )
        row = self._of_attack(found, encoded, explainer.model.H)
        if not found.success:
            return row
        other = explainer.encode(found.text, encoded.second, self.unit)
        for side, one in enumerate((encoded, other)):
            walked = self.course.row(replace(subject, encoded=one))
            row["flips"][side], row["free"][side] = walked["flips"], walked["free"]
            row["states"][side] = walked["states"][list(KEPT)]
            tested = explainer.tested(one).judge(np.zeros((1, one.F), dtype=bool), np.zeros(1, dtype=np.int64))
            row["p"][side] = [tested.p[form][0] if form in tested.p else np.nan for form in FORMS]
        explainer.forget(other)
        return row

    def _of_attack(self, found: Attacked, encoded: Encoded, H: int) -> Row:
        orders = ORDERS if self.course.random else 1
        return {
            "outcome": np.int32(OUTCOMES.index(found.outcome)),
            "queries": np.int32(found.queries),
            "changed": np.float64(len(found.changed) / encoded.F),
            "similarity": np.float64(found.similarity),
            "text": found.text,
            "p": np.full((SIDES, len(FORMS)), np.nan),
            "flips": np.zeros((SIDES, orders), dtype=np.int32),
            "free": np.zeros(SIDES, dtype=np.int32),
            "states": np.zeros((SIDES, len(KEPT), H), dtype=np.float16),
        }

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """The queries that are allowed, and both courses."""
        queries = Cost.of(self.queries, self.queries * encoded.T, explainer.model.scheduler.counters)
        return Cost.sum([queries, *[self.course.cost(explainer, encoded)] * SIDES])

    def conclude(self, answers: Answers) -> AttacksReport | None:
        """All of it in numbers; None before the first text."""
        return attacks_report(answers, self)

    def tables(self, report: AttacksReport) -> list[Table]:
        """Original and attacked texts beside each other, how attacks ended, and the attacked texts."""
        return attacks_tables(report)

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example.

        Columns: outcome (succeeded, failed, already wrong, no room), queries, changed (share of words), similarity,
        text (attacked), and of those that succeeded, original and attacked: a p of each form, flip (C/F).
        """
        rows, lines = answers.found[self], []
        for i, example in enumerate(answers.sample.examples):
            line: dict[str, Any] = {"example": example.id, "model": answers.model.name, "problem": rows.problems.get(i)}
            line["label"] = example.label
            if rows.there[i]:
                at = {name: values[i] for name, values in rows.columns.items()}
                outcome = OUTCOMES[int(at["outcome"])]
                line |= {"attack": self.attack, "attack outcome": outcome.value, "queries": int(at["queries"])}
                line |= {"changed": float(at["changed"]), "similarity": float(at["similarity"])}
                line |= {"text": rows.sentences[at["text"]]}
                won = outcome is AttackOutcome.SUCCEEDED
                for side, called in enumerate(("original", "attacked") if won else ()):
                    line |= {f"p {form}, {called}": as_json(at["p"][side, f]) for f, form in enumerate(FORMS)}
                    flips, free = at["flips"][side], max(1, int(at["free"][side]))
                    line[f"flip, {called}"] = float(np.where(flips > 0, flips / free, 1.0).mean())
            lines.append(line)
        return lines
