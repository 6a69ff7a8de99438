"""Every kind of number that a store keeps, read or computed."""

from pathlib import Path

import numpy as np

from core.data.examples import Example
from core.evaluation.asking import run_study
from core.evaluation.predicting import predict_all
from core.evaluation.sampling import Sample
from core.evaluation.studies import embedding_map
from core.evaluation.studies.behaviour import Course
from core.evaluation.studies.embedding_map import Points, draw_map
from core.evaluation.studies.fewest import FewestFeatures
from core.evaluation.studies.model_check import Curve
from core.evaluation.studies.scoring import Scoring
from core.explanation.explainer import with_reference
from core.judging.baselines import judge_random
from core.judging.judging import How, judge_measure
from core.mathematics.stepwise import finish
from core.storage.store import Store

TEXT = "A quiet film."
SAMPLE = Sample(
    "made up", "0" * 64, tuple(Example(f"{i}", text) for i, text in enumerate((TEXT, "Bad."))), np.array([1, 0])
)
STUDIES = (
    Curve(),
    Course("leave-one-out"),
    FewestFeatures(),
    Scoring(("leave-one-out",), ("NS", "Soft-NC", "CORR"), count=1, how=How(draws=2)),
)
ATTRIBUTED = ("leave-one-out", "gradient", "random", "beam", "attention")
POINTS = Points(np.eye(20, dtype=np.float32), np.arange(20), np.arange(20))
TEXTS = [(text, None) for text in (TEXT, "Bad.", "", "A long and winding story.")]


def quick_map(patch) -> None:
    """No map that takes seconds."""
    patch.setattr(embedding_map, "_umap", lambda states: states[:, :2] + np.float32(1))


def everything(model, store: Store | None) -> dict[str, np.ndarray]:
    """Every kind of number that is kept, by name, read or computed."""
    found: dict[str, np.ndarray] = {}
    explainer = with_reference(model, store)
    encoded = explainer.encode(TEXT, None, "word")
    for name in ATTRIBUTED:
        found |= {f"{name} {variant}": s for variant, s in explainer.attribute(encoded, name, 1).scores.items()}
    rated = judge_measure(explainer, encoded, "gradient", "signed", ("NS", "Soft-NC"), How(draws=2))
    for name, score in rated.found.items():
        found[name] = np.array([score.value, score.error])
        found |= {f"{name} {form}": p for form, p in rated.inputs[name].items()}
    work = judge_random(explainer, encoded, ("Soft-NS",), How(draws=2), 2)
    for name, one in finish(work).items():
        found |= {f"random {name}": one.values} | {f"random {name} {form}": p for form, p in one.p.items()}
    for study in STUDIES:
        rows = finish(run_study(explainer, SAMPLE, study, store))
        assert rows.complete and not rows.problems, study
        found |= {f"{study.name} {name}": a for name, a in vars(rows).items() if isinstance(a, np.ndarray)}
    predicted = finish(predict_all(model, TEXTS, store=store))
    assert list(predicted.problems) == [2]
    found["predicted"] = predicted.probabilities
    found["map"] = draw_map(POINTS, store)
    return found


def same(found: dict[str, np.ndarray], known: dict[str, np.ndarray]) -> None:
    """Up to the rounding of other batches."""
    assert found.keys() == known.keys()
    for name, values in known.items():
        np.testing.assert_allclose(found[name], values, atol=1e-5, rtol=1e-4, err_msg=name)


def of_store(root: Path) -> list[Path]:
    """The files of a store, whatever their state."""
    return sorted(path for path in (root / "v1").rglob("*") if path.suffix in (".safetensors", ".text"))
