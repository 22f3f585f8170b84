from transformers import PretrainedConfig


class ChatGLMLikeConfig(PretrainedConfig):
    model_type = "chatglm_like"

    def __init__(
        self,
        num_layers=2,
        padded_vocab_size=64,
        hidden_size=32,
        num_attention_heads=4,
        seq_length=64,
        **kwargs,
    ):
        self.num_layers = num_layers
        self.vocab_size = padded_vocab_size
        self.padded_vocab_size = padded_vocab_size
        self.hidden_size = hidden_size
        self.num_attention_heads = num_attention_heads
        self.seq_length = seq_length
        super().__init__(**kwargs)
