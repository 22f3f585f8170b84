"""Errors that many people reported of drivers, packages, logs, converters and notices."""

from __future__ import annotations

import re

import pytest

from patchkit.known.choosing import matches
from patchkit.known.reading import read
from patchkit.known.rows import all_rows
from tests.known.test_reports import NEWEST, said

# Row to: a text that is reported of it, and what the answer must say.
REPORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "torchaudio-does-not-fit": (
        "OSError: /usr/lib/python3.11/site-packages/torchaudio/lib/libtorchaudio.so: undefined "
        "symbol: _ZNK3c105Error4whatEv",
        ("same index", "torchaudio"),
    ),
    "joined-tensors-differ": (
        "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 28 but got "
        "size 29 for tensor number 1 in the list.",
        ("28 and 29", "Pad"),
    ),
    "deepspeed-moe-groups": (
        "AssertionError: The model has moe layers, but None of the param groups are marked as MoE. Create a param group with 'moe' key set to True before creating optimizer",
        ("split_params_into_different_moe_groups|param group", "DeepSpeed|deepspeed|optimizer"),
    ),
    "deepspeed-not-initialized": (
        "AssertionError: DeepSpeed backend not set, please initialize it using init_process_group()",
        ("deepspeed\\.init_distributed|launcher|torchrun|process group", "deepspeed|launch"),
    ),
    "deepspeed-prebuild": (
        "      DS_BUILD_OPS=1\n      [WARNING] Unable to import torch, pre-compiling ops will be disabled. Please visit https://pytorch.org/ to see how to properly install torch on your system.\n      [WARNING]  unable to import torch, please install it if you want to pre-compile any deepspeed ops.\n      AssertionError: Unable to pre-compile async_io\n",
        ("async_io|libaio", "DS_BUILD|Windows|AIO"),
    ),
    "fsdp-hybrid-mesh": (
        "ValueError: Manual wrapping with ShardingStrategy.HYBRID_SHARD requires explicit specification of process group or device_mesh.",
        ("HYBRID_SHARD", "device_mesh|process_group|process group|auto"),
    ),
    "deepspeed-module-missing": (
        "ModuleNotFoundError: No module named 'deepspeed.ops.adam.fused_adam_builder'",
        ("[Dd]eep[Ss]peed",),
    ),
    "deepspeed-bucket-not-whole": (
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for DeepSpeedZeroConfig\nstage3_prefetch_bucket_size\n  Input should be a valid integer, got a number with a fractional part [type=int_from_float, input_value=11560550.4, input_type=float]\n    For further information visit https://errors.pydantic.dev/2.9/v/int_from_float",
        (
            "integer|whole number|int",
            "stage3_prefetch_bucket_size",
            "[Uu]pgrade|number|DeepSpeed 0\\.1|older",
        ),
    ),
    "notice-socket-ipv6": (
        "[W socket.cpp:601] [c10d] The client socket has failed to connect to [localhost]:29500 (errno: 99 - Cannot assign requested address).",
        ("harmless|IPv6|notice|retries|127",),
    ),
    "notice-barrier-devices": (
        "[W501 21:01:27.110829382 ProcessGroupNCCL.cpp:4561] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 to perform barrier as devices used by this process are currently unknown. This can potentially cause a hang if this rank to GPU mapping is incorrect. Specify device_ids in barrier() to force use of a particular device, or call init_process_group() with a device_id.",
        ("notice|harmless|device_id", "set_device|device_id"),
    ),
    "notice-process-group-left": (
        "[rank0]:[W1216 12:46:51.123 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL. On normal program exit, the application should call destroy_process_group to ensure that any pending NCCL operations have finished in this process.",
        ("notice|harmless|destroy_process_group", "destroy_process_group"),
    ),
    "accelerate-plugin-of-another-release": (
        "AttributeError: 'FullyShardedDataParallelPlugin' object has no attribute 'activation_checkpointing'",
        ("[Aa]ccelerate", "[Uu]pgrade|older|newer|release"),
    ),
    "ranks-read-garbage": (
        "RuntimeError: Trying to create tensor with negative dimension -686245457367107674: [-686245457367107674]",
        ("ranks|gather|rank|broadcast|different",),
    ),
    "notice-allocator-flushes": (
        "deepspeed/runtime/zero/stage3.py:1234 OVERFLOW [WARNING] 4 pytorch allocator cache flushes since last step. this happens when there is high memory pressure and is detrimental to performance. if this is happening frequently consider adjusting settings to reduce memory consumption.",
        ("memory", "empty_cache|batch|less memory|smaller"),
    ),
    "distributed-checkpoint-keys": (
        'torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([0, 1])\nTraceback (most recent call last): (RANK 0)\n  File "/opt/conda/lib/python3.10/site-packages/torch/distributed/checkpoint/utils.py", line 163, in reduce_scatter\n    local_data = map_fun()\nRuntimeError: Missing key in checkpoint state_dict: optimizer.param_groups.model.embed_tokens.weight.initial_lr.',
        ("checkpoint", "version|optimizer|resume|saved|same|upgrade|Upgrade"),
    ),
    "nccl-nvls": (
        "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'the operation cannot be performed in the present state'",
        ("NVLS|NVLink", "NCCL_NVLS_ENABLE=0|fabric"),
    ),
    "notice-torchao-extensions": (
        "Skipping import of cpp extensions due to incompatible torch version 2.9.0+cu126 for torchao version 0.16.0             Please see https://github.com/pytorch/ao/issues/2919 for more info",
        ("notice|harmless|torchao", "torchao|torch", "[Nn]othing|upgrade|match"),
    ),
    "quanto-not-serializable": (
        "ValueError: The model is quantized with QuantizationMethod.QUANTO and is not serializable - check out the warnings from the logger on the traceback to understand the reason why the quantized model is not serializable.",
        ("serial|sav", "adapter|base|safetensors|other|upgrade|float"),
    ),
    "experts-of-another-layout": (
        "AttributeError: SequentialLlama4TextExperts has no attribute `down_proj`",
        ("expert", "upgrade|Upgrade|unsloth|Unsloth|quantiz|checkpoint"),
    ),
    "balancing-loss-without-logits": (
        "AttributeError: 'NoneType' object has no attribute 'shape'\n  File \"transformers/models/mixtral/modeling_mixtral.py\", line 88, in load_balancing_loss_func",
        ("router|None|aux",),
    ),
    "exllama-buffer": (
        "RuntimeError: The temp_state buffer is too small in the exllama backend for GPTQ with act-order. Please call the exllama_set_max_input_length function to increase the buffer size for a sequence length >=2365",
        ("exllama_set_max_input_length",),
    ),
    "notice-mxfp4-dequantized": (
        "MXFP4 quantization requires triton >= 3.4.0 and kernels installed, we will default to dequantizing the model to bf16",
        ("kernels", "triton|Triton", "memory|bf16|bfloat16"),
    ),
    "gguf-architecture": (
        "ValueError: GGUF model with architecture qwen3vl is not supported yet.",
        ("GGUF", "upgrade|llama\\.cpp|original|safetensors|list"),
    ),
    "gguf-package-missing": (
        "ImportError: Loading a GGUF checkpoint in PyTorch, requires both PyTorch and GGUF>=0.10.0 to be installed. Please see https://pytorch.org/ and https://github.com/ggerganov/llama.cpp/tree/master/gguf-py for installation instructions.",
        ("gguf", "pip install"),
    ),
    "quantized-weight-kind-for-kernel": (
        'Traceback (most recent call last):\n  File "/usr/local/lib/python3.10/dist-packages/gptqmodel/nn_modules/qlinear/marlin.py", line 123, in forward\n    x = y(z)\nRuntimeError: b_q_weight type is not kInt',
        ("GPTQ|Marlin|kernel", "gate|upgrade|backend|another"),
    ),
    "awq-kernel-shapes": (
        "AssertionError: OC is not multiple of cta_N = 64",
        ("AWQ|64|multiple|tensor parallel",),
    ),
    "awq-layer-arguments": (
        "Traceback (most recent call last):\n  File \"/usr/local/lib/python3.10/dist-packages/awq/quantize/quantizer.py\", line 123, in quantize\n    x = y(z)\nTypeError: BloomBlock.forward() missing 1 required positional argument: 'alibi'",
        ("AutoAWQ|AWQ|quantiz", "llm-compressor|GPTQModel|older Transformers"),
    ),
    "model-unknown-to-the-quantizer": (
        'Traceback (most recent call last):\n  File "/usr/local/lib/python3.10/dist-packages/awq/models/auto.py", line 123, in check_and_get_model_type\n    x = y(z)\nTypeError: qwen2_5_vl isn\'t supported yet.',
        ("AutoAWQ|awq|AWQ", "upgrade|llm-compressor|GPTQModel|support"),
    ),
    "torchao-wants-fbgemm": (
        "ImportError: Requires fbgemm-gpu-genai >= 1.2.0",
        ("fbgemm-gpu-genai", "pip install|version|int8|hqq"),
    ),
    "gpu-dropped": (
        "UserWarning: \n    Found GPU0 Tesla K80 which is of cuda capability 3.7.\n    PyTorch no longer supports this GPU because it is too old.\n    The minimum cuda capability supported by this library is 3.7 .",
        (
            "too old|old GPU|no longer|older",
            "older PyTorch|newer GPU|older release|another GPU|torch",
        ),
    ),
    "kernel-not-in-build": (
        "RuntimeError: CUDA error: named symbol not found\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
        ("GPU|kernel|8\\.0|older", "bfloat16|capability|build|int8|another"),
    ),
    "container-without-gpu": (
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        ("nvidia-container-toolkit|NVIDIA Container Toolkit",),
    ),
    "glibc-too-old": (
        "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by /opt/conda/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so)",
        ("glibc|GLIBC", "older|2\\.7\\.4|newer|source|image|FLASH_ATTENTION_FORCE_BUILD"),
    ),
    "package-of-another-name": (
        "ModuleNotFoundError: No module named 'grouped_gemm'",
        ("grouped_gemm|grouped-gemm", "pip install|install"),
    ),
    "host-compiler-too-new": (
        "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':\nninja: build stopped: subcommand failed.",
        ("nvcc|gcc|compiler|CUDA", "gcc-10|gcc 10|newer|older|11\\.8|toolkit"),
    ),
    "cudnn-not-loaded": (
        "Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}\nInvalid handle. Cannot load symbol cudnnCreateTensorDescriptor\nAborted (core dumped)",
        ("[Cc]u?[Dd][Nn][Nn]", "LD_LIBRARY_PATH|nvidia-cudnn|ctranslate2|reinstall"),
    ),
    "openmp-twice": (
        "OMP: Error #15: Initializing libiomp5md.dll, but found libiomp5md.dll already initialized.\nOMP: Hint This means that multiple copies of the OpenMP runtime have been linked into the program.",
        ("KMP_DUPLICATE_LIB_OK|nomkl|two copies|OpenMP",),
    ),
    "flash-attention-build": (
        "      Guessing wheel URL:  https://github.com/Dao-AILab/flash-attention/releases/download/v2.6.3/flash_attn-2.6.3+cu123torch2.5cxx11abiFALSE-cp312-cp312-linux_x86_64.whl\n      error: urllib.error.HTTPError: HTTP Error 404: Not Found\n      RuntimeError: Error compiling objects for extension\n      [end of output]\n\n  note: This error originates from a subprocess, and is likely not a problem with pip.\n  ERROR: Failed building wheel for flash-attn\n",
        ("wheel", "MAX_JOBS|prebuilt|matching|sdpa"),
    ),
    "pip-no-version": (
        "ERROR: Could not find a version that satisfies the requirement bitsandbyte (from versions: none)\nERROR: No matching distribution found for bitsandbyte",
        ("bitsandbytes", "name"),
    ),
    "wheel-of-another-platform": (
        "ERROR: flash_attn-2.7.3+cu12torch2.5cxx11abiFALSE-cp310-cp310-linux_x86_64.whl is not a supported wheel on this platform.",
        ("Python|cp310|platform", "wheel"),
    ),
    "pip-no-torch-of-that-version": (
        "ERROR: Could not find a version that satisfies the requirement torch==2.0.1+cu118 (from versions: 2.2.0, 2.2.1, 2.3.0, 2.4.0)\nERROR: No matching distribution found for torch==2.0.1+cu118",
        ("Python", "index-url|--index-url|extra-index-url|version"),
    ),
    "pip-no-triton": (
        "ERROR: Could not find a version that satisfies the requirement triton (from versions: none)\nERROR: No matching distribution found for triton",
        ("Windows", "triton-windows|WSL"),
    ),
    "notice-expandable-segments": (
        "UserWarning: expandable_segments not supported on this platform (Triggered internally at C:\\cb\\pytorch\\c10/cuda/CUDAAllocatorConfig.h:28.)",
        ("harmless|ignored|notice|Windows|platform",),
    ),
    "onnx-operator": (
        "torch.onnx.errors.UnsupportedOperatorError: Exporting the operator 'aten::scaled_dot_product_attention' to ONNX opset version 13 is not supported. Please feel free to request support or submit a pull request on PyTorch GitHub",
        ("opset", "14|eager|attn_implementation|higher|newer"),
    ),
    "onnx-two-gigabytes": (
        "RuntimeError: The serialized model is larger than the 2GiB limit imposed by the protobuf library. Therefore the output file must be a file path, so that the ONNX external data can be written to the same directory.",
        ("2 ?G", "external|file path|path"),
    ),
    "optimum-architecture": (
        "ValueError: Trying to export a qwen3_vl model, that is a custom or unsupported architecture, but no custom onnx configuration was passed as `custom_onnx_configs`.",
        ("optimum|Optimum", "custom_onnx_config|upgrade|not support"),
    ),
    "onnx-runtime-too-old": (
        "onnxruntime.capi.onnxruntime_pybind11_state.Fail: [ONNXRuntimeError] : 1 : FAIL : Load model from model.onnx failed:/onnxruntime_src/onnxruntime/core/graph/model.cc:151 Unsupported model IR version: 11, max supported IR version: 10",
        ("onnxruntime|IR version", "[Uu]pgrade|older opset|onnx"),
    ),
    "onnx-without-gpu": (
        "UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'AzureExecutionProvider, CPUExecutionProvider'",
        ("onnxruntime-gpu|GPU", "uninstall|install"),
    ),
    "tensorrt-engine-of-another-version": (
        "[TensorRT-LLM] ERROR: version mismatch: The engine plan file is not compatible with this version of TensorRT, expecting library version 10.3.0 got 10.0.1, please rebuild.",
        ("TensorRT", "rebuild|build|version"),
    ),
    "mergekit-tensor": (
        "RuntimeError: Tensor model.layers.32.mlp.down_proj.weight required but not present in model meta-llama/Llama-2-13b",
        ("mergekit|layers|architecture", "same|layer|size|range"),
    ),
    "mlx-weights": (
        "ValueError: Missing parameters: model.layers.22.block_sparse_moe.experts.3.w2.weight.",
        ("weight|param",),
    ),
    "llamacpp-too-old": (
        "Error: llama runner process has terminated: GGML_ASSERT(src1t == GGML_TYPE_F32) failed",
        ("llama\\.cpp|Ollama|GGUF", "convert|update|again"),
    ),
    "gguf-of-an-adapter": (
        "error: unexpected lora header file magic in '/kaggle/working/trained-model/ggml-lora-f16.gguf'",
        ("llama\\.cpp|GGUF|lora", "update|convert_lora_to_gguf|merge|newer"),
    ),
    "peft-task-type-adds-inputs": (
        "Traceback (most recent call last):\n  File \"/usr/local/lib/python3.10/dist-packages/peft/peft_model.py\", line 123, in forward\n    x = y(z)\nTypeError: WhisperForConditionalGeneration.forward() got an unexpected keyword argument 'input_ids'",
        ("task_type", "input_features|remove|None|without"),
    ),
    "torchaudio-names": (
        "AttributeError: module 'torchaudio' has no attribute 'set_audio_backend'",
        ("torchaudio", "older|upgrade|removed|gone"),
    ),
    "torchvision-names": (
        "AttributeError: module 'torchvision.io' has no attribute 'read_video'",
        ("torchvision", "0\\.2|torchcodec|decord|older|<0"),
    ),
    "video-reader-missing": (
        "ImportError: Could not import decord. Install with pip install decord / No video decoder found: torchcodec, decord, torchvision.io.read_video AttributeError: module 'torchvision.io' has no attribute 'read_video'",
        ("video|decord|torchcodec", "install|torchvision"),
    ),
    "audio-library-missing": ("OSError: sndfile library not found", ("libsndfile",)),
    "notice-image-tokens-in-text": (
        "ValueError: You are passing both `text` and `images` to `PaliGemmaProcessor`. The processor expects special image tokens in the text, as many tokens as there are images per each text.",
        ("<image>|image token", "text|prompt|add"),
    ),
    "processor-parts-of-another-class": (
        "ValueError: tokenizer has to be of type <class 'type'>, but is <class 'transformers.models.bart.tokenization_bart_fast.BartTokenizerFast'",
        ("processor|tokenizer", "fast|use_fast=False|slow|another class|class"),
    ),
    "processor-without-patch-size": (
        "ValueError: unsupported operand type(s) for //: 'int' and 'NoneType'\nTypeError: unsupported operand type(s) for //: 'int' and 'NoneType'\n  File \"transformers/models/llava/processing_llava.py\", line 160, in __call__\n    num_image_tokens = (height // self.patch_size)",
        ("patch_size", "processor|vision_feature_select_strategy|config"),
    ),
    "vllm-images-per-prompt": (
        "ValueError: You set or defaulted to '{\"image\": 1}' in `--limit-mm-per-prompt`, but passed 2 image items in the same prompt. (type=value_error)",
        ("limit_mm_per_prompt|limit-mm-per-prompt", "image"),
    ),
    "modernbert-compiled": (
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nAssertionError: Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. Found in aten.embedding.default(tensor([...], device='cuda:0', size=(50368, 768), grad_fn=<BroadcastBackward>), FakeTensor(..., device='cuda:0', size=(1, s1), dtype=torch.int64), 50283)",
        (
            "compile|DataParallel|two GPUs|several GPUs",
            "reference_compile=False|2\\.5|upgrade|Upgrade|CUDA_VISIBLE_DEVICES|TORCHDYNAMO",
        ),
    ),
    "unsloth-lora-kernels": (
        "Traceback (most recent call last):\n  File \"/usr/local/lib/python3.10/dist-packages/unsloth/kernels/fast_lora.py\", line 123, in backward\n    x = y(z)\nTypeError: empty_like(): argument 'input' (position 1) must be Tensor, not NoneType",
        ("[Uu]nsloth|None", "upgrade|Upgrade|dropout|bias|gradient"),
    ),
    "accelerate-not-configured": (
        "Traceback (most recent call last):\n  File \"/usr/local/lib/python3.10/dist-packages/accelerate/commands/launch.py\", line 123, in launch_command\n    x = y(z)\nAttributeError: 'NoneType' object has no attribute 'get'",
        ("accelerate config|config",),
    ),
    "unsloth-does-not-fit-transformers": (
        "RuntimeError: Unsloth: Unpack has been moved! Other error = cannot import name 'is_torchcodec_available' from 'transformers.utils' (/usr/local/lib/python3.11/dist-packages/transformers/utils/__init__.py)",
        ("[Uu]nsloth", "[Tt]ransformers", "upgrade|Upgrade|update|-U|release"),
    ),
}


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("row", REPORTS)
def test_a_report(row: str, installed: dict[str, str]) -> None:
    text, substance = REPORTS[row]
    assert matches(read(text), all_rows(), installed.get)[0].row.id == row
    answer = said(text, installed)
    for words in substance:
        assert re.search(words, answer), f"{words!r} is not in: {answer}"


