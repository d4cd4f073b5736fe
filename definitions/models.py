"""Models as a definition describes them, to be packaged for an endpoint: built in, made by a function, finished files, archives in S3."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from definitions.fields import NotNegative, Positive, Text
from definitions.model import Model

Platform = Literal["onnx", "pt", "trt"]
Precision = Literal["fp32", "fp16"]
Datatype = Literal["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64"]


def _check_shape(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if any(size == 0 or size < -1 for size in sizes):
        raise ValueError(f"a dimension is a size of at least 1, or -1 where it is free; {[*sizes]} was given")
    return sizes


def _check_factory(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", text):
        raise ValueError(f"needs module:function, such as timm:create_model or my_models:Net; {text!r} was given")
    return text


Shape = Annotated[tuple[Annotated[int, Field(strict=True)], ...], AfterValidator(_check_shape)]
Factory = Annotated[str, Field(strict=True), AfterValidator(_check_factory)]
TensorName = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z_][\w.:/-]*$")]


class TensorSpec(Model):
    """An input or output of a model, without its batch dimension."""

    name: TensorName
    shape: Shape = ()
    datatype: Datatype = "FP32"
    below: Positive | None = Field(None, description="whole numbers of the made inputs are below this, e.g. the size of a vocabulary")


class _Packaged(Model):
    """What all models have."""

    max_batch_size: NotNegative = Field(8, description="most samples of a request; 0 for a model without a batch dimension")
    preferred_batch_sizes: tuple[Positive, ...] = Field((), description="that Triton waits for where it puts requests together")

    @model_validator(mode="after")
    def _check_preferred(self) -> _Packaged:
        larger = [size for size in self.preferred_batch_sizes if size > self.max_batch_size]
        if larger:
            raise ValueError(f"preferred_batch_sizes: {larger[0]} is above max_batch_size {self.max_batch_size}")
        return self


class _Exported(_Packaged):
    """What is exported from torch."""

    opset: Annotated[int, Field(strict=True, ge=7, le=30)] | None = Field(None, description="of ONNX; default: that of torch's exporter")
    precision: Precision = Field("fp32", description="of a TensorRT engine")
    warm_up: Annotated[bool, Field(strict=True)] = Field(False, description="whether Triton runs one request when it has loaded the model")

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that it can be packaged for."""
        return ("onnx", "pt", "trt")


class _Seeded(_Exported):
    """What has random weights."""

    seed: NotNegative = 0


class SmallCnnModel(_Seeded):
    """Two convolutions and a linear layer: small enough for tests and for two cores."""

    type: Literal["small_cnn"]
    image_size: Positive = 32
    width: Positive = 16
    classes: Positive = 10


class ResNetModel(_Seeded):
    """ResNet-18 or ResNet-50 (He et al. 2016)."""

    type: Literal["resnet18", "resnet50"]
    image_size: Positive = 224
    width: Positive = Field(64, description="channels of the first stage; less is a small likeness")
    classes: Positive = 1000


class TextEncoderModel(_Seeded):
    """A transformer encoder with a classifier; its defaults have the size of BERT-base."""

    type: Literal["text_encoder"]
    vocabulary: Positive = 30522
    length: Positive = Field(128, description="tokens of a request; the model takes fewer too")
    width: Positive = 768
    layers: Positive = 12
    heads: Positive = 12
    classes: Positive = 2

    @model_validator(mode="after")
    def _check_heads(self) -> TextEncoderModel:
        if self.width % self.heads:
            raise ValueError(f"width: {self.width} cannot be shared out among {self.heads} heads")
        return self


class FactoryModel(_Seeded):
    """What a function or class of the user's, or of a library, makes: `timm:create_model` with `{model_name: resnet50}`."""

    type: Literal["torch"]
    factory: Factory = Field(description="module:function that returns a torch.nn.Module; modules of source_dir are found")
    arguments: dict[str, Any] = Field({}, description="of the function, by name")
    inputs: Annotated[tuple[TensorSpec, ...], Field(min_length=1)] = Field(description="in the order of its forward")
    outputs: tuple[TensorName, ...] = Field((), description="names of what it returns; default output, or output_0, output_1, ...")


class OnnxModel(_Packaged):
    """A finished ONNX file, whose inputs and outputs it says itself."""

    type: Literal["onnx"]
    path: Text = Field(description="relative to the definition's file")

    @property
    def platforms(self) -> tuple[str, ...]:
        """ONNX alone."""
        return ("onnx",)


class TorchScriptModel(_Packaged):
    """A finished TorchScript file."""

    type: Literal["torchscript"]
    path: Text = Field(description="relative to the definition's file")
    inputs: Annotated[tuple[TensorSpec, ...], Field(min_length=1)] = Field(description="in the order of its forward")
    outputs: tuple[TensorName, ...] = Field((), description="names of what it returns; default output, or output_0, output_1, ...")

    @property
    def platforms(self) -> tuple[str, ...]:
        """TorchScript alone."""
        return ("pt",)


class ArchiveModel(_Packaged):
    """A package that is in S3: `<name>/config.pbtxt`, `<name>/1/...` in a tar.gz."""

    type: Literal["package"]
    uri: Annotated[str, Field(strict=True, pattern=r"^s3://[^/]+/.+$")]
    platform: Platform
    inputs: Annotated[tuple[TensorSpec, ...], Field(min_length=1)]
    outputs: Annotated[tuple[TensorSpec, ...], Field(min_length=1)]

    @property
    def platforms(self) -> tuple[str, ...]:
        """Its own."""
        return (self.platform,)


EndpointModel: TypeAlias = Annotated[
    SmallCnnModel | ResNetModel | TextEncoderModel | FactoryModel | OnnxModel | TorchScriptModel | ArchiveModel,
    Field(discriminator="type"),
]
"""One of `models:`."""

ModelName = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
EndpointModels: TypeAlias = dict[ModelName, EndpointModel]
