"""A model that finds objects or masks cannot be trained in half precision without autocast.

`NotImplementedError: "cdist" not implemented for 'BFloat16'`, where predicted boxes are matched
with those of labels (DETR and its kin, RT-DETR, D-FINE, Grounding DINO): there is no such kernel.
Predicted masks are multiplied by those of the labels, which are float32 (MaskFormer, Mask2Former,
OneFormer, EoMT): `expected m1 and m2 to have the same dtype`, and NumPy reads no costs in bfloat16:
`Got unsupported ScalarType`. The weights of classes, the places at which features are sampled, and
the boxes that a decoder begins with are float32: `expected scalar type BFloat16 but found Float`,
`mat1 and mat2 must have the same dtype`. So are the boxes of labels that RT-DETR and D-FINE begin
with, and OneFormer's images that are compared with texts.

Fix: distances, costs and samples are computed in float32; masks of labels and boxes take the dtype
of what they are for, and logits and weights of classes the wider dtype of both.

Why: these are the places that raise; what follows promotes. Upstream computes distances in float32
in LW-DETR and RF-DETR. Autocast casts for itself, to the same dtypes.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, replace
from patchkit.precision.autocast import spell_out_autocast

CRITERION = Pattern("criterion(X, C)")
"""The call of `nn.CrossEntropyLoss(weight=self.empty_weight)`."""
NOISY = Pattern("torch.concat([denoising_bbox_unact, reference_points_unact], 1)")
TEXT_QUERIES = Pattern("torch.matmul(text_queries, image_queries.t())")
LABELS = (Pattern("torch.matmul(P, labels.T)"), Pattern("torch.matmul(P, (1 - labels).T)"))


def measures_uncast(node: ast.AST) -> bool:
    """`torch.cdist(x, y, …)`, unless a side is cast already."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("torch"), attr="cdist"), args=[x, y]):
            return not any(isinstance(side, ast.Call) for side in (x, y))
    return False


