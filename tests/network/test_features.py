"""Words, the tokens that belong to them, and what a mask does to token ids."""

import itertools
import json
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.network.features import (
    BOTH,
    FIRST,
    MASK_SPELLINGS,
    UNITS,
    NoEmbedding,
    NoFeatures,
    encode,
    find_words,
    masked_ids,
    with_premasked,
)
from core.network.grouping import GROUPS, find_groups
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
    "apostrophes": (
        "it's rock'n'roll, the dogs' 'tis don’t",
        ["it's", "rock'n'roll", ",", "the", "dogs", "'", "'", "tis", "don’t"],
    ),
    "a lone 's": ("'s", ["'", "s"]),
    "numbers": ("$5.50 is 5% of #1 (3,141)", ["$5.50", "is", "5", "%", "of", "#", "1", "(", "3,141", ")"]),
    "skin tone": ("nice👍🏽! 👍🏽", ["nice👍🏽", "!", "👍🏽"]),
    "joined emoji": ("👩‍👩‍👧‍👦 ❤️.", ["👩‍👩‍👧‍👦", "❤️", "."]),
    "right to left": ("שלום, עולם! مرحبا؟", ["שלום", ",", "עולם", "!", "مرحبا", "؟"]),
    "combining marks": ("cafe\u0301, nai\u0308ve", ["cafe\u0301", ",", "nai\u0308ve"]),
    "NUL": ("a\0b \0", ["a\0b", "\0"]),
    "zero-width space": ("a\u200bb \u200b", ["a\u200bb", "\u200b"]),
    "HTML": ("<p>Good</p> <br/> &amp;", ["<p>Good</p>", "<br/>", "&", "amp", ";"]),
    "Markdown": (
        "**Good** _food_ # 1 `x` [a](b.c)",
        ["**", "Good", "**", "_", "food", "_", "#", "1", "`x`", "[", "a](b.c", ")"],
    ),
    "lone surrogates": ("a\ud800b \udfff.", ["a\ud800b", "\udfff", "."]),
    "tabs and newlines": ("\ta\nb\r\nc\u00a0d\u2003e\x1ff\n", ["a", "b", "c", "d", "e", "f"]),
    "typed masks": (
        "The [MASK], x[MASK]y ([MASK]) <mask><mask>. [mask]",
        ["The", "[MASK]", ",", "x", "[MASK]", "y", "(", "[MASK]", ")", "<mask>", "<mask>", ".", "[", "mask", "]"],
    ),
    "nothing": (" \t\n", []),
}

# What a tokenizer drops is no feature; what it fuses into one unknown token is one.
SHARED = {
    ("bert", "lone surrogates"): ["a\ud800b", "."],
    ("deberta", "right to left"): ["שלום", ",", "עולם", "!", "مرحبا؟"],
}

