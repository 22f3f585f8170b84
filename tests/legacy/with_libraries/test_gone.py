"""Names of TRL that are gone, asked for without the layer and with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .programs import printed, run_text

pytest.importorskip("trl")

SCRIPT = """
import json, sys
if sys.argv[1:]:
    import patchkit
    patchkit.apply(only=[], legacy=True)
errors = {}
for statement in json.load(sys.stdin):
    try:
        exec(compile(statement, "old.py", "exec"), {})
    except Exception as error:
        errors[statement] = [type(error).__mro__[1].__name__, isinstance(error, ImportError),
                             str(error)]
print(json.dumps(errors))
"""
STATEMENTS = {
    "from trl import PPOTrainer": "TRL 0.29.0. TRL trains with rewards by GRPOTrainer",
    "from trl import AutoModelForCausalLMWithValueHead": "TRL 0.29.0",
    "from trl.trainer.ppo_trainer import PPOTrainer": "TRL 0.29.0",
    "from trl.models.modeling_value_head import ValueHead": "TRL 0.29.0",
    "from trl import BCOTrainer, BCOConfig": "TRL 0.29.0. KTOTrainer learns",
    "from trl.trainer.judges import PairRMJudge": "TRL 0.29.0. OnlineDPOTrainer",
    "from trl import TextEnvironment": "TRL 0.21.0. GRPOTrainer(tools=)",
    "from trl.environment.base_environment import TextHistory": "TRL 0.21.0",
    "from trl import DDPOTrainer": "TRL 0.24.0. TRL trains no diffusion models",
    "from trl.extras import BestOfNSampler": "TRL 0.25.0",
    "from trl.commands.cli_utils import ChatArguments": "TRL 0.13.0. `transformers chat` talks",
    "from trl.trainer.dpo_trainer import PreTrainedModelWrapper": "TRL 0.18.0. TRL trains with",
    "from trl.experimental.ppo import PPOTrainer": "TRL 1.13.0",
    "from transformers import TFAutoModelForCausalLM": "Transformers 5.0.0. Models are PyTorch's",
    "from transformers import GlueDataset": "Transformers 5.20.0. Load data with the package",
    "from transformers import OffloadedCache": "Transformers 5.0.0. DynamicCache(offloading=True)",
    "import trl; trl.XPOTrainer": "TRL 0.29.0. OnlineDPOTrainer",
}


def _errors(*arguments: str, folder: Path) -> dict[str, list[object]]:
    done = run_text(SCRIPT, *arguments, folder=folder, fed=json.dumps(list(STATEMENTS)))
    errors: dict[str, list[object]] = printed(done)
    return errors


@pytest.mark.skipif(
    "not __import__('patchkit').environment.in_range("
    "__import__('importlib.metadata').metadata.version('trl'), '>=1.14')",
    reason="the names are gone from TRL 1.14 on",
)
def test_what_is_gone_is_refused_with_a_set_of_versions(tmp_path) -> None:
    bare = _errors(folder=tmp_path)
    assert bare.keys() == STATEMENTS.keys()
    assert not any("has been gone" in str(error[2]) for error in bare.values())
    told = _errors("legacy", folder=tmp_path)
    assert told.keys() == STATEMENTS.keys()
    for statement, since in STATEMENTS.items():
        _, is_import_error, message = told[statement]
        text = str(message)
        assert text.startswith(("old.py:1: trl.", "old.py:1: transformers.")), text
        assert f" has been gone since {since}" in text
        assert "Versions that have it: " in text
        assert "pip install trl==" in text
        assert "\n" not in text
        assert is_import_error or "import trl;" in statement
