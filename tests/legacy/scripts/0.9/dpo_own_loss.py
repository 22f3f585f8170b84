# A DPOTrainer with a loss of its own, in the style of papers that came with code.
import torch
import torch.nn.functional as F
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer


class MarginDPOTrainer(DPOTrainer):
    def dpo_loss(
        self, policy_chosen_logps, policy_rejected_logps, reference_chosen_logps, reference_rejected_logps
    ):
        margin = policy_chosen_logps - policy_rejected_logps - reference_chosen_logps + reference_rejected_logps
        losses = -F.logsigmoid(self.beta * margin - 0.5)
        chosen = self.beta * (policy_chosen_logps - reference_chosen_logps).detach()
        rejected = self.beta * (policy_rejected_logps - reference_rejected_logps).detach()
        return losses, chosen, rejected


tokenizer = AutoTokenizer.from_pretrained("mistralai/Mistral-7B-Instruct-v0.2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-Instruct-v0.2", torch_dtype=torch.float32)
ref_model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-Instruct-v0.2", torch_dtype=torch.float32)
dataset = load_dataset("Intel/orca_dpo_pairs", split="train")
dataset = dataset.map(lambda row: {"prompt": row["question"]}).select_columns(["prompt", "chosen", "rejected"])
trainer = MarginDPOTrainer(
    model,
    ref_model,
    args=DPOConfig(
        output_dir="margin", beta=0.1, max_length=256, max_prompt_length=128, per_device_train_batch_size=2,
        max_steps=3, logging_steps=1, remove_unused_columns=False, report_to="none",
    ),
    train_dataset=dataset,
    tokenizer=tokenizer,
)
trainer.train()
