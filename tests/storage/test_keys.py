"""What was stored before is still found: made-up results lie under keys and names that are written out here, and are
read back without a forward pass. A pin that has to change means that every such result is computed again.
"""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.attacks.attacking import attacked
from core.attacks.victim import Budget
from core.data.examples import Example
from core.evaluation.asking import read_study
from core.evaluation.predicting import stored_predictions
from core.evaluation.sampling import Sample
from core.evaluation.studies import behaviour, model_check
from core.evaluation.studies.aopc_board import AopcBoard
from core.evaluation.studies.attacks import Attacking
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.studies.embedding_map import Points, read_map
from core.evaluation.studies.fewest import FewestFeatures
from core.evaluation.studies.limits_of_texts import LimitsOfTexts
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.scoring import SHUFFLED, Scoring
from core.evaluation.studies.traits import Agreement
from core.evaluation.studies.verdicts import VerdictsOfTexts
from core.evaluation.studies.word_scores import WordScores, read_words
from core.evaluation.study import Subject
from core.explanation.explainer import with_reference
from core.explanation.smallest import stored_sets
from core.interactions.finding import stored_interactions
from core.judging.baselines import judge_random
from core.judging.judging import How, judge_measure
from core.mathematics.erasure import LENGTHS
from core.measures.catalogue import measure, measures
from core.oracle.erasing import MASK, REMOVAL, UNKNOWN, ZERO
from core.stability.finding import stored_stability
from core.storage.shelf import Shelf
from core.storage.store import Store
from core.validity.references import FORMS

ROOT = Path(__file__).resolve().parents[2]
TEXT, SECOND, EVIDENCE = "A quiet and moving film.", "Or is it?", ((2, 7),)
SAMPLE = Sample("made up", "0" * 64, (Example("e1", TEXT, None, "positive", evidence=EVIDENCE),), np.array([1]))

