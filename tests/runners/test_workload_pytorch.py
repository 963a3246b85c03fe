"""The networks and the training loop of the PyTorch workloads, trained for real; skipped where PyTorch is missing."""

from __future__ import annotations

import argparse
import copy
import math
import shutil
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; the workloads are tested where it is")

from runners.workloads import bert_pytorch, resnet50_pytorch  # noqa: E402
from runners.workloads.bert_pytorch_network import VOCABULARY, BertPretraining  # noqa: E402
from runners.workloads.lamb import Lamb  # noqa: E402
from runners.workloads.pytorch_training import (  # noqa: E402
    TrainingSettings,
    TrainingStep,
    Workload,
    prepare,
    refusal,
    train,
)
from runners.workloads.ranks import Process  # noqa: E402

ALONE = Process()
CPU = torch.device("cpu")
GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
PLACES = [
    ("cpu", "fp32"),
    ("cpu", "bf16"),
    *(pytest.param("cuda", precision, marks=GPU) for precision in ("fp32", "tf32", "bf16", "amp")),
]
STEP = TrainingStep(loss=2.0, data_seconds=0.5, compute_seconds=1.5, loss_scale=65536.0)


def arguments(**more: object) -> argparse.Namespace:
    usual = {"batch_size": 4, "image_size": 32, "sequence_length": 16, "memory_format": "nchw", "seed": 0}
    usual |= {"input": "copied", "label_smoothing": 0.0, "bn_weight_decay": True}
    usual |= {"vocabulary": VOCABULARY, "optimizer": "adamw", "network": lambda _: resnet50_pytorch.resnet50()}
    shared = {"accumulation": 1, "precision": "fp32", "compile": False, "device": "cpu", "print_every": 1}
    return argparse.Namespace(**{**usual, **shared, "iterations": 4, **more})


def losses(workload: Workload, precision: str, device: object, iterations: int, **more: object) -> list[float]:
    """Return the losses on one fixed batch."""
    fixed = Workload(workload.model, workload.loss, workload.optimizer, workload.batches[:1])
    settings = TrainingSettings(**{"iterations": iterations, "precision": precision, "compile": False, **more})
    return [step.loss for step in train(fixed, settings, ALONE, device)]


def test_resnet50_has_the_parameters_and_the_shapes_of_v1_5():
    model = resnet50_pytorch.resnet50()
    assert sum(each.numel() for each in model.parameters()) == 25_557_032
    assert model(torch.zeros(2, 3, 64, 64)).shape == (2, 1000)
    strided = [each for each in model.modules() if isinstance(each, torch.nn.Conv2d) and each.stride == (2, 2)]
    assert [each.kernel_size[0] for each in strided] == [7, 3, 1, 3, 1, 3, 1]


def test_bert_base_has_the_parameters_and_the_shapes_of_its_paper():
    model = BertPretraining()
    assert sum(each.numel() for each in model.parameters()) == 110_106_428
    tokens, places = torch.zeros(2, 16, dtype=torch.long), torch.tensor([[3, 1], [0, 15]])
    words, follows = model(tokens, tokens, places)
    assert (words.shape, follows.shape) == ((2, 2, VOCABULARY), (2, 2))


def test_bert_predicts_a_word_for_each_place_from_all_of_its_own_sequence():
    torch.manual_seed(0)
    model = BertPretraining().eval()
    tokens, sentences = torch.randint(VOCABULARY, (2, 8)), torch.zeros(2, 8, dtype=torch.long)
    places = torch.tensor([[1, 6], [2, 3]])
    with torch.no_grad():
        words, _ = model(tokens, sentences, places)
        torch.testing.assert_close(model(tokens, sentences, places.flip(1))[0], words.flip(1))
        tokens[0, 7] += 1
        changed, _ = model(tokens, sentences, places)
    assert not torch.equal(words[0, 0], words[0, 1])
    assert not torch.equal(changed[0], words[0])
    torch.testing.assert_close(changed[1], words[1])


def test_masked_places_contain_the_mask_and_their_words_are_the_targets():
    (tokens, sentences, places, words, follows), *others = bert_pytorch.hold_batches(arguments(sequence_length=20))
    assert len(others) == 3
    assert (tokens.shape, sentences.shape, places.shape, follows.shape) == ((4, 20), (4, 20), (4, 3), (4,))
    assert (tokens.gather(1, places) == bert_pytorch.MASK).all()
    assert words.shape == places.shape
    assert (words != bert_pytorch.MASK).any()
    assert all(len(set(row)) == 3 for row in places.tolist())
    assert sentences[0].tolist() == [0] * 10 + [1] * 10


