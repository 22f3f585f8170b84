"""Errors that many people reported: each is answered by its cause and remedy."""

from __future__ import annotations

import re

import pytest

from patchkit.known.answering import answered
from patchkit.known.reading import read
from patchkit.known.wording import MOST_LINES, WIDTH, shown

# Report to: the text, with the lines above the error where they decide, and what the answer must say.
REPORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "huggingface/transformers#43828": (
        '  File "/usr/local/lib/python3.11/site-packages/transformers/integrations/moe.py", line 149, in _grouped_linear\n    out = torch._grouped_mm(input, weight.transpose(-2, -1), offs=offs)\nRuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16',
        ("autocast", "5\\.2"),
    ),
    "huggingface/trl#4901": (
        "NotImplementedError: \"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'",
        ("bf16=True", "trl-adapter-bf16-cast"),
    ),
    "huggingface/transformers#23165": (
        "ValueError: Attempting to unscale FP16 gradients.",
        ("float32", "accelerate-gradscaler-guard"),
    ),
    "huggingface/peft#341": (
        '    modules_to_save=["embed_tokens", "lm_head"]\n  File "torch/cuda/amp/grad_scaler.py", line 212, in _unscale_grads_\nValueError: Attempting to unscale FP16 gradients.',
        ("modules_to_save", "peft-modules-to-save-dtype"),
    ),
    "huggingface/trl#1202": (
        '  File "peft/tuners/lora/layer.py", in forward\n    result += lora_B(lora_A(dropout(x))) * scaling\nRuntimeError: expected scalar type Float but found BFloat16',
        ("autocast", "peft-lora-input-dtype", "0\\.7\\.9"),
    ),
    "huggingface/trl#4634": (
        "    494         logits = self.lm_head(hidden_states[:, slice_indices, :])\n    125         return F.linear(input, self.weight, self.bias)\nRuntimeError: expected scalar type Half but found Float",
        ("bnb_4bit_compute_dtype", "transformers-lm-head-dtype"),
    ),
    "huggingface/trl#6684": (
        "TypeError: transformers.models.auto.auto_factory._BaseAutoModelClass.from_pretrained() got multiple values for keyword argument 'dtype'",
        ("1\\.12", "AsyncGRPOConfig"),
    ),
    "huggingface/trl#1723": (
        "ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32",
        (
            "FSDP1",
            "autocast_adapter_dtype=False",
            "bnb_4bit_quant_storage",
            "mixed-dtypes-under-fsdp",
        ),
    ),
    "axolotl-ai-cloud/axolotl#1494": (
        "ValueError: Must flatten tensors with uniform dtype but got torch.float32 and torch.bfloat16",
        ("FSDP1", "one dtype", "mixed-dtypes-under-fsdp"),
    ),
    "huggingface/peft#1515": (
        '  File "transformers/models/llama/modeling_llama.py", in forward\n    logits = self.lm_head(hidden_states)\nRuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16',
        ("prepare_model_for_kbit_training", "transformers-norm-output-dtype", "torch\\.autocast"),
    ),
    "NVIDIA/workbench-example-llama3-finetune#1": (
        "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'dataset_text_field'",
        ("SFTConfig\\(dataset_text_field",),
    ),
    "verl-project/verl#5690": (
        "ImportError: cannot import name 'AutoModelForCausalLMWithValueHead' from 'trl' (/usr/local/lib/python3.12/dist-packages/trl/__init__.py)",
        ("trl<0\\.29", "refuses"),
    ),
    "shibing624/MedicalGPT#444": (
        "TypeError: Trainer.__init__() got an unexpected keyword argument 'processing_class'",
        ("4\\.46", "[Uu]pgrade Transformers"),
    ),
    "huggingface/peft#2292": (
        "  File \"/home/me/miniconda3/lib/python3.10/site-packages/peft/peft_model.py\", line 37, in <module>\n    from transformers import Cache, DynamicCache, EncoderDecoderCache, PreTrainedModel\nImportError: cannot import name 'EncoderDecoderCache' from 'transformers' (/home/me/miniconda3/lib/python3.10/site-packages/transformers/__init__.py)",
        ("4\\.43", "[Uu]pgrade Transformers", "peft<0\\.14"),
    ),
    "huggingface/transformers#44861": (
        "  File \"transformers/modeling_utils.py\", line 341, in _get_tied_weight_keys\n    tied_weight_keys.extend([f\"{name}.{k}\" if name else k for k in tied.keys()])\nAttributeError: 'list' object has no attribute 'keys'",
        ("_tied_weights_keys", "trust_remote_code", "transformers<5"),
    ),
    "huggingface/trl#4447": (
        "RuntimeError: Could not infer dtype of dict",
        ("BatchEncoding", "trl>=0\\.25|0\\.25"),
    ),
    "huggingface/trl#2291": (
        "AttributeError: 'TrainingArguments' object has no attribute 'model_init_kwargs'",
        ("DPOConfig",),
    ),
    "unslothai/unsloth#593": (
        "AttributeError: 'TrainingArguments' object has no attribute 'packing'",
        ("SFTConfig", "0\\.9\\.3"),
    ),
    "huggingface/transformers#36331": (
        "TypeError: CustomTrainer.compute_loss() got an unexpected keyword argument 'num_items_in_batch'",
        ("num_items_in_batch=None", "4\\.46"),
    ),
    "huggingface/accelerate#3257": (
        "TypeError: Accelerator.__init__() got an unexpected keyword argument 'logging_dir'",
        ("project_dir",),
    ),
    "unslothai/unsloth#4661": (
        "[/usr/local/lib/python3.11/dist-packages/unsloth_zoo/dataset_utils.py](https://localhost:8080/#) in <module>\n--> 480 from trl.trainer.utils import ConstantLengthDataset\nImportError: cannot import name 'ConstantLengthDataset' from 'trl.trainer.utils' (/usr/local/lib/python3.11/dist-packages/trl/trainer/utils.py)",
        ("unsloth_zoo", "trl<0\\.20"),
    ),
    "bitsandbytes-foundation/bitsandbytes#963": (
        '  File "torch/nn/functional.py", line 5440, in multi_head_attention_forward\n    attn_output = linear(attn_output, out_proj_weight, out_proj_bias)\nRuntimeError: self and mat2 must have the same dtype, but got Half and Byte',
        ("MultiheadAttention", 'llm_int8_skip_modules=\\["out_proj"'),
    ),
    "huggingface/transformers#35332": (
        '  File "transformers/models/deberta/modeling_deberta.py", line 290, in forward\n    attention_scores = attention_scores.masked_fill(~(attention_mask), torch.finfo(query_layer.dtype).min)\nRuntimeError: value cannot be converted to type at::BFloat16 without overflow',
        ("DeBERTa", "float32", "minimum"),
    ),
    "unslothai/unsloth#2040": (
        "NaN gradient detected in Linear4bit's input gradient \nNaN gradient detected in Gemma3MLP's input gradient \nNaN gradient detected in Gemma3RMSNorm's input gradient",
        ("Gemma", "float16", "float32", "bfloat16-model-in-float16-training"),
    ),
    "huggingface/trl#3466": (
        "UserWarning: Merge lora module to 4-bit linear may get different generations due to rounding errors.",
        ("vLLM", "peft-exact-unmerge"),
    ),
    "huggingface/peft#484": (
        "ValueError: `FlatParameter` requires uniform dtype but got torch.float16 and torch.float32",
        ("FSDP1", "autocast_adapter_dtype=False"),
    ),
    "deepspeedai/DeepSpeed#4885": (
        '  File "/nethome/yheng6/miniconda3/envs/handbook/lib/python3.10/site-packages/peft/tuners/lora/layer.py", line 509, in forward\n    result = result + lora_B(lora_A(dropout(x))) * scaling\nRuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16',
        ("zero_quantized_nontrainable_weights", "remote code"),
    ),
    "huggingface/peft#1720": (
        '  File "peft/utils/other.py", line 188, in update\n    self.modules_to_save.update(torch.nn.ModuleDict({adapter_name: copy.deepcopy(self.original_module)}))\nRuntimeError: only Tensors of floating point dtype can require gradients',
        ("modules_to_save", 'llm_int8_skip_modules=\\["classifier"'),
    ),
    "hiyouga/LLaMA-Factory#4432": (
        '  File "peft/tuners/lora/layer.py", in forward\n    result = result + lora_B(lora_A(dropout(x))) * scaling\nRuntimeError: expected mat1 and mat2 to have the same dtype, but got: c10::Half != float',
        ("autocast_adapter_dtype=False", "torch\\.autocast"),
    ),
    "hiyouga/LLaMA-Factory#515": (
        '  File "peft/tuners/lora.py", line 1086, in forward\n    self.lora_A[self.active_adapter](self.lora_dropout[self.active_adapter](x))\nRuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::Half',
        ("[Uu]pgrade PEFT", "peft-lora-input-dtype"),
    ),
    "huggingface/transformers#34702": (
        "RuntimeError: expected dtype float for `end` but got dtype c10::BFloat16",
        ("4\\.46\\.3", "optimizer-state-dtype"),
    ),
    "databrickslabs/dolly#11": (
        "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0",
        ("fp16=True", "bf16=False", "bf16-unsupported"),
    ),
    "axolotl-ai-cloud/axolotl#3395": (
        "torch.OutOfMemoryError: CUDA out of memory loading a MoE with load_in_4bit on transformers v5",
        ("fused experts", "experts-not-quantized"),
    ),
    "unslothai/unsloth#26": (
        "RuntimeError: Expected out tensor to have dtype float, but got c10::Half instead",
        ("bf16=True", "Unsloth"),
    ),
    "pytorch/pytorch#127176": (
        "RuntimeError: \"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'",
        ("bf16=True",),
    ),
    "hiyouga/LLaMA-Factory#1303": (
        '  File "../python3.8/lib/python3.8/site-packages/peft/tuners/lora.py", line 1076, in forward\n    self.lora_A[self.active_adapter](self.lora_dropout[self.active_adapter](x))\nRuntimeError: expected scalar type Float but found Half',
        ("[Uu]pgrade PEFT", "fp16=True"),
    ),
    "huggingface/trl#1460": (
        "RuntimeError: Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: c10::BFloat16 and  query.dtype: float instead.",
        ("[Uu]pgrade Transformers", '"eager"'),
    ),
    "huggingface/transformers#28731": (
        "RuntimeError: cutlassF: no kernel found to launch!",
        ("float16", '"eager"', "bf16-unsupported"),
    ),
    "huggingface/transformers#27702": (
        "ValueError: You cannot perform fine-tuning on purely quantized models. Please attach trainable adapters on top of the quantized model to correctly perform fine-tuning. Please see: https://huggingface.co/docs/transformers/peft for more details",
        ("LoRA adapters", "get_peft_model"),
    ),
    "huggingface/transformers#38717": (
        "ValueError: `.to` is not supported for `4-bit` or `8-bit` bitsandbytes models. Please use the model as it is, since the model has already been set to the correct devices and casted to the correct `dtype`.",
        ("dispatch_model", "[Uu]pgrade Transformers", "device_map"),
    ),
    "shibing624/MedicalGPT#191": (
        "ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:\n- ds fp16.enabled=True vs hf fp16|fp16_full_eval+fp16_backend(amp)=False\nThe easiest method is to set these DeepSpeed config values to 'auto'.",
        ('"auto"', "fp16=True"),
    ),
    "Dao-AILab/flash-attention#762": (
        "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        ("8\\.0", '"sdpa"'),
    ),
    "huggingface/transformers#39969": (
        "ValueError: The model you are trying to fine-tune is quantized with QuantizationMethod.MXFP4 but that quantization method do not support training. Please open an issue on GitHub: https://github.com/huggingface/transformers to request the support for training support for QuantizationMethod.MXFP4",
        ("Mxfp4Config\\(dequantize=True\\)",),
    ),
    "huggingface/transformers#35471": (
        "ValueError: Unknown quantization type, got fp8 - supported types are: ['awq', 'bitsandbytes_4bit', 'bitsandbytes_8bit', 'gptq', 'aqlm', 'quanto', 'eetq', 'hqq', 'compressed-tensors', 'fbgemm_fp8', 'torchao', 'bitnet']",
        ("4\\.49", "bfloat16 copy"),
    ),
    "huggingface/transformers#11461": (
        "T5-large FP16 produces nan in loss",
        ("T5", "bf16=True", "float32"),
    ),
    "huggingface/transformers#24840": (
        "RuntimeError: unscale_() has already been called on this optimizer since the last update()",
        ("4\\.31", "accumulation"),
    ),
    "rmihaylov/falcontune#24": (
        "ValueError: FP16 Mixed precision training with AMP or APEX (`--fp16`) and FP16 half precision evaluation (`--fp16_full_eval`) can only be used on CUDA devices",
        ("CUDA build", "fp16=False"),
    ),
    "ludwig-ai/ludwig#3951": (
        "You are calling `save_pretrained` to a 4-bit converted model, but your `bitsandbytes` version doesn't support it. If you want to save 4-bit models, make sure to have `bitsandbytes>=0.41.3` installed.",
        ("0\\.41\\.3", "4\\.37", "adapters"),
    ),
    "NVIDIA/Model-Optimizer#1829": (
        "ImportError: cannot import name 'is_torch_fx_available' from 'transformers.utils.import_utils'",
        ("remote code", "trust_remote_code", "transformers<5"),
    ),
    "unslothai/unsloth#2010": (
        "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'dataset_num_proc'",
        ("SFTConfig\\(dataset_num_proc",),
    ),
    "hiyouga/LlamaFactory#8142": (
        "ImportError: cannot import name 'clear_device_cache' from 'accelerate.utils.memory' (/usr/local/lib/python3.11/dist-packages/accelerate/utils/memory.py)",
        ("[Uu]pgrade Accelerate", "peft<0\\.15"),
    ),
    "IMJONEZZ/LLMs-in-Production#3": (
        "ImportError: cannot import name 'load_metric' from 'datasets'",
        ("evaluate", "3\\.0"),
    ),
    "huggingface/trl#1639": (
        "ImportError: cannot import name 'SFTConfig' from 'trl' (c:\\Users\\brand17\\Documents\\Software\\python\\.env\\Lib\\site-packages\\trl\\__init__.py)",
        ("0\\.9", "[Uu]pgrade TRL"),
    ),
    "huggingface/transformers#34582": (
        "ModuleNotFoundError: No module named 'transformers.deepspeed'",
        ("transformers\\.integrations\\.deepspeed|transformers\\.integrations",),
    ),
    "huggingface/smollm#103": (
        "AttributeError: 'LlamaAttention' object has no attribute 'num_heads'",
        ("config\\.num_attention_heads", "DeepSpeed"),
    ),
    "unslothai/unsloth#7854": (
        "AttributeError: 'Qwen2ForCausalLM' object has no attribute 'warnings_issued'",
        ("0\\.29", "[Uu]pgrade TRL"),
    ),
    "asahi417/lm-question-generation#30": (
        "TypeError: T5ForConditionalGeneration.__init__() got an unexpected keyword argument 'use_auth_token'",
        ("token=",),
    ),
    "tatsu-lab/alpaca_farm#63": (
        '  File "torch/distributed/fsdp/flat_param.py", line 435, in _init_flat_param\n    raise ValueError("Integer parameters are unsupported")\nValueError: Integer parameters are unsupported\nERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 0',
        ("bnb_4bit_quant_storage", "FSDP1"),
    ),
    "bigcode-project/starcoder#96": (
        "RuntimeError: expected there to be only one unique element in <generator object Init._convert_to_deepspeed_param.<locals>.all_gather_coalesced.<locals>.<genexpr> at 0x7f2ec8daf900>",
        ("ZeRO-3", "load_in_8bit"),
    ),
    "deepspeedai/DeepSpeed#8072": (
        "TypeError: output tensor must have the same type as input tensor",
        ("0\\.19\\.2", "1\\.7", "autocast_adapter_dtype=False"),
    ),
    "deepspeedai/DeepSpeed#3654": (
        "RuntimeError: output tensor must have the same type as input tensor\nzero++ with zero_quantized_weights",
        ("zero_quantized_weights",),
    ),
    "unslothai/unsloth#2643": (
        "ValueError: Supplied state dict for model.language_model.layers.0.mlp.down_proj.weight does not contain `bitsandbytes__*` and possibly other `quantized_stats` components.",
        ("config\\.json", "[Uu]pgrade Transformers"),
    ),
    "huggingface/peft#1405": (
        '  File "bitsandbytes/functional.py", line 998, in dequantize_4bit\n    assert absmax is not None and out is not None\nAssertionError',
        ("quantized", "LoftQ"),
    ),
    "huggingface/peft#2285": (
        "TypeError: TorchaoLoraLinear.__init__() missing 1 required keyword-only argument: 'get_apply_tensor_subclass'",
        ("0\\.21", "TorchAoConfig"),
    ),
    "unslothai/unsloth#1175": (
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: Found Quadro P5000 which is too old to be supported by the triton GPU compiler, which is used as the backend.",
        ("7\\.0", "TORCHDYNAMO_DISABLE=1"),
    ),
    "unslothai/unsloth#3712": (
        "torch._dynamo.exc.UserError: Consider annotating your code using torch._check*(). Could not extract specialized integer from data-dependent expression u0",
        ("torch_compile=False", "routing"),
    ),
    "unslothai/unsloth#4360": (
        "NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:\n     query       : shape=(2, 512, 32, 128) (torch.bfloat16)",
        ("xformers", "SDPA"),
    ),
    "axolotl-ai-cloud/axolotl#1158": (
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, invalid argument, NCCL version 2.16.5\nncclInvalidArgument: Invalid value for an argument.\nLast error:\nInvalid config blocking attribute value -2147483648",
        ("LD_LIBRARY_PATH",),
    ),
    "zjunlp/KnowUnDo#3": (
        "size mismatch for base_model.model.model.layers.30.mlp.gate_proj.lora_B.default.weight: copying a param with shape torch.Size([0]) from checkpoint, the shape in current model is torch.Size([11008, 8]).",
        ("ZeRO-3", "zero_to_fp32"),
    ),
    "hiyouga/LlamaFactory#3353": (
        "loss=0 for lora sft Baichuan2-13B-Chat with bf16\n{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.01}",
        ("masked", 'attn_implementation="eager"'),
    ),
    "huggingface/accelerate#3197": (
        "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: c10::BFloat16 != c10::Half",
        ("DeepSpeed", "fp16=True", "bf16=True"),
    ),
    "seal-rg/recurrent-pretraining#23": (
        "RuntimeError: Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: long int and  query.dtype: c10::BFloat16 instead.",
        ("attention_mask\\.bool", "remote code"),
    ),
    "tloen/alpaca-lora#14": (
        "  File \"/usr/local/lib/python3.9/dist-packages/bitsandbytes/functional.py\", line 1698, in transform\n    prev_device = pre_call(A.device)\nAttributeError: 'NoneType' object has no attribute 'device'",
        ("device_map", "GPU"),
    ),
    "a rank killed by the system": (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n============================================================\ntrain.py FAILED\n------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n  exitcode  : -9 (pid: 1234)\n  traceback : Signal 9 (SIGKILL) received by PID 1234",
        ("main memory", "low_cpu_mem_usage"),
    ),
    "huggingface/trl#397": (
        "ncclInternalError: Internal check failed.\nLast error:\nDuplicate GPU detected : rank 5 and rank 0 both on CUDA device f5000",
        ("same GPU", "set_device"),
    ),
    "out of memory while an optimizer is resumed": (
        '  File "/x/site-packages/transformers/trainer.py", line 2520, in _load_optimizer_and_scheduler\n    torch.load(path)\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
        ("Resuming", "optimizer"),
    ),
    "a kernel of an extension": (
        "RuntimeError: \"ms_deform_attn_forward_cuda\" not implemented for 'Half'",
        ("GPU kernel", "float32"),
    ),
    "an adapter with two tokens more": (
        "size mismatch for base_model.model.lm_head.weight: copying a param with shape torch.Size([32002, 4096]) from checkpoint, the shape in current model is torch.Size([32000, 4096]).",
        ("resize_token_embeddings\\(32002\\)",),
    ),
    "float64 out of NumPy": (
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
        ("float64", "\\.float\\(\\)"),
    ),
    "QwenLM/Qwen#307": (
        '  File "site-packages/transformers/modeling_utils.py", line 3157, in from_pretrained\n    quantizer.quantize_model(model, quantization_config.tokenizer)\n  File "site-packages/optimum/gptq/quantizer.py", line 306, in quantize_model\n    raise ValueError("You need to pass `dataset` in order to quantize your model")\nValueError: You need to pass `dataset` in order to quantize your model',
        (
            "(?i)quantization_config|already quantized|GPTQConfig",
            "dataset",
        ),
    ),
    "casper-hansen/AutoAWQ#600": (
        '  File "dist-packages/awq/quantize/quantizer.py", line 330, in _search_best_scale\n    best_scales = self._compute_best_scale(\n  File "dist-packages/awq/quantize/quantizer.py", line 409, in _compute_best_scale\n    raise Exception\nException',
        (
            "NaN|nan|inf",
            "bf16|bfloat16|calibration",
        ),
    ),
    "QwenLM/Qwen3#221": (
        "File \"dist-packages/awq/modules/linear/gemm.py\", line 66, in backward\n    if awq_ext is None:\nNameError: name 'awq_ext' is not defined",
        (
            "autoawq.kernels|awq_ext",
            "install|build",
        ),
    ),
    "RLinf/RLinf#119": (
        "AssertionError: FSDP assumes _fsdp_wrapped_module.base_model.model.vision_backbone.featurizer.blocks.9.attn.proj.lora_A.default.weight is in the state_dict but the state_dict only has odict_keys(['a.weight', 'b.weight']). prefix=, module_name=",
        (
            "FSDP",
            "state.dict|keys|names|checkpoint|adapter",
        ),
    ),
    "axolotl-ai-cloud/axolotl#2743": (
        '[rank0]:   File "site-packages/torch/distributed/fsdp/_flat_param.py", line 1239, in init_flat_param_attributes\n[rank0]:     ).pin_memory(device=self.device)\n[rank0]: RuntimeError: CUDA error: invalid argument\n[rank0]: CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.',
        (
            "pin",
            "offload",
        ),
    ),
    "meta-llama/llama-cookbook#192": (
        '  File "site-packages/torch/distributed/fsdp/wrap.py", line 370, in _recursive_wrap\n    wrapped_child, num_wrapped_params = _recursive_wrap(\n  File "site-packages/torch/distributed/fsdp/wrap.py", line 353, in _recursive_wrap\n    assert not isinstance(child, cast(type, wrapper_cls))\nAssertionError',
        (
            "twice|already wrapped|wrapped",
            "shared|once|layer",
        ),
    ),
    "deepspeedai/DeepSpeed#2734": (
        "NotImplementedError: Model data type and gradient accumulation data type must be equal to use ZeRO",
        (
            "[Uu]pgrade|DeepSpeed 0\\.8|grad_accum_dtype",
            "data_types|DeepSpeed",
        ),
    ),
    "deepspeedai/DeepSpeed#5223": (
        '  File "site-packages/deepspeed/runtime/bf16_optimizer.py", line 312, in step\n    assert all_groups_norm > 0.\nAssertionError',
        (
            "(?i)gradient|norm",
            "nan|NaN|zero|clip",
        ),
    ),
    "unslothai/unsloth#4744": (
        "AttributeError: module 'triton.language' has no attribute 'make_tensor_descriptor'",
        (
            "[Tt]riton",
            "upgrade|newer|version",
        ),
    ),
    "unslothai/unsloth#1263": (
        "AttributeError: module 'triton.language' has no attribute 'cast'",
        (
            "[Tt]riton",
            "upgrade|newer|-U",
        ),
    ),
    "deepspeedai/DeepSpeed#5677": (
        "gcc: fatal error: Killed signal terminated program cc1plus\n  compilation terminated.",
        ("MAX_JOBS|memory",),
    ),
    "bitsandbytes-foundation/bitsandbytes#433": (
        '  File "/bitsandbytes/autograd/_functions.py", line 512, in forward\n    output = torch.nn.functional.linear(A, F.dequantize_4bit(B, state).to(A.dtype).t(), bias)\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (80x512 and 1x393216)',
        ("packed|quantiz",),
    ),
    "haotian-liu/LLaVA#969": (
        "Invalidate trace cache @ step 414: expected module 2612, but got module 2248",
        (
            "ZeRO",
            "trace|harmless|order|MoE|modules",
        ),
    ),
    "Lightning-AI/lit-llama#434": (
        "AssertionError: Expects the handle training to be IDLE but got HandleTrainingState.FORWARD",
        (
            "FSDP",
            "state|forward|save|upgrade",
        ),
    ),
    "jianzhnie/LLamaTuner#2": (
        "ValueError: You are using `device_map='auto'` on a 4bit loaded version of the model. To automatically compute the appropriate device map, you should upgrade your `accelerate` library,`pip install --upgrade accelerate` or install it from source to support fp4 auto device mapcalculation. You may encounter unexpected behavior, or pass your own device map",
        (
            "[Aa]ccelerate",
            "pip install -U|upgrade|Upgrade",
        ),
    ),
    "huggingface/accelerate#2549": (
        "ValueError: Blockwise quantization only supports 16/32-bit floats, but got torch.uint8",
        ("quantized|twice|already",),
    ),
    "state-spaces/mamba#345": (
        "RuntimeError: causal_conv1d only supports channel dimension divisible by 8 for now",
        (
            "8",
            "contiguous|dimension|channels|multiple|d_model",
        ),
    ),
    "state-spaces/mamba#413": (
        "TypeError: causal_conv1d_fwd(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: torch.Tensor, arg1: torch.Tensor, arg2: Optional[torch.Tensor], arg3: Optional[torch.Tensor], arg4: bool) -> torch.Tensor\n\nInvoked with: tensor([[[ 0.6263",
        (
            "causal.conv1d",
            "mamba|version|upgrade|release",
        ),
    ),
    "state-spaces/mamba#467": (
        "AttributeError: 'NoneType' object has no attribute 'causal_conv1d_fwd'",
        (
            "causal.conv1d",
            "install",
        ),
    ),
    "haotian-liu/LLaVA#641": (
        "Flash attention is only supported on A100 or H100 GPU during training due to head dim > 64 backward. ref: https://github.com/HazyResearch/flash-attention/issues/190#issuecomment-1523359593",
        ("GPU|Ampere|sdpa|head",),
    ),
    "deepspeedai/DeepSpeed#697": (
        "[Rank 0] Overflow detected. Skipping step. Attempted loss scale: 1, reducing to 1",
        (
            "scale",
            "bf16|bfloat16|learning rate",
        ),
    ),
    "Lightning-AI/lit-llama#447": (
        "ValueError: Precision 'bf16-true' is invalid. Allowed precision values: ('64', '32', '16', 'bf16', 64, 32, 16)",
        (
            "[Ll]ightning",
            "[Uu]pgrade|-U",
        ),
    ),
    "modelscope/ms-swift#6606": (
        "RuntimeError: .to() does not accept copy argument",
        ("DTensor|torchao|to\\(|copy|accelerat",),
    ),
    "modelscope/ms-swift#2698": (
        "ValueError: DeepSpeed is not compatible with MP. n_gpu: 8, local_world_size: 1.",
        ("NPROC_PER_NODE|launch|one process",),
    ),
    "modelscope/ms-swift#5231": (
        "Fatal Python error: none_dealloc: deallocating None: bug likely caused by a refcount error in a C extension\nPython runtime state: initialized",
        (
            "extension|3\\.12|crash",
            "upgrade|Upgrade|reinstall|Python",
        ),
    ),
}


