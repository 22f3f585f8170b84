"""Settings of `generate` that models' configurations had, and evaluations of trainers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from ...whose import Whose, owner_of_frame
from ..changes import Behaviour
from ..uses import calling_frame
from ..wording import since
from .call import OldCall

_MODEL, _GENERATION = "config.json", "generation_config.json"
_WRITTEN_BY = "transformers_version"
_KEPT_BY_BOTH = frozenset({"use_cache"})
"""Settings that models' configurations still have."""
_OF_EACH_CONFIGURATION = frozenset(
    {
        *("bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "decoder_start_token_id"),
        *("is_decoder", "add_cross_attention", "cross_attention_hidden_size", "pruned_heads"),
        *("tie_word_embeddings", "tokenizer_class", "prefix", "task_specific_params"),
        *("use_bfloat16", "tf_legacy_loss"),
    }
)
"""What any model's configuration took, and today only those of models that read it."""
_MADE = "_patchkit_generates_by_config"
"""The attribute of a model whose generation configuration was made of its configuration."""
_LENGTH = "max_length"
_LENGTHS = (_LENGTH, "max_new_tokens")
_FORCED = "forced_decoder_ids"
_EXPERTS = "get_experts_implementation"
_CONSTRUCTORS = ("__init__", "__post_init__", "init_with_validate")
_FROM_CONTENT = "from_dict"
"""The method that makes a configuration of what a file has."""
_DECODER = "decoder"
_FROM_MODEL = "_from_model_config"
"""What a generation configuration says that was made of a model's configuration."""
_REFUSED = re.compile(r"unexpected keyword argument '(\w+)'")


def former_setting(name: str, default: Any, config: Any) -> Any:
    """Return what a model's configuration had for a setting of `generate`.

    Args:
        name: the setting.
        default: its value where nothing sets it.
        config: a configuration; the files of its checkpoint are read.
    """
    place = str(getattr(config, "_name_or_path", "") or "")
    return _of_checkpoint(place, _changed(place)).get(name, default) if place else default


@lru_cache(maxsize=8)
def _of_checkpoint(place: str, changed: int) -> Mapping[str, Any]:
    """Return the settings that a checkpoint's files have.

    Older releases wrote them into `config.json`, and read them from there alone. Since Transformers
    5 they are written into `generation_config.json` only.
    """
    model = _read(place, _MODEL)
    writer = str(model.get(_WRITTEN_BY) or "5").partition(".")[0]
    return {**_read(place, _GENERATION), **model} if writer not in "01234" else model


@lru_cache(maxsize=8)
def _of_decoder(place: str, changed: int) -> Mapping[str, Any]:
    """Return the settings that a decoder's files have for the pair that it becomes part of.

    What today's release wrote for another reason was never in the decoder's configuration.
    """
    found = _of_checkpoint(place, changed)
    return found if found.get(_FROM_MODEL) else _read(place, _MODEL)


def _changed(place: str) -> int:
    """Return when a folder's configuration was written; 0 for a checkpoint of the Hub."""
    try:
        return os.stat(os.path.join(place, _MODEL)).st_mtime_ns
    except OSError:
        return 0


def _read(place: str, file: str) -> dict[str, Any]:
    from transformers.utils import cached_file

    try:
        found = cached_file(
            place,
            file,
            local_files_only=True,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
        content = json.loads(Path(found).read_text(encoding="utf-8")) if found else {}
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def with_own_settings(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Generate with, and save, settings that a script has put into a model's configuration.

    They are put back afterwards, as the script may read them. A generation configuration that is
    not made of the model's had precedence.
    """
    model = call.instance
    config = getattr(model, "config", model)
    with _taken_out(config) as settings:
        if settings:
            names = ", ".join(sorted(settings))
            call.fix(row, f"{names} in a model's configuration", _advice(settings))
            if _is_made_of_the_model(model):
                _give(model, settings)
        return proceed()


def with_settings_of_decoder(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Generate with, and save, what the configuration and the files of a pair's decoder set.

    Only a generation configuration that is made of the model's takes it, and only what it lacks.
    """
    model = getattr(call.instance, "model", call.instance)
    decoder = getattr(getattr(model, "config", None), _DECODER, None)
    generation: Any = getattr(model, "generation_config", None)
    place = str(getattr(decoder, "_name_or_path", "") or "")
    if decoder is None or not _is_made_of_the_model(model):
        return proceed()
    of_files = _of_decoder(place, _changed(place)) if place else {}
    held, own = {**of_files, **vars(decoder)}, vars(decoder).keys()
    settings = {
        name: held[name]
        for name in sorted(_settings_of_generate() - _OF_EACH_CONFIGURATION)
        if held.get(name) is not None and getattr(generation, name, None) is None
    }
    if settings:
        names, name = ", ".join(settings), type(model).__name__
        old = f"{names} of the decoder's configuration for {name}"
        if call.is_of_older_script(row) or not own.isdisjoint(settings):
            _give(model, settings)
            call.fix(row, old, _advice(settings))
        elif call.written_for is None:
            call.tell(row, old, f"{old} {since(row)}; {_advice(settings)}")
    return proceed()


def _is_made_of_the_model(model: Any) -> bool:
    """Tell whether a model's generation configuration is made of its own configuration.

    A generation that used it makes it one of its own.
    """
    generation = getattr(model, "generation_config", None)
    if generation is None:
        return False
    return bool(getattr(generation, _FROM_MODEL, False)) or hasattr(model, _MADE)


def _give(model: Any, settings: Mapping[str, Any]) -> None:
    setattr(model, _MADE, True)
    model.generation_config.update(**settings)


def _advice(settings: Mapping[str, Any]) -> str:
    written = ", ".join(f"{name} = {value!r}" for name, value in sorted(settings.items()))
    return f"write generation_config: {written}"


def kept_for_pair(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Keep settings that a script has put into a decoder's configuration in that of the pair."""
    with _taken_out(call.arguments["decoder_config"]) as settings:
        config = proceed()
    if settings:
        names = ", ".join(sorted(settings))
        old = f"{names} in a decoder's configuration"
        call.fix(row, old, "set them on model.generation_config")
        vars(config.decoder).update(settings)
    return config


def _settings_of_generate() -> set[str]:
    """Return the settings that only the configuration of `generate` has today."""
    from transformers import GenerationConfig

    known: set[str] = GenerationConfig._get_default_generation_params().keys() - _KEPT_BY_BOTH
    return known


@contextmanager
def _taken_out(config: Any) -> Iterator[dict[str, Any]]:
    """Take the settings of `generate` out of a configuration that has no fields for them."""
    known = _settings_of_generate()
    fields = getattr(type(config), "__dataclass_fields__", {})
    held = vars(config)
    settings = {
        name: held.pop(name)
        for name in known & held.keys() - fields.keys()
        if held[name] is not None
    }
    try:
        yield settings
    finally:
        held.update(settings)


def given_to_loaded(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give settings that a loaded model no longer takes to what has them today."""
    of_generate = _settings_of_generate() - _OF_EACH_CONFIGURATION
    settings: dict[str, Any] = {}
    while True:
        try:
            result = proceed()
            break
        except TypeError as error:
            refused = _REFUSED.search(str(error))
            name = refused[1] if refused else ""
            if name not in (of_generate | _OF_EACH_CONFIGURATION) & call.unknown.keys():
                raise
            settings[name] = call.unknown.pop(name)
    model = result[0] if isinstance(result, tuple) else result
    generation = getattr(model, "generation_config", None)
    for names, place in ((of_generate, "generation_config"), (_OF_EACH_CONFIGURATION, "config")):
        given = {name: value for name, value in settings.items() if name in names}
        if given:
            shown = "=, ".join(sorted(given))
            call.fix(row, f"{call.name}({shown}=)", f"set them on model.{place}")
        for name, value in given.items():
            setattr(model.config, name, value)
            if hasattr(generation, name):
                setattr(generation, name, value)
    return result


def given_to_configuration(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Set the settings of `generate` on a configuration that is loaded with them."""
    names = _settings_of_generate() & call.unknown.keys()
    config = proceed()
    given = (
        {name: call.unknown[name] for name in sorted(names - vars(config).keys())}
        if (names and not isinstance(config, tuple))
        else {}
    )
    if given:
        call.fix(row, f"{call.name}({'=, '.join(given)}=)", "set them on model.generation_config")
        vars(config).update(given)
    return config


def given_to_made(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Set the settings of `generate` on a configuration that a script makes with them."""
    names = (_settings_of_generate() - _OF_EACH_CONFIGURATION) & call.unknown.keys()
    given = {name: call.unknown[name] for name in sorted(names)}
    proceed()
    fields = getattr(type(call.instance), "__dataclass_fields__", {})
    given = {name: value for name, value in given.items() if name not in fields}
    if given and _is_made_by_script():
        name = type(call.instance).__name__
        call.fix(row, f"{name}({'=, '.join(given)}=)", "set them on model.generation_config")
        vars(call.instance).update(given)


def _is_made_by_script() -> bool:
    """Tell whether a script makes the configuration, and no library does of another's content."""
    frame = calling_frame()
    while frame is not None and _is_of_library(frame) and frame.f_code.co_name in _CONSTRUCTORS:
        frame = frame.f_back
    if frame is None or _is_of_library(frame):
        return False
    while frame is not None and frame.f_code.co_name != _FROM_CONTENT:
        frame = frame.f_back
    return frame is None


def _is_of_library(frame: FrameType) -> bool:
    return owner_of_frame(frame).whose in (Whose.LIBRARY, Whose.OURS)


def begin_with(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let Whisper begin with the tokens that a script forces, as its configuration may do."""
    if _FORCED not in call.unknown:
        return proceed()
    held = vars(call.instance.config)
    before = held.get(_FORCED)
    held[_FORCED] = call.unknown.pop(_FORCED)
    call.fix(row, f"{call.name}({_FORCED}=)", "write language= and task=")
    try:
        return proceed()
    finally:
        held[_FORCED] = before


def of_own_class(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Generate with a script's own class that has this mixin and is no model of the library."""
    if hasattr(call.instance, _EXPERTS):
        return proceed()
    old = f"{type(call.instance).__name__}.generate without {_EXPERTS}"
    call.fix(row, old, "give the class this method; without experts it returns {}")
    setattr(call.instance, _EXPERTS, dict)
    try:
        return proceed()
    finally:
        delattr(call.instance, _EXPERTS)


def keep_lengths(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let each batch of an evaluation generate as many tokens as the first.

    Where a model has no length of its own, a step of the evaluation now leaves one behind, which is
    a token shorter than what the step generated; later batches are filled up with -100.
    """
    model = getattr(call.instance, "model", None)
    generation, config = (getattr(model, name, None) for name in ("generation_config", "config"))
    has_length = any(getattr(config, "__dict__", {}).get(name) for name in _LENGTHS)
    if call.method.name == "__init__" or has_length or getattr(generation, _LENGTH, 0) is not None:
        return proceed()
    unset = [name for name, value in vars(generation).items() if value is None]
    result = proceed()
    if getattr(generation, _LENGTH) is not None:
        for name in unset:
            setattr(generation, name, None)
        if vars(call.instance).get("_gen_kwargs", {}).keys().isdisjoint(_LENGTHS):
            call.fix(
                row,
                "Seq2SeqTrainingArguments without generation_max_length=",
                "give it, or replace -100 in the predictions: later batches are shorter",
            )
    return result


def no_last_evaluation(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Evaluate after the last step only if it is a step to evaluate after.

    This is for scripts that are known to be older than the change: they name a release, or have
    other old spellings.
    """
    if call.method.name == "__init__":
        return proceed()
    args, state = call.arguments["args"], call.arguments["state"]
    control = call.arguments["control"]
    was_due = control.should_evaluate
    result = proceed()
    is_last = state.global_step >= state.max_steps
    usual = state.eval_steps and state.global_step % state.eval_steps == 0
    usual = usual and args.eval_delay <= state.global_step
    if not is_last or was_due or usual or not control.should_evaluate:
        return result
    old = "eval_strategy='steps' without an evaluation after the last step"
    if call.is_of_older_script(row):
        control.should_evaluate = False
        call.fix(row, old, "call trainer.evaluate() if one is wanted")
    elif call.written_for is None:
        advice = "name the release that the script was written for to have none"
        call.tell(row, old, f"{old} {since(row)}; {advice}")
    return result
