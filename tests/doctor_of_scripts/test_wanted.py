"""What is said of small scripts: bounds, what is lacking, and what changed without an error."""

from __future__ import annotations

import textwrap

import pytest

from patchkit.cli.doctor import scripts
from patchkit.modernize.history import History
from patchkit.modernize.python.rewriting import planned
from patchkit.modernize.target import due_for
from patchkit.modernize.wanted import ScriptVerdict
from patchkit.modernize.wanted.lacking import Fate
from patchkit.modernize.wanted.measured import apart, best
from patchkit.modernize.wanted.needs import needs
from patchkit.modernize.wanted.ranges import ranges
from patchkit.modernize.wanted.source import python_text


def _range(found, library: str):
    return next(known for known in found.ranges if known.library == library)


def _lacking(found) -> dict[str, tuple[str, str]]:
    return {missed.need.what: (str(missed.fate), missed.text) for missed in found.lacking}


def test_bounds_name_what_sets_them(look) -> None:
    found = _range(
        look(
            """
            from trl import SFTConfig, SFTTrainer

            args = SFTConfig(
                output_dir="out",
                max_seq_length=512,
            )
            SFTTrainer("model", args=args, processing_class=None)
            """
        ),
        "trl",
    )
    assert (found.first, found.last) == ("0.12.0", "0.19.1")
    assert found.first_by is not None
    assert found.last_by is not None
    assert (found.first_by.what, found.first_by.line) == ("SFTTrainer(processing_class=)", 8)
    assert (found.last_by.what, found.last_by.line) == ("SFTConfig(max_seq_length=)", 6)


def test_what_went_before_the_first_release_that_was_read_is_no_bound(look) -> None:
    found = look(
        """
        from transformers import Trainer, TrainingArguments

        trainer = Trainer("m", TrainingArguments("o"))
        print(trainer.use_amp, trainer.args.output_dir)
        """
    )
    assert _range(found, "transformers").releases


def test_attributes_and_methods_that_have_gone(look) -> None:
    found = look(
        """
        from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer

        model = AutoModelForCausalLM.from_pretrained("m", dtype="auto")
        print(model.config.max_length, model.config.pad_token_id, model.config.hidden_size)
        tokenizer = AutoTokenizer.from_pretrained("m")
        tokenizer.encode_plus("a")
        trainer = Trainer(model)
        print(trainer.tokenizer, trainer.args)
        model.parallelize()
        """
    )
    assert _range(found, "transformers").last == "4.57.6"
    assert {name: fate for name, (fate, _) in _lacking(found).items()} == {
        "PreTrainedConfig.max_length": str(Fate.FIXED),
        "PreTrainedTokenizerBase.encode_plus()": str(Fate.FIXED),
        "Trainer.tokenizer": str(Fate.FIXED),
        "PreTrainedModel.parallelize()": str(Fate.GONE),
    }


def test_what_a_class_of_the_script_takes_and_holds(look) -> None:
    found = look(
        """
        from dataclasses import dataclass
        from transformers import AutoTokenizer, Trainer, TrainingArguments

        class Distilling(Trainer):
            def __init__(self, *args, teacher_model=None, tokenizer=None, **kwargs):
                super().__init__(*args, **kwargs)

        class Texts:
            def __init__(self, rows, words):
                self.words = words

            def __getitem__(self, number):
                return self.words.encode_plus("a")

        @dataclass
        class Settings:
            training: TrainingArguments

        def run(settings: Settings):
            print(settings.training.evaluation_strategy)

        words = AutoTokenizer.from_pretrained("m")
        Distilling("m", teacher_model="n", tokenizer=words, train_dataset=Texts([], words))
        """
    )
    assert {name: fate for name, (fate, _) in _lacking(found).items()} == {
        "PreTrainedTokenizerBase.encode_plus()": str(Fate.FIXED),
        "TrainingArguments.evaluation_strategy": str(Fate.FIXED),
    }


def test_what_went_from_other_libraries(script, monkeypatch) -> None:
    installed = {"huggingface_hub": "2.4.0", "transformers": "5.23.0"}
    monkeypatch.setattr(scripts, "readable_version", installed.get)
    path = script("from huggingface_hub import HfFolder\nfrom transformers import Trainer\n")
    (found,) = scripts.examine([path]).wanted
    assert [known.old for known in found.combined] == ["huggingface_hub.HfFolder"]
    assert found.verdict is ScriptVerdict.WITH_THE_LAYER


def test_aliases_and_dictionaries(look) -> None:
    found = look(
        """
        import trl as t
        from transformers import TrainingArguments as TA

        settings = {"evaluation_strategy": "steps", "output_dir": "out"}
        args = TA(**settings)
        trainer = t.DPOTrainer
        trainer("model", args=args, beta=0.2)
        """
    )
    assert _range(found, "transformers").last == "4.50.3"
    assert _range(found, "trl").last == "0.12.2"


