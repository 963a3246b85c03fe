"""Printers from beyond the source reports' own harnesses: training frameworks and libraries as their users run them.

Their lines are shared by whole families of programs, so a format here says which family it reads and what its printers
leave unsaid.
"""

from perfledger.parsers.contract import Fact, grouped, lacks


def row(first: bytes, *parts: bytes) -> bytes:
    """Return the pattern of a line that is a flat JSON object, or a dictionary as Python prints it.

    Args:
        first: the pattern after its opening bracket.
        parts: patterns that it must contain, in any order (`value`).
    """
    return rb"\{(?<![^\r\n]\{)" + first + b"".join(parts) + rb"[^\r\n{}]++\}(?=[ \t]*+(?:[\r\n]|\Z))"


def value(key: bytes, printed: bytes, *, needed: bool = True) -> bytes:
    """Return a pattern that looks ahead in such a row for a key and its value, in quotes or not."""
    # From quote to quote: to try each character takes seven times as long.
    up_to_key = rb"[^'\"\r\n{}]*+(?:['\"](?!%s['\"]: )[^'\"\r\n{}]*+)*+['\"]%s['\"]: " % (key, key)
    found = rb"(?=%s['\"]?+%s['\"]?+[,}])" % (up_to_key, printed)
    return found if needed else rb"(?:%s)?+" % found


def replicas(printed: bytes) -> int:
    """Count the devices of `('/job:localhost/replica:0/task:0/device:GPU:0', ...)`, as TensorFlow lists them."""
    return printed.count(b"device:GPU:") or printed.count(b"device:CPU:")


#: The first device, as releases of TensorFlow up to 1.3, up to 2.4 and later announce it.
TENSORFLOW_GPU = Fact("gpu", rb"-> (?:physical GPU )?+\(?+device: 0, name: ([^,\n]++),")
#: The devices that a strategy names or counts.
TENSORFLOW = (
    Fact("devices", rb"Using MirroredStrategy with devices \(([^)\n]++)\)", replicas),
    Fact("devices", "^Number of {devices|replicas}{? in sync}: {:int}"),
    TENSORFLOW_GPU,
)

#: The flags that NVIDIA's BERT scripts for TensorFlow print, and the step at which Estimator resumes. A fresh program
#: saves step 0 first. Evaluations and predictions restore as well, but do not save.
NVIDIA_BERT = (
    Fact("precision", rb"^INFO:tensorflow:  manual_fp16: (True)", words={b"True": "fp16"}),
    Fact("precision", rb"^INFO:tensorflow:  use_fp16: (True)", words={b"True": "amp"}),
    Fact("precision", rb"^INFO:tensorflow:  amp: (\w++)", words={b"True": "amp", b"False": "fp32"}),
    Fact("xla", rb"^INFO:tensorflow:  use_xla: (\w++)"),
    Fact("devices", rb"\bhvd\.size\(\) = (\d++) hvd\.rank\(\) = ", int),
    Fact("devices", rb"^INFO:tensorflow:  horovod: (False)$", lambda _: 1),
    Fact(
        "resumed_from",
        # From one of the first letters to the next: to try each character takes five times as long.
        rb"\A[^R,/t]*+(?:(?!Restoring parameters from |, step = |/sec: |throughput_train )[R,/t][^R,/t]*+)*+"
        rb"Restoring parameters from [^\n]{0,500}?-([1-9][0-9]*+)[ \t\r]*+\n"
        rb"(?:(?![^\n]*?(?:Saving checkpoints for |, step = ))[^\n]*+\n){0,300}+[^\n]*?Saving checkpoints for \1 into ",
        int,
    ),
)


def resnet_v1(printed: bytes) -> str:
    """Return `ResNet-50 v1`: here the strides are in the first convolution of a block, unlike v1.5."""
    return f"ResNet-{printed.decode()} v1"


#: A whole number above 1, such as the size of a group of devices that share their samples.
SEVERAL = rb"(?:[2-9]|[1-9][0-9]++)"
#: Ranks that share samples count the same tokens.
SHARED_SAMPLES = rb"\b(?:[cst]p_size|(?:context|sequence|tensor)_parallel_(?:size|degree))[\"']?+(?:=|: ?+| )" + SEVERAL