# Read off the code as it was in version 0.5.0.
MODEL = "9e34a484c39e6c44f6c2669b48b83429cbda9d5b5afc70afdb0a730baef16b9c"
REFERENCE = "570269e6c4c212a05c3cea50d8d6e7dc4ba8ccf8afbab3d4d9f7f545bc60dfb3"
EXAMPLES = {
    ("word", None): "e329544b64c29f4aae3115f0ad0241a62f3c147353fdc6878e76425592dadd9c",
    ("token", None): "9040492ae44dd7f06fa5f0813e5c47a30601800e2b91bbcaf71d99649286234c",
    ("sentence", None): "d5758e005666c8cdae13fd4e3e32581d1203cea7a564ee781c43f3e2ac78b55f",
    ("word", SECOND): "b15141a2bf54eef5c76921d061cfbba6dd1e2294c4a35f2c08a13b40bcd1daf0",
}
FORWARD = {
    (MASK, "word"): "d8e2bfc5627f372abfbe561fbbc6126c46851fbf139ddbe6194ce5c5acfadc89",
    (MASK, "token"): "76e828203e452d0f9f4bf6f0cf7b90a9f84cfc65c4fe8b85128f4fbed5e0c132",
    (REMOVAL, "word"): "eeb0d1e734d3d41570135c168a3150557a452634a4818bc7f4ebebacbbce0c1d",
    (ZERO, "word"): "3f61643754b78c6edae707f55392a3de931fb784652b05ad643f78dc738ca7e3",
    (UNKNOWN, "word"): "cf3022525c00359c2460a375a1d2d17dde1435f3d21425c212e1dd2bf39e3f33",
}
MASF = {
    MASK: "644f6562bbdbc5653268d10654c83a22abe2b73aaef26a8bb1c92d6a1b4c9b07",
    REMOVAL: "1e9579f45f548f5d3903e9f1907f63313f88d0c9f6af63c20473affa44af1d30",
}
ATTRIBUTIONS = {
    "leave-one-out": "22554efd9a22376f14bde09fd39b34f587632d1e59fa5281adabe54dd210ca8a",
    "gradient": "a76928b886e15dadefddcbbdd10fbf8cab077b58daa2212c3d845841a1a3300f",
    "input × gradient": "7ea9c5479489c8a537f18f949ad3a8dbf79b50f7d66f513d70f7d2c6c15e1e3a",
    "integrated gradients": "427990a9dbcbc3311410f28ccf4e05dd5d0b6948262ff190fb9ee8ede240e829",
    "attention": "32245ba98f186515358e18c63353bdeb4150509cb6faaa227997e18752dbac20",
    "scaled attention": "fc98f11bdd00681f24e9e155a93184a535a2014d35a234c700ad65bcae4907bf",
    "KernelSHAP": "9e7589dfdcd8cb770cdb8c0d45bec286f7634f70676f120c352a66ce7f19ade4",
    "SmoothGrad": "2565c3a3c4183c37e439220cf392f532a918dbd26353634b903442afe3635fb7",
    "input × SmoothGrad": "d42e5d30ffc506d1ddf693d4b10dfa91f1a5987095db4ab91da4a33c8da221ba",
    "DeepLift": "34dfe0f7e51068d35531f57dde71506543e4b22b2018c94e807f4442be40beb2",
    "DecompX": "dd5e9c211ba5c9cdc077a4d4871773a31018aad8fd835f0b2a31d2a40e46f6c2",
    "LIME": "c29aae3f1500ea72f297b102b63910f95f0f7146639f3508d8378316217c8fc1",
    "Shapley values": "b8164f30a40fbce93751f82c1011380acd1623ea0020ab69d4c5b106bce0a2ef",
    "beam": "1c99c316ef961491befda2b73ac5c29354ebaba04040d971aca3056e9301cb21",
    "random": "b40cbf0747e5ebf471ebe44b8911f2b9aab1957f1643419f364a718a8bd86c02",
}
JUDGED = {
    "Soft-NS": "01a12b4a8bd8375d662b2bc6a90ece8178855fde290277e6cedc551cb45c61fe",
    "Soft-NC (attention mask)": "9e00298fec78ed9aa85fbfc6bacdecd5d106e6671e0bc5858ea59b36b935a14d",
}
JUDGED_RANDOM = "3cd2d6ea8600c93ed680dcd7518f2c3a394027ad15bdc215bf87f207535553b0"
PREDICTIONS = "4c0b6b00aaa7a1cd02a86ff31a14fe13f13008f8e2aa185cec1ce8ddfffb0e61"
MAP = "0078adbc2fc814375810d40462e4076e1145e390396d4f17bc51a27f415017e1"
CHECK = {
    "random order": (
        "ee03d628e79c14bd0b4f63b9d51904adc92b3fd4af9372880bee9ab4fa4fae67",
        "78238bf28b39afb3544ed96d4eb9a5b97f9c2aebe4d81f6a06341dcef833948f",
    ),
    "leave-one-out": (
        "b6c69277c924041f162a7da183a2128a7424bf9b3b03b00e7ad9a6594558e903",
        "ab2b37a79a88556f2dc92f383b9f53ee1626396cfb60a4e6e763c181cd62bffa",
    ),
    "gradient": (
        "4fdda6f68f74a508a7a0344c9fc929237af8a241657318614a09685ed783a292",
        "b87c33e41809a802fd6e863a2a4eeafc0ee6652426c543890993fc81016ba115",
    ),
}
BEHAVIOUR = {
    "random order": (
        "566bd9e1c37b7f26a9f19b12f90cd255cb9f72e4bda9845dd4f56c48e323bc9b",
        "e2edc962708bcb72ec2ee65e1781b251f5d4c2a7193afa1dfae4bcd01c8336bf",
    ),
    "leave-one-out": (
        "e129ec35b75640f479e1febf3793d2c07c59900578e9235aa15fe2b40e39ec90",
        "b8a91779a132fb015b184d609403c761ad64a13cc363ca3045ce5dd165e03b04",
    ),
}
CHANGES = "d647675bfb955a3b96f9df4f23324c6badbb645432c90fc8e18f86846bc58453"
PACKED_AGREEMENT = "e17d358a9c1e4b882d18e03b8ffe944f4b85c99c46f02ce3250d1c3d7c5578ab"
FEWEST = (
    "92b01dad7111cc0470ebb86105be59a7d87f041d63d1373b2d1d6ae0c7db8faf",
    "5b17e7b3628032cee18e6be69afc677668d4277d6a718418c49adbf8fa93cb3d",
)
AGREEMENT = (
    "780938abfd178034268b298d181df886b013e0d02a4c3109577afc6decca41c9",
    "584b98f6f030e314868cc22b552f686bec86228ed9da78a7a89256609344777f",
)
WORD_SCORES = (
    "24abc92b8bf6274cc8bf40f0aa538fb0710b8471748efe6950ebfda85bda85a4",
    "31ef86f6ea9cbea8e99925c868665979e6bd4a4726e3558557cb1364b20a3739",
)
VERDICTS = (
    "1d5a1b55b614da212da1604ce91765e7ed0206482f25008312cdb90764a4b6a6",
    "d4960d2d06de8196087d16919efb8e5b5048027148d5b16fe91752fce8534f9a",
)
SCORES = (
    "51b16a80fb37bdadb9bd64f5616f2fc69a8b32d03bb4e04233448abb6d19d3eb",
    {
        "prediction": "7cd3a3e1a88b6a5a970de0edb1c491a430bc35afb2dd7ff8000c281042ca4bee",
        "leave-one-out: NS": "af8b50890032313a2efcce896a9bb2ffb77b9798763df639b29b1cb687c93fb2",
        "leave-one-out: Soft-NC": "50000fda34869d94c762d0d5aa63f6e15f7986c899b14b87f22e0edbb53bddad",
        "gradient: NS": "da66f634a329765ae30dc5dbd458b917cc152fba2979b7598876109a2ab70b7a",
        "gradient: Soft-NC": "1281433b6b6999f6859a89f615679a292dc4b7a1f11443496ba9a57840f43c49",
        "random 0: NS": "01c343f43f086bd70a9ba877ee71dd343df37ee4c45e5c007b64bb44f5101e64",
        "random 0: Soft-NC": "76f5274f03ec4b34994740efe1b384cb6692345d65d04570e36d6c185de56afb",
        "leave-one-out, shuffle 0: NS": "3201ac7a0b4f17e572133239e726e0a840f8b9fc055e2f6f8964f8002fd7515e",
        "leave-one-out, shuffle 0: Soft-NC": "3a2a37dbee58bc1be23388a8b5a4df4c5177ef8a5de730bc23751e1788826143",
        "gradient, shuffle 0: NS": "50c6401456de7604fece1f15e777f8a2110e43c8bdd2907fc2d9bfc75ace1c28",
        "gradient, shuffle 0: Soft-NC": "e07df7c807ee7d887abacebff30e329e1026b0900c927f691b19c6dfad270fa1",
    },
)
# From every set, and from a sample.
INTERACTIONS = {
    True: "024a7026a67150d2203fca8dd9d10e7e8132af82393e504b32feaa7da1f370ed",
    False: "43e5dcd3cefb39912063ce794783904591eb21395ff9c711b22ec82358b7c7b2",
}
SMALLEST = "05cf31dabf7bced20810c993dbb67dd2a9bd08156570baaab9d7d636c5748eb5"
# Of a measure that draws, and of a path.
STABILITY = {
    "LIME": "c582819e7ca21ed3074910593713b0a17b87b3e8989650d8514024290796502d",
    "integrated gradients": "952930658e4063bde8e8a0c93c6a7a96911980dd40185295973b4376f8d7be8e",
}
ASKED_OF_TEXT = "15ae0a0ff6d946eca9af13cbe27db68e8877705b5661dce19d0bdc099c1297e7"
LIMITS = (
    "8a334c424bb9567bc50e918ad3698671c6ffa1e977fe17b4b3b3f89e142d2a51",
    "fc6e4bb137f1001561d763650f4bffa89d84dd966ee0f39fd90f5463ca6d2193",
)

