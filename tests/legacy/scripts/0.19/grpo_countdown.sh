python grpo_countdown.py --config grpo_countdown.yaml
