"""The cast of trainable parameters to bfloat16 that TRL's trainers have in common."""

from patchkit.authoring import Pattern

CAST = Pattern("P.data = P.data.to(torch.bfloat16)")
ALL_PARAMETERS = Pattern("M.parameters()")
ALL_NAMED_PARAMETERS = Pattern("M.named_parameters()")

TRAINERS = {
    "trl.trainer.sft_trainer:SFTTrainer.__init__": ">=0.26",
    "trl.trainer.grpo_trainer:GRPOTrainer.__init__": ">=0.26",
    "trl.trainer.reward_trainer:RewardTrainer.__init__": ">=0.26",
    "trl.trainer.rloo_trainer:RLOOTrainer.__init__": ">=0.27",
    "trl.trainer.dpo_trainer:DPOTrainer.__init__": ">=0.29",
    "trl.experimental.kto.kto_trainer:KTOTrainer.__init__": ">=1.4,<1.8",
    "trl.trainer.kto_trainer:KTOTrainer.__init__": ">=1.8",
    "trl.trainer.distillation_trainer:DistillationTrainer.__init__": ">=1.10",
}
"""Functions with the cast, and the releases that have it there."""
