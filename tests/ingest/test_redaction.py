"""Redaction removes secrets, and keeps similar text."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import run_json, seg
from made_trees import Called, contents, unpacked, write_run

from perfledger.schema.redaction import redact as redact_module
from perfledger.schema.redaction.names import Names, names_in
from perfledger.schema.redaction.redact import UNREADABLE, Finding, redact, redacted, redacted_text
from perfledger.schema.redaction.rules import every_rule
from perfledger.schema.visible import visible
from tests.planted_secrets import PLANTED, TOKEN, drawn

EVERY = [each for group in PLANTED.values() for each in group]
HEX = "0123456789abcdef"

SPARED = (
    "layer4.3.0.2.1.conv1.weight",
    "3.0.2.1",
    "bos_token: '<s>'",
    " - wandb_api_key                 : None\x1b[0m",
    '{"hub_token": null, "api_key": null, "password": false}',
    "eos_token='</s>'",
    "/job:localhost/replica:0/task:0/device:GPU:0",
    "127.0.0.1:6379",
    "8.8.8.8",
    "version 10.2.89",
    "CUDA 10.2, cuDNN 7.6.5",
    "10.1",
    "driver 450.80.02",
    "tokens/s 39725.311",
    "max tokens per GPU = 5120",
    "words/sec",
    "ips: 907.69492 samples/sec.",
    "num_tokens: 454782",
    "pad_token_id=0",
    "tokenizer=bert-base-uncased",
    "mask_token: [MASK]",
    "--max_tokens 4096",
    "tokens: 454782, ips: 8374.39",
    "root mean square",
    "a/b/c",
    "logs/home/run.log",
    "train.log",
    "model.local_rank",
    "torch.distributed.launch",
    "os.path.join",
    "python -m ingest raw_logs/",
    "https://github.com/PaddlePaddle/PaddleClas",
    "@decorator",
    "a @ b",
    "resnet50/pytorch/cpu-n1d1-bs16-fp32/3/train.log",
    "AMD EPYC (family 25, model 17), 2 cores (CPU)",
    "job:worker",
    "key=value",
    "dataset/fake/train_1600.txt",
    "2.13.0+cpu",
    "ppcls/configs/ImageNet/ResNet/ResNet50.yaml",
    "monkey=1",
    "secretary: none",
    "0bb6" + HEX,
    "V100-SXM2-32GB",
    "2026-11-20T14:08:16Z",
    "x86_64-linux-gnu",
    "train.py --local_rank=0",
    "sk-learn",
    "1.10.10.10.3",
    "cuDNN version 8.9.2.26",
    "driver 525.60.11.1, nccl 2.18.3.1",
    "layer 3.0.2.1: Conv2d",
    "bind to 0.0.0.0:8080",
    "node: 0, host: localhost, nodes: 8",
    "std::vector<at::Tensor>, c10::detail, at::add",
    "[epoch:3] *** best, [1,0]<stdout>: x, [2:700] *** saved ***",
    "elapsed 12:34:56, 1:02:03:04",
    "00000000:3B:00.0",
    "loss: 2.5e-05, epoch: [1/90]",
    r"\n escaped \t text",
    "user error, users: 5",
    "host memory 12.5 GiB",
    "from 1.2.3 to 1.2.4",
    "machine learning: 3",
    "NVIDIA/DeepLearningExamples@e470c215, Oneflow-Inc/OneFlow-Benchmark@gpt2_big_fc_osdi_test_1207",
    "NVIDIA/HugeCTR@v3.2 (samples/wdl), apex@2ba83ee8, actions/checkout@v4",
    "commit 9e64edec2ad1fb9263bf39ba616a8f1b2c3d4e5f",
    "sha256:3a8df094c671b4cb63ed0b41f40fb3bd855e9ce2e3765e5df50abcdfb5ec144b",
    "md5-0cc175b9c0f1b6a831c399e269772661, sha256_3a8df094c671b4cb63ed0b41f40fb3bd855e9ce2e3765e5df50abcdfb5ec144b",
    "nvcr.io/nvidia/pytorch:25.03-py3, nvcr.io/nvidia/pytorch@sha256:3a8df094c671b4cb63ed0b41f40fb3bd855e9ce2e3765e5d",
    "meta-llama/Llama-3.2-1B-Instruct, Qwen/Qwen2.5-VL-72B-Instruct-AWQ, deeplabv3plus_r50-d8_512x1024_80k_cityscapes",
    "resnet50_v1c-2cccc1ad.pth, bert_large_uncased_L-24_H-1024_A-16, hf_hub_download, gpt2-xl-1558M-megatron-8x80GB",
    "DeepLabV3PlusResNet50OS16, Qwen2VLForConditionalGeneration, FasterRCNN_ResNet50_FPN_V2_Weights.COCO_V1",
    "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn, _ZN2at6native29vectorized_elementwise_kernelILi4E",
    "torch-2.6.0+cu124-cp311-cp311-manylinux_2_28_x86_64.whl, NVIDIA-H100-80GB-HBM3, MI300X-O-192GB",
    "/usr/lib/python3.12/site-packages/torch, /workspace/bert/run.py, /opt/conda/bin, /proc/self/status, /path/to/data",
    "/results, /data/imagenet, 3.5 it/s, and/or, 1/2, samples/sec/gpu, train/loss, model/layer1/conv",
    "https://github.com/NVIDIA/DeepLearningExamples/tree/master/PyTorch, https://huggingface.co/bert-base-uncased",
    "key: model.layers.0.weight, token: <pad>, forward_pass: 12.5ms, password_file: none",
    "cache_key=0cc175b9c0f1b6a831c399e2",
    "--pad_token PAD --master_port 29500, rdzv_backend=c10d, MASTER_ADDR=localhost, hosts: 8, node_rank: 0",
    "torch.Size([32, 3, 224, 224]), float32[64,1024], 64x3x224x224, 2026-11-20T14:08:16.123456Z, 1.2e-05",
    "on shard-00012, on step-0100, node: 3, worker 3, nodes=2, Node 3 failed, on resnet50, on a100, on coco2017",
    "'trt_version': '10.13.3.9', TensorRT 10.9.0.34+cuda12.8, tensorrt==10.9.0.34",
)


@pytest.mark.parametrize("kind", sorted({each.kind for each in EVERY}))
def test_each_member_of_a_kind_is_redacted(kind: str) -> None:
    for each in (each for each in EVERY if each.kind == kind):
        found = "\n".join(redacted_text(each.text.split("\n"), names_in([each.text]))[0])
        assert not [secret for secret in each.secrets if secret in found], each.text


def test_no_literal_that_a_rule_needs_is_idle() -> None:
    """Literals are compared in lower case, and an unused literal makes its rule slower."""
    for rule in every_rule().rules:
        assert all(need == need.lower() for need in rule.needs), rule.id


def test_each_rule_finds_a_planted_secret() -> None:
    found = {rule.id for each in EVERY for rule in every_rule().rules if any(rule.matches(each.text, 1))}
    assert {each.id for each in every_rule().rules} - found == set()


@pytest.mark.parametrize("text", SPARED)
def test_similar_text_that_is_not_secret_stays(text: str) -> None:
    assert redacted(text) == visible(text)


#: Texts in the middle of a key that a terminal does not show, or that only wrap it.
BREAKS = {
    "style": "\x1b[1;31m",
    "link": "\x1b]8;;https://x\x1b\\",
    "nul": "\0",
    "soft hyphen": "\xad",
    "no width": "\u200b",
    "quotes": "''",
    "shell": "'\"",
    "sum": '" + "',
    "next string": '" "',
    "next line": '"\n    "',
}


@pytest.mark.parametrize("at", [2, 4, 20])
@pytest.mark.parametrize("between", BREAKS.values(), ids=BREAKS)
def test_a_broken_key_is_found(between: str, at: int) -> None:
    found = redacted(f'x = "{TOKEN[:at]}{between}{TOKEN[at:]}" y')
    assert not any(part in found for part in (TOKEN[:at], TOKEN[at:], TOKEN[-8:]))
    assert found.startswith("x = ")
    assert found.endswith(" y")


@pytest.mark.parametrize("columns", [64, 80, 120, 211])
@pytest.mark.parametrize("begins", [40, 50, 59])
def test_a_key_that_a_terminal_wrapped_is_found(columns: int, begins: int) -> None:
    whole = f"{'.' * (columns - 60)}{' ' * begins}{TOKEN} is the key"
    lines = [whole[at : at + columns] for at in range(0, len(whole), columns)]
    found = "".join(redacted_text(["before", *lines, "after"])[0])
    assert not {TOKEN[at : at + 6] for at in range(4, 34)} & {found[at : at + 6] for at in range(len(found))}
    assert found.endswith("is the keyafter")


def test_a_long_key_may_be_wrapped_more_than_once() -> None:
    token = ".".join(("eyJhbGciOiJIUzI1" + drawn("62", 60), drawn("62", 90), drawn("62", 70)))
    lines = [f"{'x' * 30} {token}"[at : at + 80] for at in range(0, 270, 80)]
    found = "".join(redacted_text(lines)[0])
    assert not [at for at in range(0, 230, 8) if token[at : at + 8] in found]


def test_lines_that_only_meet_stay() -> None:
    lines = ["a line that is as long as that of a terminal and ends with the word task", "sk-learn and more of it"]
    assert redacted_text(lines)[0] == lines


def test_findings_have_kind_rule_and_line() -> None:
    lines = ["x", "password:", "hunter2", "10.0.0.1", "-----BEGIN " + "PRIVATE KEY-----", "abc", "z"]
    assert sorted(redacted_text(lines)[1], key=lambda each: each.line) == [
        ("key", "named-key", 2),
        ("address", "network-address", 3),
        ("key", "private-key", 4),
    ]


def test_each_finding_is_reported_once_in_overlapping_blocks() -> None:
    lines = [f"{'.' * 500} 10.0.0.{number % 250}" for number in range(100)]
    assert sorted(each.line for each in redacted_text(lines)[1]) == list(range(100))


def test_text_around_a_secret_stays() -> None:
    assert redacted("at 10.10.0.3:60003, loss 2.5") == "at <address>, loss 2.5"
    assert redacted("--data /home/crim/x --epochs 3") == "--data <path>/x --epochs 3"
    assert redacted("https://me:pw@example.com/x.git") == "https://<credentials>@example.com/x.git"
    assert redacted("password=abc, user=x") == "password=<secret>, user=<user>"


def test_every_text_of_a_document_is_redacted() -> None:
    given = {"/home/a/b": ["10.0.0.1", ("x", {"y": "ssh root@node.local"})], "n": 5, "f": 1.5, "none": None, "t": True}
    assert redact(given) == {
        "<path>/b": ["<address>", ("x", {"y": "ssh <address>"})],
        "n": 5,
        "f": 1.5,
        "none": None,
        "t": True,
    }


def test_lone_surrogates_are_replaced() -> None:
    assert redact("caf\udce9") == "caf\\udce9"


def test_overlong_text_is_cut_out() -> None:
    assert redacted("x" * 30_000) == "<30000 characters>"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 19_000,
        "a." * 9_000,
        "-" * 19_000,
        "a@" * 9_000,
        "https://" * 2_000,
        "/home" * 3_000,
        "10." * 6_000,
        "-----BEGIN PRIVATE KEY-----" * 700,
        "api_" * 4_000,
        "a-" * 9_500 + "key",
        "a-b." * 4_700 + "local",
        "a@a-" * 4_700,
        "'\"" * 9_500,
        "\x1b]" * 9_500,
    ],
)
def test_hostile_text_cannot_hang(text: str) -> None:
    begin = time.process_time()
    redacted(text)
    assert time.process_time() - begin < 5


def test_no_secret_reaches_the_site(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    """The argv, the environment, the notes and the folder's name of a run contain secrets."""
    secret = "hunter2" * 3
    run = run_json(
        argv=["python", "/home/crim/train.py", f"--api_key={secret}", "--master=10.10.0.3:60003"],
        environment={"host": "gpu17.cluster.local", "user": "crim@gpu17.corp"},
        notes=f"pushed to https://me:{secret}@example.com by job-0bb6{HEX}",
        options={"data": "/mnt/nfs/crim/imagenet"},
        source={"repository": "ssh://crim@gpu17.corp/x.git", "commit": "0" * 40},
    )
    write_run(
        tmp_path / "logs", "seg/paddleseg/job-0bb60bb60bb6/1", ["ips: 10.10.0.3", *seg([4.0, *[5.0] * 5])], run=run
    )
    called = ingest(tmp_path / "logs", "--out", tmp_path / "docs", "--json")
    assert called.code == 0, called.err
    written = {name: data for name, data in unpacked(tmp_path / "docs").items() if not name.startswith("assets/")}
    everything = b"".join(written.values()) + called.out.encode()
    names = " ".join(contents(tmp_path / "docs"))
    for word in (secret, "crim", "10.10.0", "gpu17", "0bb60bb6", "/mnt/nfs"):
        assert word.encode() not in everything, word
        assert word not in names, word


def test_secret_at_the_start_of_a_block_is_named_by_the_line_before() -> None:
    """Blocks have about 8,000 characters, and the second one begins with the secret."""
    lines = ["loss 2.5 " * 887, "password:", "hunter2" * 3]
    assert redacted_text(lines)[0][2] == "<secret>"


def test_rest_of_a_log_is_cut_out_after_five_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def never_in_time(text: str, names: Names, seconds: float) -> tuple[str, list[Finding]]:
        tried.append(text)
        raise TimeoutError

    monkeypatch.setattr(redact_module, "_redacted", never_in_time)
    assert redacted_text(["x" * 8_000] * 9)[0] == [UNREADABLE] * 9
    assert len(tried) == 5