def said(text: str, installed: dict[str, str] | None = None) -> str:
    pasted = read(text)
    found = answered(pasted, (installed or {}).get)
    assert found.answers, "nothing is known"
    lines = shown(found, pasted, {})
    assert len(lines) <= MOST_LINES
    prose = [line for line in lines if not line.startswith(" " * 11) and "http" not in line]
    assert max(map(len, prose)) <= WIDTH
    return " ".join(" ".join(lines).split())


NEWEST = {
    "trl": "1.16.0",
    "transformers": "5.23.0",
    "peft": "0.21.2",
    "accelerate": "1.15.0",
    "bitsandbytes": "0.50.2",
    "datasets": "5.2.0",
    "torch": "2.13.0",
}


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("report", REPORTS)
def test_a_report(report: str, installed: dict[str, str]) -> None:
    text, substance = REPORTS[report]
    answer = said(text, installed)
    for part in substance:
        assert re.search(part, answer), f"{part} is missing in: {answer}"


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("model type `qwen3` but Transformers does not recognize this architecture", "4.51"),
        ("KeyError: 'gemma3'", ""),
        (
            "  File \"/x/transformers/models/auto/configuration_auto.py\", line 1\nKeyError: 'gemma3'",
            "4.50",
        ),
        ("ValueError: Unknown quantization type, got spqr - supported types are: ['awq']", "4.49"),
        ("ValueError: Unknown quantization type, got modelopt - supported types are: ['awq']", ""),
    ],
)
def test_since_when(text: str, since: str) -> None:
    text = text.replace(
        "model type", "ValueError: The checkpoint you are trying to load has model type"
    )
    answer = said(text)
    assert "Upgrade Transformers" in answer
    assert since in answer


