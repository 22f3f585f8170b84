"""Name the patches that supersede a finding while they are applied.

No patch is imported: without it in the catalogue, the finding simply stays.
"""

GRADSCALER_GUARD = "accelerate-gradscaler-guard"
TRAINER_COMPUTE_DTYPE = "transformers-trainer-compute-dtype"
FROZEN_COMPUTE_DTYPE = "bitsandbytes-compute-dtype-frozen"
FULL_EVAL = "transformers-full-eval-dtype"
LM_HEAD = "transformers-lm-head-dtype"
TRAINED_BIAS = "bitsandbytes-trainable-bias"
INT8_OVERFLOW = "bitsandbytes-8bit-overflow"
FUSED_EXPERTS = "peft-kbit-fused-experts"
