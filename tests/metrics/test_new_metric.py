"""How a new faithfulness metric is added, the example to read: one file, `example/half_erased.py`, in the place of a
file in `core/metrics`, and its test. Everything else follows from what it registers; in the README by
`python -m core.tools readme --write`.
"""

import pytest

from core import metrics as room
from core.evaluation.studies.scoring import Scoring
from core.metrics.catalogue import default_metrics, metrics, of_examples
from core.metrics.registry import REGISTERED
from core.tools.readme import metric_table
from tests.adding import TESTS, one_more_file, read_anew
from tests.app_session import App

NAME = "half erased"


@pytest.fixture(scope="module", autouse=True)
def added():
    with one_more_file(room, REGISTERED, TESTS / "metrics" / "example"):
        yield
    assert NAME not in metrics()


@pytest.fixture(scope="module")
def contract():
    return read_anew("metrics/test_metrics.py")


def test_its_number_by_hand(contract):
    """What the new file's own test says: .9 with nothing erased, .45 without the first two of four words."""
    assert metrics()[NAME](contract.case_of()).value == pytest.approx(0.45)


def test_it_has_a_place_in_menus_and_a_row_in_tables():
    names = list(of_examples())
    assert names.index("AOPC comprehensiveness") + 1 == names.index(NAME) and NAME not in default_metrics()
    (row,) = [line for line in metric_table().splitlines() if NAME in line]
    assert row.split(" | ")[1:3] == ["↑", "-1 to 1, probability"]


def test_it_can_be_scored_over_data():
    Scoring(metrics=(NAME,)).check()


def test_the_contract_of_metrics_is_asked_of_it(contract):
    assert NAME in contract.EVERY.args[1]
    contract.test_every_metric_says_why_it_has_no_number(NAME)
    contract.test_every_metric_stays_in_its_range_and_leaves_its_inputs_alone(NAME)
    contract.test_metrics_that_read_the_order_alone_do_not_see_magnitudes(NAME)
    contract.test_no_more_inputs_are_asked_than_is_said(NAME)


def test_the_page_offers_and_shows_it(server, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0)
    assert NAME in App("pages/hard_and_soft_erasure.py").widget("multiselect", "Metrics").options