# Of the part of chance, of a measure and of limits: (log, row). Rows of the first two hold the metrics' versions.
SCOREBOARD = (
    (
        "83cca6eff798566f83222fa0ac98f660479e32a5a30c6b9e9c63b3a2d6296a02",
        "b852a1bc60d5e08bc53711567b66fdf6070654ea9e4ef94fae542d6fcf37029a",
    ),
    (
        "94ed93385e3a02182e73195b6bdbc6bf56991f12405f40dc0df2222abc2ff0d0",
        "853ab9776cf0391ec60035fcb4a3a1089f75bb7612fc2e654141ad9fd353686e",
    ),
    (
        "9e25c136ffb84cdb7b99a1f1700cdf852b3e89deda4c44fc6542a42da8ff0e5e",
        "4ba0c35a046c38c5477d31dce9e5532cd10b30a70e24281c05f5421d0e06590d",
    ),
)
# Chance and a measure by AOPC alone: their logs; rows are named as those of the whole.
AOPC_BOARD = (
    "70f30af7314ebab38345ff5ae1b22f35b9b502b6c3ad28d737474bd91bcacf27",
    "519034106e55a0ba4000fdc829135a50e538084fffc2f90c36440478480f7223",
)

# Of an attack and its budget as it is unasked: (entry, log of rows).
ATTACKS = {
    "DeepWordBug": (
        "41a7744ee1e268e9dcb42bea38f82a49ad4dfc98b8c8702ececd5e5e451ca1aa",
        "b95056f0fd30e823b109d9e314237a12dacbf94b82d322fadf077fa6746c76f1",
    ),
    "HotFlip": (
        "7894bb9ff857cfe97629c0188b364739f980e6c7ea4619bb84c060671147841a",
        "213dc5436c96b24f151de5b49edb7f7a8799b2bebbbee8ff24bcdd3061f4d7b5",
    ),
}
ATTACKS_ROW = "f60f2b1f28fbc23ba1349c94f9ff4c8d74c8e0bfe7b1d3d1a1a2cf5d1aaa0c78"