def test_a_gap_is_not_within_the_range(look) -> None:
    found = _range(look("from trl import RLOOTrainer\nRLOOTrainer(tokenizer=1, policy=2)\n"), "trl")
    assert found.runs == (("0.11.0", "0.11.4"), ("0.12.1", "0.13.0"))


def test_names_that_no_release_has_together(look) -> None:
    found = look(
        """
        from trl import GRPOTrainer
        from trl.commands.cli_utils import SFTScriptArguments
        """
    )
    it = _range(found, "trl")
    assert it.releases == ()
    assert [need.what for need in it.apart] == [
        "trl.GRPOTrainer",
        "trl.commands.cli_utils.SFTScriptArguments",
    ]
    assert {need.what for need in apart(found.needs)} == {need.what for need in it.apart}
    assert best(found.needs, {}) is None


def test_what_an_import_error_takes_over_sets_no_bound(look) -> None:
    found = look(
        """
        try:
            from trl import SFTScriptArguments
        except ImportError:
            from trl import ScriptArguments
        from trl import SFTTrainer
        """
    )
    assert found.verdict is ScriptVerdict.AS_IT_IS


def test_a_keyword_of_another_library_sets_a_bound_there(look) -> None:
    found = look("from trl import SFTConfig\nSFTConfig(output_dir='out', warmup_ratio=0.1)\n")
    assert _range(found, "trl").last == "1.16.0"
    assert _range(found, "transformers").last == "5.14.1"


def test_fields_that_a_script_adds_are_its_own(look) -> None:
    found = look(
        """
        from dataclasses import dataclass
        from transformers import TrainingArguments

        @dataclass
        class Mine(TrainingArguments):
            mine: int = 0

        Mine(output_dir="out", mine=3)
        """
    )
    assert found.verdict is ScriptVerdict.AS_IT_IS


def test_parameters_that_a_script_adds_are_its_own(look) -> None:
    found = look(
        """
        from trl import GRPOTrainer, SFTTrainer

        class Mine(SFTTrainer):
            def __init__(self, *args, alpha=0.1, tokenizer=None, **kwargs):
                super().__init__(*args, **kwargs)

        class Mines(Mine):
            def __init__(self, beta, **kwargs):
                super().__init__(**kwargs)

        class Closed(GRPOTrainer):
            def __init__(self, model, rewards, max_prompt_length):
                super().__init__(model=model, reward_funcs=rewards)

        Mine("model", alpha=1, tokenizer=None)
        Mines(beta=2, model="model", alpha=1)
        Closed(model="model", rewards=[], max_prompt_length=3)
        Mines(beta=2, packing=True)
        """
    )
    assert set(_lacking(found)) == {"SFTTrainer(packing=)"}


UNSLOTH = """
    {}
    from trl import GRPOConfig, GRPOTrainer, SFTTrainer
    from transformers import TrainingArguments

    arguments = TrainingArguments("out", evaluation_strategy="no")
    SFTTrainer("m", tokenizer=None, dataset_text_field="text", max_seq_length=9, args=arguments)
    config = GRPOConfig(vllm_sampling_params=None, unsloth_num_chunks=2, max_prompt_length=9)
    GRPOTrainer("m", tokenizer=None, args=config)
    """


def test_trainers_of_unsloth_take_what_those_of_trl_ever_took(look) -> None:
    found = look(UNSLOTH.format("from unsloth import FastLanguageModel"))
    assert found.of_unsloth
    assert set(_lacking(found)) == {"TrainingArguments(evaluation_strategy=)"}
    assert not found.combined
    assert not found.silent
    for others in ("", "try:\n        import unsloth\n    except ImportError:\n        pass"):
        found = look(UNSLOTH.format(others))
        assert not found.of_unsloth
        assert "GRPOConfig(unsloth_num_chunks=)" in _lacking(found)


def test_a_member_of_an_enumeration_sets_a_bound(look) -> None:
    found = look("from accelerate import DistributedType\nprint(DistributedType.TPU)\n")
    assert _lacking(found)["DistributedType.TPU"][0] == "fixed"
    assert _range(found, "accelerate").last == "0.27.2"


