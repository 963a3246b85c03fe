"""Printers of the PaddlePaddle family."""

from perfledger.parsers.contract import Fact, listed, product

#: The line of `fleet.init` if only the batch is split: all other degrees are 1. The order of the degrees differs between
#: releases.
FLEET = Fact(
    "devices",
    rb"HybridParallelInfo: rank_id: \d++, ((?:(?:dp|sharding)_degree: \d++, |[a-z]{1,20}+_degree: 1, ){3,9}+)(?![a-z]++_degree)",
    product,
)
#: What `paddle.distributed.launch` prints about the job.
LAUNCHER = (
    Fact("devices", "PADDLE_TRAINERS_NUM {:int}"),
    Fact("devices_per_node", "Run Pod: {_}, replicas {:int}"),
    Fact("devices_per_node", rb"^LAUNCH INFO [\d :,-]++devices: ([\d,]++)$", listed),
    # Without a master, the listed hosts are the job, although `nnodes` is 1.
    Fact(
        "nodes",
        rb"^LAUNCH INFO [\d :,-]++ips: ([^\s,]++(?:,[^\s,]++)++)$(?=(?:\n(?!LAUNCH INFO [\d :,-]++master: )[^\n]*+){0,20}+\n[^\n]*? master: None\b)",
        listed,
    ),
    Fact("nodes", rb"^LAUNCH INFO [\d :,-]++nnodes: (\d++)(?![\d:])", int),  # not `2:4`, the bounds of an elastic job
    # In an elastic job, the replicas are the machines that have joined.
    Fact("nodes", "^LAUNCH INFO {*}Job: {_} mode collective, replicas {:int}["),
    Fact("devices", rb"\bnranks ?[:=] ?(\d++)", int),
    Fact("devices", rb"(?<![a-z_-])world_size ?[:=] ?(\d++)\b", int),
    Fact("devices", rb"\b[Nn]umber of gpus? is (\d++)", int),
    FLEET,
)

#: Newer trainers print this after a speed. Memory is the peak allocated to tensors, 0 if unknown.
MAX_MEMORY = "{?{*}max_mem_reserved: {_} MB, max_mem_allocated: {memory} MB}"

#: Facts of the configuration that both trainers of PaddleClas print. It has three batch sizes; that of `Train` counts.
CLAS = (
    Fact("batch_size", rb"Train :(?:(?!Eval :|Train :|batch_size : )[\s\S]){0,4000}+batch_size : (\d++)", int),
    Fact("model", rb"Arch : (?:(?!---|Arch : | name : )[\s\S]){0,2000}+ name : (\w++)"),
    Fact("precision", rb"AMP : (?:(?!---|AMP : |use_amp : )[\s\S]){0,600}+use_amp : (False)", words={b"False": "fp32"}),
    Fact("precision", rb"AMP : (?:(?!---|AMP : |level : )[\s\S]){0,600}+level : (O[12])", words={b"O1": "amp", b"O2": "fp16"}),
    Fact("dali", rb"use_dali : (\w++)"),
    Fact("num_classes", rb"Arch : (?:(?!---|Arch : | class_num : )[\s\S]){0,2000}+ class_num : (\d++)", int),
    Fact("data_format", rb" data_format : (NCHW|NHWC)"),
    Fact("drop_last", rb"Train :(?:(?!Eval :|Train :|drop_last : )[\s\S]){0,4000}+drop_last : (True|False)"),
    *LAUNCHER,
)  # fmt: skip

#: For lines that copies in PyTorch also print: the framework is the one that the log names.
IN_PADDLE = Fact("framework", rb"(Please NOTE: device: |(?i:\bpaddle))", lambda _: "PaddlePaddle")
