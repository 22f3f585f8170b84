#!/bin/bash
#SBATCH --gres=gpu:1
set -euo pipefail
export WANDB_MODE=disabled   # quiet

MODEL="facebook/opt-125m"; OUT=out/"$MODEL"
for LR in 1e-5 2e-5; do
	CUDA_VISIBLE_DEVICES=0 accelerate launch --num_processes 1 argument_parser.py \
		--model_name_or_path "$MODEL" --torch_dtype bfloat16 \
		--output_dir "$OUT" --no_cuda \
		--warmup_ratio .1 --learning_rate $LR 2>&1 | tee "$OUT.log"
done
trl sft --model_name_or_path $MODEL --bf16 --max_seq_length 128 # short
python - <<'EOF'
print("trl sft --no_cuda")
EOF
echo "python argument_parser.py --no_cuda"
