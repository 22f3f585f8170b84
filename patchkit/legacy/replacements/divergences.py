"""Names of divergences, which `DPOConfig(f_divergence_type=)` takes as texts today."""

from __future__ import annotations

from enum import Enum


class FDivergenceType(str, Enum):
    """A divergence between the model and its reference."""

    REVERSE_KL = "reverse_kl"
    JS_DIVERGENCE = "js_divergence"
    ALPHA_DIVERGENCE = "alpha_divergence"


class FDivergenceConstants:
    """The parameter of the alpha divergence."""

    ALPHA_DIVERGENCE_COEF_KEY = "alpha_divergence_coef"
    ALPHA_DIVERGENCE_COEF_DEFAULT = 1.0
