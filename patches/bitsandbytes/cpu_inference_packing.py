"""On a CPU, a 4-bit model that has been evaluated once trains without most of its gradients.

All there is to see is one `UserWarning: bitsandbytes::gemv_4bit: an autograd kernel was not
registered`. On a CPU with AVX512-BF16, `Linear4bit.forward` outside training repacks the weight for
a fused kernel, and the weight stays so. The next training step runs that kernel too, which computes
in bfloat16 and has no backward: nothing flows through the layer to what lies below it.

Nobody else knows of the packing either: DoRA and merged adapters dequantize shuffled numbers, and
`.to()` moves them to devices that cannot read them. And packing rounds the scales of the weight's
blocks: what is saved after an evaluation is not what was loaded.

Nor does packing ask for the sizes that it can pack: a layer of 1,176 inputs or two outputs trains,
and stops when it infers (`N must be divisible by block_n`, `shape '[1280, 18]' is invalid`).

Fix: what cannot be packed is not. A forward that trains or has a gradient to pass, and `.to()`
another device, bring the weight back first; `dequantize_4bit` reads an unpacked copy; and whoever
unpacks gets the very scales. Inference keeps its kernel.

Why: never packing would take the fast kernel from everyone. So the weight is unpacked only where
something else reads it: in training, merging, DoRA, saving and moving.
"""

import ast
from typing import Any

from patchkit.authoring import (
    Edit,
    Patch,
    Pattern,
    Rewrite,
    Rule,
    helper,
    insert_after,
    operand,
    replace,
    span,
)

from ._cpu_packing import FIELDS, ORIGINALS

STATE = Pattern("Q = S.weight.quant_state")
PACKS = Pattern("_convert_weight_packed_for_cpu(W, Q)")
REMEMBERS = Pattern("Q.original_nested = Q.nested")
MOVES = Pattern("W.quant_state.to(D)")
SCALES = Pattern("S = Q.absmax")
HELPERS = f"{__package__}._cpu_packing"
# Spelled out, as upstream does, so that a compiled forward has no new operations.
IS_PACKED = 'getattr({state}, "packing_format_for_cpu", False)'

FITS = "{state}.shape[0] % 32 == 0 and {state}.shape[1] % {state}.blocksize == 0"


