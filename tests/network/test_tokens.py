"""What is too long for a model is cut as the tokenizer itself would, and takes no more time and memory than it has
words.
"""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.network.tokens import encodable, read_tokens
from tests import tiny
from tests.network.test_features import ANY_TEXT, TOKENIZERS

SHORT = st.lists(st.sampled_from(["the", " ", "captain", " tide", "x", "'s", "[SEP]", "中"]), max_size=9).map("".join)


@pytest.fixture(scope="module")
def left():
    """A tokenizer that cuts at the beginning."""
    words = tiny.tokenizer("bert")
    words.truncation_side = "left"
    return words


def assert_as_the_library_cuts(words, text, second, most):
    pair = [[encodable(text)]] if second is None else [[encodable(text)], [encodable(second)]]
    batch = words(*pair, truncation=True, max_length=most, verbose=False)
    expected = batch.encodings[0]
    (read,) = read_tokens(words, [text], None if second is None else [second], most)
    np.testing.assert_array_equal(read.ids, expected.ids)
    np.testing.assert_array_equal(read.sides, [-1 if side is None else side for side in expected.sequence_ids])
    np.testing.assert_array_equal(read.offsets.reshape(-1), np.array(expected.offsets).reshape(-1))
    assert read.cut == bool(expected.overflowing) and ("token_type_ids" in batch) == (read.type_ids is not None)
    if read.type_ids is not None:
        np.testing.assert_array_equal(read.type_ids, batch["token_type_ids"][0])
    assert all(array.dtype == np.int64 for array in (read.ids, read.sides, read.offsets))


@pytest.mark.parametrize("kind", [*TOKENIZERS, "left"])
@settings(max_examples=120, deadline=None, derandomize=True)
@given(text=SHORT | ANY_TEXT, second=st.none() | SHORT | ANY_TEXT, most=st.integers(5, 24) | st.just(64))
def test_texts_and_pairs_are_cut_as_the_library_cuts_them(tiny_model, left, kind, text, second, most):
    words = left if kind == "left" else tiny_model(kind).tokenizer
    assert_as_the_library_cuts(words, text, second, most)


@pytest.mark.parametrize("most", range(4, 13))
def test_every_share_of_a_pair_is_as_the_library_gives_it(tiny_model, most):
    words = tiny_model("bert").tokenizer
    for first in range(12):
        for second in range(12):
            assert_as_the_library_cuts(words, "the " * first, "the " * second, most)


def test_many_examples_come_one_after_the_other(tiny_model):
    words = tiny_model("bert").tokenizer
    texts, seconds = ["the " * n for n in range(600)], ["tide " * (600 - n) for n in range(600)]
    read = list(read_tokens(words, texts, seconds, 64))
    assert [(one.sides == 0).sum() for one in read] == [min(n, max(30 + (n > 300), 61 - (600 - n))) for n in range(600)]
    assert [one.cut for one in read] == [True] * 600 and list(read_tokens(words, [], None, 64)) == []


def test_a_pair_of_long_texts_takes_no_more_than_its_words(tiny_model):
    """The tokenizer put each part of the one text beside each of the other: 5 seconds and 3.5 GB for 16,000 words."""
    model, text = tiny_model("bert"), "the tide " * 3_000
    started = time.process_time()
    encoded = model.encode(text, text)
    assert time.process_time() - started < 1
    assert encoded.F == encoded.truncation.words_read == 30 and encoded.truncation.words == 6_000
    assert encoded.truncation.second_cut and encoded.T == 64