def measure_in_float32(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    x, y = map(ast.unparse, node.args)
    dtype = f"torch.promote_types({wider(x, y)}, torch.float32)"
    return [replace(side, f"{ast.unparse(side)}.to({dtype})") for side in node.args]


def wider(x: str, y: str) -> str:
    return f"torch.promote_types({x}.dtype, {y}.dtype)"


def multiplies_labels(node: ast.AST) -> bool:
    return any(labels(node) for labels in LABELS)


def cast_labels(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    masks, autocast = ast.unparse(node.args[1]), spell_out_autocast("inputs")
    return [replace(node.args[1], f"{masks} if {autocast} else {masks}.to(inputs.dtype)")]


def weighs_classes(node: ast.AST) -> bool:
    """`cross_entropy(logits.transpose(1, 2), classes, self.empty_weight)`."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="cross_entropy"),
            args=[ast.Call(), _, ast.Attribute(value=ast.Name("self"))],
        ):
            return True
    return False


def weigh_in_wider_dtype(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    logits, _, weights = node.args
    dtype = wider(ast.unparse(logits), ast.unparse(weights))
    return [replace(side, f"{ast.unparse(side)}.to({dtype})") for side in (logits, weights)]


def call_with_weights(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    holes = CRITERION.holes(node)
    dtype = wider(holes["X"], "criterion.weight")
    logits, weights = f"{holes['X']}.to({dtype})", f"criterion.weight.to({dtype})"
    return [replace(node, f"torch.nn.functional.cross_entropy({logits}, {holes['C']}, {weights})")]


def samples(node: ast.AST) -> bool:
    """`nn.functional.grid_sample(features, places, …)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="grid_sample"), args=[ast.Name(), _]):
            return True
    return False


def sample_in_wider_dtype(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    features, places = (ast.unparse(side) for side in node.args)
    places = places if isinstance(node.args[1], ast.Name) else f"({places})"
    dtype = wider(features, places)
    function, options = ast.unparse(node.func), ", ".join(map(ast.unparse, node.keywords))
    # With a star the call is no site of the rule.
    as_before = f"{function}(*({features}, {places}), {options})"
    widened = f"{function}({features}.to({dtype}), {places}.to({dtype}), {options})"
    agree = f"{features}.dtype == {places}.dtype or {spell_out_autocast(features)}"
    return [replace(node, f"({as_before} if {agree} else {widened}.to({features}.dtype))")]


def assigns(node: ast.AST) -> bool:
    """`linear_sum_assignment(costs.cpu())` or `linear_sum_assignment(c[i])`."""
    match node:
        case ast.Call(
            func=ast.Name("linear_sum_assignment"),
            args=[
                ast.Call(func=ast.Attribute(value=ast.Name(), attr="cpu"))
                | ast.Subscript(value=ast.Name())
            ],
        ):
            return True
    return False


def assign_by_float32(node: ast.AST) -> list[Edit]:
    # NumPy, by which SciPy reads the costs, has no bfloat16.
    assert isinstance(node, ast.Call)
    (given,) = node.args
    costs = ast.unparse(given).removesuffix(".cpu()")
    wide = f"{costs}.to(torch.promote_types({costs}.dtype, torch.float32))"
    return [replace(given, f"{wide}.cpu()")]


def places_queries(node: ast.AST) -> bool:
    """`self.query_pos_head(reference_points)`, whose sum with queries goes on."""
    match node:
        case ast.Call(func=ast.Attribute(attr="query_pos_head"), args=[ast.Name()]):
            return True
    return False


def place_in_dtype_of_queries(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    (points,) = node.args
    x, autocast = ast.unparse(points), spell_out_autocast("hidden_states")
    return [replace(points, f"{x} if {autocast} else {x}.to(hidden_states.dtype)")]


def boxes_like_points(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    assert isinstance(node.args[0], ast.List)
    boxes, points = map(ast.unparse, node.args[0].elts)
    same = f"{boxes} if {spell_out_autocast(boxes)} else {boxes}.to({points}.dtype)"
    return [replace(node.args[0].elts[0], f"({same})")]


def texts_like_images(node: ast.AST) -> list[Edit]:
    """OneFormer casts the queries of images to float32, and not those of texts."""
    assert isinstance(node, ast.Call)
    autocast = spell_out_autocast("text_queries")
    same = f"text_queries if {autocast} else text_queries.to(image_queries.dtype)"
    return [replace(node.args[0], same)]


MEASURE = Rule(measures_uncast, measure_in_float32, names=("cdist",), needs=("torch",))
MULTIPLY = Rule(multiplies_labels, cast_labels, names=("matmul", "T"), needs=("torch",))
WEIGH = Rule(weighs_classes, weigh_in_wider_dtype, names=("cross_entropy",), needs=("torch",))
CALL = Rule(CRITERION, call_with_weights, ("CrossEntropyLoss", "empty_weight"), ("torch",))
SAMPLE = Rule(samples, sample_in_wider_dtype, names=("grid_sample",), needs=("torch",))
ASSIGN = Rule(assigns, assign_by_float32, names=("linear_sum_assignment",), needs=("torch",))
PLACE = Rule(places_queries, place_in_dtype_of_queries, ("query_pos_head",), ("torch",))
NOISE = Rule(NOISY, boxes_like_points, ("denoising_class_embed", "concat"), ("torch",))
TEXTS = Rule(TEXT_QUERIES, texts_like_images, ("matmul", "logit_scale", "normalize"))

MODELS = "transformers.models.*.modeling_*"
SOURCE = "src/transformers/loss/loss_for_object_detection.py"

PATCH = Patch(
    id="transformers-detection-dtype",
    title="Models of boxes and masks train in half precision",
    affects={"transformers": ">=4.46.3"},
    changes=tuple(
        Rewrite(place, rule, sites=None)
        for place, rule in (
            ("transformers.loss.*:*.forward", MEASURE),
            (f"{MODELS}:*.quantize", MEASURE),
            ("transformers.loss.*:pair_wise_*", MULTIPLY),
            (f"{MODELS}:pair_wise_*", MULTIPLY),
            ("transformers.loss.*:*.loss_labels*", WEIGH),
            (f"{MODELS}:*.loss_labels", CALL),
            ("transformers.loss.*:sample_point", SAMPLE),
            (f"{MODELS}:sample_point", SAMPLE),
            (f"{MODELS}:*multi_scale_deformable_attention*", SAMPLE),
            (f"{MODELS}:*MultiScaleDeformableAttention*.forward", SAMPLE),
            ("transformers.loss.*:*.forward", ASSIGN),
            (f"{MODELS}:*Matcher.forward", ASSIGN),
            (f"{MODELS}:*Decoder.forward", PLACE),
            (f"{MODELS}:*._build_pair_and_single", MEASURE),
            (f"{MODELS}:*.forward", NOISE),
            (f"{MODELS}:*.loss_contrastive", TEXTS),
        )
    ),
    harmless={
        # They sample in float32, or in one dtype.
        "transformers.models.glm*.modeling_*:*VisionEmbeddings.forward": "",
        "transformers.models.superpoint.modeling_superpoint:*._sample_descriptors": "",
        "transformers.models.deprecated.*:*.*": "",
    },
    upstream=("https://github.com/huggingface/transformers/blob/v5.23.0/" + SOURCE,),
    symptom="not implemented for|have the same dtype, but got|expected scalar type|ScalarType",
    messages=(
        "\"cdist\" not implemented for 'BFloat16'",
        "\"cdist\" not implemented for 'Half'",
        "\"cdist_cuda\" not implemented for 'BFloat16'",
        "\"cdist_cuda\" not implemented for 'Half'",
    ),
)


def reproduce() -> None:
    """Match two boxes that DETR predicts in bfloat16 with one of the labels."""
    import contextlib

    import torch
    from transformers.loss.loss_for_object_detection import HungarianMatcher

    # Its constructor asks for SciPy, which assigns the costs when they are computed.
    matcher = HungarianMatcher.__new__(HungarianMatcher)
    torch.nn.Module.__init__(matcher)
    vars(matcher).update(dict.fromkeys(("class_cost", "bbox_cost", "giou_cost"), 1.0))
    box = torch.tensor([[0.5, 0.5, 0.2, 0.2]])
    predicted = {"logits": torch.zeros(1, 2, 3), "pred_boxes": torch.full((1, 2, 4), 0.25)}
    predicted = {name: value.bfloat16() for name, value in predicted.items()}
    with contextlib.suppress(NameError):
        matcher(predicted, [{"class_labels": torch.tensor([1]), "boxes": box}])
