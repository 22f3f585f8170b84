"""Nobody looks whether model, arguments and hardware agree before the first batch is loaded.

Training in fp16 of a model loaded in half precision dies in its first step (`Attempting to unscale
FP16 gradients.`), with data prepared, workers started and memory filled. Others run to their end
and have learned little: updates rounded away, autocast left out on a CPU, layers that compute in
another precision than was asked for. `Trainer.train` checks none of it.

No fix: `apply(preflight=True)`, and nothing else, puts `patchkit.preflight` before each
`Trainer.train()`. Errors stop it with the change that fixes them; warnings are logged once.
"""

from patchkit.authoring import Patch, Wrap

PATCH = Patch(
    id="transformers-preflight",
    title="Trainer.train() starts only where parameters, precision and hardware agree",
    affects={"transformers": ">=4.46.3"},
    changes=(
        Wrap("transformers.trainer:Trainer.train", "patchkit.inspection.preflight:before_train"),
    ),
    upstream=("https://github.com/huggingface/transformers/issues/23165",),
    symptom="Attempting to unscale FP16 gradients",
    messages=("Attempting to unscale FP16 gradients.",),
    caution="A training that would fail raises PreflightError instead of the library's own error, "
    "and before anything is loaded or moved.",
    opt_in="preflight",
)


def reproduce() -> None:
    """Fine-tune a float16 model whole, in fp16: stopped before its first step, or dead in it."""
    import tempfile
    from pathlib import Path

    from patchkit import PreflightError
    from patchkit.lab import cuda_fp16, tiny

    tiny.go_offline()
    cuda_fp16.install()
    import torch
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        model = tiny.load(tiny.build_causal_lm(Path(folder)), dtype="float16")
        ids = torch.arange(4, 20)
        trainer = transformers.Trainer(
            model=model,
            args=transformers.TrainingArguments(
                folder, fp16=True, max_steps=1, report_to=[], save_strategy="no", disable_tqdm=True
            ),
            train_dataset=[{"input_ids": ids, "labels": ids}] * 8,
        )
        try:
            trainer.train()
        except PreflightError as stopped:
            findings = stopped.findings
            assert "half-trainable-under-scaler" in findings, findings
