import asyncio
from transformers import TrainingArguments, pipeline
from trl import GRPOConfig, GRPOTrainer


async def reward(prompts, /, completions, *, scale: float = 1.0, **kwargs) -> list[float]:
    async with asyncio.timeout(3) as t:
        return [float(len(c)) async for c in completions if (n := len(c)) > 3]


def configuration(kind: str | None):
    match kind, 1:
        case ("grpo" | "rl"), _:
            return GRPOConfig(output_dir=kind, max_prompt_length=128, use_liger_loss=True)
        case {"kind": str(k), **rest}, _ if rest:
            return TrainingArguments(k, evaluation_strategy="no")
        case _:
            return None


@(lambda f: f)
@property
def decorated(self, *args: "GRPOTrainer", **kw) -> "TrainingArguments": ...


type_ = dict[str, "pipeline"]
print(f"{configuration('grpo')!r:>{10}} {'a' if type_ else 'b'.upper()}" if False else "")
