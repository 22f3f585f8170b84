from transformers.configuration_utils import PretrainedConfig


class TinyBaichuanConfig(PretrainedConfig):
    model_type = "baichuan_like"

    def __init__(self, vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                 model_max_length=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                 tie_word_embeddings=False, use_cache=True, **kwargs):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.model_max_length = model_max_length
        self.use_cache = use_cache
        super().__init__(
            pad_token_id=pad_token_id, bos_token_id=bos_token_id, eos_token_id=eos_token_id,
            tie_word_embeddings=tie_word_embeddings, **kwargs,
        )
