"""Facts that define cases, in the spellings of their printers."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden import log_of

from perfledger.ingest.compute.measurement import measured
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, NoFigure

#: Format, printed text, and its facts.
PRINTED: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("dlperf.megatron", "  expert_model_parallel_size ...................... 4", {"expert_parallel": 4}),
    ("dlperf.megatron", "  context_parallel_size ........................... 2", {"context_parallel": 2}),
    ("frameworks.nemo", "expert_model_parallel_size: 8", {"expert_parallel": 8}),
    ("frameworks.nemo", "  context_parallel_size: 2", {"context_parallel": 2}),
    ("frameworks.nemo", '"cfg/context_parallel_size": 2', {"context_parallel": 2}),
    ("dlperf.deepspeed", "[x] [INFO] [config.py:1]   dataloader_drop_last ......... True", {"drop_last": "True"}),
    ("frameworks.hf_trainer", "dataloader_drop_last=False,", {"drop_last": "False"}),
    ("frameworks.hf_trainer", "python a.py --save_steps 250 --fp16", {"saved_every": 250}),
    ("frameworks.hf_trainer", "save_steps=250,", {"saved_every": 250}),
    ("frameworks.hf_trainer", "  save_steps: 250", {"saved_every": 250}),
    (
        "frameworks.ms_swift",
        "swift sft --model acme/tiny-lm --per_device_train_batch_size 2 --gradient_accumulation_steps 16 --bf16",
        {"model": "acme/tiny-lm", "batch_size": 2, "accumulation": 16},
    ),
    (
        "frameworks.ms_swift",
        "[INFO:swift] args: SftArguments(output_dir='out', per_device_train_batch_size=2, sequence_parallel_size=4)",
        {"batch_size": 2, "context_parallel": 4},
    ),
    (
        "frameworks.ms_swift",
        "[INFO:swift] rank: 0, local_rank: 0, world_size: 8, local_world_size: 8",
        {"devices": 8},
    ),
    ("frameworks.hf_trainer", "python a.py --model_name_or_path /data/models/tiny-lm --fp16", {"model": "tiny-lm"}),
    ("frameworks.hf_trainer", "python a.py --model_name_or_path acme/tiny-lm --fp16", {"model": "acme/tiny-lm"}),
    (
        "frameworks.hf_trainer",
        (
            "[INFO|2026-11-20 09:00:00] llamafactory.hparams.parser:383 >> Process rank: 0, world size: 8, "
            "device: cuda:0, distributed training: True, compute dtype: torch.bfloat16"
        ),
        {"devices": 8, "precision": "bf16"},
    ),
    ("frameworks.tf_cnn_benchmarks", "Data format: NHWC", {"data_format": "NHWC"}),
    (
        "paddle.clas_dygraph",
        (
            "[2026/11/20 13:14:00] ppcls INFO: Arch : \n"
            "[2026/11/20 13:14:00] ppcls INFO:     class_num : 102\n"
            "[2026/11/20 13:14:00] ppcls INFO:     data_format : NHWC\n"
            "[2026/11/20 13:14:00] ppcls INFO: Train :\n"
            "[2026/11/20 13:14:00] ppcls INFO:         drop_last : True"
        ),
        {"num_classes": 102, "data_format": "NHWC", "drop_last": "True"},
    ),
    (
        "ngc.pytorch_resnet50",
        (
            "DLL 2026-11-20 11:27:50.946941 - PARAMETER data : /d  arch : resnet50  num_classes : 100  batch_size : 8  "
            "fp16 : True  amp : False  memory_format : nhwc  world_size : 2 "
        ),
        {"num_classes": 100, "data_format": "NHWC", "precision": "fp16"},
    ),
    (
        "ngc.pytorch_resnet50",
        "DLL 2026-11-20 11:27:50.946941 - PARAMETER data : /d  arch : se-resnext101-32x4d  batch_size : 8 ",
        {"model": "se-resnext101-32x4d"},
    ),
    (
        "ngc.tensorflow_resnet50",
        "DLL 2026-11-20 04:00:11.097720 - PARAMETER arch : resnext101-32x4d  mode : training_benchmark ",
        {"model": "resnext101-32x4d"},
    ),
    (
        "ngc.mxnet_resnet50",
        (
            "DLL 2026-11-20 06:19:16.373559 - PARAMETER arch : resnetv15  num_layers : 50  num_classes : 1000  "
            "gpus : [0]  input_layout : NCHW  conv_layout : NHWC "
        ),
        {"num_classes": 1000, "data_format": "NHWC"},
    ),
    (
        "frameworks.mxnet_fit",
        (
            "start with arguments Namespace(batch_size=64, gpus='0', kv_store='local', network='resnet', "
            "num_classes=1000, num_layers=18)"
        ),
        {"model": "resnet-18"},
    ),
    (
        "frameworks.mxnet_fit",
        "start with arguments Namespace(batch_size=64, gpus='0', kv_store='local', network='alexnet', num_layers=50)",
        {"model": "alexnet"},
    ),
    ("frameworks.mlperf", ':::MLLOG {"key": "submission_benchmark", "value": "bert"}', {"model": "BERT-large"}),
    (
        "frameworks.torchtitan",
        (
            "Building device mesh with parallelism: pp=2, dp_replicate=1, dp_shard=4, cp=1, tp=2, ep=4, etp=1\n"
            "Building llama3 8B with TransformerModelArgs("
        ),
        {"devices": 16, "pipeline_parallel": 2, "tensor_parallel": 2, "expert_parallel": 4, "model": "llama3 8B"},
    ),
    (
        "frameworks.paddle_ocr",
        (
            "[2026/11/20 10:00:00] ppocr INFO: Architecture :\n"
            "[2026/11/20 10:00:00] ppocr INFO:     Backbone :\n"
            "[2026/11/20 10:00:00] ppocr INFO:         model_name : large\n"
            "[2026/11/20 10:00:00] ppocr INFO:     algorithm : DB"
        ),
        {"model": "DB"},
    ),
    ("dlperf.oneflow_bert", "num_hidden_layers = 24", {"model": "BERT-large"}),
    (
        "ngc.tensorflow_resnet50",
        "DLL 2026-11-20 04:00:11.097720 - PARAMETER arch : resnet50  batch_size : 256  data_format : NHWC  amp : True ",
        {"data_format": "NHWC"},
    ),
    ("dlperf.deepspeed", "DeepSpeedEngine  world_size ................... 16", {"devices": 16}),
    (
        "dlperf.deepspeed",
        "cmd = python -u -m deepspeed.launcher.launch --world_info=eyJhIjogWzAsIDFdLCAiYiI6IFswLCAxXX0= main.py",
        {"devices": 4},
    ),
    ("dlperf.deepspeed", "[launch.py:82:main] WORLD INFO DICT: {'localhost': [0, 1, 2]}", {"devices": 3}),
    ("dlperf.deepspeed", "cmd = x --world_info=eyJ", {}),
    ("frameworks.nanogpt", "data_parallel_world_size: 4\nworld_size = 8", {"devices": 8}),
    (
        "frameworks.nanogpt",
        "data parallel world size: 4, DP world size: 2, local world size 3\nworld size: 8",
        {"devices": 8},
    ),
    ("frameworks.nanogpt", "tp world size: 4, set up world size: 8", {"devices": 8}),
    ("frameworks.nanogpt", "torchrun --nnodes 2 --nproc_per_node=8 train.py", {"devices_per_node": 8, "nodes": 2}),
    (
        "frameworks.nanogpt",
        "batch_size = 64\nblock_size = 256 # context of up to 256 characters\nOverriding: batch_size = 12",
        {"batch_size": 12, "sequence_length": 256},
    ),
    (
        "frameworks.timm",
        "Learning rate (0.4) calculated from base learning rate (0.1) and effective global batch size (1024) with",
        {"batch_size_of_job": 1024},
    ),
    (
        "frameworks.yolox",
        "| yolox.core.trainer:126 - args: Namespace(exp_file='exps/example/yolox_voc/yolox_voc_s.py', name=None)",
        {"model": "yolox_voc_s"},
    ),
    ("frameworks.nanogpt", "torchrun --standalone --nproc_per_node=8 train.py", {"devices_per_node": 8, "nodes": 1}),
    ("frameworks.nanogpt", "torchrun --nproc_per_node=8 \\\n  --nnodes=$N train.py", {"devices_per_node": 8}),
    # The environment has facts that the command does not state.
    ("frameworks.nanogpt", "+ export PET_NNODES=2\n+ torchrun --nproc_per_node=8 train.py", {"nodes": 2}),
    ("frameworks.nanogpt", "PET_NPROC_PER_NODE=4 PET_NNODES='3' torchrun a.py", {"devices_per_node": 4, "nodes": 3}),
    ("frameworks.paddle_detection", "W1120 collective.cc:1] nranks: 4", {"devices": 4}),
    ("paddle.clas_dygraph", "number of gpu is 1", {"devices": 1}),
    (
        "frameworks.mxnet_fit",
        "start with arguments Namespace(batch_size=64, gpus='2,3', network='resnet', num_layers=50)",
        {"devices": 2},
    ),
    (
        "frameworks.keras",
        "INFO:tensorflow:Using MirroredStrategy with devices ('/job:x/device:GPU:0', '/job:x/device:GPU:1')",
        {"devices": 2},
    ),
    ("frameworks.tf_estimator", "Number of replicas in sync: 4", {"devices": 4}),
    # The configuration's file is printed before the configuration of the run.
    (
        "frameworks.detectron2",
        (
            "[11/20 09:00:00 detectron2]: Contents of args.config_file=a.yaml:\n  IMS_PER_BATCH: 64\n  MAX_ITER: 9\n"
            "[11/20 09:00:00 detectron2]: Running with full config:\n  IMS_PER_BATCH: 16\n  MAX_ITER: 90\n"
        ),
        {"batch_size_of_job": 16, "total_steps": 90},
    ),
    (
        "frameworks.detectron2",
        (
            "[11/20 09:00:00 d2.engine.defaults]: Auto-scaling the config to batch_size=4, learning_rate=0.01, "
            "max_iter=180000, warmup=20."
        ),
        {"batch_size_of_job": 4, "total_steps": 180000},
    ),
    (
        "frameworks.detectron2",
        "[11/20 09:00:00 detectron2]: Running with full config:\nSOLVER:\n  AMP:\n    ENABLED: true\n  BASE_LR: 0.02",
        {"precision": "amp"},
    ),
    (
        "frameworks.paddle_ocr",
        "[2026/11/20 10:00:00] openrec INFO: run with torch 2.1.0+cu118 and device cuda:0",
        {"framework": "PyTorch", "framework_version": "2.1.0"},
    ),
    (
        "frameworks.composer",
        (
            "******************************\nConfig:\nenabled_algorithms/GradientClipping: true\nnode_name: node0\n"
            "num_gpus_per_node: 8\nnum_nodes: 2\nrank_zero_seed: 17\n\n******************************"
        ),
        {"devices_per_node": 8, "nodes": 2},
    ),
    ("frameworks.composer", "max_seq_len: 2048\nn_gpus: 16\ndevice_train_batch_size: 4", {"devices": 16}),
    ("paddle.clas_dygraph", "LAUNCH INFO 2026-11-20 10:00:00,000 nnodes: 2", {"nodes": 2}),
    (
        "paddle.clas_dygraph",
        (
            "LAUNCH INFO 2026-11-20 10:00:00,000 nnodes: 2:4\n"
            "LAUNCH INFO 2026-11-20 10:00:00,000 Job: default, mode collective, replicas 3[2:4], elastic True"
        ),
        {"nodes": 3},
    ),
    (
        "paddle.nlp_trainer",
        (
            "[2026-11-20 10:00:00,000] [    INFO] - bf16                          : False\n"
            "[2026-11-20 10:00:00,000] [    INFO] - fp16                          : True\n"
            "[2026-11-20 10:00:00,000] [    INFO] - fp16_opt_level                : O2"
        ),
        {"precision": "fp16"},
    ),
    (
        "frameworks.diffusers",
        "[2026-11-20 10:00:00,000] [    INFO] - ***** Running training *****",
        {"framework": "PaddlePaddle"},
    ),
    # Benchmarks that use the trainer print other lines of the steps.
    (
        "paddle.nlp_bert",
        (
            "[2026-11-20 10:00:00,000] [    INFO] - tensor_parallel_degree        : 2\n"
            "[2026-11-20 10:00:00,000] [    INFO] - world_size                    : 8\n"
            "[2026-11-20 10:00:00,000] [INFO] -   Total train batch size (w. parallel, distributed & accumulation) = 32"
        ),
        {"devices": 8, "tensor_parallel": 2, "batch_size_of_job": 32},
    ),
    (
        "frameworks.mlperf",
        (
            ':::MLLOG {"key": "submission_benchmark", "value": "x"}\n'
            ':::SYSJSON {"number_of_nodes":"18","accelerators_per_node":"4","accelerator_model_name":"NVIDIA GB300",'
            '"framework":"PyTorch NVIDIA Release 25.09"}'
        ),
        {"nodes": 18, "devices_per_node": 4, "gpu": "NVIDIA GB300", "framework": "PyTorch"},
    ),
    (
        "frameworks.mlperf",
        ':::MLLOG {"key": "submission_benchmark", "value": "x"}\n+ export DGXNGPU=8\n+ export DGXNNODES=2',
        {"devices_per_node": 8, "nodes": 2},
    ),
    (
        "frameworks.mlperf",
        (
            ':::MLLOG {"key": "submission_benchmark", "value": "x"}\n'
            ':::MLLOG {"key": "submission_platform", "value": "14xNVIDIA DGX A100"}'
        ),
        {"devices_per_node": 8, "nodes": 14},
    ),
)


@pytest.mark.parametrize(("format_id", "printed", "facts"), PRINTED)
def test_a_printer_states_a_fact(tmp_path: Path, format_id: str, printed: str, facts: dict[str, object]) -> None:
    # The golden log's own facts are removed, because the last value before the records counts.
    golden = log_of(format_id)
    lines = golden.read_text("utf-8").split("\n")
    first = min(each.lines([0])[0] for each in read(golden).sessions[0].records if len(each))
    path = tmp_path / "train.log"
    path.write_text("\n".join([printed, *lines[first - 1 :]]))
    session = read(path).sessions[0]
    assert session.format.id == format_id
    assert {name: session.facts[name].value for name in facts if name in session.facts} == facts


MASK_RCNN = """\
2026-11-20 16:37:23,000 maskrcnn_benchmark INFO: Loaded configuration file a.yaml
2026-11-20 16:37:23,000 maskrcnn_benchmark INFO:
SOLVER:
  IMS_PER_BATCH: 1
  MAX_ITER: 50000
