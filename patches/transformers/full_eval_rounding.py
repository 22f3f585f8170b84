"""Evaluation with `bf16_full_eval` rounds what `from_pretrained` keeps in float32.

`Trainer.evaluation_loop` calls `.to(dtype=...)` on the model. It casts every parameter and buffer,
also the frequencies of rotary embeddings, which `from_pretrained(dtype=...)` leaves in float32: in
bfloat16 positions above a few hundred blur, and `eval_loss` is not the loss of the same model
loaded in bfloat16. It casts the modules that a model keeps in float32 (`_keep_in_fp32_modules`),
too: T5's `wo` overflows in float16. Complex frequencies lose their imaginary part.

Fix: each tensor gets the dtype that `from_pretrained(dtype=...)` gives it.

Why: the patch asks the model's own code. It builds the model once more on the meta device, as
`from_pretrained` does before it reads a weight. A buffer that is not saved has the dtype that its
code gave it, so no list of names or rule about buffers would be right for all models. A model that
cannot be built a second time is cast as upstream casts it, with a warning. A trainer that only
evaluates keeps these dtypes.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, helper, replace

TO_FLOAT16 = Pattern("M.to(dtype=torch.float16, device=D)")
TO_BFLOAT16 = Pattern("M.to(dtype=torch.bfloat16, device=D)")


def casts_model(node: ast.AST) -> bool:
    return TO_FLOAT16(node) or TO_BFLOAT16(node)


def cast_as_loaded(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    pattern, dtype = (TO_FLOAT16, "float16") if TO_FLOAT16(node) else (TO_BFLOAT16, "bfloat16")
    code = pattern.holes(node)
    cast = helper(f"{__package__}._dtypes_of_loading:cast_as_loaded")
    return [replace(node, f"{cast}({code['M']}, torch.{dtype}, {code['D']})")]


RULE = Rule(casts_model, cast_as_loaded, names=("to", "float16", "bfloat16"), needs=("torch",))

PATCH = Patch(
    id="transformers-full-eval-rounding",
    title="Evaluation in half precision keeps in float32 what loading keeps in float32",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Rewrite("transformers.trainer:Trainer.evaluation_loop", RULE, sites=2),
        Rewrite("transformers.trainer:Trainer.prediction_loop", RULE, sites=2, affects="<5"),
    ),
    upstream=("https://github.com/huggingface/transformers/issues/30709",),
    symptom="rotary frequencies are torch.bfloat16",
    caution="The evaluation builds the model once more without its weights, to see which dtypes "
    "its code asks for; that took 0.3 s for a Llama of 80 layers. `eval_loss` is another one than "
    "without the patch: that of the model loaded in half precision.",
)


def reproduce() -> None:
    """Look at the rotary frequencies while a trainer evaluates in bfloat16."""
    import tempfile

    import torch
    import transformers

    from patchkit.lab import shapes

    model = shapes.build("llama")
    frequencies = model.model.rotary_emb
    seen = []
    frequencies.register_forward_pre_hook(lambda *_: seen.append(frequencies.inv_freq.dtype))
    ids = torch.arange(4, 12)
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder, bf16_full_eval=True, report_to=[], disable_tqdm=True, use_cpu=True
        )
        transformers.Trainer(
            model=model, args=arguments, eval_dataset=[{"input_ids": ids, "labels": ids}]
        ).evaluate()
    dtypes = set(map(str, seen))
    assert dtypes == {"torch.float32"}, f"the rotary frequencies are {', '.join(sorted(dtypes))}"
