"""Some parameters are float32 whatever dtype a model is loaded in, and the rest of it is not.

`RuntimeError: expected scalar type Float but found BFloat16` from the first forward of XLNet
without autocast, in 4-bit and 8-bit too; `expected m1 and m2 to have the same dtype, but got: float
!= c10::Half` from DeBERTa's. `from_pretrained(dtype=torch.bfloat16)` makes the model under that
default dtype, and what is in the checkpoint gets the dtype of the parameter that is there.
`nn.Parameter(torch.FloatTensor(...))` asks for no default: so all of XLNet's attention stays
float32, `model.dtype` says float32, and so do the masks. The code vectors of Wav2Vec2 and its kin
stay float32, too, and DeBERTa's biases of queries and values are made by `dtype=torch.float`.

Fix: these parameters are made in the default dtype, as the weights of layers are.
"""

import ast

from patchkit.authoring import Edit, Patch, Rewrite, Rule, replace


def float_parameters(node: ast.AST) -> bool:
    """`nn.Parameter(torch.FloatTensor(2, 3))`; of one argument it might be made of numbers."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="Parameter"),
            args=[
                ast.Call(
                    func=ast.Attribute(value=ast.Name(id="torch"), attr="FloatTensor"),
                    args=[_, _, *_],
                )
            ],
        ):
            return True
    return False


def ask_for_dtype(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    assert isinstance(node.args[0], ast.Call)
    return [replace(node.args[0].func, "torch.empty")]


def float_zeros(node: ast.AST) -> bool:
    """`nn.Parameter(torch.zeros(size, dtype=torch.float))`."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="Parameter"),
            args=[ast.Call(func=ast.Attribute(attr="zeros"), keywords=[dtype])],
        ):
            return ast.unparse(dtype) == "dtype=torch.float"
    return False


def leave_dtype_out(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    zeros = node.args[0]
    assert isinstance(zeros, ast.Call)
    return [replace(zeros, f"torch.zeros({', '.join(map(ast.unparse, zeros.args))})")]


FLOAT_TENSOR = Rule(
    float_parameters, ask_for_dtype, names=("Parameter", "FloatTensor"), needs=("torch",)
)
FLOAT_ZEROS = Rule(float_zeros, leave_dtype_out, names=("Parameter", "zeros"), needs=("torch",))

SOURCE = "src/transformers/models/xlnet/modeling_xlnet.py"

PATCH = Patch(
    id="transformers-float32-parameters",
    title="XLNet and DeBERTa are loaded as a whole in the dtype that was asked for",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Rewrite("transformers.models.*.modeling_*:*.__init__", FLOAT_TENSOR, sites=None),
        Rewrite(
            "transformers.models.deberta.modeling_deberta:DisentangledSelfAttention.__init__",
            FLOAT_ZEROS,
            sites=2,
        ),
    ),
    # Modeling files are generated from these, and nothing imports them.
    harmless={"transformers.models.*.modular_*:*.*": ""},
    upstream=("https://github.com/huggingface/transformers/blob/v5.23.0/" + SOURCE,),
    symptom="expected scalar type|have the same dtype, but got",
    messages=(
        "expected scalar type Float but found BFloat16",
        "expected scalar type Float but found Half",
        "expected m1 and m2 to have the same dtype, but got: float != c10::Half",
    ),
    caution="XLNet that is loaded in half precision has its attention in half precision, too. Full "
    "fine-tuning in bf16 rounds small updates of it away, as of other models: load it in float32.",
)


def reproduce() -> None:
    """Make a tiny XLNet in bfloat16, as `from_pretrained` does, and run it."""
    import torch
    import transformers

    from patchkit.authoring import device, dtype_keyword

    config = transformers.XLNetConfig(vocab_size=64, d_model=16, n_layer=1, n_head=2, d_inner=16)
    options = {dtype_keyword(): torch.bfloat16}
    model = transformers.AutoModelForCausalLM.from_config(config, **options).to(device())
    ids = torch.arange(3, 19, device=device()).reshape(2, 8)
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
    assert logits.dtype == torch.bfloat16
