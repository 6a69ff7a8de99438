"""Words, the tokens that belong to them, and what a mask does to token ids."""

import json
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.network.features import MASK_SPELLINGS, NoFeatures, encode, find_words, masked_ids, with_premasked
from tests import tiny

TOKENIZERS = ("bert", "roberta", "deberta", "modernbert", "gpt2")
BYTE_PAIRS = ("roberta", "modernbert", "gpt2")
EACH = pytest.mark.parametrize("kind", TOKENIZERS)

WORDS = {
    "plain": ("the tide turned", ["the", "tide", "turned"]),
    "quotes": ("“Wait,” she said: ‘no’", ["“", "Wait", ",”", "she", "said", ":", "‘", "no", "’"]),
    "brackets": ("(not {at} [all])", ["(", "not", "{", "at", "}", "[", "all", "])"]),
    "ellipsis": ("well ... no… …yes", ["well", "...", "no", "…", "…", "yes"]),
    "hyphens": ("a well-known -- half–open -x-", ["a", "well-known", "--", "half–open", "-", "x", "-"]),
    "apostrophes": ("it's rock'n'roll, the dogs' 'tis don’t", ["it's", "rock'n'roll", ",", "the", "dogs", "'", "'", "tis", "don’t"]),
    "a lone 's": ("'s", ["'", "s"]),
    "numbers": ("$5.50 is 5% of #1 (3,141)", ["$5.50", "is", "5", "%", "of", "#", "1", "(", "3,141", ")"]),
    "skin tone": ("nice👍🏽! 👍🏽", ["nice👍🏽", "!", "👍🏽"]),
    "joined emoji": ("👩‍👩‍👧‍👦 ❤️.", ["👩‍👩‍👧‍👦", "❤️", "."]),
    "right to left": ("שלום, עולם! مرحبا؟", ["שלום", ",", "עולם", "!", "مرحبا", "؟"]),
    "combining marks": ("cafe\u0301, nai\u0308ve", ["cafe\u0301", ",", "nai\u0308ve"]),
    "NUL": ("a\0b \0", ["a\0b", "\0"]),
    "zero-width space": ("a\u200bb \u200b", ["a\u200bb", "\u200b"]),
    "HTML": ("<p>Good</p> <br/> &amp;", ["<p>Good</p>", "<br/>", "&", "amp", ";"]),
    "Markdown": ("**Good** _food_ # 1 `x` [a](b.c)", ["**", "Good", "**", "_", "food", "_", "#", "1", "`x`", "[", "a](b.c", ")"]),
    "lone surrogates": ("a\ud800b \udfff.", ["a\ud800b", "\udfff", "."]),
    "tabs and newlines": ("\ta\nb\r\nc\u00a0d\u2003e\x1ff\n", ["a", "b", "c", "d", "e", "f"]),
    "typed masks": ("The [MASK], x[MASK]y ([MASK]) <mask><mask>. [mask]",
                    ["The", "[MASK]", ",", "x", "[MASK]", "y", "(", "[MASK]", ")", "<mask>", "<mask>", ".", "[", "mask", "]"]),
    "nothing": (" \t\n", []),
}

# What a tokenizer drops is no feature; what it fuses into one unknown token is one.
SHARED = {
    ("bert", "lone surrogates"): ["a\ud800b", "."],
    ("deberta", "right to left"): ["שלום", ",", "עולם", "!", "مرحبا؟"],
}

PIECES = ("the", " ", "  ", "\n", "\t", "'s", "'", "’s", "...", "(", ")", "[", "]", "-", "wind", "Captain", "[MASK]", "<mask>", "<|endoftext|>",
          "[SEP]", "</s>", "<pad>", "[PAD]", "▁", "Ġ", "##", "👍🏽", "👩‍👧", "e\u0301", "\u0301", "ﬁ", "İ", "ß", "中文", "שלום", "\0", "\u200b", "\u200d",
          "\ufeff", "\ufffd", "\ud800", "\udc00", "\u2028", "\x85", "\x1f", "<br>", "**", "$5", "x" * 120)
