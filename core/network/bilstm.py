"""A BiLSTM with additive attention, as a family of `transformers` like any other: importing this registers it."""

from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModelForSequenceClassification, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from core.network.architectures import BILSTM_TYPE


class BiLstmConfig(PretrainedConfig):
    """Shape of a BiLSTM.

    hidden_size: elements of a word embedding, and of a state of both directions; type_vocab_size: 2 where it reads
    pairs, whose second text has an LSTM of its own.
    """

    model_type = BILSTM_TYPE

    def __init__(
        self,
        vocab_size: int = 100,
        hidden_size: int = 256,
        type_vocab_size: int = 1,
        max_position_embeddings: int = 512,
        pad_token_id: int | None = 0,
        **more: Any,
    ):
        more["pad_token_id"] = pad_token_id
        self.vocab_size, self.hidden_size = vocab_size, hidden_size
        # What any family says of itself: one layer behind the embeddings, one map of attention.
        self.num_hidden_layers = self.num_attention_heads = 1
        self.type_vocab_size, self.max_position_embeddings = type_vocab_size, max_position_embeddings
        super().__init__(**more)


class _Encoder(nn.Module):
    """An LSTM in both directions over right-padded embeddings: states of all tokens, and the last of each direction."""

    def __init__(self, config: BiLstmConfig):
        super().__init__()
        self.lstm = nn.LSTM(config.hidden_size, config.hidden_size // 2, batch_first=True, bidirectional=True)

    def forward(self, embeddings: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        packed = pack_padded_sequence(embeddings, lengths.cpu(), batch_first=True, enforce_sorted=False)
        # The fused kernel of a GPU has no way back outside training.
        with torch.backends.cudnn.flags(enabled=self.training):
            states, (last, _) = self.lstm(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=embeddings.shape[1])
        return states, torch.cat([last[0], last[1]], dim=-1)


class BiLstmForSequenceClassification(PreTrainedModel):
    """Embedding → BiLSTM → additive (tanh) attention → linear; of a pair the second text's last state enters attention
    and decoder.

    Departure: one word embedding for both texts.

    Source: ROAR §5; Jain and Wallace (2019).
    """

    config_class = BiLstmConfig
    base_model_prefix = ""
    supports_gradient_checkpointing = False
    main_input_name = "inputs_embeds"

    def __init__(self, config: BiLstmConfig):
        super().__init__(config)
        width, half, C = config.hidden_size, config.hidden_size // 2, len(config.id2label or {})
        pairs = config.type_vocab_size > 1
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        # What soft erasure perturbs: there are no positions to add.
        self.embeddings = nn.Identity()
        self.first = _Encoder(config)
        self.second: Any = _Encoder(config) if pairs else None
        self.attended = nn.Linear(width, half)
        self.asked: Any = nn.Linear(width, half) if pairs else None
        self.score = nn.Linear(half, 1, bias=False)
        self.context: Any = nn.Linear(width, half) if pairs else None
        self.question: Any = nn.Linear(width, half) if pairs else None
        self.classifier = nn.Linear(half if pairs else width, C)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Layers keep the weights that PyTorch gave them."""

    def get_input_embeddings(self) -> nn.Module:
        """The word embeddings."""
        return self.words

    def set_attn_implementation(self, attn_implementation: Any, *_: Any, **__: Any) -> None:
        """There is one."""

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        output_hidden_states: bool = False,
        output_attentions: bool = False,
        **_: Any,
    ) -> SequenceClassifierOutput:
        """Logits [B, C]; hidden states: word embeddings and LSTM states; attention [B, 1, T, T], alike from all tokens.

        Args:
            attention_mask: Tensor[B, T], 0 at padding, which stands to the right.
            token_type_ids: Tensor[B, T], 1 for the second text.
        """
        words = self.embeddings(self.words(input_ids) if inputs_embeds is None else inputs_embeds)
        B, T, _ = words.shape
        within = torch.ones(B, T, dtype=torch.bool, device=words.device)
        within = within if attention_mask is None else attention_mask.bool()
        other = torch.zeros_like(within)
        if self.second is not None and token_type_ids is not None:
            other = (token_type_ids == 1) & within
        mine = within & ~other
        states, _ = self.first(words, mine.sum(dim=1).clamp(min=1))
        states, question = self._with_second(words, other, states)
        hidden = self.attended(states) if question is None else self.attended(states) + self.asked(question)[:, None]
        scores = self.score(torch.tanh(hidden)).squeeze(-1).masked_fill(~mine, -torch.inf)
        # From each token, so that it is read as the attention of any family; the context takes that from the first.
        attention = scores.softmax(dim=-1)[:, None, None, :].expand(B, 1, T, T)
        context = (attention[:, 0, 0, :, None] * states).sum(dim=1)
        if question is not None:
            context = torch.tanh(self.context(context) + self.question(question))
        return SequenceClassifierOutput(
            logits=self.classifier(context),
            hidden_states=(words, states) if output_hidden_states else None,
            attentions=(attention,) if output_attentions else None,
        )

    def _with_second(self, words, other, states) -> tuple[torch.Tensor, torch.Tensor | None]:
        """States with those of the second text in their places, and its last state; None for a model of single texts.

        A missing second text has a last state of zeros.
        """
        if self.second is None:
            return states, None
        T, lengths = words.shape[1], other.sum(dim=1)
        # Behind the first text: moved to the front, and back.
        start = torch.where(lengths > 0, other.int().argmax(dim=1), 0)
        places = torch.arange(T, device=words.device)
        ahead = (places + start[:, None]).clamp(max=T - 1)
        found, last = self.second(_taken(words, ahead), lengths.clamp(min=1))
        back = (places - start[:, None]).clamp(min=0)
        return torch.where(other[..., None], _taken(found, back), states), last * (lengths > 0)[:, None]


def _taken(tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Tokens Tensor[B, T, E] at places int64[B, T] of each row."""
    return tokens.gather(1, places[..., None].expand(-1, -1, tokens.shape[-1]))


AutoConfig.register(BILSTM_TYPE, BiLstmConfig, exist_ok=True)
AutoModelForSequenceClassification.register(BiLstmConfig, BiLstmForSequenceClassification, exist_ok=True)
