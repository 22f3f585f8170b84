"""Decide which `raise` statements count, and why the others are left out."""

from __future__ import annotations

import fnmatch
import re

from .raised import RaisedMessage

LIBRARIES = ("torch", "transformers", "peft", "accelerate", "trl", "bitsandbytes")
"""Of these only messages about dtypes, quantization and arguments count."""
AROUND = (
    *("datasets", "huggingface_hub", "diffusers", "sentence_transformers", "tokenizers"),
    *("safetensors", "evaluate", "deepspeed", "torchao", "optimum", "gptqmodel", "auto_gptq"),
    *("awq", "hqq", "auto_round", "compressed_tensors", "llmcompressor", "lightning", "swift"),
    *("llamafactory", "axolotl", "torchtune", "nemo_automodel", "unsloth", "unsloth_zoo", "verl"),
    *("liger_kernel", "setfit", "ray", "vllm"),
)
"""Of these all messages count of files that load, tokenize, prepare data, train, adapt, quantize
or launch."""
PRECISION = re.compile(
    r"dtype|bfloat16|float16|float32|\bfp16|\bbf16|\bfp8|\bhalf\b|precision|quantiz|4.?bits?\b"
    r"|8.?bits?\b|bitsandbytes|autocast|scaler",
    re.IGNORECASE,
)
ARGUMENTS = (
    "transformers/training_args*.py",
    "transformers/trainer.py",
    "transformers/trainer_optimizer.py",
    "transformers/trainer_utils.py",
    "transformers/integrations/deepspeed.py",
    "transformers/integrations/peft.py",
    "accelerate/accelerator.py",
    "accelerate/state.py",
    "accelerate/utils/dataclasses.py",
    "accelerate/utils/fsdp_utils.py",
    "peft/config.py",
    "peft/mapping*.py",
    "peft/peft_model.py",
    "peft/auto.py",
    "peft/mixed_model.py",
    "peft/tuners/*config.py",
    "peft/tuners/tuners_utils.py",
    "peft/tuners/lora/*.py",
    "peft/utils/*.py",
    "trl/trainer/*.py",
    "trl/data_utils.py",
    "trl/models/*.py",
    "bitsandbytes/optim/*.py",
)
"""Files that check what a user gives them."""
LEFT_OUT = {
    "torch/ao/*": "PyTorch's own eager quantization, which this field does not use",
    "torch/testing/*": "helpers for tests",
    "torch/_inductor/*": "the inside of the compiler",
    "torch/_dynamo/*": "the inside of the compiler",
    "torch/_functorch/*": "the inside of the compiler",
    "torch/_higher_order_ops/*": "the inside of the compiler",
    "torch/_subclasses/*": "the inside of the compiler",
    "torch/_refs/*": "the inside of the compiler",
    "torch/_prims*": "the inside of the compiler",
    "torch/_decomp/*": "the inside of the compiler",
    "torch/_meta_registrations.py": "the inside of the compiler",
    "torch/_native/*": "the inside of the compiler",
    "torch/_library/*": "the inside of the compiler",
    "torch/_dispatch/*": "the inside of the compiler",
    "torch/library.py": "the inside of the compiler",
    "torch/fx/*": "the inside of the compiler",
    "torch/utils/_sympy/*": "the inside of the compiler",
    "torch/utils/_runtime_estimation.py": "the inside of the compiler",
    "torch/_export/*": "exporters",
    "torch/export/*": "exporters",
    "torch/onnx/*": "exporters",
    "torch/jit/*": "exporters",
    "torch/utils/model_dump/*": "exporters",
    "torch/utils/mkldnn.py": "exporters",
    "torch/utils/backend_registration.py": "other backends",
    "torch/utils/tensorboard/*": "writers of logs",
    "torch/utils/benchmark/*": "helpers for tests",
    "torch/utils/jit/*": "exporters",
    "torch/utils/data/*": "pipelines of data that nobody here uses",
    "torch/_vendor/*": "a copy of another library",
    "torch/_numpy/*": "PyTorch's NumPy for the compiler",
    "torch/sparse/*": "sparse tensors",
    "torch/masked/*": "masked tensors",
    "torch/nested/*": "nested tensors",
    "torch/quantization/*": "PyTorch's own eager quantization, which this field does not use",
    "torch/backends/*": "switches of backends",
    "torch/distributions/*": "probability distributions",
    "torch/signal/*": "signal processing",
    "torch/cuda/tunable.py": "tuning of kernels",
    "torch/autograd/gradcheck.py": "helpers for tests",
    "torch/autograd/forward_ad.py": "forward-mode differentiation",
    "torch/nn/utils/parametrize.py": "parametrizations",
    "torch/nn/modules/linear_cross_entropy*": "a loss that the libraries do not use",
    "torch/nn/attention/*": "kernels called directly",
    "torch/distributed/_symmetric_memory/*": "kernels called directly",
    "torch/distributed/_local_tensor/*": "helpers for tests",
    "torch/distributed/rpc/*": "remote calls",
    "torch/distributed/tensor/_ops/*": "the inside of sharding",
    "torch/distributed/algorithms/_quantization/*": "compressed communication",
    "torch/distributed/checkpoint/*": "checkpoints of other tools",
    "torch/storage.py": "storages made by hand",
    "torch/functional.py": "functions of linear algebra",
    "torch/_linalg_utils.py": "functions of linear algebra",
    "torch/_utils.py": "what pickle rebuilds",
    "torch/_tensor.py": "what pickle rebuilds",
    "transformers/exporters/*": "exporters",
    "transformers/cli/*": "the server, which trains nothing",
    "transformers/models/*": "a model's check of its own inputs",
    "transformers/hf_argparser.py": "types of command lines, not tensors",
    "transformers/generation/continuous_batching/*": "the server, which trains nothing",
    "transformers/generation/logits_process.py": "halves of batches, not half precision",
    "transformers/distributed/*": "the inside of sharding",
    "trl/scripts/*": "types of command lines, not tensors",
    "bitsandbytes/backends/xpu/*": "the inside of kernels",
    "bitsandbytes/backends/triton/*": "the inside of kernels",
    "bitsandbytes/backends/hpu/*": "the inside of kernels",
    "peft/tuners/waveft/waverec2d.py": "a wavelet transform's check of its own inputs",
    "*/testing/*": "helpers for tests",
    "*/tests/*": "helpers for tests",
    "*/examples/*": "helpers for tests",
    "*/benchmark*": "helpers for tests",
    "diffusers/pipelines/*": "a pipeline's check of its own inputs, which trains nothing",
    "diffusers/modular_pipelines/*": "a pipeline's check of its own inputs, which trains nothing",
    "diffusers/models/*": "a model's check of its own inputs",
    "diffusers/schedulers/*": "schedules of noise, which are called directly",
    "diffusers/hooks/*": "caches of pipelines",
    "huggingface_hub/cli/*": "services of the Hub that no training calls",
    "huggingface_hub/inference/*": "services of the Hub that no training calls",
    "huggingface_hub/_s[ap]*": "services of the Hub that no training calls",
    "huggingface_hub/_jobs*": "services of the Hub that no training calls",
    "huggingface_hub/_oauth.py": "services of the Hub that no training calls",
    "huggingface_hub/_webhooks*": "services of the Hub that no training calls",
    "deepspeed/inference/*": "the server, which trains nothing",
    "deepspeed/model_implementations/*": "the server, which trains nothing",
    "deepspeed/module_inject/*": "the server, which trains nothing",
    "deepspeed/ops/*": "the inside of kernels",
    "deepspeed/compile/*": "the inside of the compiler",
    "deepspeed/autotuning/*": "tuning of kernels",
    "torchao/prototype/*": "prototypes",
    "torchao/_models/*": "helpers for tests",
    "torchao/kernel/*": "the inside of kernels",
    "optimum/exporters/*": "exporters",
    "optimum/fx/*": "exporters",
    "optimum/onnx*": "exporters",
    "gptqmodel/nn_modules/*": "the inside of kernels",
    "gptqmodel/adapter/*": "the inside of kernels",
    "nemo_automodel/components/models/*": "a model's check of its own inputs",
    "nemo_automodel/shared/*": "the inside of kernels",
    "unsloth/_vendor/*": "a copy of another library",
    "unsloth/kernels/*": "the inside of kernels",
    "unsloth/dataprep/*": "a maker of synthetic data",
    "unsloth_zoo/mlx/*": "Apple's MLX",
    "unsloth_zoo/fused_losses/*": "the inside of kernels",
    "unsloth_zoo/temporary_patches/*": "the inside of kernels",
    "liger_kernel/ops/*": "the inside of kernels",
    "verl/experimental/*": "prototypes",
    "axolotl/monkeypatch/*": "the inside of kernels",
    "axolotl/integrations/*": "plugins of others",
    "ray/[!te]*": "clusters without a training",
    "vllm/model_executor/models/*": "a model's check of its own inputs",
    "vllm/model_executor/layers/[!q]*": "the inside of kernels",
    "vllm/v1/attention/*": "the inside of kernels",
    "vllm/[mv]*/[!m]*": "the inside of the server",
    "vllm/[btxu]*": "the inside of the server",
}
"""Files whose messages a training does not show, and why."""
_INTERNAL = re.compile(
    r"please override|must implement|should not happen|undefined operation|poisoned by swap_tensors"
    r"|to be not none|quantizers for|abstract|in scripting mode|_none_or_dtype|please report this"
    r"|choose a unique|get_instance|unimplemented mask method|tuple index out of range"
    r"|_block_diag|raised an exception for layer|inexact division",
    re.IGNORECASE,
)


