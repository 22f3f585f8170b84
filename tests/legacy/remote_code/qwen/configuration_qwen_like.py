from transformers import PretrainedConfig


class TinyQWenConfig(PretrainedConfig):
    model_type = "qwen_like"
    keys_to_ignore_at_inference = ["past_key_values"]

    def __init__(self, vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                 rotary_pct=1.0, rotary_emb_base=10000, use_cache=True, tie_word_embeddings=False, **kwargs):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.rotary_pct = rotary_pct
        self.rotary_emb_base = rotary_emb_base
        self.use_cache = use_cache
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)
