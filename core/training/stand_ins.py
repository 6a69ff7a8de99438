"""What masks for a base without a mask token: its end of sequence, a token that it reserves, or one that is added."""

import re

from core.network.architectures import Module, Tokenizer, UnsupportedModel

END, RESERVED, ADDED = STAND_INS = ("end", "reserved", "added")
_RESERVED = re.compile(r"[<\[]\W*(reserved|unused)", re.IGNORECASE)
_MASK = "<mask>"


def choose_mask(tokenizer: Tokenizer, stand_in: str, name: str) -> None:
    """Make a reserved or an added token the tokenizer's mask token, which is saved with it; the end needs nothing.

    Raises:
        UnsupportedModel: the base masks with a token of its own, or reserves none.
    """
    if stand_in == END:
        return
    if tokenizer.mask_token_id is not None:
        raise UnsupportedModel(f"{name!r} has the mask token {tokenizer.mask_token}. Leave out --mask-token.")
    if stand_in == ADDED:
        tokenizer.add_special_tokens({"mask_token": _MASK})
        return
    found = reserved_tokens(tokenizer)
    if not found:
        raise UnsupportedModel(f"{name!r} reserves no token. Choose --mask-token {ADDED}.")
    tokenizer.mask_token = found[0]


def reserved_tokens(tokenizer: Tokenizer) -> list[str]:
    """Tokens that no text holds, those named so first, then special ones without a part in any text."""
    named = [token for token in tokenizer.get_vocab() if _RESERVED.match(token)]
    used = {*tokenizer.all_special_tokens, *tokenizer.convert_ids_to_tokens(tokenizer("a")["input_ids"])}
    other = [str(one) for one in tokenizer.added_tokens_decoder.values() if one.special and str(one) not in used]
    place = tokenizer.convert_tokens_to_ids
    return list(dict.fromkeys([*sorted(named, key=place), *sorted(other, key=place)]))


def make_room(module: Module, tokenizer: Tokenizer, method: str, name: str) -> None:
    """Give an added mask token the mean of all embeddings, in a spare row or in a new one.

    Raises:
        UnsupportedModel: an adapter cannot add the row that is lacking.
    """
    import torch

    row = tokenizer.mask_token_id
    if row >= module.config.vocab_size:
        if method != "full":
            raise UnsupportedModel(f"{name!r} has no spare embedding. Choose --mask-token {RESERVED} or --method full.")
        module.resize_token_embeddings(row + 1, mean_resizing=False)
    weight = module.get_input_embeddings().weight
    with torch.no_grad():
        weight[row] = torch.cat([weight[:row], weight[row + 1 :]]).mean(dim=0)


def unfreeze_padding(module: Module, mask_id: int) -> None:
    """Let the mask token learn where it is the padding token too: rows of padding get no gradient otherwise."""
    layer = module.get_input_embeddings()
    if layer.padding_idx == mask_id:
        layer.padding_idx = None
