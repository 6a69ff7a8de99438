"""What a page starts by itself, and what it no longer does once somebody cancelled."""

import pytest

from pages.parts.sections.streaming import start


class FakeJob:
    def __init__(self, stopped):
        self.stopped, self.active = stopped, False

    def cancelled(self):
        return self.stopped


class FakeWork:
    """A piece of work that notes whether it was asked for."""

    def __init__(self, at_once=True, job=None):
        self.at_once, self.job, self.asked = at_once, job, 0

    def ask(self):
        self.asked += 1
        self.job = FakeJob(False)


def test_what_is_cheap_starts_once_and_what_is_dear_waits():
    cheap, dear = FakeWork(), FakeWork(at_once=False)
    start([cheap, dear])
    start([cheap, dear])
    assert (cheap.asked, dear.asked) == (1, 0)


@pytest.mark.parametrize("stopped", [True, False])
def test_after_a_cancel_nothing_that_comes_later_starts_by_itself(stopped):
    """Random orders that become possible once limits are there used to start behind a search that was just
    cancelled.
    """
    follows = FakeWork()
    start([FakeWork(job=FakeJob(stopped)), follows])
    assert follows.asked == (not stopped)


def test_a_model_under_another_name_is_not_set_beside_itself(monkeypatch):
    from types import SimpleNamespace

    from core.network.architectures import UnsupportedModel
    from pages.parts.sections import asking

    models = {
        name: SimpleNamespace(model=SimpleNamespace(name=name, digest=digest, mask_id=1, unknown_id=None))
        for name, digest in (("one", "a"), ("copy", "a"), ("other", "b"))
    }
    monkeypatch.setattr(asking.resources, "explainer", models.get)
    shown = [models["one"].model]
    assert asking.other_model("other", shown) is models["other"]
    with pytest.raises(UnsupportedModel, match="the weights of one"):
        asking.other_model("copy", shown)
