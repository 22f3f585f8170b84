"""fp16 training with `modules_to_save` dies on its first optimizer step.

`ValueError: Attempting to unscale FP16 gradients.`: the base model was loaded in float16, and the
copies of its modules that `modules_to_save` trains are float16 too, while PEFT makes the weights of
LoRA and its kin float32 (`autocast_adapter_dtype`).

Fix: such copies become float32 with them, unless `autocast_adapter_dtype` is false or the adapter
is loaded for inference. So do small copies of a bfloat16 model, such as the head of a reward model:
nothing raises there, but updates below 1/256 of a weight are rounded away. A norm's running
statistics have the dtype of its weight. Without autocast a copy takes and gives the dtype that it
did. Under autocast it is called like any float32 module. It goes back to its dtype where it is
merged.

Why: the patch calls PEFT's own `autocast_adapter_dtype`, so a user's `False` and inference are
honoured. A bfloat16 head of a reward model lost 61% of its updates at a learning rate of 1e-4 and
96% at 1e-5, and moved 0.71 and 0.08 times as far as in float32. Its mean loss over three seeds
after 100 steps was 1.8% and 0.7% higher, although LoRA trained beside it
(`benchmarks/head_precision.py`). So copies of up to 2^20 elements become float32 on a bfloat16 base
too, which costs at most 8 MiB more for each, optimizer included. Larger copies (LM heads,
embeddings) stay: those runs work, and could need gigabytes more. Preflight reports them.

Under autocast no output is cast, so that a run in which someone else makes the copies float32, as
LLaMA-Factory does, has the numbers that it has without the patch. They are nearer to float32, too:
over ten steps of a tiny float16 Llama (LoRA, embedding and head trained, five seeds) losses were
0.0007 from a float32 run, and 0.0022 with the embedding's output in float16. One case is left: the
copy of an embedding on a CPU, whose autocast does not cast for `LayerNorm`, as CUDA's does. Of 40
tiny families with a float32 copy of their embedding, 14 raised there (GPT-2, OPT, Falcon and
others), and trained with the output in the dtype of the base. The other 26 trained either way.

The rewritten line reaches its helper by `torch.sys.modules`, because torch.compile can trace that.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, Wrap, replace
from patchkit.precision.adapters import ADAPTER_CAST
from patchkit.precision.layer_input import UPCAST

from ._trained_copies import after_cast_adapter_dtype, after_unload

COPY = Pattern("self.modules_to_save[N]")


def calls_copy(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=copy):
            return COPY(copy)
    return False


def call_copy_in_its_dtype(node: ast.AST) -> list[Edit]:
    # The choice is spelled out: a copy that was not cast is called as before. One that was cast is
    # compiled too, and torch.compile traces this way to a helper, for one that is loaded.
    assert isinstance(node, ast.Call)
    copy = ast.unparse(node.func)
    module = f"torch.sys.modules[{after_cast_adapter_dtype.__module__!r}]"
    wrap = f"{module}.wrap_in_input_dtype"
    chosen = f"({wrap}(self, {copy}) if hasattr({copy}, {UPCAST!r}) else {copy})"
    return [replace(node.func, chosen)]


RULE = Rule(calls_copy, call_copy_in_its_dtype, names=("modules_to_save",), needs=("torch",))
WRAPPER = "peft.utils.other:ModulesToSaveWrapper"

PATCH = Patch(
    id="peft-modules-to-save-dtype",
    title="Copies that modules_to_save trains are float32 beside float32 adapters",
    affects={"peft": ">=0.15"},
    changes=(
        Wrap(
            "peft.tuners.tuners_utils:BaseTuner._cast_adapter_dtype",
            after_cast_adapter_dtype,
            parameters=("adapter_name", "autocast_adapter_dtype"),
        ),
        Rewrite(f"{WRAPPER}._forward_wrapped", RULE),
        Rewrite(f"{WRAPPER}._forward_wrapped_mixed_batch", RULE),
        Wrap(f"{WRAPPER}.unload_and_optionally_merge_module", after_unload),
    ),
    upstream=(
        "https://github.com/huggingface/peft/issues/341",
        "https://github.com/huggingface/peft/pull/1336",
        "https://github.com/huggingface/peft/pull/1706",
    ),
    symptom="Attempting to unscale FP16 gradients",
    messages=("Attempting to unscale FP16 gradients.",),
    caution="Trained copies of a float16 model take twice the memory, and so do their gradients, "
    "optimizer states and saved adapters. Of a bfloat16 model, those up to a million elements do. "
    "Under autocast the float32 copy of an embedding gives float32, as if you had made it float32 "
    "yourself. `autocast_adapter_dtype=False` leaves them alone, and "
    '`apply(adapter_cast="bf16")` those of a bfloat16 model.',
    settings=(ADAPTER_CAST,),
)


def reproduce() -> None:
    """Take a step of fp16 training, with autocast and a scaler, with a trained head."""
    import peft
    import torch

    from patchkit.authoring import device

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)).half().to(device())
    config = peft.LoraConfig(r=2, target_modules=["0"], modules_to_save=["1"])
    model = peft.get_peft_model(model, config)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    before = [parameter.detach().clone() for parameter in trained]
    scaler, optimizer = torch.amp.GradScaler(device()), torch.optim.AdamW(trained, lr=0.1)
    inputs = torch.ones(2, 8, device=device())
    with torch.autocast(device(), torch.float16):
        loss = model(inputs).float().square().mean()
    scaler.scale(loss / 1024).backward()
    scaler.step(optimizer)
    assert model(inputs.half()).dtype == torch.float16
    assert not all(map(torch.equal, before, trained))
