# DPO with a PeftModel as the policy and its own adapter config again; the template gives ids.
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct", torch_dtype="float32")
peft_config = LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
model = get_peft_model(model, peft_config)

dataset = load_dataset("trl-lib/ultrafeedback_binarized", split="train")


def short_enough(row):
    ids = tokenizer.apply_chat_template(row["chosen"], tokenize=True)
    return len(ids) > 8 and isinstance(ids[0], int) and len(ids) <= 256


dataset = dataset.filter(short_enough)

trainer = DPOTrainer(
    model=model,
    ref_model=None,
    args=DPOConfig(
        output_dir="dpo-peft",
        per_device_train_batch_size=4,
        learning_rate=1e-4,
        beta=0.1,
        max_prompt_length=64,
        max_length=128,
        truncation_mode="keep_end",
        max_steps=4,
        logging_steps=1,
        save_safetensors=True,
        report_to="none",
    ),
    train_dataset=dataset,
    processing_class=tokenizer,
)
trainer.train()
