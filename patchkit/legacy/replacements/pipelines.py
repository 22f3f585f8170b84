"""Pipelines of models with an encoder, from Transformers before 5."""

from __future__ import annotations

from typing import Any

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.pipelines.base import Pipeline

_NAMES = {"summarization": "summary_text", "translation": "translation_text"}
"""The key of a text in the results of a task; other tasks have `generated_text`."""
_DEFAULTS = {"max_new_tokens": 256, "num_beams": 4}
"""Settings for models that have none of their own."""
_OF_TOKENIZER = ("truncation", "src_lang", "tgt_lang")
_LOADING = ("device_map", "dtype", "revision", "token", "trust_remote_code")


def loaded(model: str, settings: dict[str, Any]) -> tuple[Any, Any]:
    """Return a model with an encoder, and its tokenizer.

    Args:
        model: its name, or the folder that it lies in.
        settings: what a script gives `pipeline()` beside it; `model_kwargs` count.
    """
    given = {name: settings[name] for name in _LOADING if settings.get(name) is not None}
    ids = {name: given[name] for name in given if name in ("revision", "token")}
    more = settings.get("model_kwargs") or {}
    return (
        AutoModelForSeq2SeqLM.from_pretrained(model, **{**given, **more}),
        settings.get("tokenizer") or AutoTokenizer.from_pretrained(model, **ids),
    )


class TextToText(Pipeline):
    """Generate a text for a text.

    Settings for a task in `task_specific_params` of the model's configuration are used.
    """

    _preprocess_params: dict[str, Any]
    _forward_params: dict[str, Any]
    _load_tokenizer = True
    _load_processor = _load_image_processor = _load_feature_extractor = False

    def for_task(self, task: str) -> TextToText:
        """Become the pipeline of a task, and return it.

        Args:
            task: `summarization`, `translation`, `translation_en_to_fr`, `text2text-generation`.
        """
        configuration = vars(self.model.config)
        specific = (configuration.get("task_specific_params") or {}).get(task, {})
        self.task = task
        self._prefix = specific.get("prefix", configuration.get("prefix")) or ""
        settings = {name: value for name, value in specific.items() if name != "prefix"}
        self._forward_params = {**settings, **self._forward_params}
        parts = task.split("_")
        if len(parts) == 4:
            self._preprocess_params = {
                "src_lang": parts[1],
                "tgt_lang": parts[3],
                **self._preprocess_params,
            }
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return a dictionary for each text, in a list."""
        results = super().__call__(*args, **kwargs)
        texts = args[0] if args else None
        if isinstance(texts, list) and all(len(result) == 1 for result in results):
            return [result[0] for result in results]
        return results

    def _sanitize_parameters(
        self, **parameters: Any
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        cleaning = {
            "clean_up_tokenization_spaces": parameters.pop("clean_up_tokenization_spaces", None)
        }
        parameters.pop("return_text", None)
        of_tokenizer = {name: parameters.pop(name) for name in _OF_TOKENIZER if name in parameters}
        return of_tokenizer, parameters, {k: v for k, v in cleaning.items() if v is not None}

    def preprocess(self, text: str, **settings: Any) -> Any:
        """Make tokens of a text."""
        languages = {name: settings.pop(name, None) for name in ("src_lang", "tgt_lang")}
        build = getattr(self.tokenizer, "_build_translation_inputs", None)
        settings = {"truncation": False, **settings, "return_tensors": "pt"}
        if build is not None and all(languages.values()):
            return build(text, **settings, **languages)
        made = self.tokenizer(self._prefix + text, **settings)
        made.pop("token_type_ids", None)
        return made

    def _forward(self, tokens: Any, **settings: Any) -> dict[str, Any]:
        given = {**self.model.generation_config.to_diff_dict(), **settings}
        defaults = {name: value for name, value in _DEFAULTS.items() if name not in given}
        if "max_length" in given:
            defaults.pop("max_new_tokens", None)
        return {"ids": self.model.generate(**tokens, **defaults, **settings)}

    def postprocess(self, generated: dict[str, Any], **settings: Any) -> list[dict[str, str]]:
        name = _NAMES.get(self.task.partition("_")[0], "generated_text")
        decode = self.tokenizer.decode
        return [
            {name: decode(ids, skip_special_tokens=True, **settings)} for ids in generated["ids"]
        ]
