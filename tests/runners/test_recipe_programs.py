"""The bash of recipes, run for real: what commands compute by themselves, and what setup changes in trainers."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from perfledger.runners import recipes
from perfledger.runners.cases import select_cases
from perfledger.runners.cli.options import parse_target
from perfledger.runners.cli.setup import SetupSteps, set_up
from perfledger.runners.job import RunnerError, texts
from perfledger.runners.wrappers import CaseWords
from runners.workloads import wide_deep_hugectr
from tests.runners.written import filled

NAMES = [name for name in recipes.names() if recipes.find(name).parent != recipes.FOLDER]
WITH_STEPS = [name for name in NAMES if recipes.load(recipes.find(name)).setup.steps]
#: A fake program: it writes the words that it got, one to a line.
STAND_IN = '#!/bin/bash\nprintf \'%s\\n\' "$(basename "$0")" "$@"\n'
PROGRAMS = ("python", "python3", "mpirun", "fleetrun")
NODE = {
    "node_rank": "1", "master_address": "10.0.0.1", "master_port": "29500", "hosts": "alpha,beta",
    "address": "10.0.0.2", "addresses": "10.0.0.1,10.0.0.2", "host_slots": "alpha:8,beta:8",
    "gpu_ids": "0,1,2,3,4,5,6,7",
}  # fmt: skip


@pytest.fixture
def run(bash, tmp_path):
    """Run the command of a case with fake programs; return the words that the last of them got."""
    for name in PROGRAMS:
        (tmp_path / name).write_text(STAND_IN)
        (tmp_path / name).chmod(0o755)
    for name in ("ranks", "output", "work"):
        (tmp_path / name).mkdir()

    def words(name: str, choices: dict[str, str], status: int = 0, **node: str) -> list[str]:
        recipe = recipes.load(recipes.find(name))
        (case,) = select_cases(recipe, choices)
        places = {name: str(tmp_path / name) for name in ("ranks", "output", "work")}
        argv = filled(CaseWords(recipe, case, "/data").trainer(), {**NODE, **places, **node})
        variables = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        done = subprocess.run(argv, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done.stdout.splitlines()

    return words


def test_oneflow_gets_the_number_of_images_for_the_iterations(run):
    got = run("resnet50-oneflow", {"devices": "16", "precision": "fp32", "batch_size": "96"})
    assert got[:3] == ["python3", "of_cnn_train_val.py", f"--num_examples={120 * 96 * 16}"]
    assert "--node_ips=10.0.0.1,10.0.0.2" in got


def test_the_pytorch_example_gets_the_batch_size_of_a_node(run):
    got = run("resnet50-pytorch-examples", {"devices": "16", "dataloader_workers": "8"})
    assert got[:4] == ["python", "-u", "perfledger_main.py", f"--batch-size={128 * 8}"]
    assert {"--world-size=2", "--rank=1", "--dist-url=tcp://10.0.0.1:29500", "/data"} <= set(got)


@pytest.mark.parametrize("name", ["resnet50-tensorflow-models", "bert-tensorflow-models"])
def test_tensorflow_workers_get_a_port_on_every_host(run, name):
    choices = {"batch_size": "128", "precision": "amp", "xla": "false"}
    got = run(name, {**choices, "devices": "16"})
    assert {"--worker_hosts=10.0.0.1:2222,10.0.0.2:2222", "--task_index=1"} <= set(got)
    assert "--distribution_strategy=mirrored" in run(name, {**choices, "devices": "8"})


def test_paddle_1_8_gets_its_node_address_and_the_batch_size_of_a_node(run):
    got = run("resnet50-paddle-models", {"devices": "16", "precision": "fp32"})
    assert got[:6] == [
        "python3", "-m", "paddle.distributed.launch", "--cluster_node_ips=10.0.0.1,10.0.0.2", "--node_ip=10.0.0.2",
        "--started_port=29500",
    ]  # fmt: skip
    assert got[-1] == f"--batch_size={128 * 8}"
    assert "train.py" in got


FLEETRUN = """#!/bin/bash
printf '%s\\n' "$@"
mkdir -p "${1#--log_dir=}"
echo "ips 5.0 example/sec" >"${1#--log_dir=}/workerlog.0"
"""


@pytest.mark.parametrize("status", [0, 3])
def test_the_log_of_paddlerecs_first_worker_is_printed_on_success_and_failure(run, tmp_path, status):
    (tmp_path / "fleetrun").write_text(f"{FLEETRUN}exit {status}\n")
    choices = {"nodes": "4", "reader": "DataSet"}
    got = run("ctr-dnn-paddlerec", choices, status, addresses="10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4")
    assert "--servers=10.0.0.1:36001,10.0.0.2:36001,10.0.0.3:36001,10.0.0.4:36001" in got
    assert "--workers=10.0.0.1:36002,10.0.0.2:36002,10.0.0.3:36002,10.0.0.4:36002" in got
    assert got[-1] == "ips 5.0 example/sec"


def test_hugectr_is_started_by_the_first_node_with_its_program_inline(run, tmp_path):
    (tmp_path / "wide_deep_hugectr.py").write_text("a program\n")
    choices = {"devices": "32", "vocabulary": "3200000"}
    got = run("wide-deep-hugectr", choices, node_rank="0", hosts="a,b,c,d")
    assert got[:12] == [
        "mpirun", "--allow-run-as-root", "--tag-output", "-np", "4", "-H", "a,b,c,d", "python3", "-u", "-c",
        "a program", "--nodes",
    ]  # fmt: skip
    assert run("wide-deep-hugectr", choices, node_rank="2", hosts="a,b,c,d") == []


@pytest.mark.parametrize("name", [name for name in NAMES if recipes.load(recipes.find(name)).command[0] == "bash"])
def test_programs_in_commands_are_valid_bash(bash, name):
    recipe = recipes.load(recipes.find(name))
    words = texts(CaseWords(recipe, select_cases(recipe, {})[-1], "/data").trainer())
    assert words[:2] == ["bash", "-c"]
    done = subprocess.run([bash, "-n", "-c", words[2]], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", WITH_STEPS)
def test_setup_steps_are_valid_bash(bash, name):
    for step in recipes.load(recipes.find(name)).setup.steps:
        assert subprocess.run([bash, "-n", "-c", step], check=False).returncode == 0


@pytest.mark.parametrize("name", WITH_STEPS)
def test_setup_can_be_repeated(name):
    for step in recipes.load(recipes.find(name)).setup.steps:
        if "git clone" in step:
            folder = step.rpartition(" ")[2]
            assert step.startswith(f"test -d {folder} || git clone ")


#: Recipe; a trainer's file before the last step, with the lines that the step changes; the lines of its copy.
TRANSFORMER = "batch_size: 4096\nmax_iter: None\nprint_step: 100\nuse_amp: False\nuse_pure_fp16: False\nd_model: 1024\n"
PADDLEREC = (
    'runner:\n  reader_type: "DataLoader"\n  sync_mode: "geo"\n  thread_num: 1\n  epochs: 9\n  train_batch_size: 5\n'
    "  split_file_list: False\n"
)
RESNET = (
    "import os\nstep_size = dataset.get_dataset_size()\nopt = config.batch_size\n"
    "time_cb = TimeMonitor(data_size=step_size)\n"
    'model = Model(net, amp_level="O2")\n'
    "model.train(config.epoch_size - config.pretrain_epoch_size, dataset, sink_size=dataset.get_dataset_size())\n"
)
BERT = (
    "from easydict import EasyDict as edict\ncfg = edict({\n    'batch_size': 32,\n    'bert_network': 'base',\n})\n"
    "bert_net_cfg = BertConfig(compute_type=mstype.float16)\n"
)
STOPPING = "        if i % args.print_freq == 0:\n            progress.display(i)\n"
GLUON = "    if args.log_interval and nbatch % args.log_interval == 0:\n        log()\n"
CLIPPING = "    return AdamW(lr, grad_clipping=flow.optimizer.grad_clipping.by_global_norm(1.0))\n"
FACES = "config.batch_size = 128\nconfig.sample_ratio = 1.0\nconfig.max_update = 180000\nconfig.fp16 = True\n"
CLASSES = FACES + "config.num_classes = 10\ndataset.emore.num_classes = 85742\n"
NLP_FOLDER = "PaddleNLP/examples/machine_translation/transformer/configs"
ZOO = "model_zoo/official"
PARTIAL_FC = "insightface-2021/recognition/partial_fc"
CHANGED = [
    (
        "transformer-big-paddlenlp", f"{NLP_FOLDER}/transformer.big.yaml", TRANSFORMER,
        f"{NLP_FOLDER}/perfledger.big.5120.fp16.1000.yaml",
        "batch_size: 5120\nmax_iter: 1000\nprint_step: 10\nuse_amp: True\nuse_pure_fp16: True\nd_model: 1024\n",
    ),
    (
        "word2vec-paddlerec", "PaddleRec/models/recall/word2vec/benchmark.yaml", PADDLEREC,
        "PaddleRec/models/recall/word2vec/perfledger.100.DataSet.async.16.5.yaml",
        ('runner:\n  reader_type: "QueueDataset"\n  sync_mode: "async"\n  thread_num: 16\n  epochs: 5\n'
        "  train_batch_size: 100\n  split_file_list: True\n"),
    ),
    (
        "resnet50-pytorch-examples", "pytorch-examples/imagenet/main.py", STOPPING,
        "pytorch-examples/imagenet/perfledger_main.py",
        '        if i >= int(os.environ["PERFLEDGER_ITERATIONS"]) and model.training:\n            raise SystemExit\n'
        + STOPPING,
    ),
    (
        "resnet50-v1b-gluoncv", "gluon-cv/scripts/classification/imagenet/train_horovod.py", GLUON,
        "gluon-cv/scripts/classification/imagenet/perfledger_train_horovod.py",
        '    if nbatch > int(os.environ["PERFLEDGER_ITERATIONS"]):\n        break\n' + GLUON,
    ),
    (
        "resnet50-mindspore-zoo", f"mindspore-e13c045c/{ZOO}/cv/resnet/train.py", RESNET,
        f"mindspore-e13c045c/{ZOO}/cv/resnet/perfledger_train.py",
        ('import os\nstep_size = dataset.get_dataset_size()\nopt = int(os.environ["PERFLEDGER_BATCH_SIZE"])\n'
        'time_cb = TimeMonitor(data_size=10)\nmodel = Model(net, amp_level=os.environ["PERFLEDGER_AMP_LEVEL"])\n'
        'model.train(int(os.environ["PERFLEDGER_ITERATIONS"]) // 10, dataset, sink_size=10)\n'),
    ),
    (
        "bert-mindspore-zoo", f"mindspore-d9db5bf7/{ZOO}/nlp/bert/src/config.py", BERT,
        f"mindspore-d9db5bf7/{ZOO}/nlp/perfledger_bert/src/config.py",
        ("import os\nfrom easydict import EasyDict as edict\ncfg = edict({\n"
        "    'batch_size': int(os.environ['PERFLEDGER_BATCH_SIZE']),\n    'bert_network': 'base',\n})\n"
        "bert_net_cfg = BertConfig(compute_type=getattr(mstype, os.environ['PERFLEDGER_COMPUTE_TYPE']))\n"),
    ),
    (
        "bert-oneflow", "OneFlow-Benchmark-v0.2.0/LanguageModeling/BERT/util.py", CLIPPING,
        "OneFlow-Benchmark-v0.2.0/LanguageModeling/perfledger_bert/util.py",
        ("    return AdamW(lr, grad_clipping=(flow.optimizer.grad_clipping.by_global_norm(1.0) if "
        '__import__("os").environ["PERFLEDGER_CLIP"] == "true" else None))\n'),
    ),
    (
        "insightface-r100-partial-fc", f"{PARTIAL_FC}/mxnet/default.py", FACES, f"{PARTIAL_FC}/perfledger/default.py",
        ('import os\nconfig.batch_size = int(os.environ["PERFLEDGER_BATCH_SIZE"])\n'
        'config.sample_ratio = float(os.environ["PERFLEDGER_SAMPLE_RATIO"])\n'
        'config.max_update = int(os.environ["PERFLEDGER_ITERATIONS"])\n'
        'config.fp16 = os.environ["PERFLEDGER_FP16"] == "1"\n'),
    ),
    (
        "insightface-classes-partial-fc", f"{PARTIAL_FC}/mxnet/default.py", CLASSES,
        f"{PARTIAL_FC}/perfledger_classes/default.py",
        ('import os\nconfig.batch_size = int(os.environ["PERFLEDGER_BATCH_SIZE"])\n'
        'config.sample_ratio = float(os.environ["PERFLEDGER_SAMPLE_RATIO"])\n'
        'config.max_update = int(os.environ["PERFLEDGER_ITERATIONS"])\n'
        'config.fp16 = os.environ["PERFLEDGER_FP16"] == "1"\n'
        'config.num_classes = int(os.environ["PERFLEDGER_CLASSES"])\n'
        'dataset.emore.num_classes = int(os.environ["PERFLEDGER_CLASSES"])\n'),
    ),
    (
        "insightface-y1-arcface", "insightface/recognition/ArcFace/sample_config.py", "config.max_steps = 0\n",
        "insightface/recognition/ArcFace/config.py",
        'config.max_steps = 0\nimport os\nconfig.max_steps = int(os.environ.get("PERFLEDGER_ITERATIONS", "0"))\n',
    ),
]  # fmt: skip


def last_step(name: str, work: Path) -> None:
    """Run the last setup step of a recipe here."""
    steps = recipes.load(recipes.find(name)).setup.steps[-1:]
    set_up(parse_target("local"), SetupSteps(steps=steps, work=str(work)))


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize(("name", "there", "before", "copy", "after"), CHANGED, ids=[row[0] for row in CHANGED])
def test_setup_makes_the_changed_copy_of_a_trainer(tmp_path, name, there, before, copy, after):
    (tmp_path / there).parent.mkdir(parents=True)
    (tmp_path / there).write_text(before)
    for _ in range(2):
        last_step(name, tmp_path)
        assert (tmp_path / copy).read_text() == after
        assert (tmp_path / there).read_text() == before


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize(("name", "there"), [row[:2] for row in CHANGED[:-1]], ids=[row[0] for row in CHANGED[:-1]])
def test_setup_fails_if_the_trainer_lacks_the_line_to_change(tmp_path, name, there):
    (tmp_path / there).parent.mkdir(parents=True)
    (tmp_path / there).write_text("another release\n")
    with pytest.raises(RunnerError, match="a setup step failed"):
        last_step(name, tmp_path)


@pytest.mark.usefixtures("bash")
def test_deepspeeds_settings_are_written_for_each_case(tmp_path):
    folder = tmp_path / "DeepSpeedExamples" / "Megatron-LM"
    folder.mkdir(parents=True)
    last_step("gpt2-small-deepspeed", tmp_path)
    recipe = recipes.load(recipes.find("gpt2-small-deepspeed"))
    for case in select_cases(recipe, {}):
        settings = json.loads((folder / f"perfledger.zero{case.options['zero']}.{case.batch_size}.json").read_text())
        assert settings["train_micro_batch_size_per_gpu"] == case.batch_size
        assert settings["zero_optimization"] == {"stage": int(case.options["zero"])}


@pytest.mark.usefixtures("bash")
def test_nvidias_bert_gets_the_configuration_of_bert_base(tmp_path):
    folder = tmp_path / "DeepLearningExamples-5cc03caa/PyTorch/LanguageModeling/BERT"
    folder.mkdir(parents=True)
    last_step("bert-ngc-pytorch-2020", tmp_path)
    configuration = json.loads((folder / "bert_base_config.json").read_text())
    sizes = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size")
    assert [configuration[size] for size in sizes] == [12, 768, 12, 3072, 30522]


def test_variables_that_changed_trainers_read_are_set():
    for name, *_, after in CHANGED:
        recipe = recipes.load(recipes.find(name))
        variables = CaseWords(recipe, select_cases(recipe, {})[0], "/data").variables()
        assert set(re.findall("PERFLEDGER_[A-Z0-9_]+", after)) <= set(variables)


class HugeCTR(SimpleNamespace):
    """What HugeCTR's interface is called with, in order."""

    def __getattr__(self, name: str) -> Any:
        return HugeCTR(name=name, calls=self.calls)

    def __call__(self, *_arguments: Any, **named: Any) -> Any:
        self.calls.append((self.name, named))
        return HugeCTR(name=f"{self.name}()", calls=self.calls)


def test_hugectrs_network_has_the_sizes_of_its_case():
    recipe = recipes.load(recipes.find("wide-deep-hugectr"))
    (case,) = select_cases(recipe, {"devices": "32", "vocabulary": "3200000"})
    words = texts(CaseWords(recipe, case, "/data").trainer())
    arguments = wide_deep_hugectr.parse(words[words.index("--nodes") :])
    printed = wide_deep_hugectr.printed(arguments)
    assert {"num_nodes": 4, "gpu_num_per_node": 8, "batch_size": 16384}.items() <= printed.items()
    assert wide_deep_hugectr.workspace(2359296, 1) == 9
    fake = HugeCTR(name="hugectr", calls=[])
    wide_deep_hugectr.network(fake, arguments)
    calls = fake.calls
    assert [named["vvgpu"] for name, named in calls if name == "CreateSolver"] == [[list(range(8))] * 4]
    widths = [named["embedding_vec_size"] for name, named in calls if name == "SparseEmbedding"]
    assert widths == [1, case.options["embedding"]]
    hidden = [named for name, named in calls if name == "DenseLayer" and named.get("num_output") == 1024]
    assert len(hidden) == case.options["layers"]