def reason_left_out(raised: RaisedMessage) -> str:
    """Return why a message does not count; empty if it does."""
    if reason := reason_of_file(raised.file):
        return reason
    is_internal = raised.type in ("NotImplementedError", "AssertionError")
    if _INTERNAL.search(raised.message) or (is_internal and not PRECISION.search(raised.message)):
        return "a library's check of its own code"
    if re.fullmatch(r"(?:module|.* object)\W+(?:\S+ )?has no attribute \S+", raised.message):
        return "a name that is gone or misspelled, which the tables of names answer"
    if len(re.sub(r"\{[^{}]*\}|\W", "", raised.message)) < _SHORTEST:
        return "too short to be told from others"
    return ""


_SHORTEST = 12


def reason_of_file(file: str) -> str:
    """Return why no message of a file counts; empty if they do."""
    return next((why for files, why in LEFT_OUT.items() if fnmatch.fnmatch(file, files)), "")


def subject(raised: RaisedMessage) -> str:
    """Return the subject of a message that counts."""
    if raised.library in AROUND:
        return "all"
    about_precision = PRECISION.search(raised.message)
    return "dtypes and quantization" if about_precision else "arguments"


def is_asked_for(raised: RaisedMessage) -> bool:
    """Tell whether a message is about dtypes, quantization or arguments, or around them."""
    if raised.library in AROUND or PRECISION.search(raised.message):
        return True
    return any(fnmatch.fnmatch(raised.file, pattern) for pattern in ARGUMENTS)