@pytest.mark.parametrize(
    ("text", "substance"),
    [
        (
            '  File "/x/site-packages/setfit/trainer.py", line 2, in <module>\n'
            "ImportError: cannot import name 'default_logdir' from 'transformers.training_args' (/x)",
            ("setfit asks for", "pip install -U setfit", "not for your script"),
        ),
        (
            '  File "/c/modules/transformers_modules/org/m/modeling_m.py", line 2, in <module>\n'
            "ImportError: cannot import name 'HybridMambaCache' from 'transformers.cache_utils'",
            ("remote code", "trust_remote_code", "transformers<5"),
        ),
        ("ImportError: cannot import name 'GRPOConfig' from 'trl'", ("came with TRL 0.14.0",)),
        (
            "AttributeError: module 'trl' has no attribute 'SFTTrianer'",
            ("Did you mean `SFTTrainer`",),
        ),
        (
            "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'assistant_only_loss'",
            ("SFTConfig",),
        ),
        (
            "TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'eval_strategy'",
            ("came with Transformers 4.41.0",),
        ),
        (
            "ValueError: Some specified arguments are not used by the HfArgumentParser: "
            "['--evaluation_strategy', 'steps']",
            ("eval_strategy",),
        ),
        (
            "AttributeError: 'TrainingArguments' object has no attribute 'evaluation_strategy'",
            ("Write eval_strategy", "run --legacy"),
        ),
        (
            "AttributeError: 'LlamaForCausalLM' object has no attribute 'greedy_search'",
            ("generate(…) does it", "refuses"),
        ),
        ("AttributeError: 'SFTConfig' object has no attribute 'max_seq_length'", ("max_length",)),
        (
            "ModuleNotFoundError: No module named 'transformers.deepspeed'",
            ("transformers.integrations",),
        ),
        (
            "ImportError: cannot import name 'AdamW' from 'transformers' (/x/transformers/__init__.py)",
            ("from torch.optim import AdamW", "4.50.0"),
        ),
        (
            "ImportError: cannot import name 'logprobs_from_logits' from 'trl.core'",
            ("TRL 0.14.0", "selective_log_softmax"),
        ),
        (
            "TypeError: Seq2SeqTrainingArguments.__init__() got an unexpected keyword argument "
            "'evaluation_strategy'",
            ("Write eval_strategy",),
        ),
        (
            "TypeError: SFTConfig.__init__() got an unexpected keyword argument 'evaluation_strategy'",
            ("Write eval_strategy",),
        ),
        (
            "TypeError: MyTrainer.__init__() got an unexpected keyword argument 'tokenizer'",
            ("Write processing_class", "Transformers 5.0.0"),
        ),
        (
            "TypeError: Accelerator.__init__() got an unexpected keyword argument 'project_dir'",
            ("Every release of Accelerate that was read", "takes", "Upgrade"),
        ),
        (
            "ImportError: cannot import name 'dispatch_model' from 'accelerate' (/x/__init__.py)",
            ("Every release of Accelerate that was read has", "--force-reinstall"),
        ),
        (
            "TypeError: DPOTrainer.__init__() got an unexpected keyword argument 'dpo_alpha'",
            ("No release of TRL that was read", "fork"),
        ),
        (
            "TypeError: __init__() got an unexpected keyword argument 'save_strategy'",
            ("a field of TrainingArguments in every release",),
        ),
        (
            "ImportError: cannot import name 'TrainingArguments' from 'trl'",
            ("a name of Transformers, not of TRL", "from transformers import TrainingArguments"),
        ),
        (
            "ImportError: cannot import name 'LoraConfig' from 'transformers'",
            ("a name of PEFT", "from peft import LoraConfig"),
        ),
        (
            "AttributeError: 'GRPOConfig' object has no attribute 'vllm_device'",
            ("left TRL in 0.18.0",),
        ),
        (
            "ImportError: cannot import name 'GRPOConfig' from 'trl' (unknown location)",
            ("a folder named trl",),
        ),
        (
            '  File "/x/site-packages/setfit/model_card.py", line 14, in <module>\n'
            "ImportError: cannot import name 'DatasetFilter' from 'huggingface_hub' (/x)",
            ("huggingface_hub and setfit are of different times", "0.24"),
        ),
        (
            '  File "/x/transformers/utils/import_utils.py", line 2323, in __getattr__\n'
            "AttributeError: module transformers.models has no attribute gemma3_text",
            ("`gemma3_text` in `transformers.models`", "upgrade"),
        ),
        (
            "ImportError: huggingface-hub>=0.34.0,<1.0 is required for a normal functioning of this "
            "module, but found huggingface-hub==1.1.2.",
            ("pip install 'huggingface-hub>=0.34.0,<1.0'", "huggingface-hub==1.1.2 is installed"),
        ),
    ],
)
def test_names_in_both_directions(text: str, substance: tuple[str, ...]) -> None:
    answer = said(text)
    for part in substance:
        assert part in answer


