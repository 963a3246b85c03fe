"""Templates of lines: the texts that each sign matches, and those that it does not match."""

from __future__ import annotations

import re

import pytest

from perfledger.parsers.contract import Fact, FormatError, Reading
from perfledger.parsers.contract.template import compiled_line, compiled_text

BAR = "[Train][Epoch {epoch}/{total_epochs}]{*}batch_cost: {step_seconds:s}, ips: {throughput} {samples|images}/s"


def found(template: str, line: bytes) -> dict[str, bytes | None]:
    match = re.search(compiled_line(template)[0], line)
    return match.groupdict() if match else {}


@pytest.mark.parametrize(
    ("template", "line", "values"),
    [
        ("step {step} of {total_steps}:", b"step 3 of 10:", {"step": b"3", "total_steps": b"10"}),
        ("step {step} | loss: {loss},", b"step    3 | loss:  2.5e-1,", {"step": b"3", "loss": b"2.5e-1"}),
        ("iter {step}: time {step_seconds:ms}", b"iter 1: time 125.50ms, x", {"step": b"1", "step_seconds": b"125.50"}),
        ("iter {step}: time {step_seconds:ms}", b"iter 1: time 125.50 ms", {"step": b"1", "step_seconds": b"125.50"}),
        ("tps: {throughput:,}", b"tps: 1,234,567.5\n", {"throughput": b"1,234,567.5"}),
        ("tps: {throughput:short} ", b"tps: 107K ", {"throughput": b"107K"}),
        ("took {duration:length}", b"took 1 day, 2:03:04\n", {"duration": b"1 day, 2:03:04"}),
        ("] {steps_per_second:it/s}", b"] 12.5it/s", {"steps_per_second": b"12.5"}),
        ("== {step} ==\n\nspeed: {throughput}", b"x\n== 3 ==\ny", {"step": b"3", "throughput": None}),
        ("== {step} ==\n\nspeed: {throughput}", b"x\nspeed: 5\n", {"step": None, "throughput": b"5"}),
        ("{clock} step {step},", b"11/20 10:11:12 step 1,", {"clock": b"11/20 10:11:12", "step": b"1"}),
        ("{clock} step {step},", b"at 2026-11-20 10:11:12,500 step 1,", {
            "clock": b"2026-11-20 10:11:12,500", "step": b"1",
        }),
        ("{clock} step {step},", b"11/20/2026 10:11:12 step 1,", {"clock": b"11/20/2026 10:11:12", "step": b"1"}),
        ("I{clock} step {step},", b"I1120 10:11:12.5 step 1,", {"clock": b"1120 10:11:12.5", "step": b"1"}),
        ("{clock} step {step},", b"10:11:12 step 1,", {"clock": b"10:11:12", "step": b"1"}),
        ("lr: {_}, loss: {loss},", b"lr: 1e-4, loss: 2,", {"loss": b"2"}),
        ("ips: {throughput} {images|samples}/s", b"ips: 5 samples/s", {"throughput": b"5"}),
        ("loss {loss}{? acc: {accuracy}} end", b"loss 1 acc: 0.5 end", {"loss": b"1", "accuracy": b"0.5"}),
        ("loss {loss}{? acc: {accuracy}} end", b"loss 1 end", {"loss": b"1", "accuracy": None}),
        ("ips: {throughput}{?, eta: {_}}", b"ips: 5, eta: 1:00\n", {"throughput": b"5"}),
        ("a {step}{*}{? loss: {loss}{*}}{? acc: {accuracy},} end", b"a 1 x loss: 2 y acc: 3, end", {
            "step": b"1", "loss": b"2", "accuracy": b"3",
        }),
        ("a {step}{*}{? loss: {loss}{*}}{? acc: {accuracy},} end", b"a 1 x acc: 3, end", {
            "step": b"1", "loss": None, "accuracy": b"3",
        }),
        ("a {step}{*}{? loss: {loss}{*}}{? acc: {accuracy},} end", b"a 1 x loss: 2 y end", {
            "step": b"1", "loss": b"2", "accuracy": None,
        }),
        ("a {step},{*}{?avg_}cost: {step_seconds:s}", b"a 1, x avg_cost: 2 s", {"step": b"1", "step_seconds": b"2"}),
        ("a {step},{*}{dt|time}: {step_seconds:s}", b"a 1, x daytime: 4 s, time: 2 s", {
            "step": b"1", "step_seconds": b"2",
        }),
        ("a ({_}{?/{_}}) {step}", b"a (3/4) 5\n", {"step": b"5"}),
        ("step {step}\nips {throughput} ", b"step 1 \n\n\t\r\nbar 5%\rips 2 ", {"step": b"1", "throughput": b"2"}),
        ("{{'loss': {loss}}}", b"{'loss': 2.5}", {"loss": b"2.5"}),
        ("loss {loss},{? acc{?u{?racy}}: {_}} end", b"loss 1, accu: 5 end", {"loss": b"1"}),
        ("^step {step},", b"x\nstep 3,", {"step": b"3"}),
        ("loss {loss}$", b"loss 2.5 \nx", {"loss": b"2.5"}),
        ("[{clock}] iter {step},{*}loss {loss},", b"[10:11:12] iter 1, [10:11:13] iter 2, loss 4,", {
            "clock": b"10:11:13", "step": b"2", "loss": b"4",
        }),
        ("iter {step:,}, loss {loss},", b"iter 1,200, loss 4,", {"step": b"1,200", "loss": b"4"}),
        ("step {step},\nloss {loss},", b"step 3, \r\nloss 2,", {"step": b"3", "loss": b"2"}),
        ("step:{step} - {*}loss:{loss} ", b"step:1 - global_step:1 - s/step:5.5 - loss:2 ", {
            "step": b"1", "loss": b"2",
        }),
        ("begin {step},{*}label={loss},", b"begin 1, a begin 2, label=4,", {"step": b"2", "loss": b"4"}),
        ("begin {step},{*}\nloss {loss},", b"begin 1, begin 2,\nloss 4,", {"step": b"2", "loss": b"4"}),
        ("step {step}{*}\n{*}loss {loss},", b"step 3 of 4\r\nwith loss 2,", {"step": b"3", "loss": b"2"}),
        ("[{epoch}{?/{_}}][{step}]", b"[1/20][3]", {"epoch": b"1", "step": b"3"}),
        ("iter: {step:,}, lr", b"iter:   1,200, lr", {"step": b"1,200"}),
        (BAR, b"[Train][Epoch 1/2]lr: 0.1, batch_cost: 0.5s, ips: 64 images/s", {
            "epoch": b"1", "total_epochs": b"2", "step_seconds": b"0.5", "throughput": b"64",
        }),
    ],
)  # fmt: skip
def test_a_line_of_the_template_is_found(template: str, line: bytes, values: dict[str, bytes | None]) -> None:
    assert found(template, line) == values


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("step {step},", b"global_step 3,"),
        ("^step {step},", b"x step 3,"),
        ("loss {loss}$", b"loss 2.5 x"),
        ("tps: {throughput}", b"tps: 12.5"),
        ("tps: {throughput}", b"tps: 12.5k\n"),
        ("time {step_seconds:s}", b"time 12.5sec"),
        ("lr: {_}, loss: {loss},", b"lr: a b, loss: 2,"),
        ("a {step} {*} memory: {memory},", b"a 1 max_memory: 5,"),
        ("begin {step},{*}label={loss},", b"begin 1,\nlabel=4,"),
        ("begin {step},{*}label={loss},", b"begin 1, my_label=4,"),
        ("a {step}{*}{? loss: {loss}} end {memory},", b"a 1 x loss: 2 y end 5,"),
        ("begin {step},{*}\n{*}loss {loss},", b"begin 1, x\ny\nloss 4,"),
    ],
)
def test_another_line_is_not_found(template: str, line: bytes) -> None:
    assert found(template, line) == {}