TEST:
  IMS_PER_BATCH: 2

2026-11-20 16:37:23,100 maskrcnn_benchmark INFO: Running with config:
SOLVER:
  IMS_PER_BATCH: {batch}
  MAX_ITER: 600
TEST:
  IMS_PER_BATCH: 2
"""
MASK_RCNN_RECORD = (
    "2026-11-20 17:{minute:02}:{second:02},500 maskrcnn_benchmark.trainer INFO: eta: 0:07:21  iter: {step}  "
    "loss: 6.6000 (6.6075)  loss_box_reg: 0.0091 (0.0101)  time: 0.7000 (0.7000)  data: 0.1655 (0.2280)  "
    "lr: 0.000000  max mem: 7000\n"
)


def mask_rcnn(folder: Path, batch: int) -> Session:
    """Return a run of 600 iterations of 0.7 s whose wrapper prints 4 / 0.7 images/s."""
    clocks = {step: divmod(7 * step // 10, 60) for step in range(20, 601, 20)}
    records = (MASK_RCNN_RECORD.format(step=step, minute=minute, second=s) for step, (minute, s) in clocks.items())
    path = folder / "train.log"
    path.write_text(MASK_RCNN.format(batch=batch) + "".join(records) + "Training perf is: 5.714286 FPS\n")
    return read(path).sessions[0]


def test_settings_of_the_run_count_and_not_those_of_the_file(tmp_path: Path) -> None:
    session = mask_rcnn(tmp_path, 4)
    stated = {name: (each.value, each.line) for name, each in session.facts.items()}
    assert stated == {"batch_size_of_job": (4, 11), "total_steps": (600, 12)}
    found = measured(session, {"batch_size_of_job": 4, "devices": 1})
    assert isinstance(found.headline, Figure)
    assert found.headline.value == pytest.approx(4 / 0.7)
    assert {each.kind: each.verdict for each in found.witnesses}["summary"] == "agrees"


def test_a_figure_that_a_wrapper_contradicts_is_withheld(tmp_path: Path) -> None:
    found = measured(mask_rcnn(tmp_path, 1), {"batch_size_of_job": 1, "devices": 1}).headline
    assert isinstance(found, NoFigure)
    assert (found.reason.code, found.reason.args["witness"]) == ("withheld", "summary")


@pytest.mark.parametrize(("own", "steps"), [(b"  num_accumulation_steps: 16", 16), (b"  other: 16", 704)])
def test_the_launchers_trace_counts_if_the_trainer_does_not_state_accumulation(
    tmp_path: Path, own: bytes, steps: int
) -> None:
    path, traced = tmp_path / "train.log", b"+ num_accumulation_steps_phase1=704\n"
    path.write_bytes(traced + log_of("ngc.tensorflow_bert").read_bytes().replace(b"  num_accumulation_steps: 16", own))
    assert read(path).sessions[0].facts["accumulation"].value == steps


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        (
            "2, pipeline parallel size: 3, tensor parallel size: 5",
            {"devices": 30, "pipeline_parallel": 3, "tensor_parallel": 5},
        ),
        (
            "2, pipeline parallel size: 3, tensor parallel size: 5, weight parallel size: 1",
            {"devices": 30, "pipeline_parallel": 3, "tensor_parallel": 5},
        ),
        # "Tensor parallel" divides sequences here, and not weights.
        (
            "2, pipeline parallel size: 3, tensor parallel size: 5, weight parallel size: 10",
            {"devices": 30, "pipeline_parallel": 3},
        ),
    ],
)
def test_internlm_devices_follow_from_the_layout(tmp_path: Path, sizes: str, found: dict[str, int]) -> None:
    text = log_of("frameworks.internlm").read_text("utf-8")
    assert text.count("data parallel size: ") == 1
    head, rest = text.split("data parallel size: ")
    path = tmp_path / "train.log"
    path.write_text(f"{head}data parallel size: {sizes}\n{rest.partition(chr(10))[2]}")
    assert {name: each.value for name, each in read(path).sessions[0].facts.items()} == found


@pytest.mark.parametrize(
    ("layout", "devices"),
    [
        ("dp=2, pp=3, tp=5", 30),
        ("dp=2,\n    pp=3,\n    tp=5,\n    pp_engine=<a.B object at 0x7f>,\n    context_parallel_size=4", 120),
        ("dp=2, pp=3, tp=5, expert_parallel_size=1, context_parallel_size=4, enabled_moe=True", 120),
        # In 2024 experts had separate devices. Later releases list them first, and then share the devices.
        ("dp=2, pp=3, tp=5, recompute_layer=False, expert_parallel_size=4", 120),
        ("dp=2, pp=3, tp=5, expert_parallel_size=4, context_parallel_size=1", None),
    ],
)
def test_nanotron_devices_follow_from_the_layout(tmp_path: Path, layout: str, devices: int | None) -> None:
    text = log_of("frameworks.nanotron").read_text("utf-8")
    head, rest = text.split("ParallelismArgs(", 1)
    path = tmp_path / "train.log"
    path.write_text(f"{head}ParallelismArgs({layout}){rest.partition(')')[2]}")
    facts = read(path).sessions[0].facts
    assert ("devices" in facts) is (devices is not None)
    assert devices is None or facts["devices"].value == devices