# Text, its sentences, and its clauses where they are others; | is where one ends.
GROUPED = {
    "plain": (
        "The pier was wet. Who cares?! Not I! So…  it goes",
        "The pier was wet.|Who cares?!|Not I!|So…|it goes",
        None,
    ),
    "signs apart": ("a slow boat . it sank , twice", "a slow boat .|it sank , twice", "a slow boat .|it sank ,|twice"),
    "signs in a row": ("so . . . it ( truly ! ) sank ? ! yes", "so . . .|it ( truly ! )|sank ? !|yes", None),
    "commas in a row": ("so , , well . , on", "so , , well .|, on", "so , ,|well . ,|on"),
    "inside a run": (
        "It cost 3.5 pounds, or 1,000 pence at 10:30 (no.5)",
        "It cost 3.5 pounds, or 1,000 pence at 10:30 (no.5)",
        "It cost 3.5 pounds,|or 1,000 pence at 10:30 (no.5)",
    ),
    "closing": (
        '“Go.” (He went.) She \'stayed.\' **Done.** [ok.]" "Why" so',
        '“Go.”|(He went.)|She \'stayed.\'|**Done.**|[ok.]"|"Why" so',
        None,
    ),
    "a quote apart": ('he left . " why ? "', 'he left .|" why ? "', None),
    "a comma behind": ('He said "no.", then left.', 'He said "no.", then left.', 'He said "no.",|then left.'),
    "abbreviations": (
        "Mr. and (Dr. Oak) saw J. R. Fir, e.g. in a U.S. port vs. Prof. Elm.",
        "Mr. and (Dr. Oak) saw J. R. Fir, e.g. in a U.S. port vs. Prof. Elm.",
        "Mr. and (Dr. Oak) saw J. R. Fir,|e.g. in a U.S. port vs. Prof. Elm.",
    ),
    "no abbreviations": ("Is it Dr? By Dr... or so. It was etc. By", "Is it Dr?|By Dr...|or so.|It was etc.|By", None),
    "numbers": ("1. Salt 2. Water is 5. Then 3. Stir", "1. Salt 2.|Water is 5.|Then 3.|Stir", None),
    "a list": ("1. Salt. 2. Water.", "1. Salt.|2. Water.", None),
    "blank lines": (
        "Salt\nand\r\nwater\n\nStir \n \t\n twice\r\n\r\nServe",
        "Salt\nand\r\nwater|Stir|twice|Serve",
        None,
    ),
    "HTML": (
        "<br />Wet.<br /><br />Dry<br>cold<BR/> <br/>hot <br><br>. So",
        "<br />Wet.<br /><br />|Dry<br>cold<BR/> <br/>|hot <br><br>|. So",
        None,
    ),
    "dashes": (
        "no - yes -- or — and – for a-b c—d, 1990–95 x- y",
        "no - yes -- or — and – for a-b c—d, 1990–95 x- y",
        "no -|yes --|or —|and –|for a-b c—|d,|1990–95 x- y",
    ),
    "a cut-off speech": ("“Wait—” he — she left", "“Wait—” he — she left", "“Wait—”|he —|she left"),
    "bullets": (
        "- salt; - pepper: ... - * so, - and",
        "- salt; - pepper: ...|- * so, - and",
        "- salt;|- pepper: ...|- * so,|- and",
    ),
    "Chinese": (
        "海很大。风，“很大！”船（小？）走、走；1，000：二",
        "海很大。|风，“很大！”|船（小？）|走、走；1，000：二",
        "海很大。|风，|“很大！”|船（小？）|走、|走；|1，000：|二",
    ),
    "full-width and half": ("海｡风.大 走！？! ok", "海｡|风.大 走！？!|ok", None),
    "right to left": ("שלום, עולם! مرحبا؟ نعم، لا", "שלום, עולם!|مرحبا؟|نعم، لا", "שלום,|עולם!|مرحبا؟|نعم،|لا"),
    "typed masks": (
        "[MASK]. The <mask>, [MASK] ran. [MASK]",
        "[MASK].|The <mask>, [MASK] ran.|[MASK]",
        "[MASK].|The <mask>,|[MASK] ran.|[MASK]",
    ),
    "a dash in front": ("—he left", "—he left", None),
    "a bracket behind a sign": ("海。（ . 风", "海。|（ . 风", None),
    "punctuation alone": ("... , — ! ?", "... , — ! ?", None),
    "punctuation around": ("... , so it goes. *** , ;", "... , so it goes. *** , ;", None),
    "emoji": ("👍🏽! yes 👩‍👧. 5!", "👍🏽!|yes 👩‍👧.|5!", None),
    "nothing": (" \n\n ", "", None),
}

PIECES = (
    "the",
    " ",
    "  ",
    "\n",
    "\t",
    "'s",
    "'",
    "’s",
    "...",
    "(",
    ")",
    "[",
    "]",
    "-",
    "wind",
    "Captain",
    "[MASK]",
    "<mask>",
    "<|endoftext|>",
    "[SEP]",
    "</s>",
    "<pad>",
    "[PAD]",
    "▁",
    "Ġ",
    "##",
    "👍🏽",
    "👩‍👧",
    "e\u0301",
    "\u0301",
    "ﬁ",
    "İ",
    "ß",
    "中文",
    "שלום",
    "\0",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\ufffd",
    "\ud800",
    "\udc00",
    "\u2028",
    "\x85",
    "\x1f",
    "<br>",
    "**",
    "$5",
    "x" * 120,
    ".",
    ",",
    "。",
    "，",
    "—",
    "\n\n",
    "<br />",
    "Dr.",
    "1.",
    '"',
)
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
    assert all(a < b for a, b in spans) and all(b <= c for (_, b), (c, _) in itertools.pairwise(spans))
    covered = np.zeros(len(text), dtype=bool)
    for a, b in spans:
        covered[a:b] = True
    assert covered.tolist() == [not c.isspace() for c in text]


