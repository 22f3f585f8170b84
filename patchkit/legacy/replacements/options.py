"""Options of Transformers that nothing reads any more, for scripts that compare with them."""

from __future__ import annotations

from enum import Enum


class ShardedDDPOption(str, Enum):
    """How FairScale shared the training out; no trainer has one of these today."""

    SIMPLE = "simple"
    ZERO_DP_2 = "zero_dp_2"
    ZERO_DP_3 = "zero_dp_3"
    OFFLOAD = "offload"
    AUTO_WRAP = "auto_wrap"