def test_the_installed_version_tells_not_yet_from_gone() -> None:
    text = "ImportError: cannot import name 'HybridCache' from 'transformers.cache_utils'"
    assert "left Transformers" in said(text)
    text = "ImportError: cannot import name 'GRPOConfig' from 'trl'"
    assert "and 0.13.0 is installed" in said(text, {"trl": "0.13.0"})
    assert "the error is of another place" in said(text, {"trl": "1.16.0"})


def test_a_file_of_another_command_is_not_one_of_an_older_release() -> None:
    text = "ValueError: Some keys are not used by the HfArgumentParser: [{}]"
    training = "'bf16', 'learning_rate', 'logging_steps', 'warmup_ratio'"
    assert "a file for another command" in said(text.format(training))
    assert "Write warmup_steps" in said(text.format("'warmup_ratio'"))


def test_an_error_that_only_reports_another_gives_way_to_it() -> None:
    text = (
        "ArrowTypeError: Expected bytes, got a 'int' object\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset"
    )
    assert "different types" in said(text)


def test_a_choice_of_names_is_not_found_at_the_beginning_of_another() -> None:
    text = "AttributeError: 'ValueModel' object has no attribute '{}'"
    assert answered(read(text.format("layers")), NEWEST.get).answers
    assert not answered(read(text.format("layers_of_mine")), NEWEST.get).answers