ANY_TEXT = st.text(st.characters(), max_size=40) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
THOROUGH = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def encoded_or_none(model, text, second=None, **more):
    try:
        return model.encode(text, second, **more)
    except NoFeatures:
        return None


@pytest.mark.parametrize("text, words", WORDS.values(), ids=WORDS)
def test_words_by_hand(text, words):
    spans = find_words(text)
    assert [text[a:b] for a, b in spans] == words


@THOROUGH
@given(ANY_TEXT)
def test_words_are_in_order_and_cover_all_but_space(text):
    spans = find_words(text)
    assert all(a < b for a, b in spans) and all(b <= c for (_, b), (c, _) in zip(spans, spans[1:]))
    covered = np.zeros(len(text), dtype=bool)
    for a, b in spans:
        covered[a:b] = True
    assert covered.tolist() == [not c.isspace() for c in text]


@pytest.mark.parametrize("name", [n for n in WORDS if n not in ("a lone 's", "NUL", "zero-width space", "nothing", "brackets", "ellipsis")])
@EACH
def test_two_models_see_the_same_words(tiny_model, kind, name):
    text, words = WORDS[name]
    words = SHARED.get((kind, name), words)
    assert [f.text for f in tiny_model(kind).encode(text).features] == words


@EACH
def test_words_in_one_token_are_one_feature(tiny_model, kind):
    encoded = tiny_model(kind).encode("'s")
    if kind in BYTE_PAIRS:
        assert encoded.T - (kind != "gpt2") * 2 == 1, "the vocabulary has this token"
        assert [(f.text, f.start, f.end) for f in encoded.features] == [("'s", 0, 2)]
    else:
        assert [f.text for f in encoded.features][-1] == "s"


def test_a_dropped_word_is_no_feature(tiny_model):
    assert [f.text for f in tiny_model("bert").encode("the \u200b tide \0 turned").features] == ["the", "tide", "turned"]
    assert [f.text for f in tiny_model("gpt2").encode("the \u200b tide").features] == ["the", "\u200b", "tide"]


@EACH
@pytest.mark.parametrize("unit", ["word", "token"])
def test_a_typed_mask_is_masked_from_the_start(tiny_model, kind, unit):
    model = tiny_model(kind)
    text = "The [MASK] was <mask>, it's cold."
    encoded = model.encode(text, unit=unit)
    typed = {(4, 10), (15, 21)}
    inside = [any(f.start < b and a < f.end for a, b in typed) for f in encoded.features]
    assert encoded.premasked.tolist() == inside and sum(inside) >= 2
    if unit == "word":
        assert [f.text for f, p in zip(encoded.features, encoded.premasked) if p] == ["[MASK]", "<mask>"]
    ids = masked_ids(encoded, np.zeros((1, encoded.F), dtype=bool))[0]
    held = encoded.feature_of >= 0
    assert (ids[held] == model.mask_id).tolist() == encoded.premasked[encoded.feature_of[held]].tolist()
    assert "MASK" not in model.tokenizer.decode(ids[ids != model.mask_id]) and "mask" not in model.tokenizer.decode(ids[ids != model.mask_id])


def test_the_models_own_mask_token_is_masked_from_the_start(tiny_model):
    encoded = tiny_model("gpt2").encode("it <|endoftext|> so")
    assert [f.text for f in encoded.features] == ["it", "<|endoftext|>", "so"] and encoded.premasked.tolist() == [False, True, False]


def test_a_typed_mask_that_shares_a_token_masks_what_shares_it(tiny_model):
    """A vocabulary with "([" in one piece: bracket and mask cannot be told apart, so both are masked."""
    from transformers import GPT2Tokenizer

    model = json.loads(tiny_model("gpt2").tokenizer.backend_tokenizer.to_str())["model"]
    vocabulary = model["vocab"] | {"([": len(model["vocab"])}
    words = GPT2Tokenizer(vocab=vocabulary, merges=[("(", "["), *map(tuple, model["merges"])])
    assert "([" in words.tokenize("([MASK] so")
    encoded = encode(words, "no ([MASK] so", max_tokens=64, mask_id=words.eos_token_id)
    assert [f.text for f in encoded.features] == ["no", "([MASK]", "so"]
    assert encoded.premasked.tolist() == [False, True, False]


