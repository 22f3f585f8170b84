"""After `evaluate()` with `fp16_full_eval` or `bf16_full_eval` the model stays in half precision.

What is trained after it raises `ValueError: Attempting to unscale FP16 gradients.` under fp16, or
goes on in bfloat16 weights that round most small updates away; what is saved after it is in half
precision too. `Trainer.evaluation_loop` calls `.to()` on the model, which is in place. (Within
`train()` it does not cast.)

Fix: when the evaluation is over, after an error too, parameters, their gradients and buffers hold
their own tensors again, bit for bit. A trainer without training set and optimizer is left alone.

Why: a trainer that only evaluates keeps its half-precision model, because saving memory is the
purpose of the option.
"""

from patchkit.authoring import Patch, Wrap

from ._evaluation import around_evaluation

PATCH = Patch(
    id="transformers-full-eval-dtype",
    title="Evaluation in half precision gives the trained model back as it found it",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Wrap("transformers.trainer:Trainer.evaluation_loop", around_evaluation),
        Wrap("transformers.trainer:Trainer.prediction_loop", around_evaluation, affects="<5"),
    ),
    upstream=(
        "https://github.com/huggingface/transformers/pull/10268",
        "https://github.com/huggingface/transformers/pull/44356",
    ),
    symptom="Attempting to unscale FP16 gradients",
    messages=("Attempting to unscale FP16 gradients.",),
    caution="With a training set, the model takes the memory of both dtypes while it is evaluated, "
    "is cast again by each evaluation, and is in its own dtype afterwards, on the device where it "
    "was evaluated.",
)


def reproduce() -> None:
    """Evaluate a float32 model in float16, then train it in fp16."""
    import tempfile
    from pathlib import Path

    from patchkit.lab import cuda_fp16, tiny

    tiny.go_offline()
    cuda_fp16.install()
    import torch
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder) / "model", dtype="float32")
        model = tiny.load(path, dtype="float32")
        ids = torch.arange(4, 12)
        data = [{"input_ids": ids, "labels": ids}] * 2
        arguments = transformers.TrainingArguments(
            folder,
            fp16=True,
            fp16_full_eval=True,
            max_steps=1,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        )
        trainer = transformers.Trainer(
            model=model, args=arguments, train_dataset=data, eval_dataset=data
        )
        trainer.evaluate()
        trainer.train()
    dtypes = {str(parameter.dtype) for parameter in model.parameters()}
    assert dtypes == {"torch.float32"}, dtypes
