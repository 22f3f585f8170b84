"""LayoutLM, WavLM, RWKV, DETR, MobileBERT and x-vectors compute with packed bytes, or stop.

LayoutLMv3, LayoutLMv2 and PP-DocLayoutV2 read the biases of relative positions from the weight of a
linear layer, `self.rel_pos_bias.weight.t()[rel_pos]`. In 4-bit: `index 17 is out of bounds for
dimension 0 with size 1`. In 8-bit nothing is said: whole numbers of up to 127, without their
scales, are added to the scores of its attention.

WavLM hands the weights of its projections to `F.multi_head_attention_forward`: `expecting query
weights shape of (64, 64), but got torch.Size([2048, 1])` in 4-bit, and in 8-bit whole numbers.

DETR's masks, MaskFormer's, and the layers of x-vectors (Wav2Vec2, WavLM) give the weight of a
linear layer to a convolution, MobileBERT's head joins one to that of the embeddings, and Reformer
cuts its own into heads. In 4-bit `is invalid for input of size` or `Sizes of tensors must match
except in dimension 0`, and in 8-bit whole numbers again, without a word.

RWKV divides some weights for inference, and multiplies them again for training. Of 8-bit layers it
asks for scales that their first forward has moved (`'NoneType' object has no attribute 'div_'`),
and with adapters on 4-bit ones it stops in `attribute 'weight' already exists`. Back in training it
multiplies the bytes of a packed weight themselves.

Mask2Former, OneFormer and MaskFormer keep the layers of their heads in a list, too, and call those:
the ones that bitsandbytes has replaced, and PEFT. In 4-bit and 8-bit `Tensor on device meta is not
on the expected device`; with LoRA alone nothing is said, and these adapters learn nothing.

Fix: all take the values of a packed weight, and the layers that a module has; and RWKV's packed
layers are not scaled, but compute in inference what they do in training.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

LOOKED_UP = Pattern("L.weight.t()[X]")
CUT = (Pattern("L.weight.view(A, B, C)"), Pattern("L.weight.reshape(A, B, C)"))
CONVOLVED = Pattern("nn.functional.conv2d(X, L.weight.unsqueeze(-1).unsqueeze(-1), L.bias)")
JOINED = Pattern("X.matmul(torch.cat([E.weight.t(), L.weight], dim=0))")
SCALED = Pattern("self.layers_are_rescaled == (not self.training)")


def look_up_values(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Subscript)
    return [replace(node.value, f"({values_of(LOOKED_UP.holes(node)['L'])}).t()")]


def values_of(layer: str, cast: str = "") -> str:
    """Return the code for a layer's weight, or, where it is packed, for its values."""
    # Spelled out, so that a compiled forward of plain weights fetches no helper.
    is_plain = f"{layer}.weight.is_floating_point() and not hasattr({layer}.weight, 'quant_state')"
    values = helper("patchkit.precision.quant_state:packed_values")
    return f"{layer}.weight if {is_plain} else {values}({layer}){cast}"


def weights(call: ast.Call) -> list[ast.Attribute]:
    """Return the arguments that are `self.layer.weight`."""
    given = (*call.args, *(word.value for word in call.keywords))
    return [value for value in given if isinstance(value, ast.Attribute) and value.attr == "weight"]


