"""Facts of environments as their sources print them, on the pages of their reports, in both languages.

They are typed from the source documents, and never from our own pages.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from perfledger.ingest.common.words import LANGUAGES
from perfledger.ingest.published import publications
from tests.site.conftest import ROOT
from tests.site.test_reports import markdown

SEG = ("CentOS 6.3", "Tesla V100-SXM2-32GB", "Intel Xeon Gold 6271C 2.60 GHz × 48", "450.80.02", "502 GB")
SINGLE = ("CentOS 7.5", "Intel Xeon Gold 6271C 2.60 GHz × 80", "525.60.11", "630 GB")
A100 = ("A100-SXM4-40GB", "Intel Xeon Gold 6148 2.40 GHz × 160", "525.60.13", "1510 GB")
RESNET_IMAGE = "paddlepaddle/paddle-benchmark:2.5.0-cuda11.2-cudnn8-runtime-ubuntu16.04"
RESNET = (
    "--shm-size=64g", "mlx5_0", "train_list.txt", "paddle_gpu1_pure_fp16_bs256.txt", "100 Gb/s", "0-19",
    "paddle_gpu32_fp32_bs256.txt", "checkout 5bb2e8c339cad16136e310d5c5a0285f20383470", f"docker pull {RESNET_IMAGE}",
    "bash paddle_test_all.sh", "bash paddle_test_multi_node_all.sh",
)  # fmt: skip
FLUID = (
    "Intel Xeon Gold 6148 2.40 GHz", "21,729 MiB", "384.66", "Ubuntu 16.04.3 LTS", "17.05.0-ce", "9, 7.0.1",
    "1.12.0-rc2", "nvidia/cuda:9.0-cudnn7-devel-ubuntu16.04", "paddlepaddle/paddle:latest-dev", "horse2zebra",
    "Cityscapes", "7.1.4", "0.11.0", "tree/v1.12.0-rc2", "LSVRC/2012", "enwiki-latest-pages-articles.xml.bz2",
    "nvidia-docker run -it --name CASE_NAME",
    "FLAGS_fraction_of_gpu_memory_to_use=0.0", "CUDA_VISIBLE_DEVICES=0", "seccomp=unconfined", "use_gpu=True",
)  # fmt: skip
SEG_IMAGE = "paddlepaddle/paddle-benchmark:cuda11.0-cudnn8-runtime-ubuntu16.04-gcc82"
ROUND = (
    "Intel Xeon Gold 5118 2.30 GHz", "Ubuntu 16.04.4 LTS", "440.33.01", "MT27700", "12-23,36-47", "PIX", "1.15.2",
    "1.5.0a0+8f84ded", "1.8.3.post107", "46ff3707", "26c26761", "4b119d73", "fed7ba99", "e470c215", "f9a8a284b8",
    "7b7bf602", "APEX",
    "nvcr.io/nvidia/tensorflow:20.03-tf1-py3", "nvcr.io/nvidia/mxnet:20.03-py3", "nvcr.io/nvidia/pytorch:20.03-py3",
)  # fmt: skip
WIDE_DEEP = ("v0.2.0-83-gb16a8d42f", "42c5515", "2.2", "nvidia/cuda:11.0-cudnn8-devel-ubuntu18.04", "12-23,36-47")
FACES = ("0.3.4", "1705ae5b", "a9beb609", "2021-01-20", "200000, 400000, 500000, 550000", "cosface", "GDC", "0.0005")
EXAMPLES = "github.com/NVIDIA/DeepLearningExamples/tree/master"
FRONT = ("V100-SXM2-16GB", "V100-SXM2-32GB", "max_seq_len", "128", "248", "DALI", "XLA", "NGC TensorFlow 1.15")
LINKS_2021 = (
    f"{EXAMPLES}/TensorFlow", f"{EXAMPLES}/PyTorch", f"{EXAMPLES}/MxNet", "containers/nvidia:tensorflow/tags",
    "containers/nvidia:pytorch/tags", "containers/nvidia:mxnet/tags", "ResNet50V1.5/OtherReports/MxNet",
    "Bert/OtherReports/TensorFlow",
)  # fmt: skip
#: The edition with pending cells: its commit, branch, data set, steps and the names of its logs, all its own.
PENDING = (
    "318dd24cf3c7788f3fe88c7ccb910a09e6f469e5", "benchmark", "37724b19b6e5d41f9f147936d60b3c29", "cityscapes.tar",
    "fp16", "paddle_gpu1_fp32_bs2", "paddle_gpu8_fp32_bs2", "paddle_gpu32_fp32_bs2", "paddle_gpu1_amp_bs4",
    "paddle_gpu8_amp_bs4", "paddle_gpu32_amp_bs4", "NGC PyTorch", "--shm-size=1g", "memlock=-1", "stack=67108864",
    "NVIDIA_VISIBLE_DEVICES=all", "wget https:", "md5sum", "pip install paddleseg", "mv cityscapes PaddleSeg/data/",
)  # fmt: skip
#: Per page what it must print, and what its source does not print.
FACTS = {
    "perf-deeplabv3p": ((*SEG, SEG_IMAGE, "8.0.5", "develop"), (*SINGLE, *A100)),
    "perf-deeplabv3p-pending": ((*SEG, SEG_IMAGE, "8.0.5", "develop", *PENDING), (*SINGLE, *A100, "1f49e5c")),
    "perf-pytorch-deeplabv3p": (SEG, (*SINGLE, *A100)),
    "perf-hrnet": (SINGLE, A100),
    "perf-pytorch-hrnet": (SINGLE, A100),
    "perf-resnet50": ((*SINGLE, *A100, *SEG, RESNET_IMAGE, "2.5.0.post112", "11.2, 8.2", *RESNET), ()),
    "perf-2021": ((*FRONT, *LINKS_2021), ()),
    "dlperf-round": (ROUND, ("49ec0bd7", "5cc03caa")),
    "dlperf-summaries": (("0.3.4", "2021-01-20", "28,594", "0.5", "224", "196", "49ec0bd7", "5cc03caa"), ("46ff3707",)),
    "dlperf-wide-deep": (WIDE_DEEP, ()),
    "dlperf-insightface": (FACES, ("5118", "440.33.01")),
    "dlperf-gpt": (("V100-SXM2-16GB",), ("5118", "440.33.01", "384 GB")),
    "fluid-guide": (FLUID, ()),
}
#: Image, and image with its digest, to the place where somebody saw it printed.
SEEN = tomllib.loads(Path(__file__).with_name("images.toml").read_text("utf-8"))
#: Names of images: of any registry where a recipe names them, and of these makers in texts.
IMAGE = re.compile(r"(?:nvcr\.io/[\w./-]+|paddlepaddle/[\w.-]+|oneflowinc/[\w.-]+|nvidia/cuda):[\w.-]*\w")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", FACTS)
def test_a_report_prints_the_facts_of_its_own_source(page: str, language: str) -> None:
    printed, absent = FACTS[page]
    text = re.sub(r"<[^>]+>", " ", markdown()[language, f"reports/{page}.md"])
    assert [each for each in printed if each not in text] == []
    assert [each for each in absent if each in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_front_page_counts_figures_and_no_cells_without_one(real_pages: Path, language: str) -> None:
    rows = publications.read([ROOT / "raw_logs" / "published"]).rows
    figures = [row for row in rows if row.state == "measured"]
    assert 0 < len(figures) < len(rows)
    text = re.sub(r"<[^>]+>", " ", (real_pages / language / "index.md").read_text("utf-8"))
    assert f"{len(figures):,}" in text
    assert not re.search(rf"\b{len(rows):,}\b(?!–)", text)  # a published range may begin with the same number


def test_images_are_those_that_somebody_saw_printed() -> None:
    recipes = [path.read_text("utf-8") for path in (ROOT / "runners" / "recipes").rglob("*.toml")]
    containers = [found for each in recipes if (found := tomllib.loads(each).get("container"))]
    named = {each["image"] for each in containers}
    named |= {f"{each['image']}@{each['digest']}" for each in containers if "digest" in each}
    for path in (ROOT / "report_templates").rglob("*.toml"):
        named |= set(IMAGE.findall(path.read_text("utf-8")))
    named |= {image for each in recipes for image in IMAGE.findall(each)}
    assert named == set(SEEN)
    assert all(place.strip() for place in SEEN.values())