PRODUCERS = {
    "attack/",
    "attacks/row",
    "forward",
    "masf",
    "attribution/",
    "interactions",
    "smallest sets",
    "stability",
    "judged/",
    "predictions",
    "embedding map",
    "model check",
    "model check/row",
    "behaviour",
    "behaviour/row",
    "first change",
    "packed log",
    "text",
    "fewest",
    "fewest/row",
    "agreement",
    "agreement/row",
    "scoreboard",
    "scoreboard/chance/row",
    "scoreboard/limits/row",
    "scoreboard/measure/row",
    "limits",
    "limits/row",
    "verdicts",
    "verdicts/row",
    "word scores",
    "word scores/row",
    "scores",
    "scores/prediction",
    "scores/random",
    "scores/shuffled",
    "scores/measure",
}


@pytest.fixture(scope="module")
def model(bundled):
    return bundled


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def computing(model, store):
    return with_reference(model, store)


@pytest.fixture
def explainer(model, computing):
    """It reads: a forward pass fails the test."""
    before = model.scheduler.counters.passes
    yield computing
    assert model.scheduler.counters.passes == before


def rows_of(*names: str) -> np.ndarray:
    return np.array([list(bytes.fromhex(name)) for name in names], dtype=np.uint8)


def test_what_all_keys_rest_on(model, explainer):
    assert model.digest == MODEL and model.precision == "float32" and explainer.reference.digest == REFERENCE
    found = {
        (unit, second): model.encode(TEXT, second, unit).digest
        for unit, second in (("word", None), ("token", None), ("sentence", None), ("word", SECOND))
    }
    assert found == EXAMPLES


@pytest.mark.parametrize("erasure, unit", FORWARD)
def test_logits_of_masked_inputs(explainer, store, erasure, unit):
    encoded = explainer.encode(TEXT, None, unit)
    masks = np.eye(encoded.F, dtype=bool)[:2]
    logits = np.array([[0.25, -1], [7, 3]], dtype=np.float32)
    store.append(FORWARD[erasure, unit], {"masks": np.packbits(masks, axis=1), "logits": logits}, {})
    np.testing.assert_array_equal(explainer.oracles.of(encoded, erasure).logits(masks), logits)


@pytest.mark.parametrize("erasure", MASF)
def test_p_values(explainer, store, erasure):
    encoded = explainer.encode(TEXT, None, "word")
    mask = np.eye(encoded.F, dtype=bool)[:1]
    forms = [explainer.reference.forms[form] for form in FORMS]
    # Each form's p-values against every ratio, then those of its layers.
    widths = [form.R for form in forms] + [form.L for form in forms]
    assert widths == [11, 1, 7, 7]
    p = np.linspace(0.1, 0.9, sum(widths))[None]
    masks, logits = np.packbits(mask, axis=1), np.array([[0.25, -1]], dtype=np.float32)
    store.append(FORWARD[erasure, "word"], {"masks": masks, "logits": logits}, {})
    store.append(MASF[erasure], {"masks": masks, "p": p}, {})
    # One of six words is nearest to 0.2; a step of a path says its own ratio.
    assert encoded.F == 6
    for asked, place in ((None, 2), (np.array([7]), 7)):
        found = explainer.tested(encoded, erasure).judge(mask, asked)
        assert [found.p[form][0] for form in FORMS] == [p[0, place], p[0, 11]]
        np.testing.assert_array_equal([found.layers[form][0] for form in FORMS], p[0, 12:].reshape(2, 7))