@pytest.mark.parametrize("workload", [resnet50_pytorch, bert_pytorch])
@pytest.mark.parametrize(("name", "precision"), PLACES)
def test_a_fixed_batch_is_learned(workload, name, precision):
    device = prepare(ALONE, name, precision)
    found = losses(workload.workload(arguments(), ALONE, device), precision, device, 8)
    assert all(map(math.isfinite, found))
    assert min(found[-2:]) < found[0] / 2 if workload is resnet50_pytorch else min(found[-2:]) < found[0] - 1


def test_the_work_of_nvidia_is_learned_from_batches_on_the_device():
    more = {"input": "resident", "label_smoothing": 0.1, "bn_weight_decay": False}
    more |= {"vocabulary": 30528, "optimizer": "lamb"}
    for module in (resnet50_pytorch, bert_pytorch):
        workload = module.workload(arguments(**more), ALONE, CPU)
        assert workload.resident
        found = losses(workload, "fp32", CPU, 8)
        assert all(map(math.isfinite, found))
        assert min(found[-2:]) < found[0]


def test_a_resident_batch_is_trained_on_as_it_lies_and_any_other_is_a_copy():
    for resident in (True, False):
        seen, workload = [], tiny(4, 1)

        def loss(network, batch, seen=seen, of=workload.loss):
            seen.append(batch[0].data_ptr())
            return of(network, batch)

        held = replace(workload, loss=loss, resident=resident)
        list(train(held, TrainingSettings(1, "fp32", False), ALONE, CPU))
        assert (seen == [held.batches[0][0].data_ptr()]) is resident


def test_normalisations_are_decayed_only_with_the_option():
    model = resnet50_pytorch.resnet50()
    layers = [each for each in model.modules() if isinstance(each, torch.nn.BatchNorm2d)]
    norms = [each for layer in layers for each in layer.parameters()]
    assert len(norms) == 2 * 53
    decayed, kept = resnet50_pytorch.optimizer_of(model, bn_weight_decay=False).param_groups
    assert {id(each) for each in kept["params"]} == {id(each) for each in norms}
    assert (decayed["weight_decay"], kept["weight_decay"]) == (1e-4, 0.0)
    assert len(decayed["params"]) + len(norms) == len([*model.parameters()])
    (all_of_them,) = resnet50_pytorch.optimizer_of(model, bn_weight_decay=True).param_groups
    assert len(all_of_them["params"]) == len([*model.parameters()])


def test_smoothed_labels_give_the_cross_entropy_of_their_mixture():
    torch.manual_seed(0)
    scores, labels = torch.randn(3, 7), torch.tensor([1, 5, 0])
    logs = torch.log_softmax(scores, 1)
    expected = -(0.9 * logs[range(3), labels] + 0.1 * logs.mean(1)).mean()
    torch.testing.assert_close(resnet50_pytorch.loss(lambda images: images, (scores, labels), 0.1), expected)


