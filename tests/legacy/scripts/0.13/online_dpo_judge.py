# Online DPO whose pairs a judge compares.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import BasePairwiseJudge, OnlineDPOConfig, OnlineDPOTrainer


class LongerJudge(BasePairwiseJudge):
    def judge(self, prompts, completions, shuffle_order=True):
        return [int(len(second) > len(first)) for first, second in completions]


model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
train_dataset = load_dataset("trl-lib/ultrafeedback-prompt", split="train")

training_args = OnlineDPOConfig(
    output_dir="Qwen2-0.5B-OnlineDPO",
    max_new_tokens=8,
    per_device_train_batch_size=2,
    max_steps=2,
    logging_steps=1,
    report_to="none",
)
trainer = OnlineDPOTrainer(
    model=model,
    judge=LongerJudge(),
    args=training_args,
    processing_class=tokenizer,
    train_dataset=train_dataset,
)
trainer.train()