@pytest.mark.parametrize("exact", INTERACTIONS)
def test_interactions(explainer, store, exact):
    encoded = explainer.encode(TEXT, None, "word")
    pairs = np.triu(np.arange(36.0).reshape(6, 6), 1)
    arrays = {"own": np.arange(6) + 0.5, "pairs": pairs + pairs.T}
    store.put(INTERACTIONS[exact], arrays, {"sets": 64, "passes": 3, "milliseconds": 2.5})
    found = stored_interactions(explainer, encoded, 1, exact)
    assert found is not None and (found.sets, found.passes, found.exact) == (64, 3, exact)
    np.testing.assert_array_equal(found.split.pairs, arrays["pairs"])


def test_smallest_sets(explainer, store):
    encoded = explainer.encode(TEXT, None, "word")
    arrays = {
        "members": np.array([[0, 0, 1, 0, 0, 0], [0] * 6], dtype=np.uint8),
        "found": np.array([1, 0], dtype=np.uint8),
        "probability": np.array([0.25, np.nan]),
        "count": np.array([2, 0], dtype=np.int32),
    }
    store.put(SMALLEST, arrays, {})
    first, second = stored_sets(explainer, encoded) or (None, None)
    assert (first.size, first.count, first.probability, first.exact) == (1, 2, 0.25, True)
    assert first.erased.tolist() == [False, False, True, False, False, False] and second.members is None


@pytest.mark.parametrize("name", STABILITY)
def test_stability(explainer, store, name):
    encoded, asked = explainer.encode(TEXT, None, "word"), 5 if measure(name).seeded else 1
    F, path = encoded.F, measure(name).path is not None
    arrays = {"sums": np.arange(6) + 0.5 if path else np.empty(0)}
    for variant in measure(name).variants:
        arrays[f"drawn {variant}"] = np.arange(asked * F).reshape(asked, F) + 0.5
        arrays |= {} if path else {f"rungs {variant}": np.full((5, F), 2.0)}
        arrays |= {f"{change} {variant}": np.full(F, 3.0) for change in ("white space", "another batch")}
    store.put(STABILITY[name], arrays, {"why": {"half precision": "made up"}})
    found = stored_stability(explainer, encoded, name, 1)
    assert found is not None and found.complete and found.changed["half precision"] == "made up"
    np.testing.assert_array_equal(found.drawn["signed"], arrays["drawn signed"])
    assert found.counts == (() if path else (8, 16, 32, 64)) and (found.due == 5.5) == path


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(explainer, store, name):
    encoded, (entry, log) = explainer.encode(TEXT, None, "word"), ATTACKS[name]
    changed = {"changed": np.array([1]), "spans": np.array([[2, 6]])}
    changed |= {"similarity": np.array(0.9), "outcome": np.array(0)}
    store.put(entry, changed, {"text": "A loud and moving film.", "queries": 9})
    found = attacked(explainer.model, store, encoded, 1, name, Budget())
    assert found.success and (found.changed, found.queries, found.text[2:6]) == ((1,), 9, "loud")
    study = Attacking(attack=name)
    assert study.key(explainer) == log
    subject = Subject(explainer, SAMPLE.examples[0], 1, encoded, np.array(True))
    assert study.row_keys(subject) == [ATTACKS_ROW]


def test_attributions(explainer, store):
    encoded = explainer.encode(TEXT, None, "word")
    masked = np.eye(encoded.F, dtype=bool)[1]
    assert set(ATTRIBUTIONS) <= set(measures())
    for i, (name, key) in enumerate(ATTRIBUTIONS.items()):
        scores = {variant: np.arange(encoded.F) + i + 0.5 for variant in measure(name).variants}
        store.put(key, scores, {"passes": i, "milliseconds": 2.5})
        found = explainer.stored(encoded, name, 1, masked, seed=3)
        assert found is not None and (found.passes, found.milliseconds) == (i, 2.5), name
        np.testing.assert_equal(found.scores, scores, err_msg=name)