PANDAS = """Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/pandas/core/indexes/base.py", line 3805, in get_loc
    raise KeyError(key) from err
KeyError: '{}'"""
NOT_BLAMED = (
    *(
        (PANDAS.format(column), row)
        for column, row in (
            ("label", "preference-columns"),
            ("labels", "keyerror-batch"),
            ("text", "trl-text-field"),
            ("messages", "conversation-keys"),
        )
    ),
    ("AttributeError: 'NoneType' object has no attribute 'generate'", "generation-mixin"),
    ("KeyError: 'model.embed_tokens.weight'", "vllm-weight-names"),
    ("RuntimeError: Sizes of tensors must match except in dimension 1.", "stack-of-unequal"),
    (
        "Could not load library libcudnn_cnn_infer.so.8.\nAborted (core dumped)",
        "rank-crashed",
    ),
)


@pytest.mark.parametrize(("text", "row"), NOT_BLAMED)
def test_a_cause_that_it_is_not(text: str, row: str) -> None:
    assert row not in {match.row.id for match in matches(read(text), all_rows(), lambda _: None)}


def test_a_warning_does_not_hide_what_else_a_log_says() -> None:
    log = (
        "CUDA extension not installed.\n/x/auto_gptq/kernels.py:411: FutureWarning: "
        "`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use it.\n"
    )
    found = [match.row.id for match in matches(read(log), all_rows(), lambda _: None)]
    assert found[0] == "gptq-wants-packages"
    assert "amp-names-deprecated" in found
