"""Shapes of the parameters of published models, computed from their dimensions. Pure; a shape is a tuple of sizes, by parameter name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Tower:
    """Transformer layers of one kind.

    Args:
        width: of a token; `depth`: layers; `inner`: width within the feed-forward part.
    """

    width: int
    depth: int
    inner: int


def vit(tower: Tower, image_size: int, patch: int) -> Shapes:
    """Return a vision transformer without a head for classes, with a class token and a pooler (Dosovitskiy et al., 2021, table 1)."""
    found: Shapes = {"cls_token": (1, 1, tower.width), "position_embeddings": (1, (image_size // patch) ** 2 + 1, tower.width)}
    found |= {"patch_embeddings.weight": (tower.width, 3, patch, patch), "patch_embeddings.bias": (tower.width,)}
    found |= dict(_encoder("encoder", tower))
    found |= _affine("layernorm", tower.width) | _linear("pooler", tower.width, tower.width)
    return found


def clip(vision: Tower, text: Tower, image_size: int, patch: int, vocabulary: int, context: int, projection: int) -> Shapes:
    """Return both towers of CLIP with a vision transformer (Radford et al., 2021, tables 19 and 20)."""
    found: Shapes = {"logit_scale": (1,)}
    found |= {"text.token_embedding.weight": (vocabulary, text.width), "text.position_embedding.weight": (context, text.width)}
    found |= dict(_encoder("text.encoder", text)) | _affine("text.final_layer_norm", text.width)
    found |= {"vision.class_embedding": (vision.width,), "vision.patch_embedding.weight": (vision.width, 3, patch, patch)}
    found["vision.position_embedding.weight"] = ((image_size // patch) ** 2 + 1, vision.width)
    found |= _affine("vision.pre_layernorm", vision.width) | dict(_encoder("vision.encoder", vision))
    found |= _affine("vision.post_layernorm", vision.width)
    return found | {"visual_projection.weight": (projection, vision.width), "text_projection.weight": (projection, text.width)}


def t5(tower: Tower, inner_attention: int, heads: int, vocabulary: int = 32_128, buckets: int = 32) -> Shapes:
    """Return an encoder and decoder of T5 1.1: gated feed-forward, no biases, a head of its own (Raffel et al., 2020; Shazeer, 2020).

    Args:
        tower: of encoder and decoder each.
        inner_attention: heads times the width of a head.
        heads: of the attention.
        vocabulary: tokens.
        buckets: of relative positions.
    """
    width = tower.width
    attention = {"q": (inner_attention, width), "k": (inner_attention, width), "v": (inner_attention, width), "o": (width, inner_attention)}
    forward = {"wi_0": (tower.inner, width), "wi_1": (tower.inner, width), "wo": (width, tower.inner)}
    found: Shapes = {"shared.weight": (vocabulary, width)}
    for side, attentions in (("encoder", ("self_attention",)), ("decoder", ("self_attention", "cross_attention"))):
        found[f"{side}.relative_attention_bias.weight"] = (buckets, heads)
        for layer in range(tower.depth):
            at = f"{side}.block.{layer}"
            for name in attentions:
                found |= {f"{at}.{name}.{part}.weight": shape for part, shape in attention.items()}
                found[f"{at}.{name}.layer_norm.weight"] = (width,)
            found |= {f"{at}.feed_forward.{part}.weight": shape for part, shape in forward.items()}
            found[f"{at}.feed_forward.layer_norm.weight"] = (width,)
        found[f"{side}.final_layer_norm.weight"] = (width,)
    return found | {"lm_head.weight": (vocabulary, width)}


def llama(width: int, depth: int, heads: int, *, kv_heads: int = 0, inner: int = 0, vocabulary: int = 32_000) -> Shapes:
    """Return a LLaMA (Touvron et al., 2023, table 2).

    Args:
        width: of a token.
        depth: layers.
        heads: of the attention.
        kv_heads: for keys and values, where fewer (LLaMA 2, 2023, table 1); 0 for as many.
        inner: width of the feed-forward part; 0 for two thirds of four widths, up to the next multiple of 256, as in their code.
        vocabulary: tokens.
    """
    inner = inner or -(-(8 * width // 3) // 256) * 256
    narrow = width // heads * (kv_heads or heads)
    found: Shapes = {"tok_embeddings.weight": (vocabulary, width)}
    for layer in range(depth):
        at = f"layers.{layer}"
        found |= {f"{at}.attention.wq.weight": (width, width), f"{at}.attention.wk.weight": (narrow, width)}
        found |= {f"{at}.attention.wv.weight": (narrow, width), f"{at}.attention.wo.weight": (width, width)}
        found |= {f"{at}.feed_forward.w1.weight": (inner, width), f"{at}.feed_forward.w2.weight": (width, inner)}
        found |= {
            f"{at}.feed_forward.w3.weight": (inner, width),
            f"{at}.attention_norm.weight": (width,),
            f"{at}.ffn_norm.weight": (width,),
        }
    return found | {"norm.weight": (width,), "output.weight": (vocabulary, width)}


def _encoder(at: str, tower: Tower) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the parameters of layers with biases: attention, feed-forward, and a norm before each."""
    for layer in range(tower.depth):
        here = f"{at}.layer.{layer}"
        for part in ("query", "key", "value", "output"):
            yield from _linear(f"{here}.attention.{part}", tower.width, tower.width).items()
        yield from _linear(f"{here}.intermediate", tower.inner, tower.width).items()
        yield from _linear(f"{here}.output", tower.width, tower.inner).items()
        yield from _affine(f"{here}.layernorm_before", tower.width).items()
        yield from _affine(f"{here}.layernorm_after", tower.width).items()


def _linear(at: str, out: int, width: int) -> Shapes:
    return {f"{at}.weight": (out, width), f"{at}.bias": (out,)}


def _affine(at: str, width: int) -> Shapes:
    return {f"{at}.weight": (width,), f"{at}.bias": (width,)}