def infers_packed(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(args=ast.arguments(args=[_, _]), body=body):
            return any(map(STATE, body)) and PACKS.within(node)
    return False


def unpack_for_gradients(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    layer, inputs = (parameter.arg for parameter in node.args.args)
    (state,) = filter(STATE, node.body)
    assert isinstance(state, ast.Assign)
    original = ast.unparse(state.value)
    # Just what upstream does not pack for.
    trains = f"({layer}.training or {inputs}.requires_grad)"
    back = helper(f"{HELPERS}:unpack_in_place") + f"({layer}.weight)"
    packed = IS_PACKED.format(state=original)
    branches = (inner for inner in node.body if isinstance(inner, ast.If))
    (packs,) = filter(PACKS.within, branches)
    return [
        replace(state.value, f"({back} if {trains} and {packed} else {original})"),
        insert_after(packs.test, f" and {FITS.format(state=original)}"),
    ]


def takes_scales(node: ast.AST) -> bool:
    """Match the branch that takes the scales of a given quant state, and does nothing else."""
    match node:
        case ast.If(orelse=[scales]):
            return SCALES(scales)
    return False


def dequantizes(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(args=ast.arguments(args=[_, _, *_]), body=body):
            return any(map(takes_scales, body))
    return False


def read_unpacked_copy(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.FunctionDef)
    weight, state = (parameter.arg for parameter in node.args.args[:2])
    (branch,) = filter(takes_scales, node.body)
    assert isinstance(branch, ast.If)
    start, _ = span(branch.orelse[0])
    read = helper(f"{HELPERS}:unpacked_copy")
    pair = f"{weight}, {state}"
    choice = f"{read}({pair}) if {IS_PACKED.format(state=state)} else ({pair})"
    return [Edit(start, start, f"{pair} = {choice}; ")]


def unpack_for_other_devices(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=weight)), args=[device]):
            move = helper(f"{HELPERS}:move_quant_state")
            return [replace(node, f"{move}({ast.unparse(weight)}, {ast.unparse(device)})")]
    raise AssertionError(ast.dump(node))


def keep_scales(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Assign(value=ast.Attribute(value=state, attr=nested) as value):
            # Spelled out too: a compiled forward packs.
            packed = operand(state)
            fields = (f"{name!r}: getattr({packed}, {name!r}, None)" for name in FIELDS)
            saved = f"bool({packed}.{nested}); {packed}.{ORIGINALS} = {{{', '.join(fields)}}}"
            return [replace(value, saved)]
    raise AssertionError(ast.dump(node))


def returns_weight_and_state(node: ast.AST) -> bool:
    match node:
        case ast.Return(value=ast.Tuple(elts=[ast.Name(), ast.Name()])):
            return True
    return False


def restore_packed_scales(node: ast.AST) -> list[Edit]:
    match node:
        case ast.Return(value=ast.Tuple(elts=[_, state])):
            return [replace(state, helper(f"{HELPERS}:restore_scales") + f"({ast.unparse(state)})")]
    raise AssertionError(ast.dump(node))


PATCH = Patch(
    id="bitsandbytes-cpu-inference-packing",
    title="4-bit weights packed for inference on a CPU are unpacked for all else",
    affects={"bitsandbytes": ">=0.49"},
    changes=(
        Rewrite(
            "bitsandbytes.functional:_convert_weight_packed_for_cpu",
            Rule(REMEMBERS, keep_scales, names=("original_nested",)),
        ),
        Rewrite(
            "bitsandbytes.functional:_convert_weight_packed_for_cpu_inverse",
            Rule(returns_weight_and_state, restore_packed_scales, names=("original_nested",)),
        ),
        Rewrite(
            "bitsandbytes.nn.modules:Linear4bit.forward",
            Rule(infers_packed, unpack_for_gradients, names=("_convert_weight_packed_for_cpu",)),
        ),
        Rewrite(
            "bitsandbytes.nn.modules:Params4bit.to",
            Rule(MOVES, unpack_for_other_devices, names=("quant_state",)),
        ),
        Rewrite(
            "bitsandbytes.functional:dequantize_4bit",
            Rule(dequantizes, read_unpacked_copy, names=("absmax",)),
        ),
    ),
    harmless={
        # Nothing is packed yet.
        "bitsandbytes.functional:dequantize_4bit": "<0.49",
        "bitsandbytes.nn.modules:Params4bit.to": "<0.49",
        # It packs, and returns what it packed.
        "bitsandbytes.functional:_convert_weight_packed_for_cpu": "",
    },
    upstream=(
        "https://github.com/bitsandbytes-foundation/bitsandbytes/issues/2078",
        "https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1804",
    ),
    symptom="no gradient flows|the packed weight|N must be divisible by block_n|K must be even",
    messages=("N must be divisible by block_n", "K must be even"),
    requires=("avx512-bf16",),
    caution="A layer that has inferred on such a CPU keeps the scales of its blocks in float32 "
    "beside the packed ones: 1/8 of the weight's memory, or 1/32 with double quantization. "
    "Reference log-probabilities that are computed before training (`precompute_ref_log_probs`) "
    "come from inference's kernel, and training's do not: DPO's first loss was 0.69359, not ln 2.",
)


def reproduce() -> None:
    """Run a forward in evaluation, then one in training, on the kernel.

    A build of bitsandbytes for CUDA, or one for Windows, lacks the kernel on such a CPU too. A
    gradient flows there then, through another weight.
    """
    import warnings

    import torch

    layer = _packing_layer()
    inputs = torch.linspace(-1, 1, 128).reshape(2, 64)
    with torch.no_grad():
        expected = layer.train()(inputs)
        layer.eval()(inputs)
    inputs.requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = layer.train()(inputs)
        outputs.sum().backward()
    assert inputs.grad is not None, "no gradient flows through a 4-bit layer that has inferred"
    assert torch.equal(outputs, expected), "training reads the packed weight"


def reproduce_anywhere() -> None:
    """Read and save the weight after a forward in evaluation, without the kernel."""
    import torch
    from bitsandbytes.functional import dequantize_4bit

    layer = _packing_layer()
    inputs = torch.linspace(-1, 1, 128).reshape(2, 64)
    loaded = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    dequantized = dequantize_4bit(layer.weight.data, layer.weight.quant_state)
    with torch.no_grad():
        expected = layer.train()(inputs)
        layer.eval()(inputs)
    assert layer.weight.quant_state.packing_format_for_cpu, "nothing was packed"
    dequantized_again = dequantize_4bit(layer.weight.data, layer.weight.quant_state)
    assert torch.equal(dequantized_again, dequantized), "dequantize_4bit reads the packed weight"
    saved = layer.state_dict()
    assert all(torch.equal(saved[name], loaded[name]) for name in loaded), (
        "what is saved has the rounded scales of the packed weight"
    )
    with torch.no_grad():
        layer.eval()(inputs)
        assert torch.equal(layer.train()(inputs), expected), "training reads the packed weight"
    assert not layer.weight.quant_state.packing_format_for_cpu, "training keeps the packed weight"


def _packing_layer() -> Any:
    import torch
    from bitsandbytes.nn import Linear4bit

    torch.manual_seed(0)
    layer = Linear4bit(64, 64, bias=False, compute_dtype=torch.float32, quant_type="nf4").to("cpu")
    layer.support_avx512bf16_for_cpu = True  # whatever the CPU
    return layer
