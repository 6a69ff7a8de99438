"""A model of several labels on pages: the largest sigmoid unasked, any other by its name."""

import pytest

from core.results.caveats import Caveat
from pages.parts.frame import resources
from tests.app_session import ATTRIBUTIONS, App
from tests.loading.test_several_labels import LABELS, several

pytestmark = pytest.mark.usefixtures("server")


def test_the_highest_label_is_explained_until_another_is_chosen(nothing_added, tiny_root, tmp_path):
    several("bert", tiny_root, tmp_path)
    resources.library().add_model(str(tmp_path))
    app = App(ATTRIBUTIONS, model=str(tmp_path), data="reviews")
    box = app.widget("selectbox", "Label")
    assert box.value == "highest" and box.options == ["highest", *LABELS]
    assert any(badge.endswith(Caveat.SEVERAL_LABELS.badge) for badge in app.badges) and not app.errors
    for label in LABELS:
        app.set("selectbox", "Label", label)
        assert app.widget("selectbox", "Explained class").options[1:] == [f"not {label}", label] and not app.errors
        (predicted,) = [badge for badge in app.badges if badge.startswith((label, f"not {label}"))]
        assert float(predicted.split()[-1].strip("✓✗ ")) >= 0.5