def test_what_soft_metrics_say(computing, store):
    """Scores are in the key, so that these are of a measure that no network has a part in."""
    encoded, how = computing.encode(TEXT, None, "word"), How(draws=4, seed=5)
    # So is the predicted class.
    whole = {"masks": np.zeros((1, 1), dtype=np.uint8), "logits": np.array([[0, 1]], dtype=np.float32)}
    store.append(FORWARD[MASK, "word"], whole, {})
    for name, key in JUDGED.items():
        store.put(key, {"score": np.array([0.125, 0.5])}, {"note": "made up"})
        found = judge_measure(computing, encoded, "random", "signed", (name,), how).found[name]
        assert (found.value, found.error, found.note) == (0.125, 0.5, "made up"), name


def test_what_soft_metrics_say_of_random_attributions(explainer, store):
    encoded, how = explainer.encode(TEXT, None, "word"), How(draws=4, seed=5)
    whole = {"masks": np.zeros((1, 1), dtype=np.uint8), "logits": np.array([[0, 1]], dtype=np.float32)}
    store.append(FORWARD[MASK, "word"], whole, {})
    store.put(JUDGED_RANDOM, {"values": np.array([0.3, 0.4])}, {})
    with pytest.raises(StopIteration) as finished:
        next(judge_random(explainer, encoded, ("Soft-NC",), how, 2))
    np.testing.assert_array_equal(finished.value.value["Soft-NC"].values, [0.3, 0.4])


def test_predictions(model, store):
    logits = np.array([[0, 0], [0, np.log(3)]], dtype=np.float32)
    store.put(PREDICTIONS, {"logits": logits}, {"problems": {}})
    found = stored_predictions(model, [(TEXT, None), (TEXT, SECOND), (TEXT, None)], store)
    np.testing.assert_allclose(found.probabilities, [[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]], rtol=1e-6)


def test_maps(store):
    states = np.arange(60, dtype=np.float32).reshape(20, 3)
    places = np.arange(40, dtype=np.float32).reshape(20, 2)
    store.put(MAP, {"places": places}, {"ratios": [0, 0.2, 0.5, 0.8, 1]})
    np.testing.assert_array_equal(read_map(Points(states, np.arange(20), np.arange(20)), store), places)


@pytest.mark.parametrize(
    "curve",
    [
        model_check.Curve(seed=2),
        model_check.Curve("leave-one-out", "absolute"),
        model_check.Curve("gradient", unit="token", recompute=False),
    ],
    ids=lambda curve: curve.measure,
)
def test_rows_of_a_model_check(explainer, store, curve):
    K = model_check.K
    rows = {
        "predicted": np.ones((1, K), dtype=np.int32),
        "values": np.linspace(0, 1, K)[None],
        "p": np.linspace(0, 1, len(FORMS) * K).reshape(1, len(FORMS), K),
        "found": np.array([[0.25, 0.75]]),
    }
    key, name = CHECK[curve.measure]
    store.append(key, {"rows": rows_of(name)} | rows, {})
    found = read_study(explainer, SAMPLE, curve, store)
    assert found.there.tolist() == [True]
    np.testing.assert_array_equal(found.values, rows["values"])
    np.testing.assert_array_equal([found.p[form][0] for form in FORMS], rows["p"][0])
    np.testing.assert_array_equal(found.found, rows["found"])


@pytest.mark.parametrize(
    "course",
    [behaviour.Course(seed=2), behaviour.Course("leave-one-out", "absolute", "token", REMOVAL)],
    ids=lambda course: course.measure,
)
def test_rows_of_behaviour(explainer, store, course):
    K, H = behaviour.K, explainer.model.H
    orders = behaviour.ORDERS if course.random else 1
    rows = {
        "flips": np.arange(orders, dtype=np.int32)[None],
        "free": np.array([5], dtype=np.int32),
        "logits": np.arange(2 * K, dtype=np.float32).reshape(1, K, 2),
        "states": np.arange(K * H, dtype=np.float16).reshape(1, K, H),
    }
    key, name = BEHAVIOUR[course.measure]
    store.append(key, {"rows": rows_of(name)} | rows, {})
    found = read_study(explainer, SAMPLE, course, store)
    assert found.there.tolist() == [True]
    for column, values in rows.items():
        np.testing.assert_array_equal(getattr(found, column), values, err_msg=column)