@pytest.mark.parametrize(
    "name", [n for n in WORDS if n not in ("a lone 's", "NUL", "zero-width space", "nothing", "brackets", "ellipsis")]
)
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
    assert [f.text for f in tiny_model("bert").encode("the \u200b tide \0 turned").features] == [
        "the",
        "tide",
        "turned",
    ]
    assert [f.text for f in tiny_model("gpt2").encode("the \u200b tide").features] == ["the", "\u200b", "tide"]


@pytest.mark.parametrize("text, sentences, clauses", GROUPED.values(), ids=GROUPED)
def test_clauses_and_sentences_by_hand(text, sentences, clauses):
    for unit, expected in (("sentence", sentences), ("clause", clauses or sentences)):
        assert "|".join(text[a:b] for a, b in find_groups(text, unit)) == expected


@pytest.mark.parametrize("unit", GROUPS)
@THOROUGH
@given(ANY_TEXT)
def test_clauses_and_sentences_are_in_order_and_hold_every_word(unit, text):
    spans, words = find_groups(text, unit), find_words(text)
    assert all(a < b for a, b in spans) and all(b <= c for (_, b), (c, _) in itertools.pairwise(spans))
    assert all(text[a:b] == text[a:b].strip() for a, b in spans)
    assert "".join(text[a:b] for a, b in words) == "".join("".join(text[a:b].split()) for a, b in spans)
    # A word is cut only behind a sign that needs no space, or behind a line break.
    edges = {edge for word in words for edge in word}
    cut = [end for _, end in spans if end not in edges]
    assert all(text[end - 1] in "。！？，；：、—\"'”’)]}*_.!?…" or text[:end].lower().endswith(">") for end in cut)
    if not any(sign in text.lower() for sign in ("。", "｡", "！", "？", "，", "；", "：", "、", "､", "—", "―", "<br")):
        assert [w for a, b in spans for w in ((a + c, a + d) for c, d in find_words(text[a:b]))] == words


