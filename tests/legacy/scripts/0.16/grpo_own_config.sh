ACCELERATE_LOG_LEVEL=info accelerate launch --cpu --num_processes 1 grpo_own_config.py --config grpo_own_config.yaml
