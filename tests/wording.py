"""`python -m tests.wording`: list words in texts of the site that readers stumble over, and their replacements.

A part of `make check`: a list of words is a matter of style, and not a test.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perfledger.ingest.common import words
from perfledger.schema import vocabulary

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ROOT / "report_templates"

#: Patterns that readers stumble over, and their replacements. Code in backticks is not prose.
BANNED = {
    "en": {
        r"\b(?:stands?|stood) (?!for\b)": "is, appears",
        r"\bbeside\b": "next to, with",
        r"\brests? on\b": "comes from, uses",
        r"\b(?:comes?|came|brings?|brought) (?:\w+ ){0,3}home\b": "is saved, is collected",
        r"\bbears? out\b": "supports",
        r"\b(?:held|holds?|holding) (?:\w+ ){0,4}against\b": "compared with",
        r"\bnobody says\b|\bhear of\b": "active voice",
        r"\blies? (?:in|below|beside|under|there|where)\b": "is",
        r"\bis a slip\b": "contains a typo",
        r"\bno figure\b|\b[Ff]igures? (?:that others|of others|published by)\b": "result",
        r"\b[Oo]thers published\b": "published by others",
        r"\b[Tt]hird[- ]part(?:y|ies)\b(?! librar)": "published by others",
        r"\b(?:[Oo]ptimis(?!tic)|[Ss]ynchronis|[Uu]tilis|[Rr]ecognis)\w+": "American spelling",
        r"\b(?:[Bb]ehaviour|[Cc]olour)": "American spelling",
    },
    "zh": {
        "末次|精度（↑）|准确度": "最终 loss, 最终准确率",
        "他人公布|他人发布|已发布的报告|第三方(?:数据|结果|报告|来源)": "第三方公布",
        "案例": "测试配置",
        "收回": "取回",
        "配方": "测试方案（recipe）",
        "遥测": "监控数据",
        "认领": "匹配",
        "离散": "波动",
        "墙钟": "总耗时",
        "自报": "训练脚本汇总值",
        "布局规则|目录约定": "目录布局",
        "评测轮次": "测试轮次",
        "词向量维度": "embedding 维度",
        "占(?:硬件)?峰值比例": "硬件峰值利用率",
        "跑通|手头|再否则|印有|谁最": "written language",
        r"\bline \d|median of|max of": "第 n 行, 中位数",
        r"[\u4e00-\u9fff][,;:!?][\u4e00-\u9fff]": "full-width punctuation",
    },
}
#: Words for cards, which are accelerators: texts about CPUs, too, use 设备. Reports of other publishers are about GPUs.
CARDS = re.compile(r"单卡|卡数|每卡|各卡|[0-9}] 卡")
OF_GPUS = re.compile(r"dlperf|perf|fluid|_|words\.toml: report\.")


def bilingual(found: Any, where: str) -> Iterator[tuple[str, str, str]]:
    """Yield place, language and text of each text in the two languages at any depth."""
    if isinstance(found, dict) and isinstance(found.get("en"), str) and isinstance(found.get("zh"), str):
        yield where, "en", found["en"]
        yield where, "zh", found["zh"]
    for key, inner in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ():
        yield from bilingual(inner, f"{where}.{key}")


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield place, language and text of everything that readers see."""
    for key, entry in words.load().entries.items():
        yield f"words.toml: {key}", "en", entry["en"]
        yield f"words.toml: {key}", "zh", entry["zh"]
    for folder in ("suites", "reports"):
        for path in sorted((TEMPLATES / folder).glob("*.toml")):
            yield from bilingual(tomllib.loads(path.read_text("utf-8")), path.name)
    for name in ("formats.zh.toml", "recipes.zh.toml"):
        for table, entries in tomllib.loads((TEMPLATES / name).read_text("utf-8")).items():
            yield from ((f"{name}: {table}.{key}", "zh", text) for key, text in entries.items())
    for term in (*vocabulary.FACTS.values(), *vocabulary.METRICS.values(), *vocabulary.OUTCOMES.values()):
        yield f"vocabulary.toml: {term.en}", "en", term.meaning
        yield f"vocabulary.toml: {term.en}", "zh", term.meaning_zh
    guides = [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    for path in [*sorted((TEMPLATES / "pages").glob("*.j2")), *guides]:
        language = "zh" if ".zh." in path.name else "en"
        if language == "zh" or ".en." in path.name or path in guides:
            yield path.name, language, re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)


def banned() -> Iterator[str]:
    """Yield each banned word with its place and its replacement."""
    for where, language, text in texts():
        plain = re.sub(r"`[^`]*`|https?://\S+|\{[^}]*\}", "", text)
        for pattern, better in BANNED[language].items():
            yield from (f"{where}: {hit[0]!r}: write {better}" for hit in re.finditer(pattern, plain))


def cards() -> Iterator[str]:
    """Yield the places of texts about all devices that call them cards."""
    for where, language, text in texts():
        if language == "zh" and CARDS.search(text) and not OF_GPUS.match(where):
            yield f"{where}: {text!r}: write 设备 for cards"


def main() -> int:
    """Print all findings, and return 1 if there is one."""
    found = [*banned(), *cards()]
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
