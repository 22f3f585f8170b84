"""Let detectors and segmenters in half precision be given labels, which are float32.

Boxes and masks are, and so are the random points at which masks are compared. Some detectors
(RT-DETR, D-FINE) begin with boxes of the labels, to which they add noise.
"""

import ast

from patchkit.authoring import Edit, Pattern, Rule, replace
from patchkit.precision.autocast import spell_out_autocast

_DISTANCE = Pattern("torch.cdist(X, Y, p=1)")
_SAMPLED = Pattern("torch.nn.functional.grid_sample(X, 2.0 * Y - 1.0, **kwargs)")

_WEIGHTED = Pattern("nn.functional.cross_entropy(X, Y, self.empty_weight)")
_TEXTS = Pattern("torch.matmul(text_queries, image_queries.t())")
_NOISY = Pattern("torch.concat([denoising_bbox_unact, reference_points_unact], 1)")


def distance_of_names(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and _DISTANCE(node)
        and all(isinstance(part, ast.Name) for part in node.args)
    )


def measure_in_float32(node: ast.AST) -> list[Edit]:
    """No device measures distances in half precision; autocast casts them to float32, too."""
    assert isinstance(node, ast.Call)
    return [
        replace(part, f"{name}.to(torch.promote_types({name}.dtype, torch.float32))")
        for part in node.args
        for name in [ast.unparse(part)]
    ]


def product_with_labels(node: ast.AST) -> bool:
    """`torch.matmul(x, labels.T)`, and with `(1 - labels).T`, of inputs and labels."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="matmul"),
            args=[_, ast.Attribute(attr="T", value=ast.Name("labels") | ast.BinOp() as labels)],
        ):
            return ast.unparse(labels) in {"labels", "1 - labels"}
    return False


def labels_like_inputs(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    labels = node.args[1]
    return [replace(labels, f"{ast.unparse(labels)}.to(inputs.dtype)")]


def sampled_features(node: ast.AST) -> bool:
    return _SAMPLED(node) and _SAMPLED.holes(node)["X"].isidentifier()


def sample_in_dtype_of_points(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    holes = _SAMPLED.holes(node)
    return [replace(node.args[0], f"{holes['X']}.to({holes['Y']}.dtype)")]


def boxes_like_points(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    assert isinstance(node.args[0], ast.List)
    boxes, points = map(ast.unparse, node.args[0].elts)
    same = f"{boxes} if {spell_out_autocast(boxes)} else {boxes}.to({points}.dtype)"
    return [replace(node.args[0].elts[0], f"({same})")]


def texts_like_images(node: ast.AST) -> list[Edit]:
    """OneFormer casts the queries of images to float32, and not those of texts."""
    assert isinstance(node, ast.Call)
    return [replace(node.args[0], "text_queries.to(image_queries.dtype)")]


def weighted_logits(node: ast.AST) -> bool:
    return _WEIGHTED(node) and not _WEIGHTED.holes(node)["X"].endswith("dtype)")


def logits_like_weights(node: ast.AST) -> list[Edit]:
    """The weights of classes are a buffer that the loss has just made."""
    assert isinstance(node, ast.Call)
    logits = ast.unparse(node.args[0])
    return [replace(node.args[0], f"{logits}.to(self.empty_weight.dtype)")]


DISTANCES = Rule(distance_of_names, measure_in_float32, ("cdist",), ("torch",))
PRODUCTS = Rule(product_with_labels, labels_like_inputs, ("matmul", "T"))
SAMPLES = Rule(sampled_features, sample_in_dtype_of_points, ("grid_sample", "functional"))
NOISY_BOXES = Rule(_NOISY, boxes_like_points, ("denoising_class_embed", "concat"), ("torch",))
TEXTS = Rule(_TEXTS, texts_like_images, ("matmul", "logit_scale", "normalize"))
WEIGHTED = Rule(weighted_logits, logits_like_weights, ("cross_entropy", "empty_weight"))