@EACH
def test_typed_special_tokens_do_no_harm(tiny_model, kind):
    model = tiny_model(kind)
    texts = ["The soup [SEP] was <pad> cold </s> and [PAD] salt <unk> [CLS] ends [UNK]", "[SEP]", "</s> <s>", "<pad> [PAD] <|endoftext|>"]
    encoded = [model.encode(text) for text in texts]
    for text, one in zip(texts, encoded):
        assert "".join(f.text for f in one.features) == text.replace(" ", "")
    width = max(one.T for one in encoded)
    batch = np.stack([np.pad(one.ids, (0, width - one.T)) for one in encoded])
    types = None if encoded[0].type_ids is None else np.zeros_like(batch)
    logits, pooled = model.run(batch, np.array([one.T for one in encoded]), types, hidden=True)
    for i, one in enumerate(encoded):
        alone, alone_pooled = model.run(one.ids[None], np.array([one.T]), None if types is None else one.type_ids[None], hidden=True)
        np.testing.assert_allclose(logits[i], alone[0], atol=1e-5)
        np.testing.assert_allclose(pooled[i], alone_pooled[0], atol=1e-5)


def test_truncation_by_hand(tiny_model):
    model = tiny_model("bert")
    assert model.tokenizer.tokenize("the captain") == ["the", "ca", "##p", "##t", "##ain"]

    def cut(text, second=None):
        found = model.encode(text, second).truncation
        return found.words, found.words_read, found.second_cut, found.cut

    # 64 positions, two of them special, three in a pair.
    assert cut("the " * 62) == (62, 62, False, False)
    assert cut("the " * 63) == (63, 62, False, True)
    assert cut("the " * 100) == (100, 62, False, True)
    assert cut("the " * 58 + "captain") == (59, 59, False, False)
    assert cut("the " * 59 + "captain") == (60, 59, False, True), "a word cut in two is not read"
    assert cut("the " * 100, "the the the") == (100, 58, False, True)
    assert cut("the the the", "the " * 100) == (3, 3, True, True)
    assert cut("the the the", "the " * 58) == (3, 3, False, False)


