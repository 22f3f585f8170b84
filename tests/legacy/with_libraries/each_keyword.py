"""Try each keyword of the table on the installed libraries, and print the results as JSON.

python each_keyword.py off|on
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from typing import Any

from patchkit.legacy.changes import Drop, Keyword, Refuse
from patchkit.legacy.converting.call import OldCall
from patchkit.legacy.converting.keywords import translate
from patchkit.legacy.errors import LegacyError
from patchkit.legacy.guarding.guard import GuardedMethod
from patchkit.legacy.rows import all_rows
from patchkit.legacy.uses import Journal
from patchkit.legacy.versions.due import Due

TAKEN: dict[str, Any] = {
    "adafactor": True,
    "beta": 0.3,
    "chars_per_token": 3.6,
    "cliprange": 0.1,
    "config": "main",
    "dataset_batch_size": 1000,
    "dataset_kwargs": {"skip_prepare_dataset": True},
    "dataset_num_proc": 2,
    "dataset_text_field": "content",
    "disable_dropout": False,
    "dispatch_batches": False,
    "eval_packing": False,
    "evaluation_strategy": "no",
    "even_batches": False,
    "exp_name": "old",
    "fp16_backend": "auto",
    "fp16_opt_level": "O1",
    "fsdp_min_num_params": 0,
    "fsdp_transformer_layer_cls_to_wrap": "Block",
    "gpu_memory_utilization": 0.5,
    "group_by_length": True,
    "half_precision_backend": "auto",
    "include_inputs_for_metrics": True,
    "kl_coef": 0.1,
    "label_pad_token_id": -100,
    "label_smoothing": 0.1,
    "logging_dir": "logs",
    "loss_type": "ipo",
    "max_completion_length": None,
    "max_length": 64,
    "max_prompt_length": 32,
    "max_seq_length": 64,
    "model_adapter_name": "default",
    "neftune_noise_alpha": 5,
    "no_cuda": True,
    "num_mini_batches": 1,
    "num_of_sequences": 1024,
    "num_ppo_epochs": 1,
    "packing": True,
    "padding_value": 0,
    "parsers": (),
    "past_index": -1,
    "per_gpu_eval_batch_size": 2,
    "per_gpu_train_batch_size": 2,
    "precompute_ref_log_probs": True,
    "push_to_hub_model_id": "model",
    "push_to_hub_organization": "us",
    "push_to_hub_token": "token",
    "ray_scope": "all",
    "response_length": 32,
    "rloo_k": 2,
    "rpo_alpha": 0.5,
    "save_safetensors": True,
    "split_batches": False,
    "torch_dtype": "bfloat16",
    "total_episodes": 8,
    "tp_size": 1,
    "truncation_mode": "keep_end",
    "use_liger": False,
    "use_liger_loss": False,
    "use_seedable_sampler": True,
    "vllm_device": "auto",
    "vllm_dtype": "auto",
    "vllm_guided_decoding_regex": "a+",
    "vllm_max_model_len": 64,
    "wandb_log_unique_prompts": True,
    "warmup_ratio": 0.1,
}
"""Values that scripts had; other keywords are tried with None or False."""

REFUSED: dict[str, Any] = {
    "fp16_backend": "apex",
    "generate_during_eval": True,
    "half_precision_backend": "apex",
    "ignore_extra_args": True,
    "is_encoder_decoder": True,
    "label_pad_token_id": 0,
    "mp_parameters": "x",
    "past_index": 0,
    "reference_free": True,
    "token_level_kl": True,
    "tp_size": 2,
    "trust_remote_code": True,
    "vllm_device": "cuda:1",
    "vllm_dtype": "float16",
    "whiten_rewards": True,
}
"""Values that have no meaning any more; other keywords are tried with an object."""

HOMES = ("trl", "trl.experimental.orpo", "trl.experimental.cpo", "trl.experimental.gkd")
OTHERS = (
    "datasets.DatasetBuilder",
    "transformers.DataCollatorForLanguageModeling",
    "transformers.LlamaRotaryEmbedding",
    "trl.DataCollatorForLanguageModeling",
)

"""Classes that cannot be made without more."""
NEEDED = {"use_cpu": True, "bf16": False, "report_to": "none", "output_dir": "out"}


def find(owner: str) -> type:
    library, _, name = owner.partition(".")
    more = ("trl.experimental.online_dpo", "trl.experimental.utils", "trl.trainer.sft_trainer")
    homes = (*HOMES, *more) if library == "trl" else (library,)
    for home in homes:
        try:
            return getattr(importlib.import_module(home), name)
        except AttributeError:
            continue
    raise LookupError(f"no {owner}")


def without(owner: type, name: str, value: Any) -> str:
    try:
        owner(**{name: value})
    except TypeError as error:
        return str(error)
    except Exception as error:
        return f"another error: {error!r}"
    return "taken"


def within(owner: type, name: str, value: Any, due: Due) -> str:
    """Call a configuration; translate the call of a trainer or processor, and see if it fits."""
    try:
        if not owner.__name__.endswith(("Trainer", "Processor")):  # made of parts
            needed = NEEDED if hasattr(owner, "output_dir") or "Config" in owner.__name__ else {}
            known = inspect.signature(owner).parameters
            owner(
                **{key: setting for key, setting in needed.items() if key in known and key != name},
                **{name: value},
            )
            return "works"
        method = GuardedMethod(owner, "__init__")
        method.function = owner.__init__  # below the guard
        call = OldCall(method, object.__new__(owner), (), {name: value}, Journal())
        translate(call, due.methods_of(owner)["__init__"].keywords)
        inspect.signature(method.function).bind_partial(None, **call.arguments, **call.unknown)
    except LegacyError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"error: {error!r}"
    return "works"


def main(on: bool) -> list[dict[str, Any]]:
    if on:
        import patchkit

        patchkit.apply(only=[], legacy=True)
    due = Due(all_rows())
    found = []
    for row in due.of(Keyword):
        for owner in row.owners:
            if not on and "Processor" in owner:
                continue  # These miss a part, or say nothing: see test_former_methods.
            if row.early or owner.rpartition(".")[2].lstrip("_")[:1].islower() or owner in OTHERS:
                continue
            cls = find(owner)
            meant = isinstance(row.action, Refuse)
            values = [] if meant else [(TAKEN.get(row.name), "works")]
            if meant or (isinstance(row.action, Drop) and row.action.unless is not None):
                values.append((REFUSED.get(row.name, object()), "refused"))
            for value, expected in values:
                became = within(cls, row.name, value, due) if on else without(cls, row.name, value)
                found.append(
                    {
                        "keyword": f"{owner}({row.name}={value!r})".partition(" at 0x")[0],
                        "name": row.name,
                        "expected": expected,
                        "became": became,
                    }
                )
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1] == "on")))