def test_the_keyword_of_a_class_of_another_kind_is_not_that_of_the_table() -> None:
    text = "TypeError: OwnTokenizer.__init__() got an unexpected keyword argument 'evaluation_strategy'"
    assert not answered(read(text), NEWEST.get).answers


def test_what_only_knows_the_kind_of_a_complaint_is_silent_where_nothing_was_raised_on_purpose() -> (
    None
):
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\n{}: no moon found'
    assert "the message says which" in said(text.format("ValueError"))
    assert not answered(read(text.format("KeyError")), NEWEST.get).answers


def test_kinds_of_refusal_are_not_about_kernels() -> None:
    text = (
        '  File "/x/site-packages/transformers/models/llama/modeling_llama.py", line 1, in forward\n'
        "{}: the gadget must be blue"
    )
    assert answered(read(text.format("ValueError")), NEWEST.get).answers
    assert not answered(read(text.format("RuntimeError")), NEWEST.get).answers


def test_refusals_of_the_libraries_own_files_are_known_whatever_their_class() -> None:
    text = (
        '  File "/x/site-packages/transformers/trainer.py", line 1, in __init__\n'
        "RuntimeError: the gadget must be blue"
    )
    assert "the library's own" in said(text)
    inner = '  File "/x/site-packages/torch/nn/functional.py", line 1, in linear\nRuntimeError:'
    assert not answered(read(text.replace("RuntimeError:", inner)), NEWEST.get).answers


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("MemoryError", "memory-error"),
        ("MemoryError: 4 shards", "memory-error"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "out-of-memory"),
        (
            "x.py:7: UserWarning: it is slow\n  warn(text)\n 37%|### | 3/8 [00:01<00:02]\nKilled",
            "rank-killed",
        ),
        ("./train.sh: line 4: 815 Killed                  python train.py", "rank-killed"),
        ("RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.", "worker-killed"),
        ("Bus error (core dumped)", "bus-error"),
        (
            "ImportError: cannot import name 'int4_weight_only' from 'torchao.quantization' (/x)",
            "torchao-names",
        ),
    ],
)
def test_where_a_message_begins_and_ends(text: str, row: str) -> None:
    assert answered(read(text), NEWEST.get).answers[0].id == row