#: Words before the size of a group or a kind of parallelism, which is not the size of the job.
_OF_GROUPS = b"".join(
    rb"(?<!%s )" % each
    for each in (
        b"[Pp]arallel", b"[Dd]ata", b"[Tt]ensor", b"[Pp]ipeline", b"[Ee]xpert", b"[Cc]ontext", b"[Ss]equence", b"[Mm]odel",
        b"[Ll]ocal", b"[Gg]roup", b"[Nn]ode", b"[Rr]eplicate", b"[Ss]hard", rb"\b[cdempt]p", b"[A-Z]P", b"[Dd]ataset",
    )
)  # fmt: skip

#: A launcher of PyTorch, and its command up to an option; the command may continue after a backslash.
_LAUNCHER = rb"(?:\btorchrun|\btune run|\btorch\.distributed\.(?:launch|run)) "
_WITHOUT_NODES = rb"(?:(?!--nnodes|--nproc[-_]per[-_]node)(?:[^\n]|(?<=\\)\n)){0,1000}+"
#: How many processes a job has, by the command that starts it. Without a number of machines, a launcher starts one.
TORCHRUN = (
    Fact("devices_per_node", rb"--nproc[-_]per[-_]node[= ](\d++)", int),
    Fact("nodes", rb"--nnodes[= ](\d++)(?![\d:])", int),
    # The launcher reads options that the command leaves out from the environment.
    Fact("devices_per_node", rb"\bPET_NPROC_PER_NODE=[\"']?(\d++)\b", int),
    Fact("nodes", rb"\bPET_NNODES=[\"']?(\d++)\b(?!:\d)", int),
    Fact(
        "nodes",
        _LAUNCHER + _WITHOUT_NODES + rb"(--nproc[-_]per[-_]node)[= ]\d" + _WITHOUT_NODES + rb"(?![^\n]|(?<=\\)\n)",
        lambda _: 1,
    ),
)
#: How many processes a job has, as launchers of PyTorch, its libraries and the usual scripts print it. Sizes of groups
#: (`data_parallel_world_size`, `DP world size`) do not count.
PYTORCH_JOB = (
    Fact("devices", rb"(?<![A-Za-z_-])" + _OF_GROUPS + rb"[Ww]orld[_ ]size[\"']?(?: ?[:=] ?| \.++ )(\d++)\b", int),
    # DeepSpeed's launcher.
    Fact("devices", "dist_world_size={:int}"),
    Fact("devices", rb"GLOBAL_RANK: \d++, MEMBER: \d++/(\d++)", int),
    Fact("devices", rb"distributed processes registered\. Starting with (\d++) processes", int),
    # Accelerate's command, and its message if the command leaves the number out.
    Fact(
        "devices",
        rb"\baccelerate(?:\.commands\.)?+[ .]launch (?:(?!--num_processes)(?:[^\n]|(?<=\\)\n)){0,1000}+--num_processes[= ](\d++)",
        int,
    ),
    Fact("devices", rb"`--num_processes` was set to a value of `(\d++)`", int),
    *TORCHRUN,
)

#: The state that Accelerate prints.
ACCELERATE = (
    Fact("devices", rb"^Num processes: ([0-9]++)$", int),
    Fact(
        "precision",
        rb"^Mixed precision type: (bf16|fp16|no)$",
        words={b"bf16": "bf16", b"fp16": "amp", b"no": "fp32"},
    ),
)

#: TRL prints this if a model answers prompts: examples and epochs then count prompts, and a batch counts answers.
ANSWERS = rb"'completion"
#: The head of Hugging Face's Trainer, of its scripts of 2019 and 2020, and of scripts over Accelerate.
HUGGING_FACE = (
    # PaddleNLP's Trainer and PaddleMIX print the same head and bar; their logger fills the level with blanks.
    Fact("framework", rb"\] \[ *+INFO\] - \*{5} (Running training) \*{5}", lambda _: "PaddlePaddle"),
    Fact("model", rb"--model_name_or_path[= ]'?+([\w./-]++)"),
    Fact("model", rb"--model_type[= ]([\w-]++)"),
    Fact("total_steps", rb"(?:\bTotal optimization|\| Total) steps = ([0-9,]++)$", grouped),
    Fact("parameters", rb"Number of trainable parameters = ([0-9,]++)", grouped),
    Fact("batch_size", rb"Instantaneous batch size per (?:GPU|device) = ([0-9,]++)", grouped),
    Fact(
        "batch_size_of_job",
        rb"Total train batch size \(w\. parallel, distributed & accumulation\) = ([0-9,]++)",
        grouped,
    ),
    # An evaluation prints its examples before its batch size.
    Fact(
        "data_set_size",
        rb"\bNum examples = ([0-9,]++)(?: \| Num Epochs = |$(?!\n[^\n]{0,200}?\bBatch size = ))",
        grouped,
        first=True,
        where=lacks(ANSWERS),
    ),
    Fact(
        "total_epochs",
        rb"\bNum [Ee]pochs = ([0-9,]++)(?= \| Total steps = |$)",
        grouped,
        first=True,
        where=lacks(ANSWERS),
    ),
    Fact("accumulation", rb"Gradient [Aa]ccumulation steps = ([0-9,]++)", grouped),
    Fact("devices", rb"Process rank: -1, device: [^\s,]++, n_gpu: (\d++)", int),
)

