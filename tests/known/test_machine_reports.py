"""Errors that many people reported of GPUs, quantized weights, processes and what compiles for them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from patchkit.known.answering import answered
from patchkit.known.reading import read
from tests.known.test_library_reports import raised_in
from tests.known.test_reports import NEWEST, said

NCCL = (
    "torch.distributed.DistBackendError: NCCL error in: "
    "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled cuda error, NCCL version "
    "2.19.3\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\n"
)
COMPILED = "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"

# Report to: the text, and what the answer must say.
REPORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    # bitsandbytes and other quantizations
    "bitsandbytes-foundation/bitsandbytes#730": (
        "AttributeError: module 'bitsandbytes.nn' has no attribute 'Linear8bitLt'",
        ("first import failed", "python -m bitsandbytes"),
    ),
    "bitsandbytes-foundation/bitsandbytes#428": (
        "TypeError: LlamaForCausalLM.__init__() got an unexpected keyword argument 'load_in_4bit'",
        ("4\\.30", "upgrade Transformers", "quantization_config"),
    ),
    "a quant state that is none": (
        raised_in(
            "bitsandbytes/functional.py",
            "dequantize_4bit",
            "TypeError: cannot unpack non-iterable NoneType object",
        ),
        ("quant state", "device_map"),
    ),
    "weights on two GPUs, as bitsandbytes says it": (
        "RuntimeError: Input tensors need to be on the same GPU, but found the following tensor and "
        "device combinations: [(torch.Size([1, 64]), device(type='cuda', index=0))]",
        ("two devices", 'device_map=\\{"": 0\\}'),
    ),
    "bitsandbytes-foundation/bitsandbytes#161": (
        "FileNotFoundError: Could not find module 'C:\\w\\bitsandbytes\\libbitsandbytes_cuda116.dll' "
        "(or one of its dependencies). Try using the full path with constructor syntax.",
        ("0\\.43", "pip install -U bitsandbytes"),
    ),
    "hiyouga/LlamaFactory#4269": (
        "ValueError: You can't pass `load_in_4bit`or `load_in_8bit` as a kwarg when passing "
        "`quantization_config` argument at the same time.",
        ("given twice", "drop load_in_4bit"),
    ),
    "offloading asked for by an older Transformers": (
        "ValueError: If you want to offload some keys to `cpu` or `disk`, you need to set "
        "`llm_int8_enable_fp32_cpu_offload=True`. Note that these modules will not be converted",
        ("GPU has too little free memory", "4-bit"),
    ),
    "a 4-bit model saved by an older Transformers": (
        "NotImplementedError: You are calling `save_pretrained` on a 4-bit converted model. This is "
        "currently not supported",
        ("[Ss]av|upgrade",),
    ),
    "hiyouga/LlamaFactory#9101": (
        "ValueError: Target module TritonV2QuantLinear() is not supported. Currently, only the "
        "following modules are supported: `torch.nn.Linear`, `torch.nn.Embedding`.",
        ("GPTQ", "gptqmodel", "[Uu]pgrade PEFT"),
    ),
    "EleutherAI/lm-evaluation-harness#3016": (
        "AttributeError: 'dict' object has no attribute 'get_loading_attributes'",
        ("is a dict", "quantization"),
    ),
    "casper-hansen/AutoAWQ#577": (
        "    assert torch.isnan(w).sum() == 0\n"
        + raised_in(
            "awq/quantize/quantizer.py",
            "pseudo_quantize_tensor",
            "    assert torch.isnan(w).sum() == 0\nAssertionError",
        ),
        ("NaN", "bfloat16|float32"),
    ),
    "dphnAI/sonar#513": (
        "ValueError: Quantization method specified in the model config (bitsandbytes) does not match "
        "the quantization method specified in the `quantization` argument (bnb).",
        ("quantized already", "Drop"),
    ),
    "AWQ of an unquantized model": (
        "ValueError: You cannot quantize with AWQ a non-quantized model using transformers, please "
        "refer to the quantization documentation",
        ("only loads AWQ", "llm-compressor|GPTQModel"),
    ),
    "adapters of two ranks": (
        "ValueError: All adapters must have the same r value when using `linear` combination_type",
        ("ranks differ", "svd"),
    ),
    "a prompt for a model that keeps its sizes elsewhere": (
        "ValueError: Please specify `num_layers` in `peft_config`",
        ("num_layers=", "config"),
    ),
    # DeepSpeed, FSDP, Accelerate
    "huggingface/accelerate#2159": (
        "AttributeError: 'Accelerator' object has no attribute 'deepspeed_engine_wrapped'",
        ("never prepared", "accelerator\\.prepare"),
    ),
    "huggingface/accelerate#2181": (
        raised_in(
            "accelerate/accelerator.py",
            "get_state_dict",
            "AttributeError: 'Accelerator' object has no attribute 'deepspeed_config'",
        ),
        ("never prepared", "accelerate launch"),
    ),
    "deepspeedai/DeepSpeed#4901": (
        "AssertionError: ZeRO parameter intra parallel group is already initialized",
        ("zero_hpz_partition_size", "second engine"),
    ),
    "deepspeedai/DeepSpeed#3377": (
        "    assert len(self.ckpt_list) > 0\nAssertionError",
        ("checkpoint", "global_step"),
    ),
    "lqtrung1998/mwp_ReFT#36": (
        "ImportError: DeepSpeed is not installed => run `pip3 install deepspeed` or build it from source.",
        ("not installed", "pip install -U deepspeed"),
    ),
    "DeepSpeed started without a launcher": (
        raised_in(
            "deepspeed/comm/comm.py",
            "mpi_discovery",
            "ModuleNotFoundError: No module named 'mpi4py'",
        ),
        ("launcher", "torchrun|deepspeed --num_gpus"),
    ),
    "hiyouga/LlamaFactory#3634": (
        "[rank1]:     assert len(set(t.dtype for t in tensors)) == 1\n[rank1]: AssertionError",
        ("dtype", "autocast_adapter_dtype=False|ZeRO-2"),
    ),
    "ZeRO files of some ranks alone": (
        "ValueError: Expected 4 of '*_optim_states.pt' under 'out/global_step500' but found 2 files. "
        "Possibly due to an overwrite of an old checkpoint",
        ("files of some ranks", "zero_to_fp32"),
    ),
    "hosts that DeepSpeed cannot reach": (
        "RuntimeError: Using hostfile at /job/hostfile but host=worker-1 was not reachable via ssh.",
        ("hostfile", "--include localhost"),
    ),
    "wangyuxinwhy/uniem#65": (
        "ValueError: Expected embedder.layer.0 to NOT be FullyShardedDataParallel if using an "
        "`auto_wrap_policy`",
        ("already wrapped", "Wrap once"),
    ),
    "huggingface/transformers#25100": (
        "ValueError: The module has CPU parameters when sync_module_states=True, but this only works "
        "when all module parameters are on GPU",
        ("on the CPU", "device_id"),
    ),
    "huggingface/transformers#26159": (
        raised_in(
            "torch/distributed/fsdp/fully_sharded_data_parallel.py",
            "set_state_dict_type",
            "KeyError: None",
        ),
        ("state_dict_type", "SHARDED_STATE_DICT"),
    ),
    "bghira/SimpleTuner#1880": (
        "[rank7]:     assert metadata is not None\n[rank7]: AssertionError",
        ("\\.metadata", "common disk|all nodes share"),
    ),
    "huggingface/accelerate#1700": (
        "RuntimeError: Output 0 of ViewBackward0 is a view and its base or another view of its base "
        "has been modified inplace.",
        ("in place", "clone\\(\\)"),
    ),
    "an FSDP rank on another GPU": (
        "ValueError: Inconsistent compute device and `device_id` on rank 1: cuda:0 vs cuda:1",
        ("set_device\\(local_rank\\)",),
    ),
    "axolotl-ai-cloud/axolotl#1153": (
        'RuntimeError: !grad_accumulator_.expired() INTERNAL ASSERT FAILED at "saved_variable.cpp":226, '
        "please report a bug to PyTorch. No grad accumulator for a saved leaf",
        ("replaced between forward and backward", "use_reentrant=False"),
    ),
    "Lightning-AI/pytorch-lightning#20395": (
        'RuntimeError: expect_autograd_hooks_ INTERNAL ASSERT FAILED at "reducer.cpp":1591, please '
        "report a bug to PyTorch.",
        ("use_reentrant=False", "static_graph"),
    ),
    "a second Accelerator": (
        "ValueError: AcceleratorState has already been initialized and cannot be changed, restart your "
        "runtime completely and pass `mixed_precision='fp16'` to `Accelerator()`.",
        ("one state a process", "restart"),
    ),
    "IDEA-Research/HumanSD#18": (
        "ValueError: 'cuda' is not a valid DistributedType",
        ("accelerate config",),
    ),
    "a notebook that has used the GPU": (
        "RuntimeError: CUDA has been initialized before the `notebook_launcher` could create a forked "
        "subprocess.",
        ("[Rr]estart the kernel", "training function"),
    ),
    "one GPU with --multi_gpu": (
        "ValueError: You need to use at least 2 processes to use `--multi_gpu`.",
        ("--num_processes", "leave --multi_gpu out"),
    ),
    "FSDP settings of another release": (
        "ValueError: `min_num_params` and `transformer_layer_cls_to_wrap` are mutually exclusive.",
        ("do not go together", "one of transformer_layer_cls_to_wrap"),
    ),
    "tensor parallelism without processes": (
        "ValueError: Tensor Parallel requires torch.distributed to be initialized first.",
        ("tp_plan", "torchrun"),
    ),
    "weights without metadata": (
        "OSError: The safetensors archive passed at ./m/model.safetensors does not contain the valid "
        "metadata. Make sure you save your model with the `save_pretrained` method.",
        ('"format": "pt"', "save_pretrained"),
    ),
    "deepspeedai/DeepSpeed#949": (
        "ImportError: dynamic module does not define module export function (PyInit_transformer_op)",
        ("compiled for another PyTorch", "torch_extensions"),
    ),
    "om-ai-lab/VLM-R1#206": (
        raised_in(
            "deepspeed/runtime/zero/stage_1_and_2.py",
            "__init__",
            "IndexError: list index out of range",
        ),
        ("without a trainable parameter", "evaluation_mode=True"),
    ),
    "RLinf/RLinf#92": (
        "subprocess.CalledProcessError: Command '/x/triton/backends/nvidia/bin/ptxas -lineinfo -v "
        "--gpu-name=sm_120 /tmp/a.ptx -o /tmp/a.ptx.o 2> /tmp/a.log' returned non-zero exit status 255.",
        ("RTX 50, sm_120", "pip install -U torch triton"),
    ),
    "unslothai/unsloth#3931": (
        "AttributeError: 'GRPOConfig' object has no attribute 'unsloth_grpo_mini_batch'",
        ("Unsloth", "Import it first", "unsloth_compiled_cache"),
    ),
    # Processes and NCCL
    "memory that NCCL lacks": (
        NCCL + "Cuda failure 'out of memory'",
        ("no memory left on a GPU", "set_device"),
    ),
    "a driver that NCCL finds too old": (
        NCCL + "Cuda failure 'API call is not supported in the installed CUDA driver'",
        ("driver is older",),
    ),
    "snowflakedb/ArcticTraining#219": (
        "[rank7]:[E626 05:14:36.39 ProcessGroupNCCL.cpp:1743] [PG ID 0 Rank 7] ProcessGroupNCCL's "
        "watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.",
        ("first error of any other rank",),
    ),
    "huggingface/trl#3158": (
        "NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 40\n"
        + raised_in(
            "trl/extras/vllm_client.py",
            "init_communicator",
            "RuntimeError: NCCL error: invalid usage (run with NCCL_DEBUG=WARN for details)",
        ),
        ("GPU of its own", "colocate"),
    ),
    "shared memory of a container": (
        "torch.distributed.DistBackendError: NCCL error: unhandled system error\nLast error:\n"
        "Error while creating shared memory segment /dev/shm/nccl-Yl0f1 (size 9637888)",
        ("--shm-size|--ipc=host",),
    ),
    # Installation
    "flash-attention built where torch is not": (
        "  Getting requirements to build wheel did not run successfully.\n"
        '      File "<string>", line 19, in <module>\n'
        "      ModuleNotFoundError: No module named 'torch'\n"
        "  note: This error originates from a subprocess, and is likely not a problem with pip.",
        ("--no-build-isolation",),
    ),
    "CUDA libraries of two versions": (
        "ImportError: /x/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: "
        "__nvJitLinkComplete_12_4, version libnvJitLink.so.12",
        ("two versions", "unset LD_LIBRARY_PATH"),
    ),
    "openreasoner/openr#28": (
        "AttributeError: '_OpNamespace' '_C' object has no attribute 'rms_norm'",
        ("built for another PyTorch", "rms_norm"),
    ),
    "an old libstdc++": (
        "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found",
        ("newer libstdc\\+\\+", "libstdcxx-ng"),
    ),
    "microsoft/GLIP#147": (
        "AttributeError: module 'torch' has no attribute 'frombuffer'",
        ("Upgrade PyTorch",),
    ),
    "vllm-project/vllm#4912": (
        "RuntimeError: Failed to import transformers.generation.utils because of the following error "
        "(look up to see its traceback):\n'FieldInfo' object has no attribute 'required'",
        ("pydantic 1 and 2",),
    ),
    "lum3on/comfyui_HiDream-Sampler#135": (
        "ImportError: DLL load failed while importing cuda_utils: The specified module could not be found.",
        ("Windows", "triton-windows"),
    ),
    "Triton on Windows": (
        "ModuleNotFoundError: No module named 'triton'",
        ("triton-windows|WSL",),
    ),
    "safetensors that does not know Apple's GPU": (
        "safetensors_rust.SafetensorError: device mps is invalid",
        ("pip install -U safetensors",),
    ),
    "BetterTransformer beside FlashAttention": (
        "ValueError: Flash Attention 2 and BetterTransformer API are not compatible. Please make sure "
        "to disable BetterTransformers by doing model.reverse_bettertransformer()",
        ("to_bettertransformer", "sdpa"),
    ),
    # Devices and kernels
    "Ascend/pytorch#90": (
        "RuntimeError: copy_d2d:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:88 NPU function "
        "error: call aclnnInplaceCopy failed, error code is 561103",
        ("Ascend", "torch_npu, CANN", "ASCEND_LAUNCH_BLOCKING"),
    ),
    "OpenBMB/CPM-Bee#73": (
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        ("memory is full", "resize_token_embeddings", "CUDA_LAUNCH_BLOCKING"),
    ),
    "QwenLM/Qwen3-Embedding#49": (
        "RuntimeError: Expected scalar_type == ScalarType::Float || inputTensor.scalar_type() == "
        "ScalarType::Int || scalar_type == ScalarType::Bool to be true, but got false.",
        ("MPS", "float32"),
    ),
    "a product that Metal cannot compute": (
        "loc(\"mps_matmul\"): error: 'mps.matmul' op contracting dimensions differ 1 & 8\n"
        "LLVM ERROR: Failed to infer result type(s).",
        ("Metal|Apple", "macOS"),
    ),
    "unslothai/unsloth#2555": (
        COMPILED + "AssertionError: \nInvalid match!\nIndex: 64*s2\n"
        'Set TORCH_LOGS="+dynamo" and TORCHDYNAMO_VERBOSE=1 for more information',
        ("TORCHDYNAMO_DISABLE", "UNSLOTH_COMPILE_DISABLE"),
    ),
    "merging with Unsloth": (
        raised_in(
            "unsloth/save.py",
            "_merge_lora",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 280.00 MiB. GPU 0 has a "
            "total capacity of 14.74 GiB of which 12.12 MiB is free.",
        ),
        ("Merg", "CPU"),
    ),
    "a batch that is to be half precision": (
        "ValueError: Attempting to cast a BatchEncoding to type torch.float16. This is not supported.",
        ("integers", "inputs\\.to\\(model\\.device\\)"),
    ),
    "a model with outputs on it is copied": (
        "RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the "
        "deepcopy protocol at the moment.",
        ("copied", "from_pretrained"),
    ),
    # vLLM
    "a GPU too old for vLLM's AWQ": (
        "ValueError: The quantization method awq is not supported for the current GPU. Minimum "
        "capability: 75. Current capability: 70.",
        ("newer GPU", "float16"),
    ),
    "vLLM asked for more than the model has": (
        "ValueError: User-specified max_model_len (32768) is greater than the derived max_model_len "
        "(max_position_embeddings=4096 or model_max_length=None in model's config.json).",
        ("max_model_len", "max_position_embeddings"),
    ),
    "vLLM beside another process": (
        "AssertionError: Error in memory profiling. Initial free memory 20.5 GiB, current free memory "
        "21.8 GiB.",
        ("another process gave memory back",),
    ),
    "vLLM without a GPU": (
        "RuntimeError: Failed to infer device type",
        ("no GPU is visible", "build for this device"),
    ),
    "vllm-project/vllm#28274": (
        raised_in(
            "vllm/model_executor/models/qwen3_next.py",
            "load_weights",
            "KeyError: 'layers.0.mlp.experts.w2_weight'",
        ),
        ("names or shapes of the checkpoint's weights", "vLLM"),
    ),
}


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("report", REPORTS)
def test_a_report_of_a_machine(report: str, installed: dict[str, str]) -> None:
    text, substance = REPORTS[report]
    answer = said(text, installed)
    for part in substance:
        assert re.search(part, answer), f"{part} is missing in: {answer}"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("ModuleNotFoundError: No module named 'deepspeed_transformer_cuda'", "deepspeed-missing"),
        (
            "ImportError: cannot import name 'LlamaTokenizer' from 'transformers' (/x/__init__.py)",
            "llama-spelling",
        ),
        (
            "AssertionError: only bfloat16 is supported when using quantization",
            "optimizer-wants-bfloat16",
        ),
    ],
)
def test_what_a_text_is_not_taken_for(text: str, row: str) -> None:
    assert row not in [answer.id for answer in answered(read(text), NEWEST.get).answers]


@pytest.mark.parametrize(
    ("report", "row"),
    [
        ("a quant state that is none", "argument-combination-refused"),
        ("huggingface/accelerate#1700", "argument-refused"),
        ("a product that Metal cannot compute", "triton-compile-pass"),
        ("CUDA libraries of two versions", "extension-built-for-another-torch"),
        ("an old libstdc++", "extension-built-for-another-torch"),
        ("lum3on/comfyui_HiDream-Sampler#135", "extension-built-for-another-torch"),
        ("OpenBMB/CPM-Bee#73", "device-side-assert"),
        ("merging with Unsloth", "out-of-memory"),
    ],
)
def test_what_a_report_is_not_taken_for(report: str, row: str) -> None:
    text, _ = REPORTS[report]
    assert answered(read(text), NEWEST.get).answers[0].id != row
    assert answered(read(text), lambda _: None).answers[0].id != row


def in_a_notebook(error: str) -> str:
    name, _, _ = error.partition(":")
    return (
        f"{name.ljust(40)}Traceback (most recent call last)\nCell In[7], line 3\n"
        f"      1 trainer = SFTTrainer(model)\n----> 3 trainer.train()\n\n{error}\n"
    )


def of_a_rank(error: str) -> str:
    lines = [
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 9, in <module>',
        error,
    ]
    summary = (
        "E1123 10:00:00.1 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) "
        "local_rank: 0 (pid: 7) of binary: /usr/bin/python\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
        "============================================================\ntrain.py FAILED\n"
        "------------------------------------------------------------\n"
        "Root Cause (first observed failure):\n[0]:\n  rank      : 0 (local_rank: 0)\n"
        "  exitcode  : 1 (pid: 7)\n"
    )
    return "".join(f"[rank0]: {line}\n" for line in lines) + summary


def boxed(error: str) -> str:
    return (
        "╭───────────────────── Traceback (most recent call last) ──────────────────────╮\n"
        "│ /w/train.py:31 in <module>                                                   │\n"
        "│                                                                              │\n"
        "│ ❱ 31 │   trainer.train()                                                     │\n"
        "╰──────────────────────────────────────────────────────────────────────────────╯\n"
        f"{error}\n"
    )


COSTUMED = (
    "bitsandbytes-foundation/bitsandbytes#428",
    "hiyouga/LlamaFactory#4269",
    "huggingface/accelerate#2159",
    "wangyuxinwhy/uniem#65",
    "huggingface/transformers#25100",
    "IDEA-Research/HumanSD#18",
    "openreasoner/openr#28",
    "OpenBMB/CPM-Bee#73",
    "a GPU too old for vLLM's AWQ",
)


@pytest.mark.parametrize("costume", [in_a_notebook, of_a_rank, boxed])
@pytest.mark.parametrize("report", COSTUMED)
def test_a_report_in_another_dress(report: str, costume: Callable[[str], str]) -> None:
    text, substance = REPORTS[report]
    answer = said(costume(text), NEWEST)
    for part in substance:
        assert re.search(part, answer), f"{part} is missing in: {answer}"