def test_what_only_knows_the_kind_of_a_complaint_knows_it_of_the_line_that_raised() -> None:
    library = '  File "/x/site-packages/datasets/arrow_dataset.py", line 7, in map\n'
    own = '  File "/home/me/prepare.py", line 3, in tokenize\n'
    refusal = "ValueError: the gadget must be blue"
    assert answered(read(own + library + refusal), NEWEST.get).answers
    assert not answered(read(library + own + refusal), NEWEST.get).answers


def test_a_short_wording_is_found_as_whole_words() -> None:
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\nValueError: {}'
    assert answered(read(text.format("No moon")), NEWEST.get).answers
    assert not answered(read(text.format("Nonesuch moon")), NEWEST.get).answers


def test_a_name_in_quotes_is_not_the_end_of_another() -> None:
    text = (
        '  File "/x/site-packages/vllm/entrypoints/llm.py", line 7, in f\n'
        "AttributeError: '{}' object has no attribute 'model_executor'"
    )
    assert answered(read(text.format("LLMEngine")), NEWEST.get).answers[0].id == "vllm-names"
    answers = answered(read(text.format("Qwen2ForCausalLM")), NEWEST.get).answers
    assert "vllm-names" not in [answer.id for answer in answers]


def test_an_attribute_at_the_end_is_not_the_beginning_of_another() -> None:
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\nAttributeError: {}'
    assert "tensors" in said(text.format("'list' object has no attribute 'to'"))
    assert "tensors" not in said(text.format("'list' object has no attribute 'to_json_string'"))