@EACH
def test_a_truncated_example_has_only_what_is_read(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode("the tide " * 50)
    assert encoded.T == model.max_tokens and encoded.F == encoded.truncation.words_read < 100 == encoded.truncation.words
    assert encoded.feature_of.max() == encoded.F - 1


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_hundred_thousand_words_take_seconds(tiny_model, kind):
    model = tiny_model(kind)
    started = time.process_time()
    encoded = model.encode("the captain's tide, " * 25_000 + "and " * 25_000)
    assert encoded.truncation.words == 125_000
    assert time.process_time() - started < 6


@EACH
@pytest.mark.parametrize("text", ["", " ", "\n\t \u2003"])
def test_blank_text_is_refused(tiny_model, kind, text):
    with pytest.raises(NoFeatures, match="Type at least one word"):
        tiny_model(kind).encode(text)


def test_control_characters_alone_are_refused_where_the_tokenizer_drops_them(tiny_model):
    for text in ("\0\x01\x02", "\u200b", "\u200b \x07"):
        with pytest.raises(NoFeatures, match="Type at least one word"):
            tiny_model("bert").encode(text)
        with pytest.raises(NoFeatures):
            tiny_model("bert").encode(text, "the tide")


def test_an_unknown_unit_is_refused(tiny_model):
    with pytest.raises(ValueError, match="sentence"):
        tiny_model("bert").encode("the tide", unit="sentence")


@EACH
@pytest.mark.parametrize("unit", ["word", "token"])
@THOROUGH
@given(text=ANY_TEXT)
def test_features_of_any_text(tiny_model, kind, unit, text):
    model = tiny_model(kind)
    encoded = encoded_or_none(model, text, unit=unit)
    if encoded is None:
        return
    spans = [(f.start, f.end) for f in encoded.features]
    assert all(text[f.start:f.end] == f.text and f.text for f in encoded.features)
    assert all(not (f.text[0].isspace() or f.text[-1].isspace()) for f in encoded.features if unit == "word")
    # Only tokens that are bytes of one character, or the space put before it, share that character.
    assert all(b <= c or (unit == "token" and b - a == 1 and a == c) for (a, b), (c, _) in zip(spans, spans[1:]))
    readable = text.translate({code: "\ufffd" for code in range(0xD800, 0xE000)})
    batch = model.tokenizer(readable, return_offsets_mapping=True, truncation=True, max_length=model.max_tokens)
    assert batch["input_ids"] == encoded.ids.tolist()
    for place, (side, (a, b)) in enumerate(zip(batch.encodings[0].sequence_ids, batch["offset_mapping"])):
        feature = encoded.feature_of[place]
        ink = next((i for i in range(a, b) if not text[i].isspace()), None)
        if side is None or ink is None:
            assert feature == -1
        else:
            assert encoded.features[feature].start <= ink < encoded.features[feature].end
    assert set(encoded.feature_of.tolist()) - {-1} == set(range(encoded.F)), "each feature has a token"


@EACH
@THOROUGH
@given(text=ANY_TEXT, second=st.none() | ANY_TEXT, both=st.booleans(), data=st.data())
def test_masks_change_the_tokens_of_masked_features_only(tiny_model, kind, text, second, both, data):
    model = tiny_model(kind)
    encoded = encoded_or_none(model, text, second, second_maskable=both)
    if encoded is None:
        return
    masks = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=encoded.F, max_size=encoded.F), min_size=1, max_size=3)), dtype=bool)
    masks = np.vstack([masks, np.ones((1, encoded.F), dtype=bool)])
    given_masks, given_ids = masks.copy(), encoded.ids.copy()
    out = masked_ids(encoded, masks)
    assert out.shape == (len(masks), encoded.T) and out.dtype == np.int64
    for row, mask in zip(out, masks | encoded.premasked):
        for place, feature in enumerate(encoded.feature_of):
            masked = feature >= 0 and mask[feature]
            assert row[place] == (model.mask_id if masked else encoded.ids[place])
    assert (out[-1] == model.mask_id)[encoded.feature_of >= 0].all()
    np.testing.assert_array_equal(masks, given_masks)
    np.testing.assert_array_equal(encoded.ids, given_ids)


@THOROUGH
@given(one=st.tuples(ANY_TEXT, st.none() | ANY_TEXT, st.sampled_from(["word", "token"])),
       other=st.tuples(ANY_TEXT, st.none() | ANY_TEXT, st.sampled_from(["word", "token"])))
def test_the_digest_tells_examples_apart(tiny_model, one, other):
    first, second = (encoded_or_none(tiny_model("bert"), text, pair, unit=unit) for text, pair, unit in (one, other))
    if first is not None and second is not None:
        assert (first.digest == second.digest) == (one == other)


def test_the_digest_of_near_misses(tiny_model):
    model = tiny_model("bert")
    examples = [model.encode("a b"), model.encode("a b", unit="token"), model.encode("a b", ""), model.encode("a b", "c"),
                model.encode("a b", "c", second_maskable=True), model.encode("a  b"), model.encode("a", "b"), model.encode("a \ud800"),
                model.encode("a \ufffd")]
    assert len({e.digest for e in examples}) == len(examples)
    assert model.encode("a b").digest == model.encode("a b").digest


@pytest.mark.parametrize("masks", [np.zeros(3, dtype=bool), np.zeros((1, 2), dtype=bool), np.zeros((1, 3)), np.zeros((1, 4), dtype=bool)])
def test_masks_of_another_shape_or_type_are_refused(tiny_model, masks):
    encoded = tiny_model("bert").encode("a b c")
    with pytest.raises(ValueError, match="3"):
        masked_ids(encoded, masks)
    with pytest.raises(ValueError, match="3"):
        with_premasked(encoded, masks)


def test_mask_spellings_cover_the_tiny_models(tiny_model):
    assert {tiny_model(k).tokenizer.mask_token for k in tiny.KINDS if k not in tiny.MASKLESS} == set(MASK_SPELLINGS)
