import copy

from transformers import LlamaConfig
from transformers.configuration_utils import PretrainedConfig
from transformers.utils import logging

logger = logging.get_logger(__name__)


class TinyVisionConfig(PretrainedConfig):
    model_type = "intern_vit_like"

    def __init__(self, hidden_size=16, drop_path_rate=0.1, num_hidden_layers=2, **kwargs):
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.drop_path_rate = drop_path_rate
        self.num_hidden_layers = num_hidden_layers


class TinyInternVLConfig(PretrainedConfig):
    model_type = "internvl_like"
    is_composition = True

    def __init__(self, vision_config=None, llm_config=None, downsample_ratio=0.5, **kwargs):
        super().__init__(**kwargs)
        if llm_config is None:
            llm_config = {
                "architectures": ["LlamaForCausalLM"], "vocab_size": 64, "hidden_size": 32,
                "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
                "tie_word_embeddings": True,
            }
        self.vision_config = TinyVisionConfig(**(vision_config or {}))
        self.llm_config = LlamaConfig(**llm_config)
        self.downsample_ratio = downsample_ratio
        self.tie_word_embeddings = self.llm_config.tie_word_embeddings

    def to_dict(self):
        output = copy.deepcopy(self.__dict__)
        output["vision_config"] = self.vision_config.to_dict()
        output["llm_config"] = self.llm_config.to_dict()
        output["model_type"] = self.__class__.model_type
        return output