@pytest.mark.parametrize(
    ("name", "content", "read"),
    [
        ("settings.json", '{"kto": {"evaluation_strategy": "no"}}', "json.load(file)"),
        ("settings.yaml", "kto:\n  evaluation_strategy: 'no'\n", "yaml.safe_load(file)"),
        ("settings.yml", "kto: {evaluation_strategy: epoch}", "yaml.load(file, Loader=L)"),
    ],
)
def test_settings_that_a_script_reads(look, tmp_path, name: str, content: str, read: str) -> None:
    text = f"""
        import json, yaml
        from trl import KTOConfig
        with open("{name}") as file:
            settings = {read}
        KTOConfig("out", **settings["kto"])
        """
    assert "KTOConfig(evaluation_strategy=)" not in _lacking(look(text))
    (tmp_path / name).write_text(content)
    found = look(text)
    assert _lacking(found)["KTOConfig(evaluation_strategy=)"][0] == "fixed"
    assert _range(found, "transformers").last == "4.50.3"
    assert not found.combined
    (remark,) = planned(textwrap.dedent(text), due_for("transformers==5.23.0"), tmp_path).findings[
        :1
    ]
    assert remark.old == f"KTOConfig(evaluation_strategy=) of {name}"
    (tmp_path / name).write_text("{" * 9)
    assert "KTOConfig(evaluation_strategy=)" not in _lacking(look(text))


def test_a_function_takes_what_its_class_takes(look) -> None:
    found = look(
        """
        from datasets import load_dataset
        load_dataset("d", use_auth_token=True, ignore_verifications=True)
        """
    )
    assert {old.old for old in found.combined} == {
        "load_dataset(use_auth_token=)",
        "load_dataset(ignore_verifications=)",
    }


def test_fates(look) -> None:
    found = look(
        """
        from trl import ORPOTrainer, PPOTrainer, SFTTrainer, Unheard
        SFTTrainer("model", tokenizer=None, nonsense=1)
        """
    )
    assert found.verdict is ScriptVerdict.NOT
    told = _lacking(found)
    assert told["trl.ORPOTrainer"][0] == "fixed"
    assert told["trl.ORPOTrainer"][1].endswith("from trl.experimental.orpo import ORPOTrainer")
    assert told["trl.PPOTrainer"][0] == "gone"
    assert told["SFTTrainer(tokenizer=)"][0] == "fixed"
    assert told["SFTTrainer(nonsense=)"] == (
        "unknown",
        "is in no release that was read; is it spelled right?",
    )
    assert told["trl.Unheard"][0] == "unknown"


def test_of_private_names_and_namesakes_nothing_is_said(look) -> None:
    found = look(
        """
        import trl
        from trl.import_utils import _peft_available, is_vllm_available
        trl.__version__
        is_vllm_available(min_version="0.16")
        """
    )
    assert found.verdict is ScriptVerdict.AS_IT_IS


def test_a_module_that_had_what_moved(look) -> None:
    found = look("import trl.core\nimport trl.commands.cli_utils as utils\n")
    assert found.verdict is ScriptVerdict.WITH_THE_LAYER
    assert set(_lacking(found)) == {"trl.core", "trl.commands.cli_utils"}


def test_what_is_newer_than_what_is_installed(look) -> None:
    text = "from trl import DistillationTrainer\n"
    assert look(text).verdict is ScriptVerdict.AS_IT_IS
    found = look(text, "0.24")
    assert found.verdict is ScriptVerdict.NOT
    (it,) = found.lacking
    assert it.fate is Fate.NEWER
    assert it.text.startswith("came with TRL 1.")


def test_todays_keywords_on_older_releases(look) -> None:
    text = "from trl import SFTConfig\nSFTConfig(output_dir='out', max_length=512)\n"
    assert look(text).verdict is ScriptVerdict.AS_IT_IS
    found = look(text, "0.12")
    assert found.verdict is ScriptVerdict.WITH_THE_LAYER
    assert "came with TRL" in found.lacking[0].text


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("AutoModelForCausalLM.from_pretrained('model')", True),
        ("AutoModelForCausalLM.from_pretrained('model', dtype='float32')", False),
        ("AutoModelForCausalLM.from_pretrained('model', torch_dtype='auto')", False),
        ("AutoModelForCausalLM.from_pretrained('model', **unknown)", False),
    ],
)
def test_models_without_a_dtype(look, written: str, told: bool) -> None:
    found = look(f"from transformers import AutoModelForCausalLM\n{written}\n")
    assert [change.what for change in found.silent] == [
        "AutoModelForCausalLM.from_pretrained"
    ] * told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("messages", True),
        ("messages, tokenize=False", False),
        ("messages, return_dict=False", False),
    ],
)
def test_chat_templates(look, arguments: str, told: bool) -> None:
    found = look(
        f"""
        from transformers import AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained("model")
        tokenizer.apply_chat_template({arguments})
        """
    )
    assert [(change.line, change.what) for change in found.silent] == [
        (4, "apply_chat_template")
    ] * told


