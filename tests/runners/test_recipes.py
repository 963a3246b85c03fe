"""Every recipe loads and all its cases have a command; the commands of some are stated here word by word."""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from parsers.contract import FACTS, OPTIONS
from parsers.engine.registry import by_id
from runners import recipe as recipes
from runners.command import environment_variables, launch_words, trainer_words
from runners.job import NODE_VARIABLES, texts
from runners.recipe import LaunchRecipe, RecipeCase, case_choices, framework_slug, select_cases

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "report_templates" / "suites"
NAMES = recipes.names()
#: Recipes in folders rebuild what others published; those beside the folders are our own workloads.
OF_THE_SOURCES = [name for name in NAMES if recipes.find(name).is_relative_to(recipes.FOLDER / "archive")]
#: Options that no printer states, with what they mean.
OWN_OPTIONS = {
    "loss_scale": "how the loss is scaled in half precision: none, static or dynamic",
    "data_set": "whether images are real or synthetic",
    "dataset": "which faces are trained on",
    "dataloader_workers": "processes that load data, on each machine",
    "graph_kernel_fusion": "whether MindSpore fuses kernels",
    "version": "version or commit of the trainer, where recipes of two of them share a page",
}


@functools.cache
def load(name: str) -> LaunchRecipe:
    return recipes.load(recipes.find(name))


def words(name: str, choices: str = "") -> list[str]:
    """Return the command of the one case that the choices leave, under its launcher."""
    recipe = load(name)
    (case,) = select_cases(recipe, dict(pair.split("=") for pair in choices.split(",") if pair))
    return texts(launch_words(recipe, case, "/data"))


def test_there_are_recipes_in_folders():
    assert {recipes.find(name).parent.name for name in OF_THE_SOURCES} >= {"paddle", "ngc", "dlperf"}


@pytest.mark.parametrize("name", NAMES)
def test_every_case_has_a_command_and_can_be_selected(name):
    recipe = load(name)
    cases = select_cases(recipe, {})
    for case in cases:
        argv = texts(launch_words(recipe, case, "/data"))
        assert all(argv)
        environment_variables(recipe, case, "/data")
        assert select_cases(recipe, case_choices(recipe, case)) == [case]
    assert len({case.slug for case in cases}) == len(cases)


