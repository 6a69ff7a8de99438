"""What a page waits for, by its cost."""

import pytest

from core.explanation.explainer import Cost


@pytest.mark.parametrize(("passes", "seconds", "prompt"), [(1, 1e4, True), (2, 1.5, True), (2, 1.6, False)])
def test_a_page_waits_for_what_is_fast_and_for_a_single_pass_on_any_machine(passes, seconds, prompt):
    cost = Cost(passes, seconds)
    assert cost.prompt == prompt
    assert cost.cheap == (seconds <= 1.5)
