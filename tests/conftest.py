"""Fixtures shared by the tests: tiny models, written and loaded once a session."""

import pytest

from tests import tiny


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tiny matrices are multiplied fastest by one thread, and always in the same order."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_root(tmp_path_factory):
    """The session's folder of tiny models; tests read from it and copy before they change."""
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="session")
def tiny_model(tiny_root):
    """`tiny_model(kind)`: the loaded classifier of a kind, the same object throughout the session."""
    from core.network.loading import load

    loaded = {}

    def model(kind: str):
        if kind not in loaded:
            loaded[kind] = load(str(tiny.folder(kind, tiny_root)), "cpu")
        return loaded[kind]

    return model