def test_rows_of_the_first_change_and_packed_ones(explainer, store):
    """0.25 in single precision is 3E 80 00 00; of a row's name the first eight bytes are kept."""
    study, name = (
        behaviour.Changes("leave-one-out", "absolute", "token", REMOVAL),
        rows_of(BEHAVIOUR["leave-one-out"][1]),
    )
    store.append(CHANGES, {"rows": name, "flips": np.array([[2]], np.int32), "free": np.array([5], np.int32)}, {})
    found = read_study(explainer, SAMPLE, study, store)
    assert (found.there.tolist(), found.flips.tolist(), found.free.tolist()) == ([True], [[2]], [5])
    tau = np.array([0x3E, 0x80, 0, 0], dtype=np.uint8).reshape(4, 1, 1)
    store.append(PACKED_AGREEMENT, {"rows": rows_of(AGREEMENT[1])[:, :8], "tau": tau}, {})
    found = read_study(explainer, SAMPLE, Agreement(("leave-one-out", "gradient"), "absolute", "token"), store)
    assert found.columns["tau"].tolist() == [[0.25]]


def test_rows_of_the_fewest_features(explainer, store):
    key, name = FEWEST
    rows = {"rows": rows_of(name), "fewest": np.array([3], dtype=np.int32), "free": np.array([9], dtype=np.int32)}
    store.append(key, rows, {})
    found = read_study(explainer, SAMPLE, FewestFeatures("token", REMOVAL), store)
    assert (found.there.tolist(), found.fewest.tolist(), found.free.tolist()) == ([True], [3], [9])


def test_rows_of_agreement(explainer, store):
    key, name = AGREEMENT
    store.append(key, {"rows": rows_of(name), "tau": np.array([[0.25]])}, {})
    found = read_study(explainer, SAMPLE, Agreement(("leave-one-out", "gradient"), "absolute", "token"), store)
    assert found.there.tolist() == [True] and found.columns["tau"].tolist() == [[0.25]]


def test_rows_of_a_scoreboard(explainer, store):
    board = Scoreboard(("gradient",), "absolute", "token", draws=3)
    S = len(board_metrics())
    shapes = {
        board.chance: {
            "values": S,
            "errors": S,
            "orders": 10,
            "curves": (10, 11),
            "marks": 2 + S,
            "evidence": (),
            "probability": (),
        },
        board.measured[0]: {
            "aopc": 2,
            "values": S,
            "errors": S,
            "curve": 11,
            "marks": 3 + S,
            "evidence": (),
            "took": 2,
        },
        board.limits: {"lower": (), "upper": (), "marks": ()},
    }
    whole = {board.chance: ("predicted",), board.measured[0]: ("notes",), board.limits: ("method",)}
    for study, (key, name) in zip(shapes, SCOREBOARD):
        sizes = {column: (1, *np.atleast_1d(shape).astype(int)) for column, shape in shapes[study].items()}
        arrays = {column: np.full(size, 0.5) for column, size in sizes.items()}
        arrays |= {column: np.zeros(1, dtype=np.int32) for column in whole[study]} | {"rows": rows_of(name)}
        store.append(key, arrays, {"sentences": ["", "made up"]} if study != board.chance else {})
        assert read_study(explainer, SAMPLE, study, store).there.tolist() == [True], (study.label, key, name)
    alone = AopcBoard(("gradient",), "absolute", "token", draws=3)
    for study, key, whole in zip(alone.studies, AOPC_BOARD, board.studies):
        assert study.key(explainer) == key and study.wider == whole
        assert read_study(explainer, SAMPLE, study, store).there.tolist() == [True]


def test_rows_of_verdicts(explainer, store):
    key, name = VERDICTS
    columns = {"word": [[1.0]], "p": [[0.01]], "worse": [[1.0]], "reached": [[0.25]]}
    store.append(key, {"rows": rows_of(name)} | {what: np.array(one) for what, one in columns.items()}, {})
    found = read_study(explainer, SAMPLE, VerdictsOfTexts(("leave-one-out",), unit="token"), store)
    assert found.there.tolist() == [True]
    assert {what: one.tolist() for what, one in found.columns.items()} == columns


