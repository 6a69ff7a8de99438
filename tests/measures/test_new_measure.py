"""How a new importance measure is added, the example to read: one file, `example/leave_pair_out.py`, in the place of a
file in `core/measures`, and its test. Everything else follows from what it registers; in the README by
`python -m core.tools readme --write`.
"""

import json

import numpy as np
import pytest

from core import measures as room
from core.evaluation.studies.scoring import Scoring
from core.figures.palette import hue
from core.loading.inspection import check_model
from core.measures.catalogue import default_measures, measure, measures, swept_measures
from core.measures.registry import REGISTERED
from core.tools.readme import measure_table
from tests.adding import TESTS, one_more_file, read_anew
from tests.app_session import ATTRIBUTIONS, App
from tests.colours import contrast
from tests.table import from_gains

NAME = "leave-pair-out"


@pytest.fixture(scope="module", autouse=True)
def added():
    with one_more_file(room, REGISTERED, TESTS / "measures" / "example"):
        yield
    assert NAME not in measures()


def test_its_numbers_by_hand():
    """What the new file's own test says."""
    table = from_gains(3, {"0": 1, "1": 2, "2": -1, "01": 5, "12": 4})
    assert measure(NAME).compute(table.explained())["signed"].tolist() == [5, 4, -1]
    assert measure(NAME).compute(table.explained([0, 1, 2]))["signed"].tolist() == [0, 0, 0]


def test_it_has_a_place_in_menus_a_colour_and_a_row_in_tables():
    names = list(measures())
    assert names.index("leave-one-out") + 1 == names.index(NAME) and NAME in default_measures()
    assert hue(NAME) == "#6b7a1f" and contrast(hue(NAME), "#ffffff") >= 3
    (row,) = [line for line in measure_table().splitlines() if NAME in line]
    assert row.split(" | ")[3:] == ["F + 1", "masking oracle", "FMM App. E, in pairs |"]
    assert check_model("sst2-fmm")[NAME].works == "yes"


def test_it_is_swept_over_data_unasked():
    assert NAME in swept_measures() and NAME in Scoring().measures


def test_the_contract_of_measures_is_asked_of_it(tiny_model, monkeypatch, tmp_path):
    contract = read_anew("measures/test_contract.py")
    assert NAME in contract.NAMES and NAME in contract.NETWORKED

    def fitting(kind, name):
        return tiny_model(kind)

    contract.test_every_measure_says_what_it_is(NAME)
    contract.test_the_shape_of_every_result(fitting, "bert", "word", None, NAME)
    contract.test_the_classes_differ_and_the_seed_matters_only_where_it_is_said(fitting, "bert", NAME)
    contract.test_the_store_changes_nothing_but_the_time(fitting, monkeypatch, tmp_path, "bert", NAME)


def test_what_a_command_writes_of_it_is_what_it_registers():
    assert read_anew("commands/test_values.py").TAKEN[NAME] == measure(NAME).variants[:2]


def test_the_page_offers_and_draws_it(server):
    app = App(ATTRIBUTIONS)
    assert NAME in app.widget("multiselect", "Measures").options
    row = app.rows[NAME]
    assert row["hue"] == "#6b7a1f" and row["definition"] == measure(NAME).definition
    assert np.abs(row["shades"]).max() == 1 and json.dumps(row)