def test_lamb_takes_the_steps_of_its_paper():
    torch.manual_seed(0)
    decayed, plain = torch.nn.Parameter(torch.randn(5, 3)), torch.nn.Parameter(torch.randn(4))
    groups = [{"params": [decayed]}, {"params": [plain], "weight_decay": 0.0}]
    optimizer = Lamb(groups, 0.1, 0.01)
    expected = [each.detach().double().clone() for each in (decayed, plain)]
    means, squares = ([torch.zeros_like(each) for each in expected] for _ in range(2))
    for step in (1, 2, 3):
        gradients = [step * torch.randn(each.shape) for each in (decayed, plain)]
        norm = math.sqrt(sum(float(each.double().square().sum()) for each in gradients))
        for number, decay in enumerate((0.01, 0.0)):
            gradient = gradients[number].double() / max(norm, 1.0)
            means[number] = 0.9 * means[number] + 0.1 * gradient
            squares[number] = 0.999 * squares[number] + 0.001 * gradient**2
            update = means[number] / (1 - 0.9**step) / ((squares[number] / (1 - 0.999**step)).sqrt() + 1e-6)
            update += decay * expected[number]
            ratio = expected[number].norm() / update.norm() if decay else 1.0
            expected[number] = expected[number] - 0.1 * ratio * update
        decayed.grad, plain.grad = gradients
        optimizer.step()
    torch.testing.assert_close(decayed.detach().double(), expected[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(plain.detach().double(), expected[1], rtol=1e-4, atol=1e-5)


def test_a_padded_vocabulary_adds_rows_and_no_words():
    model = BertPretraining(30528)
    assert sum(each.numel() for each in model.parameters()) == 110_106_428 + 6 * (768 + 1)
    (tokens, _, _, words, _), *_ = bert_pytorch.hold_batches(arguments(vocabulary=30528))
    assert max(int(tokens.max()), int(words.max())) < VOCABULARY


def tiny(rows: int, batches: int) -> Workload:
    """Return a linear network, and random rows in `batches` batches."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    inputs, labels = torch.randn(rows, 3).chunk(batches), torch.randint(2, (rows,)).chunk(batches)

    def loss(network: object, batch: tuple[object, ...]) -> object:
        return torch.nn.functional.cross_entropy(network(batch[0]), batch[1])

    return Workload(model, loss, torch.optim.SGD(model.parameters(), 0.5), list(zip(inputs, labels, strict=True)))


def test_batches_that_are_accumulated_make_the_update_of_one_large_batch():
    large, accumulated = tiny(12, 1), tiny(12, 3)
    (one,) = train(large, TrainingSettings(1, "fp32", False), ALONE, CPU)
    (three,) = train(accumulated, TrainingSettings(1, "fp32", False, accumulation=3), ALONE, CPU)
    assert one.loss == pytest.approx(three.loss, rel=1e-5)
    torch.testing.assert_close(large.model.weight, accumulated.model.weight)


def test_an_update_changes_all_parameters_and_forgets_its_gradients():
    workload = resnet50_pytorch.workload(arguments(), ALONE, CPU)
    before = copy.deepcopy(workload.model)
    losses(workload, "fp32", CPU, 1)
    for one, other in zip(before.parameters(), workload.model.parameters(), strict=True):
        assert other.grad is None
        assert not torch.equal(one, other)


@pytest.mark.skipif(not shutil.which("g++"), reason="torch.compile needs a C++ compiler on a CPU")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what PyTorch imports to compile
def test_a_compiled_network_is_trained_the_same():
    plain, compiled = tiny(8, 1), tiny(8, 1)
    assert losses(compiled, "fp32", CPU, 3, compile=True) == pytest.approx(losses(plain, "fp32", CPU, 3), rel=1e-5)


def test_channels_last_reaches_the_weights_and_the_images():
    workload = resnet50_pytorch.workload(arguments(memory_format="nhwc"), ALONE, CPU)
    weight = next(each for each in workload.model.parameters() if each.ndim == 4 and each.shape[2] == 3)
    for each in (weight, *(images for images, _ in workload.batches)):
        assert each.is_contiguous(memory_format=torch.channels_last)
        assert not each.is_contiguous()


def test_processes_have_the_same_network_and_other_samples():
    first, second = (bert_pytorch.workload(arguments(), Process(rank, 2, rank), CPU) for rank in (0, 1))
    assert torch.equal(first.model.words_bias, second.model.words_bias)
    assert torch.equal(first.model.follows.weight, second.model.follows.weight)
    assert not torch.equal(first.batches[0][0], second.batches[0][0])


@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_tensor_float_32_is_on_for_tf32_only(precision):
    prepare(ALONE, "cpu", precision)
    assert torch.backends.cuda.matmul.allow_tf32 is (precision == "tf32")
    assert torch.backends.cudnn.allow_tf32 is (precision == "tf32")
    prepare(ALONE, "cpu", "fp32")


def test_what_cannot_be_trained_here_is_refused_with_its_reason(monkeypatch):
    assert refusal("cpu", "fp32", ALONE) == refusal("cpu", "bf16", ALONE) == ""
    assert "tf32 is arithmetic of NVIDIA GPUs" in refusal("cpu", "tf32", ALONE)
    for supported in (True, False):
        monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_fp16_supported", lambda known=supported: known)
        assert ("no FP16 arithmetic" in refusal("cpu", "amp", ALONE)) is not supported
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "finds no CUDA device" in refusal("cuda", "fp32", ALONE)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert refusal("cuda", "tf32", Process(5, 8, 1)) == ""
    assert "start 2 processes here" in refusal("cuda", "fp32", Process(2, 3, 2))


def test_figures_are_those_of_the_whole_job_over_all_of_its_seconds():
    compute, total = (str(each) for each in resnet50_pytorch.throughput([STEP, STEP], 30)[1:3])
    assert (compute, total) == ("train.compute_ips : 20.00 images/s", "train.total_ips : 15.00 images/s")
    assert bert_pytorch.iterations([STEP, STEP], 30)["train.sequences_per_second"] == 15.0
    assert bert_pytorch.whole_job([STEP, STEP], 30) == {
        "training_sequences_per_second": 15.0, "raw_train_time": 4.0, "final_loss": 2.0,
    }  # fmt: skip
    assert bert_pytorch.sequences(arguments(accumulation=3), Process(0, 2, 0)) == 24


def test_a_loss_that_is_nan_is_printed():
    lost = TrainingStep(math.nan, 0.5, 1.5, 1.0)
    assert str(resnet50_pytorch.throughput([STEP, lost], 30)[0]) == "train.loss : nan None"
    assert math.isnan(bert_pytorch.iterations([STEP, lost], 30)["train.loss"])


def test_a_log_states_amp_only_for_precisions_that_nvidias_trainers_know():
    stated = {
        each: bert_pytorch.parameters(arguments(precision=each), ALONE).get("amp")
        for each in ("fp32", "tf32", "bf16", "amp")
    }
    assert stated == {"fp32": False, "tf32": None, "bf16": None, "amp": True}