def test_words_of_texts(explainer, store):
    key, name = WORD_SCORES
    told = '{"class": 1, "words": ["dull"], "alone": [0], "scores": [[0.5]], "top": [[1]]}'
    store.append(key, {"rows": rows_of(name), "words": np.zeros(1, dtype=np.int32)}, {"sentences": [told]})
    study = WordScores(("leave-one-out",), unit="token")
    found = read_study(explainer, SAMPLE, study, store)
    assert found.there.tolist() == [True] and read_words(found, 0)["scores"] == [[0.5]]


def test_scores(explainer, store):
    width = 2 + len(LENGTHS)
    how = How(draws=4, seed=5)
    study = Scoring(("leave-one-out", "gradient"), ("NS", "Soft-NC"), "absolute", how, 1)
    log, names = SCORES
    # Its class stands where the standard error does.
    values = np.linspace(0, 1, len(names) * width).reshape(len(names), width)
    values[0] = [0.75, 1, *[np.nan] * len(LENGTHS)]
    notes = np.arange(len(names), dtype=np.int32) % 2
    content = {"names": rows_of(*names.values()), "values": values, "notes": notes}
    store.append(log, content, {"sentences": ["", "made up"]})
    lines = dict(zip(names, values))
    said = dict(zip(names, notes))
    for baseline in ("random", SHUFFLED):
        asked = replace(study, baseline=baseline)
        found = read_study(explainer, SAMPLE, asked, store)
        assert (
            found.there.tolist() == [True] and found.predicted.tolist() == [1] and found.probability.tolist() == [0.75]
        )
        for a, attributed in enumerate(asked.attributions):
            for s, metric in enumerate(asked.metrics):
                line = f"{attributed.name}: {metric}"
                np.testing.assert_array_equal(found.values[0, a, s], lines[line], err_msg=line)
                assert found.sentences[found.notes[0, a, s]] == ("", "made up")[said[line]], line


def test_limits_of_texts(explainer, store):
    key, name = LIMITS
    told = '{"class": "positive", "lower": 0.25}'
    columns = {"row": np.zeros(1, dtype=np.int32), "seconds": np.array([2.5])}
    store.append(key, {"rows": rows_of(name)} | columns, {"sentences": [told]})
    study = LimitsOfTexts(("leave-one-out",), "absolute", "token", "positive", 4, 1024, True)
    found = read_study(explainer, SAMPLE, study, store)
    assert found.there.tolist() == [True] and found.sentences[found.columns["row"][0]] == told


def test_what_studies_asked_of_a_text(computing, model, store):
    encoded, shelf = computing.encode(TEXT, None, "word"), Shelf(store)
    shelf.open(model.digest, encoded.digest)
    shelf.put(MODEL, {"a": np.arange(3)}, {})
    shelf.close()
    (kept,) = store.segments(ASKED_OF_TEXT)
    places = {f"v1/{MODEL[:2]}/{MODEL}.safetensors": len(kept.arrays["files"])}
    assert kept.meta == {"places": places} and shelf.get(MODEL) is None
    shelf.open(model.digest, encoded.digest)
    assert shelf.get(MODEL).arrays["a"].tolist() == [0, 1, 2]


def test_every_producer_is_pinned():
    """Whoever writes another producer's name down pins a key of it here; `job/…` names work in memory."""
    found = set()
    for path in (ROOT / "core").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "canonical_key":
                first = call.args[0].values[0] if isinstance(call.args[0], ast.JoinedStr) else call.args[0]
                found |= {first.value} if isinstance(first, ast.Constant) else set()
    assert found and {name for name in found if not name.startswith("job/")} <= PRODUCERS


@pytest.mark.parametrize("ends", ["three", -1, [3], 3.5])
def test_a_text_whose_places_are_none_is_not_read(computing, model, store, ends):
    encoded, shelf = computing.encode(TEXT, None, "word"), Shelf(store)
    store.append(ASKED_OF_TEXT, {"files": np.zeros(3, np.uint8)}, {"places": {f"v1/{MODEL}": ends}})
    shelf.open(model.digest, encoded.digest)
    assert shelf.get(MODEL) is None and not shelf._held