def test_what_python_says_itself_is_no_refusal_on_purpose() -> None:
    text = '  File "/x/site-packages/trl/trainer/utils.py", line 7, in f\nTypeError: {}'
    assert answered(read(text.format("not supported")), NEWEST.get).answers
    own = "'<' not supported between instances of 'str' and 'int'"
    assert not answered(read(text.format(own)), NEWEST.get).answers


def test_the_files_of_another_cause_rule_a_row_out() -> None:
    text = "  File \"/x/site-packages/{}/a.py\", line 7, in f\nKeyError: 'model.norm.weight'"
    assert "vLLM" in said(text.format("vllm"))
    assert not answered(read(text.format("safetensors")), NEWEST.get).answers


def test_a_decorator_of_a_library_does_not_ask_for_what_the_script_asks_for() -> None:
    text = (
        "Cell In[3], line 1\n----> 1 SFTTrainer(dataset_text_field='text')\n\n"
        "File ~/x/site-packages/transformers/utils/deprecation.py:165, in "
        "deprecate_kwarg.<locals>.wrapper.<locals>.wrapped_func(*args, **kwargs)\n\n"
        "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'dataset_text_field'"
    )
    assert "SFTConfig" in said(text)


@pytest.mark.parametrize(
    ("text", "substance"),
    [
        ("IndexError: Invalid key: 7 is out of bounds for size 0", "remove_unused_columns"),
        ("AttributeError: 'Qwen2VLProcessor' object has no attribute 'pad_token_id'", "tokenizer"),
        (
            "ValueError: The number of images in the text [0] and images [1] should be the same.",
            "apply_chat_template",
        ),
        ("ValueError: Model architectures ['NewForCausalLM'] are not supported for now.", "vLLM"),
        ("OSError: Consistency check failed: file should be of size 7 but has size 3", "HF_HUB"),
        (
            "PeftModel.from_pretrained(base, 'DeepSeek-OCR-2-lora')\n"
            "UserWarning: Found missing adapter keys while loading the checkpoint: ['a.weight']",
            "a second time",
        ),
        ("ValueError: Adapter two not found in odict_keys(['default'])", "load_adapter"),
        ("ImportError: To support decoding audio data, please install 'torchcodec'.", "FFmpeg"),
        (
            '  File "/x/site-packages/peft/tuners/lora/layer.py", line 7, in forward\n'
            "AttributeError: 'Gadget' object has no attribute 'colour'",
            "PEFT asks a Gadget",
        ),
    ],
)
def test_a_kind(text: str, substance: str) -> None:
    assert substance in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: bad value 7",
        "KeyError: 'foo'",
        "AssertionError",
        "TypeError: f() missing 1 required positional argument: 'x'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
        "ZeroDivisionError: division by zero",
        "IndentationError: unexpected indent",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443)",
        "ModuleNotFoundError: No module named 'my_project'",
        "AttributeError: 'Config' object has no attribute 'learning_rat'",
        "pandas.errors.ParserError: Error tokenizing data",
        "the cat sat on the mat",
        "sqlalchemy.exc.OperationalError: no such table: users",
        "django.db.utils.IntegrityError: UNIQUE constraint failed",
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "RecursionError: maximum recursion depth exceeded",
        "NameError: name 'trainer' is not defined",
        "ConnectionResetError: [Errno 104] Connection reset by peer",
        "AttributeError: 'NoneType' object has no attribute 'device'",
        "SyntaxError: invalid syntax",
        "ValueError: not enough values to unpack (expected 2, got 1)",
        "TypeError: '<' not supported between instances of 'str' and 'int'",
        "RuntimeError: shape '[2, 3]' is invalid for input of size 7",
    ],
)
def test_what_is_not_of_this_field_is_not_answered(text: str) -> None:
    assert not answered(read(text), NEWEST.get).answers
