from typing import List, Union

from transformers import PretrainedConfig


class TinyElmConfig(PretrainedConfig):
    model_type = "openelm_like"

    def __init__(self, vocab_size=64, max_context_length=64, num_transformer_layers=2, model_dim=32, head_dim=8,
                 qkv_multipliers: Union[float, List[float]] = [0.5, 1.0], num_gqa_groups=2,
                 share_input_output_layers=True, rope_freq_constant=10000, use_cache=True, bos_token_id=1,
                 eos_token_id=2, **kwargs):
        self.vocab_size = vocab_size
        self.max_context_length = max_context_length
        self.num_transformer_layers = num_transformer_layers
        self.model_dim = model_dim
        self.head_dim = head_dim
        self.qkv_multipliers = qkv_multipliers
        self.num_gqa_groups = num_gqa_groups
        self.share_input_output_layers = share_input_output_layers
        self.rope_freq_constant = rope_freq_constant
        self.use_cache = use_cache
        super().__init__(bos_token_id=bos_token_id, eos_token_id=eos_token_id, **kwargs)
        self.__post_init__()

    def __post_init__(self):
        low, high = self.qkv_multipliers[0], self.qkv_multipliers[-1]
        step = (high - low) / max(1, self.num_transformer_layers - 1)
        widths = [self.model_dim * (low + step * layer) for layer in range(self.num_transformer_layers)]
        heads = [max(self.num_gqa_groups, int(width) // self.head_dim) for width in widths]
        self.num_query_heads = [head - head % self.num_gqa_groups for head in heads]
        self.num_kv_heads = [head // self.num_gqa_groups for head in self.num_query_heads]
