from dataclasses import asdict, dataclass

from transformers import AutoConfig, PretrainedConfig


@dataclass
class ModelConfig:
    d_model: int = 32
    n_layers: int = 2
    vocab_size: int = 64
    weight_tying: bool = True


class TinyLLaDAConfig(PretrainedConfig):
    model_type = "llada_like"
    keys_to_ignore_at_inference = ["past_key_values"]

    def __init__(self, use_cache=False, **kwargs):
        model_config = ModelConfig()
        all_kwargs = asdict(model_config)
        all_kwargs.update(kwargs)
        all_kwargs.update({"use_cache": use_cache})
        all_kwargs.update({"architectures": all_kwargs.get("architectures", ["TinyLLaDAModelLM"])})
        super().__init__(**all_kwargs)

    @property
    def num_hidden_layers(self):
        return self.n_layers

    @property
    def hidden_size(self):
        return self.d_model


AutoConfig.register("llada_like", TinyLLaDAConfig)