@pytest.mark.parametrize("unit", GROUPS)
@pytest.mark.parametrize(
    "part", ["a, b. ", "a。", "（。", '"。', ".", ".a", "—", "1，1", "<br ", "<br />", "\n\n", "( . ", "，a—"]
)
def test_two_hundred_thousand_signs_take_seconds(unit, part):
    started = time.process_time()
    find_groups(part * (200_000 // len(part)) + "a", unit)
    assert time.process_time() - started < 3


@EACH
@pytest.mark.parametrize(
    "name", ["plain", "signs apart", "inside a run", "blank lines", "dashes", "abbreviations", "numbers"]
)
@pytest.mark.parametrize("unit", GROUPS)
def test_two_models_see_the_same_clauses_and_sentences(tiny_model, kind, unit, name):
    text, _sentences, _clauses = GROUPED[name]
    text = text.replace("—", "--")
    assert [f.text for f in tiny_model(kind).encode(text, unit=unit).features] == [
        text[a:b] for a, b in find_groups(text, unit)
    ]


def test_sentences_in_one_token_are_one_feature(tiny_model):
    """A unigram tokenizer makes one unknown token of a run of letters that it does not know."""
    text = "the 海。风 tide, so"
    assert [f.text for f in tiny_model("bert").encode(text, unit="clause").features] == ["the 海。", "风 tide,", "so"]
    encoded = tiny_model("deberta").encode(text, unit="clause")
    assert [f.text for f in encoded.features] == ["the 海。风 tide,", "so"] and encoded.feature_of.max() == 1


def test_what_the_tokenizer_drops_is_no_sentence(tiny_model):
    found = tiny_model("bert").encode("the \u200b tide. \u200b\n\n\u200b turned. \0\n\n\0", unit="sentence").features
    assert [f.text for f in found] == ["the \u200b tide.", "\u200b turned."]


@pytest.mark.parametrize("unit", GROUPS)
def test_a_sentence_cut_in_two_ends_where_the_model_stops_reading(tiny_model, unit):
    model = tiny_model("bert")
    # 62 tokens are read: three of them "the the.", and five would be "captain".
    encoded = model.encode("the the. " + "the " * 70 + ". the", unit=unit)
    assert [f.text for f in encoded.features] == ["the the.", " ".join(["the"] * 59)]
    assert (encoded.truncation.words, encoded.truncation.words_read) == (75, 62)
    encoded = model.encode("the the. " + "the " * 57 + "captain on. the", unit=unit)
    assert [f.text for f in encoded.features] == ["the the.", "the " * 57 + "captain"], (
        "a word cut in two is shown whole, as everywhere"
    )
    assert (
        encoded.truncation.words_read == 61
        and [f.text for f in model.encode("the " * 59 + "captain on").features][-1] == "captain"
    )
    assert [f.text for f in model.encode("the " * 61 + ". the", unit=unit).features] == ["the " * 61 + "."]


@EACH
@pytest.mark.parametrize("unit", GROUPS)
def test_a_typed_mask_masks_only_itself_in_its_sentence(tiny_model, kind, unit):
    model = tiny_model(kind)
    text = "The [MASK] was cold.\n\n<mask> [MASK]\n\nSo it is <mask>."
    encoded, words = model.encode(text, unit=unit), model.encode(text)
    assert [f.text for f in encoded.features] == ["The [MASK] was cold.", "<mask> [MASK]", "So it is <mask>."]
    assert encoded.premasked.tolist() == [False, True, False]
    read = masked_ids(encoded, np.zeros((1, 3), dtype=bool))[0]
    np.testing.assert_array_equal(read, masked_ids(words, np.zeros((1, words.F), dtype=bool))[0])
    np.testing.assert_array_equal(read, encoded.ids)
    left = model.tokenizer.decode(read[read != model.mask_id]).lower()
    assert "mask" not in left and (read == model.mask_id).sum() >= 4
    masked = masked_ids(encoded, np.array([[True, False, False]]))[0]
    np.testing.assert_array_equal(masked == model.mask_id, (encoded.feature_of == 0) | (read == model.mask_id))


def test_a_typed_mask_is_not_unknown_where_one_token_is_both(tiny_model):
    encoded = tiny_model("bert").encode("The [MASK] was cold, it was.", unit="clause")
    assert not encoded.premasked.any() and not encoded.unknown.any()
    assert not replace(encoded, unknown_id=encoded.mask_id).unknown.any()


def test_typed_masks_of_a_second_text_are_read_as_such_where_it_has_features(tiny_model):
    model = tiny_model("bert")
    one, both = (
        model.encode("a.", "a <mask>. [MASK]", unit="sentence", maskable=BOTH if asked else FIRST)
        for asked in (False, True)
    )
    assert [f.text for f in one.features] == ["a."] and [f.text for f in both.features] == ["a.", "a <mask>.", "[MASK]"]
    assert both.premasked.tolist() == [False, False, True]
    assert (one.ids == model.mask_id).sum() == 1 and (both.ids == model.mask_id).sum() > 2


@EACH
@pytest.mark.parametrize("unit", GROUPS)
@THOROUGH
@given(text=ANY_TEXT)
def test_clauses_and_sentences_of_any_text(tiny_model, kind, unit, text):
    model = tiny_model(kind)
    encoded, words = (encoded_or_none(model, text, unit=asked) for asked in (unit, "word"))
    assert (encoded is None) == (words is None)
    if encoded is None:
        return
    spans = [(f.start, f.end) for f in encoded.features]
    assert all(text[f.start : f.end] == f.text == f.text.strip() != "" for f in encoded.features)
    assert all(b <= c for (_, b), (c, _) in itertools.pairwise(spans))
    held = words.feature_of >= 0
    np.testing.assert_array_equal(encoded.feature_of >= 0, held)
    assert (np.diff(encoded.feature_of[held]) >= 0).all() and set(encoded.feature_of[held].tolist()) == set(
        range(encoded.F)
    )
    # What is read with nothing masked by hand does not depend on the unit.
    read = masked_ids(words, np.zeros((1, words.F), dtype=bool))[0]
    np.testing.assert_array_equal(masked_ids(encoded, np.zeros((1, encoded.F), dtype=bool))[0], read)
    typed = words.premasked[words.feature_of] & held
    assert encoded.premasked.tolist() == [bool(typed[encoded.feature_of == i].all()) for i in range(encoded.F)]
    for place, (a, b) in enumerate(
        model.tokenizer(
            text.translate(dict.fromkeys(range(0xD800, 0xE000), "\ufffd")),
            return_offsets_mapping=True,
            truncation=True,
            max_length=model.max_tokens,
        )["offset_mapping"]
    ):
        if held[place]:
            ink = next(i for i in range(a, b) if not text[i].isspace())
            assert spans[encoded.feature_of[place]][0] <= ink < spans[encoded.feature_of[place]][1]


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
    assert "MASK" not in model.tokenizer.decode(ids[ids != model.mask_id]) and "mask" not in model.tokenizer.decode(
        ids[ids != model.mask_id]
    )


def test_the_models_own_mask_token_is_masked_from_the_start(tiny_model):
    encoded = tiny_model("gpt2").encode("it <|endoftext|> so")
    assert [f.text for f in encoded.features] == ["it", "<|endoftext|>", "so"] and encoded.premasked.tolist() == [
        False,
        True,
        False,
    ]


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
    texts = [
        "The soup [SEP] was <pad> cold </s> and [PAD] salt <unk> [CLS] ends [UNK]",
        "[SEP]",
        "</s> <s>",
        "<pad> [PAD] <|endoftext|>",
    ]
    if kind == "roberta":
        for text in texts:
            if "<pad>" in text:
                with pytest.raises(NoEmbedding, match="<pad>"):
                    model.encode(text)
        texts = [text.replace("<pad>", "[PAD]") for text in texts]
    encoded = [model.encode(text) for text in texts]
    for text, one in zip(texts, encoded):
        assert "".join(f.text for f in one.features) == text.replace(" ", "")
    width = max(one.T for one in encoded)
    batch = np.stack([np.pad(one.ids, (0, width - one.T)) for one in encoded])
    types = None if encoded[0].type_ids is None else np.zeros_like(batch)
    logits, pooled = model.run(batch, np.array([one.T for one in encoded]), types, hidden=True)
    for i, one in enumerate(encoded):
        alone, alone_pooled = model.run(
            one.ids[None], np.array([one.T]), None if types is None else one.type_ids[None], hidden=True
        )
        np.testing.assert_allclose(logits[i], alone[0], atol=1e-5)
        np.testing.assert_allclose(pooled[i], alone_pooled[0], atol=1e-5)


def test_truncation_by_hand(tiny_model):
    model = tiny_model("bert")
    assert model.tokenizer.tokenize("the captain") == ["the", "ca", "##p", "##t", "##ain"]

    def cut(text, second=None):
        found = model.encode(text, second).truncation
        assert found.cut == (found.words_read < found.words or found.second_cut or found.word_cut)
        return found.words, found.words_read, found.second_cut, found.word_cut

    # 64 positions, two of them special, three in a pair.
    assert cut("the " * 62) == (62, 62, False, False)
    assert cut("the " * 63) == (63, 62, False, False)
    assert cut("the " * 100) == (100, 62, False, False)
    assert cut("the " * 58 + "captain") == (59, 59, False, False)
    assert cut("the " * 59 + "captain") == (60, 60, False, True), "of a word cut in two something is read"
    assert cut("the " * 59 + "captain the") == (61, 60, False, True)
    assert cut("the " * 100, "the the the") == (100, 58, False, False)
    assert cut("the the the", "the " * 100) == (3, 3, True, False)
    assert cut("the the the", "the " * 58) == (3, 3, False, False)


@EACH
def test_a_truncated_example_has_only_what_is_read(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode("the tide " * 50)
    assert (
        encoded.T == model.max_tokens and encoded.F == encoded.truncation.words_read < 100 == encoded.truncation.words
    )
    assert encoded.feature_of.max() == encoded.F - 1


@EACH
@pytest.mark.parametrize("words", range(1, 9))
def test_the_words_that_are_read_are_the_features_wherever_a_text_is_cut(tiny_model, kind, words):
    """A word that the longest input cut in two was a feature, and was not counted among the words that are read."""
    model, text = tiny_model(kind), " ".join(["tide captain"] * words)
    for length in range(4, 20):
        encoded = encode(model.tokenizer, text, max_tokens=length, mask_id=model.mask_id)
        cut = encoded.truncation
        assert cut.words == 2 * words and cut.words_read == encoded.F
        assert cut.cut == (encoded.T < model.encode(text).T)


@pytest.mark.parametrize("kind, unit", [("bert", "word"), ("gpt2", "word"), ("bert", "clause")])
def test_a_hundred_thousand_words_take_seconds(tiny_model, kind, unit):
    model = tiny_model(kind)
    started = time.process_time()
    encoded = model.encode("the captain's tide, " * 25_000 + "and " * 25_000, unit=unit)
    assert encoded.truncation.words == 125_000
    assert time.process_time() - started < 6


@EACH
@pytest.mark.parametrize("text", ["", " ", "\n\t \u2003"])
def test_blank_text_is_refused(tiny_model, kind, text):
    with pytest.raises(NoFeatures, match="one word"):
        tiny_model(kind).encode(text)


def test_control_characters_alone_are_refused_where_the_tokenizer_drops_them(tiny_model):
    for text in ("\0\x01\x02", "\u200b", "\u200b \x07"):
        with pytest.raises(NoFeatures, match="one word"):
            tiny_model("bert").encode(text)
        with pytest.raises(NoFeatures):
            tiny_model("bert").encode(text, "the tide")


def test_an_unknown_unit_is_refused(tiny_model):
    with pytest.raises(ValueError, match="paragraph"):
        tiny_model("bert").encode("the tide", unit="paragraph")


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
    assert all(text[f.start : f.end] == f.text and f.text for f in encoded.features)
    assert all(not (f.text[0].isspace() or f.text[-1].isspace()) for f in encoded.features if unit == "word")
    # Only tokens that are bytes of one character, or the space put before it, share that character.
    assert all(b <= c or (unit == "token" and b - a == 1 and a == c) for (a, b), (c, _) in itertools.pairwise(spans))
    readable = text.translate(dict.fromkeys(range(0xD800, 0xE000), "\ufffd"))
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
@given(text=ANY_TEXT, second=st.none() | ANY_TEXT, unit=st.sampled_from(UNITS), both=st.booleans(), data=st.data())
def test_masks_change_the_tokens_of_masked_features_only(tiny_model, kind, text, second, unit, both, data):
    model = tiny_model(kind)
    encoded = encoded_or_none(model, text, second, unit=unit, maskable=BOTH if both else FIRST)
    if encoded is None:
        return
    masks = np.array(
        data.draw(st.lists(st.lists(st.booleans(), min_size=encoded.F, max_size=encoded.F), min_size=1, max_size=3)),
        dtype=bool,
    )
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
@given(
    one=st.tuples(ANY_TEXT, st.none() | ANY_TEXT, st.sampled_from(UNITS)),
    other=st.tuples(ANY_TEXT, st.none() | ANY_TEXT, st.sampled_from(UNITS)),
)
def test_the_digest_tells_examples_apart(tiny_model, one, other):
    first, second = (encoded_or_none(tiny_model("bert"), text, pair, unit=unit) for text, pair, unit in (one, other))
    if first is not None and second is not None:
        assert (first.digest == second.digest) == (one == other)


@pytest.mark.parametrize(
    "kind, text, unit, expected",
    [
        (kind, text, "token", expected)
        for kind in BYTE_PAIRS
        for text, expected in {"🎉": ["🎉"], "🎉🎉 é": ["🎉", "🎉", "é"], "中文": ["中", "文"]}.items()
    ],
)
def test_tokens_over_the_same_characters_are_one_feature(tiny_model, kind, text, unit, expected):
    encoded = tiny_model(kind).encode(text, unit=unit)
    assert [one.text for one in encoded.features] == expected
    # Masked and coloured as one.
    assert encoded.T > encoded.F and set(encoded.feature_of[encoded.feature_of >= 0]) == set(range(encoded.F))


@EACH
@THOROUGH
@given(text=ANY_TEXT)
def test_features_of_tokens_share_no_character(tiny_model, kind, text):
    encoded = encoded_or_none(tiny_model(kind), text, None, unit="token")
    if encoded is not None:
        ends = [(one.start, one.end) for one in encoded.features]
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ends))
        assert all(start < end for start, end in ends)


def test_a_space_put_before_a_word_is_no_feature_of_its_own(tiny_root, tmp_path):
    from transformers import AutoTokenizer

    from tests.model_folders import change_json

    folder = shutil.copytree(tiny.folder("roberta", tiny_root), tmp_path / "untrimmed")
    spaced = {"add_prefix_space": True, "trim_offsets": False}
    found = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    parts = {part: found[part] | spaced for part in ("pre_tokenizer", "post_processor")}
    change_json(folder / "tokenizer.json", **parts)
    change_json(folder / "tokenizer_config.json", **spaced)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for unit in ("word", "token"):
        encoded = encode(tokenizer, "I saw", unit=unit, max_tokens=64, mask_id=tokenizer.mask_token_id)
        assert "".join(one.text for one in encoded.features) == "Isaw"


def test_the_digest_of_near_misses(tiny_model):
    model = tiny_model("bert")
    examples = [
        model.encode("a b"),
        model.encode("a b", unit="token"),
        model.encode("a b", ""),
        model.encode("a b", "c"),
        model.encode("a b", "c", maskable=BOTH),
        model.encode("a  b"),
        model.encode("a", "b"),
        model.encode("a \ud800"),
        model.encode("a \ufffd"),
    ]
    assert len({e.digest for e in examples}) == len(examples)
    assert model.encode("a b").digest == model.encode("a b").digest


def test_the_digests_that_the_store_knows_stay_as_they_were(tiny_model):
    model = tiny_model("bert")
    single, pair = ("The [MASK] was cold, it's <mask>. So?", None), ("The tide turned.", "It's cold.")
    assert model.encode(*single).digest == "06c60a2752f34d307a7d532532fb1807d9b2b2cbaca55972e1870abeac0b190b"
    assert model.encode(*pair).digest == "abd9c08407d11f7d7cf8ba3b3f93291778730cfda51bae2dcc05bee45b8e08e9"
    assert (
        model.encode(*single, unit="token").digest == "0d64cc85f14eb8fd239b069604448e32862c6f3ad0a111b64368a29a157f74a8"
    )
    assert (
        model.encode(*pair, unit="token").digest == "6801d50b37c8530b53e6967c06cd2d44d617cae77392820cd2769e706fa6b473"
    )
    assert len({model.encode("tide", unit=unit).digest for unit in UNITS}) == len(UNITS) == 4, "the same one feature"


@pytest.mark.parametrize(
    "masks", [np.zeros(3, dtype=bool), np.zeros((1, 2), dtype=bool), np.zeros((1, 3)), np.zeros((1, 4), dtype=bool)]
)
def test_masks_of_another_shape_or_type_are_refused(tiny_model, masks):
    encoded = tiny_model("bert").encode("a b c")
    with pytest.raises(ValueError, match="3"):
        masked_ids(encoded, masks)
    with pytest.raises(ValueError, match="3"):
        with_premasked(encoded, masks)


def test_mask_spellings_cover_the_tiny_models(tiny_model):
    assert {tiny_model(k).tokenizer.mask_token for k in tiny.KINDS if k not in tiny.MASKLESS} == set(MASK_SPELLINGS)
