"""Trains Wide & Deep with HugeCTR's Python interface (3.2) on Criteo, in the sizes that DLPerf compares.

HugeCTR's own sample has its sizes written into it, two hidden layers among them. One process drives all GPUs of its
machine; on several machines MPI starts one on each. A table of `--vocabulary` rows is given to every device. Trap:
HugeCTR prints seconds per interval with the evaluations in them, so this trainer does not evaluate. The
sizes are printed first, as `key = value`, where readers of the log expect them.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Any

FEATURES = 26
DENSE_FEATURES = 13
BYTES_PER_MIB = 1 << 20


def main() -> None:
    """Train until `--iterations`; HugeCTR stops with its own message if memory does not suffice."""
    arguments = parse()
    if arguments.nodes > 1:
        # HugeCTR talks to its other machines through the MPI that this starts.
        importlib.import_module("mpi4py.MPI")
    hugectr = importlib.import_module("hugectr")
    print("Arguments", flush=True)
    for key, value in printed(arguments).items():
        print(f"{key} = {value}", flush=True)
    model = network(hugectr, arguments)
    model.compile()
    model.summary()
    never = 10 * arguments.iterations
    model.fit(max_iter=arguments.iterations, display=arguments.print_every, eval_interval=never, snapshot=never)


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """Parse the arguments; sizes are per machine or of the whole job, as they say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--devices-per-node", type=int, default=1)
    parser.add_argument("--batch-size", type=int, required=True, help="of the whole job")
    parser.add_argument("--iterations", type=int, default=1200)
    parser.add_argument("--print-every", type=int, default=20)
    parser.add_argument("--vocabulary", type=int, required=True, help="rows of a table on each device")
    parser.add_argument("--embedding", type=int, required=True, help="width of the deep table")
    parser.add_argument("--layers", type=int, required=True, help="hidden layers")
    parser.add_argument("--hidden", type=int, default=1024, help="width of a hidden layer")
    parser.add_argument("--data", required=True, help="folder with file_list.txt and file_list_test.txt")
    return parser.parse_args(words)


def printed(arguments: argparse.Namespace) -> dict[str, int]:
    """Return the sizes under the names that DLPerf's logs give them."""
    return {
        "num_nodes": arguments.nodes,
        "gpu_num_per_node": arguments.devices_per_node,
        "batch_size": arguments.batch_size,
        "deep_vocab_size": arguments.vocabulary,
        "deep_embedding_vec_size": arguments.embedding,
        "hidden_units_num": arguments.layers,
        "hidden_size": arguments.hidden,
        "loss_print_every_n_iter": arguments.print_every,
        "wide_workspace_size_per_gpu_in_mb": workspace(arguments.vocabulary, 1),
    }


def workspace(rows: int, width: int) -> int:
    """Return the MiB of these rows of floats, rounded up."""
    return -(-rows * width * 4 // BYTES_PER_MIB)


def network(hugectr: Any, arguments: argparse.Namespace) -> Any:
    """Return the uncompiled model: a wide table of width 1, hidden layers over the deep table and dense features."""
    kinds = hugectr.Layer_t
    model = _inputs(hugectr, arguments)

    def layer(kind: Any, bottoms: list[str], top: str, **more: Any) -> str:
        model.add(hugectr.DenseLayer(layer_type=kind, bottom_names=bottoms, top_names=[top], **more))
        return top

    layer(kinds.Reshape, ["deep_embedding"], "deep", leading_dim=FEATURES * arguments.embedding)
    layer(kinds.Reshape, ["wide_embedding"], "wide", leading_dim=1)
    top = layer(kinds.Concat, ["deep", "dense"], "concat")
    for number in range(1, arguments.layers + 1):
        top = layer(kinds.InnerProduct, [top], f"fc{number}", num_output=arguments.hidden)
        top = layer(kinds.ReLU, [top], f"relu{number}")
    top = layer(kinds.InnerProduct, [top], "last", num_output=1)
    layer(kinds.BinaryCrossEntropyLoss, [layer(kinds.Add, [top, "wide"], "sum"), "label"], "loss")
    return model


def _inputs(hugectr: Any, arguments: argparse.Namespace) -> Any:
    """Return the model with its inputs and its two tables."""
    optimizer = hugectr.CreateOptimizer(optimizer_type=hugectr.Optimizer_t.Adam)
    model = hugectr.Model(_solver(hugectr, arguments), _reader(hugectr, arguments.data), optimizer)
    sparse = [
        hugectr.DataReaderSparseParam("wide_data", 30, True, 1),
        hugectr.DataReaderSparseParam("deep_data", 2, False, FEATURES),
    ]
    dense = {"label_dim": 1, "label_name": "label", "dense_dim": DENSE_FEATURES, "dense_name": "dense"}
    model.add(hugectr.Input(**dense, data_reader_sparse_param_array=sparse))
    for name, width in (("wide", 1), ("deep", arguments.embedding)):
        model.add(_table(hugectr, name, arguments.vocabulary, width, optimizer))
    return model


def _solver(hugectr: Any, arguments: argparse.Namespace) -> Any:
    return hugectr.CreateSolver(
        batchsize=arguments.batch_size,
        batchsize_eval=arguments.batch_size,
        max_eval_batches=1,
        lr=0.001,
        vvgpu=[list(range(arguments.devices_per_node))] * arguments.nodes,
        repeat_dataset=True,
    )


def _reader(hugectr: Any, data: str) -> Any:
    return hugectr.DataReaderParams(
        data_reader_type=hugectr.DataReaderType_t.Norm,
        source=[f"{data}/file_list.txt"],
        eval_source=f"{data}/file_list_test.txt",
        check_type=hugectr.Check_t.Sum,
    )


def _table(hugectr: Any, name: str, rows: int, width: int, optimizer: Any) -> Any:
    return hugectr.SparseEmbedding(
        embedding_type=hugectr.Embedding_t.DistributedSlotSparseEmbeddingHash,
        workspace_size_per_gpu_in_mb=workspace(rows, width),
        embedding_vec_size=width,
        combiner="sum",
        sparse_embedding_name=f"{name}_embedding",
        bottom_name=f"{name}_data",
        optimizer=optimizer,
    )


if __name__ == "__main__":
    main()
