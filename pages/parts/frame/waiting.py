"""Saying that others are at work on the same model, while one's own turn comes."""

from collections.abc import Generator
from contextlib import contextmanager

import streamlit as st

from core.network.model import Model


@contextmanager
def in_turn(model: Model) -> Generator[None]:
    """Say how many ask this model now, if anybody does; whoever asked first is served first, batch by batch."""
    others = model.lock.waiting
    if not others:
        yield
        return
    with st.spinner(f"{others} other{'' if others == 1 else 's'} asked this model before; yours comes in turn …"):
        yield
