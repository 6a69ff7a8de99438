"""Families of models that are no library's, made known to `transformers` once one is asked for."""

from core.network.memory import IMPORTING


def register_bilstm() -> None:
    """Make the BiLSTM known."""
    with IMPORTING:
        import core.network.bilstm  # noqa: F401
