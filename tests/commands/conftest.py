"""What tests of commands share."""

import pytest

from core.loading import loading


@pytest.fixture
def model(tiny_model, monkeypatch, tmp_path):
    """The model of every command that asks for one; nothing else is loaded, and what is kept lies on a healthy disk."""
    model = tiny_model("bert")
    monkeypatch.setattr(loading, "load", lambda *_: model)
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    return model
