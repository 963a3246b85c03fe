"""Cases, their folders and their commands: tables and strings only."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from perfledger.runners.batch import rounds
from perfledger.runners.cases import case_choices, framework_slug, select_cases, slugify
from perfledger.runners.command import plan_run
from perfledger.runners.job import NodeVariable, RunnerError, texts, word
from perfledger.runners.wrappers import CaseWords
from tests.runners.written import MATRIX, loaded

SHAPES = '[matrix]\nshape = ["1n1d", "1n8d", "2n8d"]\nbatch_size = [8]\nprecision = ["fp32"]\n'
#: A command that uses what the matrices below vary.
USED = ["a", "{batch_size} {precision} {devices} {iterations}"]
WORDS = [*USED, "{xla} {word} {rate}"]
SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")
TABLES = """
[[matrix]]
batch_size = [8, 16]
precision = "fp32"
[[matrix]]
shape = ["1n1d", "2n4d"]
precision = ["amp", "fp32"]
batch_size = [16, 32]
xla = [true, false]
[options]
xla = false
word = "plain"
rate = 0.5
"""
PROBED = ["a b", "a/b", "../..", "$(touch x)", "a-b", "a_b", "A-b", "", ".", "..", "~", "-", "\n", "é 中文", "x" * 300]


def slugs(chosen, choices):
    return [case.slug for case in select_cases(chosen, choices)]


def test_the_matrix_is_combined_in_the_order_it_is_written(tmp_path):
    matrix = '[matrix]\nprecision = ["fp32", "bf16"]\nshape = ["1n1d", "2n8d"]\nbatch_size = [8, 16]\n'
    cases = select_cases(loaded(tmp_path, USED, matrix), {})
    assert [case.slug for case in cases] == [
        "gpu-n1d1-bs8-fp32", "gpu-n1d1-bs16-fp32", "gpu-n2d16-bs8-fp32", "gpu-n2d16-bs16-fp32",
        "gpu-n1d1-bs8-bf16", "gpu-n1d1-bs16-bf16", "gpu-n2d16-bs8-bf16", "gpu-n2d16-bs16-bf16",
    ]  # fmt: skip
    last = cases[-1]
    assert (last.nodes, last.devices, last.devices_per_node, last.batch_size) == (2, 16, 8, 16)
    assert last.slots["global_batch_size"] == 256
    assert last.options == {}


def test_cases_of_several_tables_are_united_without_duplicates(tmp_path):
    cases = select_cases(loaded(tmp_path, WORDS, TABLES), {})
    assert len(cases) == 2 + 16 - 1
    assert [case.slug for case in cases][:4] == [
        "gpu-n1d1-bs8-fp32", "gpu-n1d1-bs16-fp32", "gpu-n1d1-bs16-amp-xla-true", "gpu-n1d1-bs16-amp",
    ]  # fmt: skip
    assert all(case.options.keys() == {"xla", "word", "rate"} for case in cases)


def test_the_folder_is_named_by_label_and_differing_options_but_not_by_iterations(tmp_path):
    chosen = loaded(tmp_path, WORDS, TABLES, head='label = "b"')
    choices = {"word": "other", "iterations": "9", "precision": "amp", "batch_size": "16", "xla": "true"}
    names = [f"gpu-{shape}-bs16-amp-b-xla-true-word-other" for shape in ("n1d1", "n2d8")]
    assert slugs(chosen, choices) == names


@pytest.mark.parametrize(
    ("choices", "shapes"),
    [
        ({}, ["n1d1", "n1d8", "n2d16"]),
        ({"nodes": "1"}, ["n1d1", "n1d8"]),
        ({"nodes": "2"}, ["n2d16"]),
        ({"devices": "8"}, ["n1d8"]),
        ({"devices": "16"}, ["n2d16"]),
        ({"devices": "4"}, ["n1d4"]),
        ({"devices": "8", "nodes": "2"}, ["n2d8"]),
        ({"devices": "64", "nodes": "8"}, ["n8d64"]),
    ],
)
def test_nodes_and_devices_select_a_shape_or_make_a_new_one(tmp_path, choices, shapes):
    assert slugs(loaded(tmp_path, USED, SHAPES), choices) == [f"gpu-{shape}-bs8-fp32" for shape in shapes]


def test_a_value_selects_the_tables_that_state_it_or_else_all(tmp_path):
    chosen = loaded(tmp_path, WORDS, TABLES)
    assert slugs(chosen, {"batch_size": "8"}) == ["gpu-n1d1-bs8-fp32"]
    assert slugs(chosen, {"precision": "amp", "batch_size": "64", "nodes": "1", "devices": "1"}) == [
        "gpu-n1d1-bs64-amp-xla-true", "gpu-n1d1-bs64-amp",
    ]  # fmt: skip
    assert slugs(chosen, {"precision": "bf16", "batch_size": "8"}) == ["gpu-n1d1-bs8-bf16"]
    assert slugs(chosen, {"batch_size": "64", "precision": "fp32", "xla": "false", "devices": "1"}) == [
        "gpu-n1d1-bs64-fp32"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"colour": "red"}, "it has no key 'colour' to choose by; it has nodes, devices, iterations, xla, word, rate,"),
        ({"shape": "1n1d"}, "it has no key 'shape' to choose by"),
        ({"devices_per_node": "8"}, "it has no key 'devices_per_node'"),
        ({"batch_size": "many"}, "batch_size='many' must be a whole number from 1"),
        ({"batch_size": "0"}, "batch_size='0' must be a whole number from 1"),
        ({"devices": "-1"}, "devices='-1' must be a whole number from 1"),
        ({"iterations": "1e3"}, "iterations='1e3' must be a whole number from 1"),
        ({"xla": "yes"}, "xla='yes' must be true or false, like its false"),
        ({"rate": "fast"}, "rate='fast' must be a number, like its 0.5"),
        ({"precision": "int4"}, "precision='int4' must be one of fp32, tf32, fp32_tf32, amp, fp16, bf16, fp8, mxfp8,"),
        ({"nodes": "3"}, "no shape has nodes=3; state devices= of the whole job too"),
        ({"nodes": "3", "devices": "8"}, "devices=8 cannot be shared out evenly among nodes=3"),
    ],
)
def test_a_choice_that_the_recipe_does_not_allow_is_refused(tmp_path, choices, message):
    with pytest.raises(RunnerError) as error:
        select_cases(loaded(tmp_path, WORDS, TABLES), choices)
    assert message in str(error.value)


UNUSED = '[matrix]\nshape = ["1n1d", "2n8d"]\nbatch_size = [8, 16]\nprecision = ["fp32", "bf16"]\n'


@pytest.mark.parametrize(
    ("words", "more", "unused"),
    [
        (["a", "{batch_size}", "{devices}"], "", "`precision`"),
        (["a", "{flag}", "{devices}"], '[slots.flag]\nby = "precision"\nfp32 = ""\nbf16 = "-b"\n', "`batch_size`"),
        (["a", "{devices} {precision}"], '[launcher]\narguments = ["{batch_size}"]\n', "`batch_size`"),
    ],
)
def test_cases_of_a_matrix_that_would_run_the_same_command_are_refused(tmp_path, words, more, unused):
    with pytest.raises(RunnerError) as error:
        select_cases(loaded(tmp_path, words, UNUSED, more), {})
    assert str(error.value).startswith("recipe tiny: gpu-n1d1-bs8-")
    assert f"would run the same command, for nothing uses {unused}; name it as a slot in `command`" in str(error.value)


@pytest.mark.parametrize(
    "more",
    [
        '[environment_variables]\nB = "{batch_size}{precision}"\n',
        '[launcher]\nname = "torchrun"\narguments = ["{batch_size}{precision}"]\n',
        '[container]\nimage = "a:{batch_size}{precision}"\n',
        '[slots.a]\nby = "batch_size"\n8 = "{precision}"\n16 = "x{precision}"\n[environment_variables]\nB = "{a}"\n',
        '[environment_variables]\nB = "{global_batch_size}{precision}"\n',
    ],
)
def test_a_key_may_be_used_in_any_part_of_a_command(tmp_path, more):
    assert len(select_cases(loaded(tmp_path, ["a", "{devices}"], UNUSED, more), {})) == 8


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"batch_size": "64"}, "gpu-n1d1-bs8-fp32 and gpu-n1d1-bs64-fp32 would run the same command, for nothing uses"),
        ({"iterations": "2"}, "--case iterations=2: nothing in the recipe uses {iterations}, so it would run as long"),
        ({"devices": "3"}, "gpu-n1d3-bs8-fp32 takes 3 devices, and one process starts on each node; choose nodes=1,"),
        ({"nodes": "2", "devices": "2"}, "gpu-n2d2-bs8-fp32 takes 2 devices, and one process starts on each node"),
    ],
)
def test_a_choice_that_changes_the_name_alone_is_refused(tmp_path, choices, message):
    chosen = loaded(tmp_path, ["a"])
    with pytest.raises(RunnerError) as error:
        select_cases(chosen, choices)
    assert message in str(error.value)
    assert slugs(chosen, {"batch_size": "8", "iterations": "3", "devices": "1"}) == ["gpu-n1d1-bs8-fp32"]
    assert len(slugs(loaded(tmp_path, [*USED, "{hosts}"]), choices)) == 1


@settings(max_examples=30, deadline=None)
@given(
    shape=st.sampled_from([("1", "1"), ("2", "8"), ("3", "6")]),
    batch_size=st.sampled_from(["8", "16", "32", "5"]),
    precision=st.sampled_from(["fp32", "amp", "bf16"]),
    more=st.dictionaries(st.sampled_from(["xla", "rate", "iterations"]), st.just("1")),
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)
def test_case_choices_select_the_same_case(shape, batch_size, precision, more, text):
    known = {"xla": "true", "rate": "0.25", "iterations": "7"}
    with tempfile.TemporaryDirectory() as folder:
        chosen = loaded(Path(folder), WORDS, TABLES)
    fixed = {"nodes": shape[0], "devices": shape[1], "batch_size": batch_size, "precision": precision, "word": text}
    for case in select_cases(chosen, {**fixed, **{key: known[key] for key in more}}):
        again = case_choices(chosen, case)
        assert select_cases(chosen, again) == [case]
        assert ("word" in again) == (text != "plain")
        assert ("iterations" in again) == ("iterations" in more)


@pytest.mark.parametrize("value", PROBED)
def test_slugs_are_unique(value):
    slug = slugify(value)
    assert SLUG.fullmatch(slug)
    assert slug not in {slugify(other) for other in PROBED if other != value}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_slugs_are_safe_and_short(value):
    assert SLUG.fullmatch(slugify(value))
    assert len(slugify(value)) <= 47
    assert "/" not in framework_slug(value)


def built(folder, words, case=None, more=""):
    chosen = loaded(folder, [*words, *WORDS], TABLES, more)
    (found,) = select_cases(chosen, {"devices": "1", "precision": "fp32", "batch_size": "8", **(case or {})})
    return CaseWords(chosen, found).trainer()[: -len(WORDS)]


def test_slots_are_filled_and_double_braces_become_one(tmp_path):
    words = ["{{x}} ${{y}} {batch_size}", "{xla}", "{rate}", "a", "", "{devices}={global_batch_size}"]
    assert built(tmp_path, words) == [*map(word, ["{x} ${y} 8", "false", "0.5", "a", "", "1=8"])]


def test_values_of_the_node_stay_variables(tmp_path):
    assert built(tmp_path, ["tcp://{master_address}:{master_port}", "{ranks}"]) == [
        ("tcp://", NodeVariable("master_address"), ":", NodeVariable("master_port")),
        (NodeVariable("ranks"),),
    ]


def test_a_value_of_the_case_is_never_read_as_a_slot(tmp_path):
    for value in ("{master_address}", "{{batch_size}}", "{word}", "{nothing}"):
        assert built(tmp_path, ["{word}", "<{word}>"], {"word": value}) == [(value,), (f"<{value}>",)]


FLAGS = """
[slots.flag]
by = "precision"
fp32 = ""
amp = "--amp"
[slots.flags]
by = "batch_size"
8 = ["--size", "{batch_size}", "--word={word}", "{node_rank}", ""]
16 = []
"""


def test_a_slot_table_gives_no_word_or_one_or_several(tmp_path):
    words = ["t", "{flag}", "-{flag}", "{flags}", "end"]
    assert texts(built(tmp_path, words, more=FLAGS)) == [
        "t", "-", "--size", "8", "--word=plain", "{node_rank}", "", "end",
    ]  # fmt: skip
    sixteen = {"batch_size": "16", "precision": "amp", "xla": "false"}
    assert texts(built(tmp_path, words, sixteen, FLAGS)) == ["t", "--amp", "---amp", "end"]


def test_an_empty_value_of_the_case_stays_a_word(tmp_path):
    assert built(tmp_path, ["t", "{word}"], {"word": ""}) == [("t",), ("",)]


def test_a_variable_that_a_slot_table_makes_empty_is_not_set(tmp_path):
    more = f'{FLAGS}\n[environment_variables]\nFLAG = "{{flag}}"\nEMPTY = ""\n'
    chosen = loaded(tmp_path, ["t"], MATRIX.replace('["fp32"]', '["fp32", "amp"]') + "[options]\nword = 'x'\n", more)
    fp32, amp = select_cases(chosen, {})
    assert CaseWords(chosen, fp32).variables() == {"EMPTY": ("",)}
    assert CaseWords(chosen, amp).variables() == {"FLAG": ("--amp",), "EMPTY": ("",)}


@pytest.mark.parametrize(
    ("words", "case", "message"),
    [
        (["{data}/x"], {}, "in '{data}/x', it needs data; name their folder with --data DIR"),
        (["--x={flags}"], {}, "in '--x={flags}', {flags} is a list there, and must be an argument of its own"),
        (
            ["{flag}"],
            {"precision": "bf16"},
            "`slots.flag` has no entry for precision=bf16; add it, or choose one of fp32, amp",
        ),
    ],
)
def test_a_slot_without_a_value_is_an_error(tmp_path, words, case, message):
    with pytest.raises(RunnerError) as error:
        built(tmp_path, words, case, FLAGS)
    assert str(error.value).startswith("recipe tiny: ")
    assert message in str(error.value)


def test_the_data_folder_is_not_read_as_a_slot(tmp_path):
    chosen = loaded(tmp_path, ["t", "{data}/x"])
    assert CaseWords(chosen, select_cases(chosen, {})[0], "/a b/{ranks}").trainer() == [("t",), ("/a b/{ranks}/x",)]


def test_existing_folders_keep_their_numbers(tmp_path):
    chosen = replace(loaded(tmp_path, USED, MATRIX.replace("[8]", "[1, 2]")), device="cpu")
    for taken in ("1", "7", "notes"):
        (tmp_path / "tiny/bash/cpu-n1d1-bs1-fp32" / taken).mkdir(parents=True)
    firsts = [plan_run(chosen, case, tmp_path) for case in select_cases(chosen, {})]
    runs = [*rounds(firsts, 0, lambda _, made: made < 2)]
    assert sorted(run.record.repeat for run in runs) == [1, 2, 8, 9]
    assert [run.folder.name for run in runs] == [str(run.record.repeat) for run in runs]
