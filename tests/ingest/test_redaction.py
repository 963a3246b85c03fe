"""What must not be published is taken out, and what only looks like it stays."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from made_logs import run_json, seg
from made_trees import Called, contents, write_run

from ingest.read import redact as module
from ingest.read.redact import redact, redacted

#: Pattern by its `why`: what it must take out, as (text, what must not be left of it).
#: Assembled from parts, so that no scanner takes these lines for keys.
HEX = "0123456789abcdef"
TAKEN: dict[str, list[tuple[str, str]]] = {
    "private key": [
        ("-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY----- after", "MIIEow"),
        ("-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3BlbnNz", "b3BlbnNz"),
    ],
    "token or key by its shape": [
        ("pushed with gh" + "p_" + "A1b2" * 9, "A1b2A1b2"),
        ("github_" + "pat_" + "11ABCDEFG0" * 3, "11ABCDEFG0"),
        ("login hf" + "_" + "abcdEFGH" * 4, "abcdEFGH"),
        ("glp" + "at-" + "x1y2z3w4v5" * 2, "x1y2z3"),
        ("key AK" + "IA" + "ABCDEFGHIJKLMNOP", "ABCDEFGH"),
        ("temporary AS" + "IA" + "ABCDEFGHIJKLMNOP", "ABCDEFGH"),
        ("AI" + "za" + "Sy0123456789abcdefghijklmnopqrstuvw", "0123456789"),
        ("NGC_KEY nv" + "api-" + "A1b2" * 12, "A1b2A1b2"),
        ("LT" + "AI" + "5tA1b2C3d4E5f6G7", "A1b2C3"),
        ("AK" + "ID" + "z8krbsJ5yKBZQpn74WFkmLPx3", "krbsJ5"),
        ("sk" + "-" + "proj1234567890abcdefgh", "1234567890"),
        ("eyJ" + "hbGciOiJIUzI1" + "." + "eyJzdWIiOiIxMjM0" + "." + "SflKxwRJSMeKKF2QT4", "SflKxw"),
    ],
    "token, password or key by its name": [
        ("--api_key=hunter2hunter2 --epochs 3", "hunter2"),
        ("WANDB_API_KEY: abc123def", "abc123def"),
        ("password = 'correct horse'", "correct"),
        ('"secret_key": "s3cr3t"', "s3cr3t"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUt", "wJalrXUt"),
        ("auth-token:deadbeef", "deadbeef"),
    ],
    "token by its name": [("WANDB_TOKEN=abcd1234", "abcd1234"), ("'hub_token': 'a1b2c3d4e5'", "a1b2c3d4")],
    "token, password or key of a command line": [
        ("--token abcd1234efgh", "abcd1234"),
        ("--hub_token abcdefgh --password hunter2 --x 1", "hunter2"),
    ],
    "password or key of a login": [
        ("docker login -u me -p hunter2hunter2 registry.example.com", "hunter2"),
        ("$ wandb login " + HEX * 2, HEX),
        ("wandb login --relogin " + HEX * 2, HEX),
    ],
    "cookie": [("Set-Cookie: session=abcd1234; Path=/", "abcd1234"), ("'Cookie': 'sid=hunter2'", "hunter2")],
    "address that is itself a key": [
        ("https://hooks.slack.com/services/" + "T0001/B0002/" + "XXabcd1234", "XXabcd1234"),
    ],
    "signature of an address or an account": [
        ("https://x.blob.core.windows.net/c/f?sv=2024&sig=" + "abcd%2F1234%3D", "abcd%2F"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Signature=" + HEX * 4 + "&x=1", HEX),
        ("AccountName=a;AccountKey=" + "abcd1234==;", "abcd1234"),
    ],
    "authorization of a request": [("Authorization: Bearer abcd1234efgh", "abcd1234")],
    "credentials in an address": [
        ("git clone https://me:hunter2@example.com/x.git", "hunter2"),
        ("https://me:hunter2@127.0.0.1:8080/x", "hunter2"),
    ],
    "mail address or user at host": [
        ("author jane.doe+x@example.com wrote", "jane"),
        ("root@localhost: done", "root@"),
    ],
    "private network address": [
        ("endpoints 10.10.0.3:60003,10.10.0.4:60004", "10.10.0"),
        ("bound 192.168.1.17", "192.168"),
        ("172.16.5.4 and 172.31.255.1", "172."),
    ],
    "public network address": [
        ("tcp://203.0.113.7", "203.0.113"),
        ("listening on 203.0.113.7", "203.0.113"),
        ("master_addr=203.0.113.7", "203.0.113"),
        ("peer 198.51.100.23:29500 joined", "198.51"),
    ],
    "network address, version 6": [
        ("fe80::1ff:fe23:4567:890a%eth0", "fe23"),
        ("2001:db8:85a3:0:0:8a2e:370:7334", "8a2e"),
        ("[2001:db8::7334]:29500", "7334"),
    ],
    "hardware address of a network card": [
        ("ether 0c:42:a1:5e:9b:f0 txqueuelen", "a1:5e"),
        ("0C-42-A1-5E-9B-F0", "A1-5E"),
    ],
    "host name in front of NCCL's lines": [("dgx-a100-07:4242:4299 [0] NCCL INFO NET/IB : Using", "a100-07")],
    "user, account or host of a batch system": [
        ("SLURM_JOB_USER=jdoe", "jdoe"),
        ("SLURM_JOB_NODELIST=gpu[001-004]", "gpu"),
        ("HOSTNAME=trainer", "trainer"),
    ],
    "machine by its name": [("node: gpu-node-07", "gpu-node"), ('"hostname": "dgx17"', "dgx17")],
    "paths of Windows": [
        ("C:\\Users\\jane\\x.pt", "jane"),
        ("at \\\\fileserver\\share\\jane", "jane"),
    ],
    "internal host name": [
        ("initialized host node17.cluster.local", "node17"),
        ("ssh gpu-01.corp", "gpu-01"),
        ("db.internal:5432", "db.int"),
    ],
    "job id of a cluster": [
        ("job-0bb6" + HEX + " started", "0bb6"),
        ("17.app-user-20220601-abc--train_conv_paddlecloud", "20220601"),
    ],
    "home and cluster paths": [
        ("/home/crim/models/x.pt", "crim"),
        ("reading '/ro" + "ot/paddlejob/workspace/a.py'", "paddlejob"),
        ("/home/disk1/task_data/history/20220601/12.app-user-x/logs", "task_data"),
        ("file:/Users/jane/x", "jane"),
        ("/mnt/nfs/team/run", "team"),
    ],
}

SPARED = (
    "layer4.3.0.2.1.conv1.weight",
    "3.0.2.1",
    "bos_token: '<s>'",
    "eos_token='</s>'",
    "/job:localhost/replica:0/task:0/device:GPU:0",
    "127.0.0.1:6379",
    "8.8.8.8",
    "version 10.2.89",
    "CUDA 10.2, cuDNN 7.6.5",
    "10.1",
    "driver 450.80.02",
    "172.15.1.1 172.32.1.1",
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
    "elapsed 12:34:56, 1:02:03:04",
    "00000000:3B:00.0",
    "loss: 2.5e-05, epoch: [1/90]",
    r"\n escaped \t text",
    "user error, users: 5",
    "host memory 12.5 GiB",
    "from 1.2.3 to 1.2.4",
    "machine learning: 3",
)


def test_every_pattern_is_tried() -> None:
    patterns = tomllib.loads(module._FILE.read_text("utf-8"))["secret"]
    assert sorted(TAKEN) == sorted(each["why"] for each in patterns)


@pytest.mark.parametrize(("text", "secret"), [pair for pairs in TAKEN.values() for pair in pairs])
def test_secrets_are_taken_out(text: str, secret: str) -> None:
    assert secret in text
    found = redacted(text)
    assert secret not in found
    assert "<" in found


@pytest.mark.parametrize("why", TAKEN)
def test_each_pattern_alone_takes_out_its_own(why: str) -> None:
    """Without the pattern at least one of its secrets would stay: no pattern is idle."""
    import regex

    others = [each for each in tomllib.loads(module._FILE.read_text("utf-8"))["secret"] if each["why"] != why]
    left = []
    for text, secret in TAKEN[why]:
        for each in others:
            text = regex.sub(each["pattern"], each["by"], text)
        left.append(secret in text)
    assert any(left)


@pytest.mark.parametrize("text", SPARED)
def test_similar_text_that_is_not_secret_stays(text: str) -> None:
    assert redacted(text) == text


def test_what_surrounds_a_secret_stays() -> None:
    assert redacted("at 10.10.0.3:60003, loss 2.5") == "at <private address>, loss 2.5"
    assert redacted("--data /home/crim/x --epochs 3") == "--data <path> --epochs 3"
    assert redacted("https://me:pw@example.com/x.git") == "https://<credentials>@example.com/x.git"
    assert redacted("password=abc, user=x") == "password=<secret>, user=x"


def test_every_text_of_a_document_is_redacted() -> None:
    given = {"/home/a/b": ["10.0.0.1", ("x", {"y": "ssh root@node.local"})], "n": 5, "f": 1.5, "none": None, "t": True}
    assert redact(given) == {
        "<path>": ["<private address>", ["x", {"y": "ssh <address>"}]],
        "n": 5,
        "f": 1.5,
        "none": None,
        "t": True,
    }


def test_lone_surrogates_are_replaced() -> None:
    assert redact("caf\udce9") == "caf?"


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
    ],
)
def test_hostile_text_cannot_hang(text: str) -> None:
    begin = time.process_time()
    redacted(text)
    assert time.process_time() - begin < 5


def test_no_secret_reaches_the_site(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    """Secrets in the argv, the environment, the notes and the folder's name of a run."""
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
    written = {name: data for name, data in contents(tmp_path / "docs").items() if not name.startswith("assets/")}
    everything = b"".join(written.values()) + called.out.encode()
    names = " ".join(contents(tmp_path / "docs"))
    for word in (secret, "crim", "10.10.0", "gpu17", "0bb60bb6", "/mnt/nfs"):
        assert word.encode() not in everything, word
        assert word not in names, word
