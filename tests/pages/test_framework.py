"""What is set in the framework so that a page lives through work that streams."""

from pathlib import Path

import pytest
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def projects_settings(monkeypatch):
    """The settings that the app has: they are read once, and from wherever whoever asked first worked."""
    monkeypatch.chdir(ROOT)
    config.get_config_options(force_reparse=True)


def drawn(place: int, characters: int) -> ForwardMsg:
    """What a fragment sends for one element, as it leaves for a browser that has seen a large one of the same content
    before.
    """
    message = ForwardMsg()
    message.metadata.delta_path[:] = [0, 2, 0, place]
    message.delta.fragment_id = "fragment"
    message.delta.new_element.markdown.body = "x" * characters
    populate_hash_if_needed(message)
    return create_reference_msg(message) if message.metadata.cacheable else message


def left_over() -> list[int]:
    """Places of what is still sent of a fragment's run when it runs again before the browser has heard of the first."""
    queue = ForwardMsgQueue()
    for place, characters in enumerate((10, 1_000_000, 10)):
        queue.enqueue(drawn(place, characters))
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["fragment"])
    return [message.metadata.delta_path[-1] for message in queue.flush()]


def test_a_fragment_that_runs_again_takes_back_all_that_it_has_sent():
    """A large element that stayed, while the one before it was taken back, had no place on the page, and the page
    died.
    """
    assert left_over() == []


def test_that_rests_on_a_setting(monkeypatch):
    """As the framework comes the large element stays; once it no longer does, the setting may go."""
    really = config.get_option
    monkeypatch.setattr(
        config, "get_option", lambda name: 10_000 if name == "global.minCachedMessageSize" else really(name)
    )
    assert left_over() == [1]