def attends_with_weights(node: ast.AST) -> bool:
    """`F.multi_head_attention_forward(query, …, q_proj_weight=self.q_proj.weight, …)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="multi_head_attention_forward")):
            return bool(weights(node))
    return False


def attend_with_values(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    cast = f".to({ast.unparse(node.args[0])}.dtype)"
    found = ((weight, ast.unparse(weight.value)) for weight in weights(node))
    return [replace(weight, f"({values_of(layer, cast)})") for weight, layer in found]


def cuts_weight(node: ast.AST) -> bool:
    """`self.kernel.weight.view(self.out_conv_dim, self.kernel_size, self.in_conv_dim)`."""
    layer = next((cut.holes(node)["L"] for cut in CUT if cut(node)), "self")
    return "." in layer and "embed" not in layer


def cut_values(node: ast.AST) -> list[Edit]:
    layer = next(cut.holes(node)["L"] for cut in CUT if cut(node))
    return _with_values(node, layer, "hidden_states")


def convolve_values(node: ast.AST) -> list[Edit]:
    holes = CONVOLVED.holes(node)
    return _with_values(node, holes["L"], holes["X"])


def join_values(node: ast.AST) -> list[Edit]:
    holes = JOINED.holes(node)
    return _with_values(node, holes["L"], f"{holes['E']}.weight")


def _with_values(node: ast.AST, layer: str, like: str) -> list[Edit]:
    """Replace the weight of a layer in an expression by its values, in the dtype of another."""
    (weight,) = (
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and ast.unparse(part) == f"{layer}.weight"
    )
    return [replace(weight, f"({values_of(layer, f'.to({like}.dtype)')})")]


def is_done(node: ast.AST) -> bool:
    """`if self.layers_are_rescaled == (not self.training): return`."""
    return isinstance(node, ast.If) and SCALED(node.test)


def leave_packed_layers(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.If)
    weight = "self.blocks[0].attention.output.weight"
    packed = f"not {weight}.is_floating_point() or hasattr({weight}, 'quant_state')"
    return [replace(node.test, f"{ast.unparse(node.test)} or {packed}")]


def listed_layers(node: ast.AST) -> list[ast.For]:
    """Return the loop of `forward(self, input)` over `self.layers`, which may be a plain list."""
    match node:
        case ast.FunctionDef(
            args=ast.arguments(args=[_, ast.arg(arg="input")]),
            body=[
                *_,
                ast.For(iter=ast.Attribute(ast.Name("self"), "layers")) as loop,
                ast.Return(),
            ],
        ):
            return [loop]
    return []


def call_own_layers(node: ast.AST) -> list[Edit]:
    own = "(self.children() if isinstance(self.layers, list) else self.layers)"
    return [replace(loop.iter, own) for loop in listed_layers(node)]


LISTED = Rule(lambda node: bool(listed_layers(node)), call_own_layers, names=("layers",))
LOOK_UP = Rule(LOOKED_UP, look_up_values, names=("weight", "t"))
ATTEND = Rule(attends_with_weights, attend_with_values, names=("multi_head_attention_forward",))
CUT_UP = Rule(cuts_weight, cut_values, names=("weight", "transpose"))
CONVOLVE = Rule(CONVOLVED, convolve_values, names=("conv2d", "weight", "unsqueeze"))
JOIN = Rule(JOINED, join_values, names=("matmul", "cat", "weight"))
SCALE = Rule(is_done, leave_packed_layers, names=("layers_are_rescaled", "training"))

TINY_LAYOUTLM = {
    **dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size"), 64),
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "coordinate_size": 8,
    "shape_size": 16,
    "visual_embed": False,
    "pad_token_id": 1,
}

SOURCE = "src/transformers/models/layoutlmv3/modeling_layoutlmv3.py"

PATCH = Patch(
    id="transformers-packed-bytes",
    title="Models that read the weights of layers leave the bytes of packed ones alone",
    affects={"transformers": ">=4.46.3", "bitsandbytes": ">=0.46.1"},
    changes=(
        Rewrite("transformers.models.*layout*.modeling_*:*.*", LOOK_UP, sites=None),
        *(
            Rewrite(f"transformers.models.*.modeling_*:{place}", rule, sites=None)
            for place, rule in (
                ("TDNNLayer.forward", CUT_UP),
                ("*._*_per_attn_head", CUT_UP),
                ("*.forward", CONVOLVE),
                ("*.forward", JOIN),
                ("*PredictionBlock.forward", LISTED),
            )
        ),
        Rewrite(
            "transformers.models.wavlm.modeling_wavlm:WavLMAttention.torch_multi_head_self_attention",
            ATTEND,
        ),
        Rewrite("transformers.models.rwkv.modeling_rwkv:RwkvModel._rescale_layers", SCALE),
    ),
    # Modeling files are generated from these, and nothing imports them.
    harmless={"transformers.models.*.modular_*:*.*": ""},
    upstream=("https://github.com/huggingface/transformers/blob/v5.23.0/" + SOURCE,),
    symptom=(
        "out of bounds for dimension 0|expecting query weights shape|no attribute 'div_'|"
        "attribute 'weight' already exists|on device meta"
    ),
    messages=(
        "out of bounds for dimension 0 with size 1",
        "expecting query weights shape of",
        "'NoneType' object has no attribute 'div_'",
        "attribute 'weight' already exists",
        "Tensor on device meta is not on the expected device cpu!",
        "Tensor on device meta is not on the expected device cuda:0!",
    ),
    caution="A deep RWKV in float16 whose layers are packed may overflow in inference, as it may "
    "in training: load it in bfloat16.",
)


def reproduce() -> None:
    """Give a tiny 4-bit LayoutLMv3 two rows of words, all at the same place of a page."""
    import torch
    import transformers

    from patchkit.lab import quantized, shapes

    torch.manual_seed(0)
    plain = transformers.LayoutLMv3Model(transformers.LayoutLMv3Config(**TINY_LAYOUTLM))
    model = quantized.reload(plain, dtype="bfloat16", compute_dtype="bfloat16").eval()
    with torch.no_grad():
        hidden = model(input_ids=shapes.words(model.device)).last_hidden_state
    assert hidden.isfinite().all()