def test_a_number_at_the_end_of_a_cut_file_needs_many_decimals() -> None:
    assert found("ips: {throughput}", b"ips: 12.345678") == {"throughput": b"12.345678"}
    assert found("ips: {throughput}", b"ips: 12.3456") == {}
    assert found("ips: {throughput}{? images/s}$", b"ips: 12.3456") == {}
    assert found("ips: {throughput}{? images/s}$", b"ips: 12.3456 images/s") == {"throughput": b"12.3456"}


def test_a_clock_that_is_cut_before_its_decimals_is_not_found() -> None:
    assert found("{throughput} | {clock}", b"5 | 10:11:12.500\n")["clock"] == b"10:11:12.500"
    assert found("{throughput} | {clock}", b"5 | 10:11:12.") == {}


def test_units_are_converted_to_those_of_the_columns() -> None:
    assert compiled_line("{step_seconds:ms} {memory:GiB} {duration:s}")[1] == {"step_seconds": 1e-3, "memory": 1024.0}
    assert Reading("(ms): {step_seconds:in ms} of {memory:short in GiB}").scales == {
        "step_seconds": 1e-3,
        "memory": 1024.0,
    }
    assert Reading(rb"time <step_seconds:ms> ms, loss <loss>").scales == {"step_seconds": 1e-3}


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("step {step", "braces do not match"),
        ("step } {step}", "braces do not match"),
        ("time {step_seconds:parsec}", "no kind 'parsec'; there are int"),
        ("step {step} {*}{loss}", "text must follow a gap"),
        ("step {stepp}", "named after columns"),
    ],
)
def test_a_wrong_template_is_refused_with_the_reason(template: str, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        _ = Reading(template).finder


def test_a_fact_is_a_template_with_one_value() -> None:
    fact = Fact("tokens_per_step", "tokens per iteration will be: {:,}")
    match = fact.regex.search(b"x\ntokens per iteration will be: 65,536\n")
    assert match
    assert fact.value(match[1]) == 65536
    assert re.search(compiled_text("model: {},"), b"model: gpt2-xl, x")[1] == b"gpt2-xl"  # type: ignore[index]
