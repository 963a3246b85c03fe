"""YOLOv6 (`tools/train.py`): a bar per epoch, whose complete state counts, as in YOLOv5.

The bar counts global batches and contains training alone; the evaluation has bars of its own. Its seconds are those of the
rate, kept within the second that the elapsed time is cut to. If the terminal was too narrow for the rate the bar is
not read. The bar states no memory, so that it is known by its heading. The batch size is that of all devices.
"""

from perfledger.parsers.contract import Fact, Format, Reading, listed, says, up_to_argument
from perfledger.parsers.frameworks.ultralytics import RATE, epochs

_ARGUMENTS = rb"\btraining args are: Namespace\("

FORMAT = Format(
    title="YOLOv6",
    framework="PyTorch",
    unproven=True,
    start="training args are: Namespace(",
    end="^Training completed in {_} hours.",
    readings=(
        Reading(
            rb"(?<![^\r\n]) *+<epoch>/<total_epochs>(?: ++[-+.0-9a-z]++){3,5}+: 100%[^0-9\r\n]{1,400}+(?P<steps>[1-9][0-9]*+)/(?P=steps) "
            rb"\[(?P<duration>[0-9:]++)<[0-9:]++, *+" + RATE + rb"[\],]",
            unit="images/s",
            span="epoch",
            weak=True,
            where=says(rb"^ *+Epoch ++(?:lr ++)?+iou_loss ++(?:dfl|l1)_loss "),
            verbs=(epochs,),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", _ARGUMENTS + up_to_argument(b"batch_size") + rb"(\d++)[,)]", int),
        Fact("devices", _ARGUMENTS + up_to_argument(b"device") + rb"'([0-9]++(?:,[0-9]++)*+)'", listed),
        Fact("devices", _ARGUMENTS + up_to_argument(b"device") + rb"'(cpu)'", lambda _: 1),
        Fact("model", _ARGUMENTS + up_to_argument(b"conf_file") + rb"'(?:[^'/\n]*+/)*+(yolov6(?:(?!_finetune)\w)++)(?:_finetune)?+\.py'"),
        Fact("data_set_size", "^Train: Final numbers of valid images: {:int}/"),
    ),
)  # fmt: skip
