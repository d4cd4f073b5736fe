"""What the keys of a definition mean, for the schema and the reference page, where the model's field does not say it itself."""

from __future__ import annotations

from collections.abc import Mapping

ON_ONE_BACKEND = "as in the definition, and in place of it on this back-end"
"""Of the keys of a back-end's block that the definition has too."""

KEYS: Mapping[str, Mapping[str, str]] = {
    "": {
        "name": "of the benchmark, and of its folder of results",
        "description": "one line, shown by `outrider list`",
        "source_dir": "folder of the script and what it imports, relative to the definition's file",
        "arguments": "fixed arguments of every job, beside those of its configuration",
        "valid": "rules over keys of the space; a configuration that breaks one is not tried",
        "base_trial": "what all of `trials` have in common",
        "trials": "the configurations to measure, in place of `space`",
        "inputs": "channels of data that jobs are given",
        "datasets": "data sets by name, which a configuration chooses from with `dataset`",
        "models": "what is packaged for `endpoint`, by name",
        "endpoint": "how the models are served; `script` is then the load",
        "scale": "share of the samples of generated data sets that are made, never fewer than a steady window needs; `--scale 0.005`",
        "stands_for": "what a value stands for, e.g. {ingestion: {local: FSx}}; tables say so, and its speed decides nothing",
        "repeats": "measurements of each configuration",
        "order": "of repeated measurements: one configuration after the other, in turn, or shuffled",
        "objectives": "reported or measured numbers and whether less or more is better; the first one decides",
        "fidelity": "what makes a job smaller, for canaries and early stopping",
        "n_workers": "trials at once, at most; default: what fits, 1 where speed or cost is measured",
        "exclusive": "whether nothing else runs beside a trial; default: where speed or cost is measured",
        "budget": "limits of an experiment",
        "preload": "modules that are imported once and forked for every local job; `auto`: those whose import takes 50 ms in the first one",
        "method": "that suggests configurations; default LISTED for `trials`, else RS",
        "methods": "methods with arguments of their own, by the names that they get here",
        "study": "which methods are compared, over how many seeds, and how: `outrider run --study` goes by it",
        "remote": "the jobs that run the study itself with `outrider launch`; in no hash",
        "local": "what differs on this machine",
        "simulated": "what differs where a table of measurements is replayed",
        "sagemaker": "what differs on SageMaker",
        "warm_pool": "what differs on SageMaker with instances that are kept warm",
        "ray": "what differs on a Ray cluster",
    },
    "FilesystemDataset": {
        "type": "a folder of a file system that jobs mount",
        "kind": "of the file system",
        "id": "of the file system",
        "directory": "path inside of the file system",
        "format": "of the files, which a script is told",
        "labels": "where the label of a sample is; default: what is usual for the format",
    },
    "ImagesDataset": {
        "type": "images that are made here",
        "format": "single files (jpg, png), TAR shards or TFRecords",
        "content": "crops of photographs, or noise, which is made many times faster and does not compress",
        "encoding": "of each image in shards and records; default jpg",
        "samples": "number of images",
        "image_size": "height and width in pixels",
        "resolution": "width x height in pixels, such as 496x387, in place of `image_size`",
        "spread": "share by which width and height differ from the middle, at most: 0.2 is from 0.8 to 1.2 of it, evenly",
        "quality": "of JPEG; default 90 for photographs, 75 for noise",
        "classes": "number of classes; default 2 for photographs, 10 for noise",
        "samples_per_shard": "images of a shard or record file; default: as many as `shard_size` holds",
        "shard_size": "bytes of a shard or record file, about",
        "copies": "how often the whole set is there, as files of their own",
        "seed": "of the generator",
    },
    "BytesDataset": {
        "type": "records of random bytes that are made here",
        "format": "single files (bin), TAR shards or TFRecords",
        "samples": "number of records",
        "size": "bytes of a record",
        "spread": "share by which sizes differ from it, at most",
        "samples_per_shard": "records of a shard or record file; default: as many as `shard_size` holds",
        "shard_size": "bytes of a shard or record file, about",
        "copies": "how often the whole set is there, as files of their own",
        "seed": "of the generator",
    },
    "Caltech256Dataset": {
        "type": "the photographs of Caltech-256, downloaded once",
        "format": "single files (jpg), TAR shards or TFRecords",
        "encoding": "of each image in shards and records; default jpg",
        "samples": "number of images, of all classes; default all 30,607",
        "samples_per_shard": "images of a shard or record file; default: as many as `shard_size` holds",
        "shard_size": "bytes of a shard or record file, about",
        "copies": "how often the whole set is there, as files of their own",
        "url": "of the archive; `file:///...` for one that was fetched otherwise",
        "md5": "of the archive",
    },
    "TableDataset": {
        "type": "a table of numbers and a label that is made here",
        "format": "of its files",
        "rows": "number of rows",
        "columns": "of numbers, beside the label",
        "partitions": "number of files",
        "classes": "number of labels, about equally frequent",
        "copies": "how often the whole set is there, as files of their own",
        "seed": "of the generator",
    },
    **{
        model: {
            "type": what,
            "seed": "of the random weights",
            "image_size": "height and width in pixels",
            "classes": "scores of an answer",
            "width": "channels of the first layer; of an encoder, numbers of a token",
            "vocabulary": "different tokens",
            "layers": "of the encoder",
            "heads": "of its attention",
            "uri": "s3://bucket/key of the archive",
            "platform": "what is in the archive",
            "inputs": "of the model, without its batch dimension",
            "outputs": "of the model, without its batch dimension",
        }
        for model, what in (
            ("SmallCnnModel", "two convolutions and a linear layer"),
            ("ResNetModel", "for images"),
            ("TextEncoderModel", "a transformer encoder with a classifier"),
            ("FactoryModel", "a torch.nn.Module that a function makes"),
            ("OnnxModel", "a finished ONNX file"),
            ("TorchScriptModel", "a finished TorchScript file"),
            ("ArchiveModel", "a package that is in S3"),
        )
    },
    "TensorSpec": {
        "name": "as the model calls it",
        "shape": "without the batch dimension; -1 where it is free",
        "datatype": "as the KServe protocol calls it",
    },
    "InputChannel": {
        "dataset": "name of one of `datasets`; default: the configuration's `dataset`",
        "ingestion": "how the data reaches the job; default: the configuration's `ingestion`",
    },
    "MethodVariant": {"base": "name of the method", "arguments": "of the method; they may stand beside `base` too"},
    "PathDataset": {
        "type": "a folder or file of this machine",
        "path": "relative to the definition's file",
        "format": "of the files, which a script is told",
        "labels": "where the label of a sample is; default: what is usual for the format",
    },
    "S3Dataset": {
        "type": "objects below a prefix of S3",
        "uri": "s3://bucket/prefix",
        "format": "of the objects, which a script is told",
        "labels": "where the label of a sample is; default: what is usual for the format",
    },
    "PerJob": {
        "kind": "each level is a job of its own",
        "argument": "name of the script's argument that is given the level",
        "ladder": "levels of the canaries, ascending",
        "full": "level of the full job",
    },
    "Prefix": {
        "kind": "the beginning of the full job",
        "argument": "name of the script's argument that is given the level of small jobs; without it there are none",
        "ladder": "levels of the small jobs, ascending",
        "full": "level of the full job",
    },
    "Progressive": {
        "kind": "one job passes many levels",
        "reported_as": "name that the script reports its level by",
        "full": "last level of the full job",
    },
}
"""Of each model (`""` is the definition), its keys."""


def describe(model: str, properties: Mapping[str, dict[str, object]], is_block: bool) -> dict[str, dict[str, object]]:
    """Return the properties of a model, each with a description.

    Args:
        model: name of the model; empty for the definition.
        properties: of its JSON Schema.
        is_block: whether it is a back-end's block, where a key without a description is one of the definition's.
    """
    said = {**KEYS.get(model, {})}
    found = {}
    for name, schema in properties.items():
        text = said.get(name) or (ON_ONE_BACKEND if is_block else "")
        found[name] = schema if "description" in schema or not text else {**schema, "description": text}
    return found
