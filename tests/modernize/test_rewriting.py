"""Scripts before and after they are rewritten, as in `rewritings.txt`."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.due import Due
from patchkit.modernize.findings import ScriptOutcome
from patchkit.modernize.python import modernize
from patchkit.modernize.target import due_for

from .conftest import Rewrite

CASES = {
    name: tuple(both.split("---\n"))
    for name, _, both in (
        part.partition("\n")
        for part in re.split(
            "^=== ", Path(__file__).with_name("rewritings.txt").read_text(), flags=re.M
        )[1:]
    )
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_what_is_written(rewrite, before: str, after: str) -> None:
    assert rewrite(before).text == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from huggingface_hub import HfApi, HfFolder\nprint(HfFolder.get_token(), HfApi)\n",
            "from huggingface_hub import HfApi, get_token\nprint(get_token(), HfApi)\n",
        ),
        (
            "from huggingface_hub import HfFolder\nHfFolder.save_token(HfFolder.get_token())\n",
            "from patchkit.replacements import HfFolder\n"
            "HfFolder.save_token(HfFolder.get_token())\n",
        ),
    ],
)
def test_a_member_of_a_class_that_is_a_function(rewrite, before: str, after: str) -> None:
    assert rewrite(before).text == after


TODAYS = """\
from trl import SFTConfig, SFTTrainer
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("m", dtype="auto")
trainer = SFTTrainer(model, args=SFTConfig("o", bf16=True, gradient_checkpointing=False, learning_rate=1e-5),
                     processing_class = None,)
tokenizer = dict(tokenizer=1, max_seq_length=2)
other(tokenizer=1, **tokenizer)
"""

MOVED_ITSELF = """\
import transformers as t
class A(t.TrainingArguments):
    warmup_ratio: float = 0.1
    evaluation_strategy: str = "no"

    def __post_init__(self):
        self.warmup_steps, self.eval_strategy = self.warmup_ratio, getattr(self, "evaluation_strategy")
        super().__post_init__()
"""


def test_a_field_that_its_class_reads_is_its_own(rewrite) -> None:
    result = rewrite(MOVED_ITSELF)
    assert result.text == MOVED_ITSELF
    assert not result.findings


def test_what_is_todays_stays(rewrite) -> None:
    result = rewrite(TODAYS)
    assert result.text == TODAYS
    assert not result.findings


@pytest.mark.parametrize(
    ("text", "remark", "outcome"),
    [
        (
            "from trl import PPOTrainer, PPOConfig",
            "trl.PPOTrainer, trl.PPOConfig have been gone since TRL 0.29.0. ",
            ScriptOutcome.GONE,
        ),
        (
            "trl.SFTTrainer(m, args=a, model_init=f)",
            "SFTTrainer(model_init=) has been gone since TRL 0.15.0. Pass the model",
            ScriptOutcome.REMARKED,
        ),
        (
            "transformers.TrainingArguments('o', mp_parameters='x')",
            "TrainingArguments(mp_parameters='x') has been gone",
            ScriptOutcome.GONE,
        ),
        (
            "transformers.TrainingArguments('o', fsdp_min_num_params=n)",
            "TrainingArguments(fsdp_min_num_params=) has been gone",
            ScriptOutcome.REMARKED,
        ),
        (
            "transformers.TrainingArguments('o', warmup_ratio=2)",
            "TrainingArguments(warmup_ratio=2) has been gone since Transformers 5.15.0. warmup_ratio=2 is not a share",
            ScriptOutcome.GONE,
        ),
        (
            "trl.SFTTrainer(m, args=a, tokenizer=t, processing_class=t)",
            "SFTTrainer(tokenizer=) is processing_class= today, which is given too; keep one",
            ScriptOutcome.REMARKED,
        ),
        (
            "trl.RLOOTrainer(m, args=a, policy=p)",
            "RLOOTrainer(policy=p) has been gone since TRL 0.25.0. ",
            ScriptOutcome.GONE,
        ),
        (
            "k = dict(tokenizer=t)\ntrl.SFTTrainer(m, a, **k)\nother(**k)",
            "SFTTrainer(tokenizer=) has been gone since TRL 0.16.0; write processing_class=, but see who else gets the dictionary",
            ScriptOutcome.REMARKED,
        ),
    ],
)
def test_where_a_person_must_decide(
    rewrite, text: str, remark: str, outcome: ScriptOutcome
) -> None:
    before = "import transformers, trl\n\nif True:\n    " + text.replace("\n", "\n    ") + "\n"
    result = rewrite(before)
    (line,) = (line for line in result.text.splitlines() if "# patchkit:" in line)
    assert line.startswith(f"    # patchkit: {remark}")
    assert result.text.replace(line + "\n", "") == before
    assert outcome in {finding.outcome for finding in result.findings}


COPY = """\
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaModel

