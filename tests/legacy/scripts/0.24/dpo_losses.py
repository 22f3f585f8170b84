from datasets import load_dataset
from peft import LoraConfig
from trl import DPOConfig, DPOTrainer

args = DPOConfig(
    output_dir="mpo",
    loss_type=["sigmoid", "bco_pair", "sft"],
    loss_weights=[0.8, 0.2, 1.0],
    max_steps=4,
    logging_steps=1,
    per_device_train_batch_size=2,
    max_length=128,
    max_prompt_length=None,
    max_completion_length=None,
    bf16=True,
    gradient_checkpointing=False,
    report_to="none",
    model_init_kwargs={"torch_dtype": "bfloat16"},
    ref_model_init_kwargs=None,
    padding_free=False,
    tools=None,
    use_logits_to_keep=False,
    pad_token="<|endoftext|>",
    warmup_ratio=0.1,
)
trainer = DPOTrainer(
    model="Qwen/Qwen3-0.6B",
    args=args,
    train_dataset=load_dataset("trl-lib/ultrafeedback_binarized", split="train"),
    peft_config=LoraConfig(r=8, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trainer.train()
trainer.save_model()