def test_no_two_recipes_share_the_folder_of_a_case():
    folders = Counter(
        (recipe.suite, framework_slug(recipe.framework), case.slug)
        for recipe in map(load, NAMES)
        for case in select_cases(recipe, {})
    )
    assert [folder for folder, times in folders.items() if times > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_format_of_the_records_exists(name):
    assert by_id(load(name).records.format)


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_the_suite_has_a_page_that_knows_the_model(name):
    recipe = load(name)
    suite = tomllib.loads((SUITES / f"{recipe.suite}.toml").read_text("utf-8"))
    assert recipe.model in [suite["models"][0], *(each[0] for each in suite.get("more", []))]


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_options_have_the_names_that_formats_give_them(name):
    recipe = load(name)
    for option in {*recipe.options, *recipe.derived, *recipe.matrix[0].axes} - {"shape", "batch_size", "precision"}:
        known = OPTIONS | OWN_OPTIONS.keys() | {"accumulation"}
        assert option in known, f"{option}: use the name of parsers.contract.OPTIONS, or describe it in OWN_OPTIONS"


def test_own_options_are_used_and_not_facts_of_formats():
    used = {option for name in OF_THE_SOURCES for option in (*load(name).options, *load(name).matrix[0].axes)}
    assert OWN_OPTIONS.keys() <= used - FACTS.keys()


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_recipes_state_source_setup_and_repeats(name):
    recipe = load(name)
    assert recipe.repeats >= 3
    assert recipe.source.repository
    assert recipe.setup.steps or recipe.container
    assert recipe.setup.text or recipe.data.layout
    assert recipe.records.at_least <= recipe.iterations
    if recipe.source.commit:
        checkouts = [step for step in recipe.setup.steps if re.search(rf"checkout {recipe.source.commit}$", step)]
        assert len(checkouts) == 1


#: Recipes that follow a branch: that of a release, or the newest where no commit is known whose source has their
#: arguments.
MOVING = {
    "bert-ngc-tensorflow", "bert-paddle-models", "bert-tensorflow-models", "insightface-classes-oneflow",
    "insightface-r100-oneflow", "insightface-y1-oneflow", "resnet50-paddle-models", "resnet50-tensorflow-models",
    "wide-deep-oneflow-models",
}  # fmt: skip
#: How the tags begin that recipes name.
TAG = re.compile(r" --branch (?:v|core_v)\d")


def moving(steps: Sequence[str]) -> list[str]:
    """Return the folders that setup steps clone without a tag, and check out at nothing."""
    cloned = [step.rpartition(" ")[2] for step in steps if " git clone " in step and not TAG.search(step)]
    return [folder for folder in cloned if not any(step.startswith(f"git -C {folder} checkout ") for step in steps)]


def test_recipes_clone_what_does_not_move():
    assert {name for name in NAMES if moving(load(name).setup.steps)} == MOVING
    assert [name for name in MOVING if load(name).source.commit] == []


def test_recipes_of_one_folder_of_sources_fetch_the_same():
    """A folder that is there is not cloned again, so that the second recipe would run what the first one fetched."""
    fetched: dict[str, set[tuple[str, ...]]] = {}
    for name in NAMES:
        steps = load(name).setup.steps
        for folder in (step.rpartition(" ")[2] for step in steps if " git clone " in step):
            own = tuple(step for step in steps if re.search(rf"(test|git) -[dC] {re.escape(folder)} ", step))
            fetched.setdefault(folder, set()).add(own)
    assert {folder: ways for folder, ways in fetched.items() if len(ways) > 1} == {}


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_recipes_say_what_the_folder_of_data_holds(name):
    recipe = load(name)
    if any("{data}" in word for word in (*recipe.command, *recipe.environment_variables.values())):
        assert (recipe.data.layout and recipe.data.below == "{data}") or "--data names" in recipe.setup.text


def test_the_checksum_is_of_what_the_address_gives():
    stated = [load(name).data for name in NAMES if load(name).data.checksum]
    assert [(each.address.rpartition("/")[2], each.checksum) for each in stated] == [
        ("cityscapes.tar", "md5 37724b19b6e5d41f9f147936d60b3c29")
    ]


@pytest.mark.parametrize("name", OF_THE_SOURCES)
def test_commands_write_nothing_but_logs_to_the_folder_of_ranks(name):
    recipe = load(name)
    for word in (*recipe.command, *recipe.environment_variables.values()):
        assert "{ranks}" not in word or word.endswith("{ranks}/paddle")


@pytest.mark.parametrize("name", [name for name in OF_THE_SOURCES if "samples_per_update" in load(name).slots])
def test_samples_per_update_are_batch_size_times_accumulation(name):
    recipe = load(name)
    for case in select_cases(recipe, {}):
        samples = case.batch_size * int(case.options["accumulation"])
        assert f"--train_batch_size={samples}" in texts(trainer_words(recipe, case, "/data"))


@pytest.mark.parametrize("name", ["gpt-megatron", "gpt-oneflow"])
def test_model_parallel_cases_use_all_devices_and_whole_micro_batches(name):
    for case in select_cases(load(name), {}):
        cut = {key: int(case.options[key]) for key in ("data_parallel", "tensor_parallel", "pipeline_parallel")}
        assert cut["data_parallel"] * cut["tensor_parallel"] * cut["pipeline_parallel"] == case.devices
        assert case.batch_size * case.devices % (int(case.options["micro_batch"]) * cut["data_parallel"]) == 0


PADDLECLAS = [
    "-o", "Global.print_batch_step=10", "-o", "Global.save_interval=1000", "-o",
    "DataLoader.Train.loader.num_workers=8", "-o", "Global.eval_during_train=False", "-o",
    "fuse_elewise_add_act_ops=True", "-o", "enable_addto=True", "-o", "DataLoader.Train.dataset.image_root=/data/",
    "-o", "DataLoader.Train.dataset.cls_label_path=/data/train_list_204800.txt",
]  # fmt: skip
RAPORT = ["--raport-file", "benchmark.json"]
NGC_PYTORCH = [
    "./main.py",
    "--arch",
    "resnet50",
    "-b",
    "256",
    "--training-only",
    "-p",
    "1",
    "--raport-file",
    "benchmark.json",
]
NGC_TENSORFLOW = [
    "python3", "main.py", "--arch=resnet50", "--mode=training_benchmark", "--iter_unit=batch", "--num_iter=500",
    "--warmup_steps=200", "--display_every=5", "--batch_size=256", "--xla",
]  # fmt: skip
ONEFLOW = [
    "--batch_size_per_device=128", "--num_epochs=1", "--train_data_dir=/data/train", "--train_data_part_num=256",
    "--model=resnet50", "--optimizer=sgd", "--learning_rate=0.256", "--momentum=0.875", "--label-smoothing=0.1",
    "--loss_print_every_n_iter=1", "--model_save_dir={output}/snapshots", "--log_dir={output}/log",
]  # fmt: skip

#: Recipe, the choices that leave one case, and its whole command.
ARGV: list[tuple[str, str, list[str]]] = [
    (
        "resnet50-ngc-pytorch", "nodes=1,devices=1,precision=fp32",
        ["python", "-u", *NGC_PYTORCH, "--epochs", "1", "--prof", "100", "/data"],
    ),
    (
        "resnet50-ngc-pytorch", "nodes=4,devices=32,precision=amp",
        [
            "python", "-m", "torch.distributed.launch", "--nnodes", "4", "--nproc_per_node", "8", "--node_rank",
            "{node_rank}", "--master_addr", "{master_address}", "--master_port", "{master_port}", "--use_env",
            *NGC_PYTORCH, "--amp", "--static-loss-scale", "256", "--epochs", "1", "--prof", "100", "/data",
        ],
    ),
    (
        "resnet50-ngc-tensorflow", "nodes=1,devices=1,precision=fp32",
        [*NGC_TENSORFLOW, "--data_dir=/data", "--results_dir={output}"],
    ),
    (
        "resnet50-ngc-tensorflow", "nodes=4,devices=32,precision=amp",
        [
            "mpirun", "--allow-run-as-root", "--tag-output", "-np", "32", "-H", "{host_slots}", "-x", "PYTHONPATH",
            "-x", "TF_CPP_MIN_LOG_LEVEL", "-bind-to", "none", "-map-by", "slot", *NGC_TENSORFLOW, "--amp",
            "--static_loss_scale=128", "--data_dir=/data", "--results_dir={output}",
        ],
    ),
    (
        "resnet50-ngc-mxnet", "nodes=1,devices=8,precision=fp16",
        [
            "python", "benchmark.py", "-n", "8", "-b", "256", "--dtype", "float16", "-o",
            "{output}/benchmark_report.json", "-i", "500", "-e", "3", "-w", "1", "--mode", "train", "--num-examples",
            "32000", "--data-root", "/data",
        ],
    ),
    (
        "resnet50-paddleclas", "nodes=1,devices=1,precision=fp32",
        [
            "python", "-u", "ppcls/static/train.py", "-c", "ppcls/configs/ImageNet/ResNet/ResNet50.yaml", "-o",
            "DataLoader.Train.sampler.batch_size=256", "-o", "Global.seed=1234", "-o", "Global.epochs=1", *PADDLECLAS,
        ],
    ),
    (
        "bert-gluonnlp", "nodes=2,devices=16,precision=fp32,batch_size=32",
        [
            "horovodrun", "-np", "16", "-H", "{host_slots}", "--start-timeout", "600", "python3", "-u",
            "run_pretraining.py", "--model", "bert_12_768_12", "--data", "/data/*.npz", "--total_batch_size", "512",
            "--accumulate", "1", "--num_steps", "200", "--log_interval", "1", "--ckpt_interval", "100000", "--ckpt_dir",
            "{output}/checkpoints", "--max_seq_length", "128", "--max_predictions_per_seq", "20", "--lr", "1e-4",
            "--warmup_ratio", "0.01", "--dtype", "float32", "--comm_backend", "horovod",
        ],
    ),
    (
        "resnet50-oneflow", "nodes=1,devices=8,precision=fp32,batch_size=128",
        [
            "bash", "-c", """exec python3 of_cnn_train_val.py --num_examples="$(($1 * $2))" "${@:3}" """, "trainer",
            "120", "1024", "--num_nodes=1", "--node_ips={addresses}", "--gpu_num_per_node=8", *ONEFLOW,
        ],
    ),
    (
        "wide-deep-oneflow", "devices=32,vocabulary=819200000",
        [
            "python3", "wdl_train_eval.py", "--num_nodes=4", "--node_ips={addresses}", "--gpu_num_per_node=8",
            "--batch_size=16384", "--max_iter=1200", "--loss_print_every_n_iter=20", "--eval_interval=0",
            "--learning_rate=0.001", "--deep_dropout_rate=0", "--train_data_dir=/data/train",
            "--train_data_part_num=256", "--train_part_name_suffix_length=5", "--hidden_units_num=7",
            "--hidden_size=1024", "--wide_vocab_size=819200000", "--deep_vocab_size=819200000",
            "--deep_embedding_vec_size=32", "--model_save_dir={output}/snapshots",
        ],
    ),
    (
        "insightface-r100-arcface", "devices=4,batch_size=96,parallel=model_parallel",
        [
            "python3", "-u", "train_parall.py", "--network", "r100", "--loss", "arcface", "--dataset", "emore",
            "--per-batch-size", "96", "--frequent", "10", "--ckpt", "0", "--verbose", "1000000",
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "choices", "expected"), ARGV, ids=[f"{name} {choices}" for name, choices, _ in ARGV])
def test_whole_commands(name, choices, expected):
    assert words(name, choices) == expected


#: Recipe, the choices that leave one case, and words that stand in its command one after another.
PARTS = """
resnet50-paddleclas          | nodes=4,devices=32,precision=fp16         | -o Global.epochs=32
resnet50-paddleclas          | nodes=4,devices=32,precision=fp16         | ImageNet/ResNet/ResNet50_amp_O2_ultra.yaml -o
resnet50-paddleclas          | nodes=1,devices=8,precision=fp32          | --gpus {gpu_ids}
bert-paddlenlp               | nodes=4,devices=32,precision=amp          | --batch_size 96 --use_amp True
bert-paddlenlp               | nodes=4,devices=32,precision=fp32         | --use_amp False --gradient_merge_steps 88
transformer-big-paddlenlp    | devices=32,precision=fp32                 | ../configs/perfledger.big.2560.fp32.1000.yaml
transformer-big-paddlenlp    | devices=32,precision=fp32                 | train.py --distributed --config
transformer-base-paddlenlp   | devices=1,precision=amp                   | train.py --config
transformer-ngc-pytorch      | devices=32,precision=fp16                 | {output}/checkpoint --fp16
transformer-ngc-pytorch      | devices=8,precision=amp                   | torchrun --nnodes 1 --nproc_per_node 8
deeplabv3p-paddleseg-gpu     | devices=1,precision=amp                   | {output}/output --fp16
hrnet-paddleseg              | devices=1,precision=amp                   | --precision fp16 --amp_level O1
deeplabv3p-mmseg             | devices=8,precision=amp                   | optimizer_config.type=Fp16OptimizerHook
hrnet-mmseg                  | devices=32,precision=fp32                 | torchrun --nnodes 4 --nproc_per_node 8
bert-ngc-tensorflow          | devices=32,precision=amp,batch_size=96    | --num_accumulation_steps=88
bert-ngc-pytorch             | devices=1,precision=fp16,batch_size=128   | --fp16 --gradient_accumulation_steps=528
bert-ngc-pytorch-2020        | devices=4,batch_size=64,loss_scale=static | --fp16 --loss_scale=128.0
bert-ngc-tensorflow-2020     | devices=16,batch_size=96                  | horovodrun -np 16 -H {host_slots}
resnet50-ngc-pytorch-2020    | devices=16,loss_scale=dynamic             | --amp --dynamic-loss-scale
resnet50-ngc-mxnet-2020      | devices=16,precision=fp16                 | 4096 --dtype float16 --num-epochs
resnet50-ngc-mxnet-2020      | devices=16,precision=amp                  | --dtype float16 --amp
resnet50-ngc-mxnet-2020      | devices=4,precision=amp                   | --gpus 0,1,2,3 --batch-size 1024
resnet50-ngc-tensorflow-2020 | devices=8,xla=true,dali=true              | --xla --dali --data_idx_dir=/data/dali_idx
resnet50-ngc-tensorflow-2020 | devices=8,data_set=synthetic              | scale=128 --results_dir={output}
bert-tensorflow-models       | devices=16,batch_size=96,xla=true         | --num_gpus=8 --train_batch_size=1536
resnet50-tensorflow-models   | devices=8,batch_size=320,xla=false        | --enable_xla=false --dtype=fp16
bert-oneflow                 | devices=16,batch_size=160,clip=false      | --num_nodes=2 --node_ips={addresses}
insightface-r100-oneflow     | devices=32,batch_size=120                 | --partial_fc=1 --sample_ratio=0.1
insightface-y1-oneflow       | devices=8,batch_size=350                  | --model_parallel=0 --partial_fc=0
insightface-y1-arcface       | devices=1,batch_size=368                  | train.py --network y1
insightface-r100-partial-fc  | devices=32,batch_size=104                 | --tag-output -np 32
insightface-classes-oneflow  | devices=8,num_classes=13500000            | --num_classes=13500000
wide-deep-oneflow-models     | devices=8,batch_size=262144               | --batch_size 2097152
gpt-megatron                 | devices=32,pipeline_parallel=2            | --tensor-model-parallel-size 8
gpt-megatron                 | devices=32,pipeline_parallel=2            | --micro-batch-size 8 --global-batch-size 512
gpt-oneflow                  | devices=16,hidden=3072                    | --num-nodes 2 --node-ips {addresses}
gpt2-small-deepspeed         | devices=32,zero=1,checkpointing=none      | deepspeed --hostfile {hostfile} --num_nodes 4
gpt2-small-deepspeed         | devices=8,zero=0,checkpointing=full       | --deepspeed_config perfledger.zero0.4.json
resnet50-mindspore-zoo       | devices=32,precision=amp                  | --run_distribute=True --device_num=32
bert-mindspore-zoo           | devices=1,batch_size=96                   | --enable_graph_kernel=true
resnet50-v1b-gluoncv         | devices=2,precision=fp32                  | --batch-size 128 --dtype float32
bert-paddle-models           | devices=16,batch_size=160                 | ips={addresses} --node_ip={address}
resnet50-paddle-models       | devices=8,batch_size=196                  | --use_dali=true --use_amp=true
word2vec-paddlerec           | nodes=32,reader=DataSet,sync_mode=geo     | perfledger.100.DataSet.geo.16.5.yaml
wide-deep-hugectr            | devices=32,vocabulary=819200000           | --nodes 4 --devices-per-node 8
"""
ROWS = [tuple(cell.strip() for cell in line.split("|")) for line in PARTS.strip().splitlines()]


@pytest.mark.parametrize(("name", "choices", "part"), ROWS, ids=[" ".join(row) for row in ROWS])
def test_parts_of_commands(name, choices, part):
    assert part in " ".join(words(name, choices))


def test_every_recipe_in_a_folder_has_a_tested_command():
    tried = {"resnet50-pytorch-examples", "ctr-dnn-paddlerec", "wide-deep-paddlerec"}  # in test_recipe_programs.py
    same_but_for_variables = {"insightface-classes-partial-fc"}
    looked_at = {name for name, *_ in [*ARGV, *ROWS]}
    assert looked_at | tried | same_but_for_variables >= set(OF_THE_SOURCES)


def test_megatrons_log_is_that_of_the_last_node():
    assert load("gpt-megatron").records.node == "last"
    assert "--redirects" not in words("gpt-megatron", "devices=32,pipeline_parallel=2")


RUNS = sorted((ROOT / "raw_logs").rglob("run.json"))


def of_recipes() -> list[tuple[Path, dict[str, Any]]]:
    runs = [(path, json.loads(path.read_text("utf-8"))) for path in RUNS]
    return [(path, run) for path, run in runs if run.get("recipe", {}).get("name") in NAMES]


def current(run: dict[str, Any]) -> bool:
    """Return whether the recipe has not changed since the run."""
    return load(run["recipe"]["name"]).sha256 == run["recipe"]["sha256"]


def test_recorded_runs_agree_with_their_recipes():
    assert RUNS
    runs = [(path, run) for path, run in of_recipes() if current(run)]
    if not runs:
        pytest.skip("no run in raw_logs is of a recipe as it stands now")
    for path, run in runs:
        recipe = load(run["recipe"]["name"])
        (case,) = select_cases(recipe, run["recipe"]["case"])
        assert stated(run["case"]) == facts(case), path
        if "container" not in run["recipe"]:
            assert run["argv"] == texts(launch_words(recipe, case)), path


def stated(case: dict[str, Any]) -> dict[str, Any]:
    return {key: case[key] for key in ("nodes", "devices", "batch_size", "precision", "options")}


def facts(case: RecipeCase) -> dict[str, Any]:
    return stated(structs.asdict(case))


def test_commands_hold_no_unknown_names_in_braces():
    for name in NAMES:
        recipe = load(name)
        for word in texts(trainer_words(recipe, select_cases(recipe, {})[0], "/data")):
            assert set(re.findall(r"(?<!\$)\{([a-z_]+)\}", word)) <= set(NODE_VARIABLES), (name, word)