def forward(self, hidden_states, attention_mask=None, {parameter}=None, **kwargs):
    return {result}

class Own({base}):
    def forward(self, hidden_states, {parameter}=None):
        return {result}

LlamaAttention.{method} = forward
"""


@pytest.mark.parametrize(
    ("parameter", "base", "method", "result", "told"),
    [
        ("past_key_value", "LlamaAttention", "forward", "hidden_states", [3, 7]),
        ("head_mask", "LlamaAttention", "other", "hidden_states", [7]),
        ("past_key_value", "LlamaModel", "forward", "hidden_states", [3]),
        ("past_key_value", "LlamaAttention", "forward", "super().forward(hidden_states)", []),
        ("past_key_values", "LlamaAttention", "forward", "hidden_states", []),
    ],
)
def test_copies_of_methods_of_layers(
    rewrite: Rewrite, parameter: str, base: str, method: str, result: str, told: list[int]
) -> None:
    text = COPY.format(parameter=parameter, base=base, method=method, result=result)
    found = rewrite(text).findings
    assert [finding.line for finding in found] == told
    for finding in found:
        assert finding.outcome is ScriptOutcome.GONE
        assert finding.old.startswith("the LlamaAttention.forward that forward is a copy of")


def test_remarks_stand_above_statements(rewrite) -> None:
    before = """\
    #!/usr/bin/env python
    from trl import PPOTrainer

    @decorated
    def f():
        if a:
            pass
        elif PPOTrainer(b, c=trl.PRMTrainer()):
            return 1
    import trl
    """
    result = rewrite(before).text
    lines = result.splitlines()
    assert [lines[place + 1] for place, line in enumerate(lines) if "# patchkit:" in line] == [
        "from trl import PPOTrainer",
        "    if a:",
    ] or "PRMTrainer has been gone" not in result


def test_what_is_silent(rewrite) -> None:
    result = rewrite(
        """\
        from trl import DPOConfig
        from transformers import AutoModel, AutoTokenizer
        DPOConfig("o", bf16=False, gradient_checkpointing=True, learning_rate=1, max_length=1)
        AutoModel.from_pretrained("m")
        AutoTokenizer.from_pretrained("m").apply_chat_template([])
        AutoTokenizer.from_pretrained("m").apply_chat_template([], tokenize=False)
        """
    )
    assert [(finding.line, finding.old, finding.outcome) for finding in result.findings] == [
        (3, "DPOConfig", ScriptOutcome.SILENT),
        (4, "AutoModel.from_pretrained", ScriptOutcome.SILENT),
        (5, "PreTrainedTokenizerBase.apply_chat_template", ScriptOutcome.SILENT),
    ]
    assert "truncation_mode was 'keep_end' until TRL 0.29.0" in result.findings[0].because


@pytest.mark.parametrize(
    ("before", "first"),
    [
        (
            "m = ['q_proj', 'lm_head']\npeft.LoraConfig(target_modules=m)\ntrl.SFTTrainer(m)",
            "SFTTrainer",
        ),
        ("peft.LoraConfig(modules_to_save=['lm_head'])\ntrl.SFTTrainer(m)", ""),
        ("transformers.Seq2SeqTrainingArguments('o', predict_with_generate=True)", "Seq2SeqTr"),
        (
            "m.config.max_length = 9\ntransformers.Seq2SeqTrainingArguments('o', predict_with_generate=True)",
            "",
        ),
    ],
)
def test_what_the_rest_of_a_script_shows(rewrite: Rewrite, before: str, first: str) -> None:
    findings = rewrite(f"import peft, transformers, trl\n{before}\n").findings
    assert [finding.old[: len(first)] for finding in findings] == [first] * bool(first)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("KTOConfig('o')", ["learning_rate", "bf16"]),
        ("KTOConfig('o', fp16=True)", ["learning_rate"]),
        ("KTOTrainer(m, args=KTOConfig('o'), processing_class=t)", ["bf16"]),
    ],
)
def test_a_default_that_the_script_cannot_have_had_otherwise_is_not_told(
    rewrite: Rewrite, text: str, told: list[str]
) -> None:
    result = rewrite(f"from trl import KTOConfig, KTOTrainer\n{text}\n")
    because = " ".join(finding.because for finding in result.findings)
    assert [name for name in ("learning_rate", "bf16") if f"{name} was" in because] == told


def test_a_guarded_import_of_what_is_gone(rewrite) -> None:
    text = "try:\n    from trl import PPOTrainer\nexcept ImportError:\n    PPOTrainer = None\n"
    assert rewrite(text).text == text


def test_findings_in_order(rewrite) -> None:
    result = rewrite(
        "import trl\ntrl.SFTTrainer(\n    m,\n    tokenizer=t,\n    packing=True,\n)\n"
    )
    assert [(finding.line, finding.old, finding.new) for finding in result.findings] == [
        (2, "SFTTrainer without args=", "args=trl.SFTConfig(…)"),
        (4, "SFTTrainer(tokenizer=)", "processing_class="),
        (5, "SFTTrainer(packing=)", "packing=True in the configuration"),
    ]
    assert result.findings[1].because == "it has been gone since TRL 0.16.0"


def test_an_own_loss_for_a_release_without_the_attribute() -> None:
    text, _ = CASES["an own loss"]
    result = modernize(text, due_for("transformers==5.18.0"))
    assert "self.model_accepts_loss_kwargs = self.loss_is_scaled_for_ga = False" in result.text


def test_to_an_older_release() -> None:
    text = dedent(
        """\
        from trl import SFTConfig, SFTTrainer
        SFTTrainer(m, args=SFTConfig("o", max_length=9), processing_class=t)
        """
    )
    result = modernize(text, due_for("trl==0.11.4, transformers==4.44.2"))
    assert 'SFTConfig("o", max_seq_length=9), tokenizer=t)' in result.text


def test_what_is_imported_by_todays_name_is_called_by_it(rewrite: Rewrite) -> None:
    text = (
        "from peft import prepare_model_for_int8_training\n"
        "model = prepare_model_for_int8_training(model)\n"
    )
    result = rewrite(text)
    assert result.text == text.replace("int8", "kbit")
    assert {finding.line for finding in result.findings} == {1, 2}
    # A name that may be another one stays.
    again = rewrite(text + "def prepare_model_for_int8_training(model):\n    return model\n").text
    assert "kbit_training as prepare_model_for_int8_training" in again
    as_text = rewrite(text + "__all__ = ['prepare_model_for_int8_training']\n").text
    assert "kbit_training as prepare_model_for_int8_training" in as_text


@pytest.mark.parametrize(
    "made",
    [
        'EncoderDecoderModel.from_encoder_decoder_pretrained("e", "d")',
        'VisionEncoderDecoderModel.from_encoder_decoder_pretrained("e", "d")',
    ],
)
def test_settings_of_generate_of_a_model_of_two_checkpoints(made: str, rewrite: Rewrite) -> None:
    text = f"from transformers import {made.partition('.')[0]}\nmodel = {made}\n"
    result = rewrite(text + "model.config.num_beams = 4\n").text
    assert result == text + "model.generation_config.num_beams = 4\n"


def test_settings_of_generate_are_set_where_they_are(rewrite: Rewrite) -> None:
    text = (
        "from transformers import AutoConfig, AutoModelForCausalLM\n"
        'model = AutoModelForCausalLM.from_pretrained("m", dtype="auto")\n'
        "model.config.num_beams = 4\n"
        "model.config.hidden_size = 4\n"
        'config = AutoConfig.from_pretrained("m")\n'
        "config.num_beams = 4\n"
        "print(model.config.max_length, model.config.hidden_size)\n"
    )
    lines = rewrite(text).text.splitlines()
    assert "PreTrainedConfig.max_length has been gone" in lines[-2]
    assert "hidden_size" not in lines[-2]
    assert "model.generation_config.num_beams = 4" in lines
    assert "model.config.hidden_size = 4" in lines
    assert (
        "write model.generation_config.num_beams ="
        in lines[lines.index("config.num_beams = 4") - 1]
    )


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("LlamaConfig(hidden_size=8)", False),
        ('AutoConfig.from_pretrained("m")', False),
        ('PretrainedConfig.from_pretrained("m")', False),
        ("PretrainedConfig(bos_token_id=3)", False),
        ("PretrainedConfig(vocab_size=8)", True),
    ],
)
def test_the_configuration_of_a_model_may_have_what_all_had(
    rewrite: Rewrite, made: str, is_told: bool
) -> None:
    name = made.partition("(")[0].partition(".")[0]
    text = f"from transformers import {name}\nprint({made}.bos_token_id)\n"
    assert bool(rewrite(text).findings) is is_told


@pytest.mark.parametrize(("keyword", "told"), [("tokenizer", 1), ("processing_class", 0)])
def test_the_command_line_of_an_older_script_is_mentioned(rewrite, keyword: str, told: int) -> None:
    text = (
        "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
        "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n"
        f"Trainer(m, args, {keyword}=t)\n"
    )
    found = [finding.because for finding in rewrite(text).findings]
    assert sum("look for old flags there" in because for because in found) == told


def test_what_is_found_names_the_objects_of_the_script() -> None:
    due = Due(all_rows(), lambda library: "5.23.0")
    text = "class C:\n    def f(self, e):\n        with self.p.as_target_processor():\n            return self.p.pad(e)\n"
    (found,) = modernize(text, due).findings
    assert found.new == "self.p.tokenizer"


def test_a_part_of_a_metric_is_the_metric() -> None:
    due = Due(all_rows(), lambda library: "5.2.0")
    before = "from datasets import load_metric\nr = load_metric('rouge')\nround(r['a'].mid.fmeasure, 2)\n"
    after = "import evaluate\nr = evaluate.load('rouge')\nround(r['a'], 2)\n"
    assert modernize(before, due).text == after


def test_other_parts_of_a_metric_get_one_remark() -> None:
    due = Due(all_rows(), lambda library: "5.2.0")
    before = "import datasets\nr = datasets.load_metric('rouge')\nd = datasets.load_metric('wer')\ns = r['a'].mid\n"
    text = modernize(before, due).text
    assert text.count("# patchkit: .mid has been gone since Datasets 3.0.0; the result is ") == 1
    assert text.endswith("of the package rouge_score\ns = r['a'].mid\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from datasets import Dataset, load_metric  # both\nm = load_metric('f1')\nDataset(m)\n",
            "from datasets import Dataset  # both\nimport evaluate\nm = evaluate.load('f1')\nDataset(m)\n",
        ),
        (
            "import evaluate\nfrom datasets import load_metric\nm = load_metric('f1')\n",
            "import evaluate\nm = evaluate.load('f1')\n",
        ),
        (
            "from datasets import load_metric\ndef evaluate():\n    return load_metric('f1')\n",
            "from evaluate import load\ndef evaluate():\n    return load('f1')\n",
        ),
        (
            "import datasets\ndatasets.load_metric('f1')\n",
            "import evaluate\nimport datasets\nevaluate.load('f1')\n",
        ),
        (
            "from datasets import load_dataset\nload_dataset('d', ignore_verifications=True)\nload_dataset('d', ignore_verifications=v)\n",
            "from datasets import load_dataset\nload_dataset('d', verification_mode=\"no_checks\")\nload_dataset('d', verification_mode=\"no_checks\" if v else None)\n",
        ),
    ],
)
def test_what_is_written_with_the_newest_datasets(before: str, after: str) -> None:
    due = Due(all_rows(), lambda library: "5.2.0")
    assert modernize(before, due).text == after
    assert modernize(after, due).text == after
