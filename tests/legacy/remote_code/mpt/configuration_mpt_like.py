from typing import Dict, Union

from transformers import PretrainedConfig

attn_config_defaults: Dict = {"attn_type": "multihead_attention", "clip_qkv": None, "alibi": False, "alibi_bias_max": 8}


class TinyMPTConfig(PretrainedConfig):
    model_type = "mpt_like"

    def __init__(self, d_model=32, n_heads=4, n_layers=2, expansion_ratio=2, max_seq_len=64, vocab_size=64,
                 attn_config: Dict = attn_config_defaults, logit_scale: Union[float, str, None] = None,
                 use_cache=False, **kwargs):
        self.d_model = d_model
        self.n_heads = n_heads
        self.n_layers = n_layers
        self.expansion_ratio = expansion_ratio
        self.max_seq_len = max_seq_len
        self.vocab_size = vocab_size
        self.attn_config = attn_config
        self.logit_scale = logit_scale
        self.use_cache = use_cache
        if "name" in kwargs:
            del kwargs["name"]
        super().__init__(**kwargs)
        self._validate_config()

    def _set_config_defaults(self, config, config_defaults):
        for k, v in config_defaults.items():
            if k not in config:
                config[k] = v
        return config

    def _validate_config(self):
        self.attn_config = self._set_config_defaults(self.attn_config, attn_config_defaults)
        if self.d_model % self.n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