#: Unsloth's banner before training; another one, of the model, has other words after its name.
UNSLOTH_BANNER = rb"==\(\(====\)\)==  Unsloth - [^|\r\n]{0,80}+\| Num GPUs (?:used )?+= "
_TO_COPIES = rb"(?:(?!Data Parallel GPUs = |Unsloth)[\s\S]){0,1000}+Data Parallel GPUs = "


def _once(banner: bytes) -> bytes:
    """Return the pattern of a banner that every node prints before any of them takes a step or crashes: one start."""
    progress = rb"[0-9]it/s|[0-9]s/it|'train_runtime': |, Epoch [0-9]|Traceback \(most |\{'loss': "
    return banner + rb"(?:(?:(?!%s)[\s\S]){0,60000}?%s)*+" % (progress, banner)


#: Unsloth may print its banner next to the head: both are one start.
HUGGING_FACE_START = _once(rb"(?:\*{5} Running training \*{5}|" + UNSLOTH_BANNER + rb")")
#: `Num GPUs used` are the devices of a process: one, unless the model is spread over several.
UNSLOTH = (
    Fact("batch_size", rb"\bBatch size per device = ([0-9,]++) \| Gradient [Aa]ccumulation steps = ", grouped),
    Fact("batch_size_of_job", rb"\bTotal batch size \([0-9]++ x [0-9]++ x [0-9]++\) = ([0-9,]++)$", grouped),
    Fact("batch_size_of_job", rb"\bTotal batch size = ([0-9,]++) \| Total steps = ", grouped),
    Fact("devices", UNSLOTH_BANNER + rb"1\b" + _TO_COPIES + rb"([0-9]++) \|", int),
    Fact("devices", UNSLOTH_BANNER + rb"([0-9]++)\b" + _TO_COPIES + rb"1 \|", int),
    Fact("devices", UNSLOTH_BANNER + rb"(?<!used = )([0-9]++)$", int),
    Fact("parameters", rb"\bTrainable parameters = ([0-9,]++)(?=[ /]|$)", grouped),
)

#: The configuration that DeepSpeed prints, with dots between a name and its value.
DEEPSPEED = (
    Fact("batch_size", rb"\btrain_micro_batch_size_per_gpu \.*+ ([0-9]++)$", int),
    Fact("accumulation", rb"\bgradient_accumulation_steps \.++ ([0-9]++)$", int),
    Fact("zero", rb"\bzero_optimization_stage \.++ ([0-9])$"),
)

#: The configuration that all releases of fairseq print. The batch size is that of a device, in tokens.
FAIRSEQ = (
    Fact("model", rb"^\| model (transformer(?:(?!_big)\w)*+_big)(?:_\w++)?,", lambda _: "Transformer big"),
    Fact("model", rb"\barch'?[=:] ?'(transformer(?:(?!_big)\w)*+_big)(?:_\w++)?'", lambda _: "Transformer big"),
    Fact(
        "model",
        rb"\barch'?[=:] ?'(transformer_wmt_en_de|transformer(?:(?!_base)\w)*+_base)(?:_\w++)?'",
        lambda _: "Transformer base",
    ),
    Fact("model", rb"\barch'?[=:] ?'([\w.-]++)'"),
    Fact("batch_size", rb"max tokens per (?:GPU|device) = (\d++) ", int),
    Fact("devices", rb"training on (\d++) (?:GPUs|devices)", int),
    Fact("devices", rb"\bdistributed_world_size'?[=:] ?(\d++)", int),
    Fact("accumulation", rb"\bupdate_freq'?[=:] ?\[(\d++)\]", int),
    Fact("precision", rb"\bbf16'?[=:] ?(True)", words={b"True": "bf16"}),
    Fact("precision", rb"\bfp16'?[=:] ?(True|False)", words={b"True": "fp16", b"False": "fp32"}),
    Fact("parameters", rb"num\. (?:shared )?model params: ([\d,]++)", grouped),
)