def test_defaults_that_are_relied_on(look) -> None:
    names = "from trl import DPOConfig, DPOTrainer\n"
    trainer = "DPOTrainer('model', args=args, tokenizer=None)\n"
    relied = look(f"{names}args = DPOConfig(output_dir='out')\n{trainer}")
    texts = [change.text for change in relied.silent if change.surely]
    assert "truncation_mode was 'keep_end' until TRL 0.29.0 and is 'keep_start'" in texts
    given = look(f"{names}args = DPOConfig('out', truncation_mode='keep_end')\n{trainer}")
    assert not any("truncation_mode" in change.text for change in given.silent)


def test_a_default_that_means_nothing_in_the_run(look) -> None:
    names = "from trl import GRPOConfig\n"
    without = look(f"{names}GRPOConfig(output_dir='out')\n")
    assert not any("vllm" in change.text for change in without.silent)
    with_it = look(f"{names}GRPOConfig(output_dir='out', use_vllm=True)\n")
    assert any("vllm_mode was 'server'" in change.text for change in with_it.silent)


@pytest.mark.parametrize(
    ("model", "settings", "told"),
    [
        ("AutoModelForSeq2SeqLM", "gradient_accumulation_steps=4", True),
        ("AutoModelForSeq2SeqLM", "gradient_accumulation_steps=1", False),
        ("AutoModelForSeq2SeqLM", "", False),
        ("AutoModelForCausalLM", "gradient_accumulation_steps=4", False),
    ],
)
def test_losses_that_are_added_up(look, model: str, settings: str, told: bool) -> None:
    text = (
        f"from transformers import {model}, Trainer, TrainingArguments\n"
        f"args = TrainingArguments('out', {settings})\n"
        f"Trainer({model}.from_pretrained('m'), args).train()\n"
    )
    assert any("adds up the losses" in change.text for change in look(text).silent) is told


@pytest.mark.parametrize(("more", "told"), [("", False), (", num_items_in_batch=None", True)])
def test_an_own_loss_of_before_says_the_same_of_losses(look, more: str, told: bool) -> None:
    text = (
        "from transformers import AutoModelForSeq2SeqLM, Trainer, TrainingArguments\n"
        "class Own(Trainer):\n"
        f"    def compute_loss(self, model, inputs, return_outputs=False{more}):\n"
        "        return model(**inputs).loss\n"
        "args = TrainingArguments('out', gradient_accumulation_steps=4)\n"
        "Own(AutoModelForSeq2SeqLM.from_pretrained('m'), args).train()\n"
    )
    assert any("adds up the losses" in change.text for change in look(text).silent) is told


def test_only_changes_between_a_script_and_what_is_installed(look) -> None:
    text = "from trl import GRPOConfig\nGRPOConfig(output_dir='out')\n"
    assert any("temperature" in change.text for change in look(text).silent)
    assert not any("temperature" in change.text for change in look(text, "0.17").silent)
    newer = look(f"from trl import DistillationTrainer\n{text}")
    assert not any("temperature" in change.text for change in newer.silent)


def test_a_field_that_is_given_by_its_old_name_is_given(look) -> None:
    found = look("from trl import RLOOConfig\nRLOOConfig('out', response_length=9)\n")
    assert not any("max_completion_length" in change.text for change in found.silent)


def test_cells_and_magics_of_notebooks(script, history, pins, look) -> None:
    import json

    cells = [
        ["!pip install trl\n", "from trl import SFTTrainer\n"],
        ["%%bash\n", "ls\n"],
        ["%matplotlib inline\n", "SFTTrainer('model',\n", "    tokenizer=None)"],
        ["this is no Python\n"],
    ]
    notebook = {"cells": [{"cell_type": "code", "source": lines} for lines in cells]}
    found = look(script(json.dumps(notebook), "train.ipynb"))
    need = next(need for need in found.needs if need.what == "SFTTrainer(tokenizer=)")
    assert (need.cell, need.line, need.place) == (3, 3, "cell 3, line 3")
    assert len(found.unread) == 1
    assert found.unread[0].startswith("cell 4, ")


def test_ranges_of_a_made_up_library(script) -> None:
    content = {
        "releases": "1.0 1.1 2.0 2.1",
        "complete": True,
        "modules": {"..1.1 2.1..": "part"},
        "names": {"": {"..": "always", "1.1..2.0": "middle", "2.1..": "late"}},
        "keywords": {"Kind": {"..": "a", "2.0..": "b"}},
        "taken_from": {},
    }
    history = History({"schema": 1, "trl": content})

    def look(text: str):
        return ranges(needs(python_text(script(text)).read(), history), history)[0]

    assert look("from trl import always\n").releases == ("1.0", "1.1", "2.0", "2.1")
    assert look("from trl import middle\n").releases == ("1.1", "2.0")
    assert look("import trl.part\n").runs == (("1.0", "1.1"), ("2.1", "2.1"))
    assert look("from trl import middle, late\n").releases == ()
    assert look("from trl import Kind\nKind(a=1)\nKind(b=1)\n").first == "2.0"
