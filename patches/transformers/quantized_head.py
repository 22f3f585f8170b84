"""A classifier loaded in 4-bit or 8-bit cannot be trained: bitsandbytes has packed its head.

BERT, RoBERTa, DistilBERT, ELECTRA, DeBERTa and many others with `task_type="SEQ_CLS"` (or token
classification, question answering, ...) die in `get_peft_model`, which trains a copy of the head:
`only Tensors of floating point dtype can require gradients`. With a checkpoint that has no head
yet, as one that was only pre-trained, Transformers 5 initializes the head in floating point and
calls it like a packed one: `AssertionError` with `quantization state not initialized`, or
`'Parameter' object has no attribute 'CB'`, in the first forward. Transformers 4 stops in
`from_pretrained`: "`weight` is not an nn.Module".

Fix: what a model has outside of its base model is loaded in the dtype of the other weights, and
the list of it is kept in the configuration, as if you had named it in `llm_int8_skip_modules`. So
the head of the adapted, the merged and the saved model is a plain one, with patchkit and without
it. A model with an LM head is loaded as before. So is a head for which you gave a list of your own,
if the checkpoint has it, and a head that the checkpoint has packed.

Why: loading is the place, because it is what Transformers does itself: "the last module" of a model
without output embeddings stays unpacked, such as the `score` of `LlamaForSequenceClassification`.
It takes the last parameter for it. A head of two layers is more than that, and since Transformers 5
the last parameter must be a weight: where it is a bias, as in BERT, nothing is kept. A float copy
in PEFT alone would begin with weights that were rounded to 4 bits, or could not begin at all where
the checkpoint has no head.

The base model is the attribute that `base_model_prefix` names, and models inside of others are
none of its head. A layer whose name is the end of a name in the base model stays packed, since
Transformers compares names by their ends. Transformers 5 says which files it loads, so a pooler
that they lack is treated like the head.
"""

from patchkit.authoring import Patch, Wrap

from ._quantized_head import before_loading_weights

PATCH = Patch(
    id="transformers-quantized-head",
    title="The head of a classifier in 4-bit or 8-bit is left unpacked, so that it can be trained",
    affects={"transformers": ">=4.57.1", "bitsandbytes": ">=0.48.2"},
    changes=tuple(
        Wrap(
            f"transformers.quantizers.quantizer_bnb_{bits}bit:"
            f"Bnb{bits}BitHfQuantizer._process_model_before_weight_loading",
            before_loading_weights,
            parameters=("self", "model"),
        )
        for bits in (4, 8)
    ),
    upstream=(
        "https://github.com/huggingface/peft/issues/1720",
        "https://github.com/huggingface/transformers/pull/30779",
        "https://github.com/unslothai/unsloth-zoo/pull/594",
    ),
    symptom="only Tensors of floating point dtype can require gradients|state not initialized"
    "|no attribute 'CB'|`weight` is not an nn.Module",
    messages=(
        "only Tensors of floating point dtype can require gradients",
        "'Parameter' object has no attribute 'CB'",
        "`weight` is not an nn.Module",
        "quantization state not initialized. Please call .cuda() or .to(device) on the",
    ),
    caution="The head takes the memory of its dtype, and is not rounded: logits are those of the "
    "unrounded head. `quantization_config` of such a model, and of what you save, has "
    "`llm_int8_skip_modules`. Give that list yourself to choose.",
)


def reproduce() -> None:
    """Train the head and adapters of a tiny RoBERTa in 4-bit for a step."""
    import tempfile
    from pathlib import Path

    import peft
    import torch
    import transformers

    from patchkit.lab import quantized

    sizes = {"vocab_size": 32, "hidden_size": 64, "intermediate_size": 64}
    layers = {"num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 24}
    with torch.random.fork_rng(), tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(0)
        config = transformers.RobertaConfig(**sizes, **layers)
        transformers.RobertaForSequenceClassification(config).save_pretrained(folder)
        model = quantized.load(
            Path(folder),
            loader=transformers.AutoModelForSequenceClassification,
            quantization_config=quantized.configuration(4),
            dtype="bfloat16",
        )
        lora = peft.LoraConfig(task_type="SEQ_CLS", r=2, target_modules=["query"])
        model = peft.get_peft_model(model, lora)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    before = [parameter.detach().clone() for parameter in trained]
    with torch.autocast("cpu", torch.bfloat16):
        model(input_ids=torch.arange(4, 20)[None], labels=torch.tensor([1])).loss.backward()
    torch.optim.AdamW(trained, lr=0.1).step()
    changed = [not torch.equal(old, new) for old, new in zip(before, trained, strict=True)]
    assert sum(changed) >= 5, "the head was not trained"  # two layers, and the adapter's B
