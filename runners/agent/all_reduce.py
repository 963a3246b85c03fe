"""A small all-reduce over the ranks of a case, before its run."""

import json
import subprocess

from .nccl import NCCL_FOLDER, nccl_report, unused_infiniband
from .tools import MARK, WITH_DAEMON, last_words, run_tool, without_unknown, write_file

MYPY = False
if MYPY:  # The module `typing` is not needed where this runs.
    from typing import Any

    from .job import NodeJob

# By which torch meets; that of AMD has the same name.
BACKEND = "nccl"
# How long nodes wait for each other in an all-reduce, how many bytes each rank gives, and how often it is timed.
ALL_REDUCE_SECONDS = 60
ALL_REDUCE_BYTES, ALL_REDUCE_REPEATS = 1 << 28, 10
# What the Python that trains runs on each node: a process for each device, forked before anything of CUDA is begun. Bus
# bandwidth is that of nccl-tests: 2 (n - 1) / n of the bytes, by the time of one all-reduce.
ALL_REDUCE = """
import json, os, signal, sys, time
mark, backend, address, port = sys.argv[1:5]
node, nodes, count, size, repeats, seconds = map(int, sys.argv[5:11])

def skip(why):
    sys.stdout.write("\\n" + mark + json.dumps({"skipped": why}) + "\\n")
    sys.stdout.flush()
    os._exit(0)

def meet(local):
    signal.alarm(seconds)
    from datetime import timedelta
    import torch
    import torch.distributed as distributed
    rank, ranks, on_gpu = node * count + local, nodes * count, backend == "nccl"
    os.environ.update(MASTER_ADDR=address, MASTER_PORT=port)
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group(backend, rank=rank, world_size=ranks, timeout=timedelta(seconds=seconds))
    given = torch.ones(size // 4, device=device)
    distributed.all_reduce(given)
    assert float(given[0]) == ranks, "the sum of %d ones is %r" % (ranks, float(given[0]))
    given.zero_()
    for timed in (0, repeats):
        for _ in range(timed or 3):
            distributed.all_reduce(given)
        if on_gpu:
            torch.cuda.synchronize()
        took, start = time.perf_counter() - (start if timed else 0), time.perf_counter()
    if local == 0:
        bandwidth = 2 * (ranks - 1) / ranks * size * repeats / took / 1e9
        sys.stdout.write("\\n" + mark + json.dumps({"gb_s": bandwidth, "ranks": ranks}) + "\\n")
        sys.stdout.flush()
    distributed.destroy_process_group()

import importlib.util
if importlib.util.find_spec("torch") is None:
    skip("the recipe's Python has no torch")
children = []
for local in range(count):
    child = os.fork()
    if not child:
        try:
            if backend == "nccl":
                import torch
                if not torch.cuda.is_available():
                    skip("the torch of the recipe's Python has no CUDA") if local == 0 else os._exit(0)
            meet(local)
        except BaseException as error:
            sys.stderr.write("%s: %s\\n" % (type(error).__name__, error))
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    children.append(child)
sys.exit(max(1 if os.waitpid(child, 0)[1] else 0 for child in children))
"""


def all_reduce(job: "NodeJob") -> "dict[str, Any]":
    """Meet the other nodes in a small all-reduce, as the run's ranks will, and return what came of it.

    `notes` are for whoever asks. Bandwidth and transport are kept for the environment of a run that follows.
    """
    spec, container = job.spec, job.spec["container"]
    if container and container["tool"] in WITH_DAEMON and not job.inspect_image("{{.Id}}"):
        return {"notes": [f"no all-reduce was tried: the image {container['image']} is not on this host yet"]}
    job.prepare_folders()
    address, port = job.master
    # Another port than the run's, which must be free when that starts.
    argv = job.contained([
        spec["python"], "-c", ALL_REDUCE, MARK, BACKEND, address, str(int(port) - 10000), str(job.rank),
        str(spec["nodes"]), str(spec["devices_per_node"]), str(ALL_REDUCE_BYTES), str(ALL_REDUCE_REPEATS),
        str(ALL_REDUCE_SECONDS),
    ])  # fmt: skip
    variables = {**job.environment(), "PYTHONUNBUFFERED": "1"}
    status, text = run_tool(argv, ALL_REDUCE_SECONDS + 30, env=variables, stderr=subprocess.STDOUT)
    job.kill_leftovers()
    job.take_over_files()
    report = nccl_report(job.path("ranks", NCCL_FOLDER))
    job.remove_unwanted()
    answers = [json.loads(line[len(MARK) :]) for line in text.splitlines() if line.startswith(MARK + "{")]
    found = answers[-1] if answers else {}
    if "skipped" in found:
        return {"notes": [f"no all-reduce was tried: {found['skipped']}"]}
    if status or "gb_s" not in found:
        last = last_words(text)
        return {"warnings": [f"an all-reduce over the ranks of this case failed (exit status {status}): {last}"]}
    transport = report.get("nccl_transport", "")
    bandwidth = float(f"{found['gb_s']:.3g}")
    facts = without_unknown({"allreduce_gb_s": bandwidth, "allreduce_transport": transport})
    write_file(job.path("all_reduce.json"), json.dumps(facts))
    note = f"all-reduce over {found['ranks']} ranks: {bandwidth:g} GB/s bus bandwidth"
    return {
        "notes": [f"{note}, by {transport}" if transport else note],
        "warnings": unused_infiniband(spec["nodes"], transport),
    }
