from transformers import AutoConfig, PretrainedConfig


class TinyMolmoConfig(PretrainedConfig):
    model_type = "molmo_like"
    keys_to_ignore_at_inference = ["past_key_values"]

    def __init__(self, vocab_size=64, embedding_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                 rope_theta=10000.0, use_cache=True, tie_word_embeddings=False, **kwargs):
        self.vocab_size = vocab_size
        self.embedding_size = embedding_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.rope_theta = rope_theta
        self.use_cache = use_cache
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)


TinyMolmoConfig.register_for_auto_class()
AutoConfig.register("molmo_like", TinyMolmoConfig)
