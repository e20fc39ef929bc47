"""Plays a recording through policy.onnx with ONNX Runtime and compares with what the policy itself did.

check_export.py FOLDER [--torchscript]: the latter plays policy.pt with torch.jit instead. Exit 0 when everything agrees.
"""
import json
import struct
import sys

import numpy as np

TOLERANCE = 1e-4


def read_safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        assert about["dtype"] == "F32", about
        begin, end = about["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], np.float32).reshape(about["shape"])
    return tensors


def onnx_engine(path):
    import onnx
    import onnxruntime

    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = [value.name for value in session.get_inputs()]
    sizes = {value.name: value.shape for value in session.get_inputs()}
    outputs = [value.name for value in session.get_outputs()]
    assert all(shape[0] == "N" for shape in sizes.values()), sizes
    step = lambda feed: dict(zip(outputs, session.run(outputs, feed)))
    return inputs, sizes, step


def torchscript_engine(path, onnx_path):
    import torch

    inputs, sizes, onnx_step = onnx_engine(onnx_path)
    names = list(onnx_step({name: np.zeros([1] + sizes[name][1:], np.float32) for name in inputs}))
    module = torch.jit.load(path)
    step = lambda feed: dict(zip(names, (x.numpy() for x in module(*(torch.from_numpy(feed[n].copy()) for n in inputs)))))
    return inputs, sizes, step


def worst_difference(recording, inputs, sizes, step):
    steps, envs = recording["action"].shape[:2]
    memory = np.zeros([envs, sizes["memory"][1]], np.float32) if "memory" in inputs else None
    worst = 0.0
    for t in range(steps):
        feed = {name: memory if name == "memory" else recording[name][t] for name in inputs}
        result = step(feed)
        for name in ("action", "aux"):
            if name in result:
                worst = max(worst, float(np.abs(result[name] - recording[name][t]).max()))
        memory = result.get("memory_out")
        # Any other batch size gives the same rows.
        if t == 0:
            one = step({name: value[:1] for name, value in feed.items()})
            worst = max(worst, float(np.abs(one["action"] - result["action"][:1]).max()))
    return worst


def main():
    folder = sys.argv[1]
    recording = read_safetensors(folder + "/recording.safetensors")
    if "--torchscript" in sys.argv:
        engine = torchscript_engine(folder + "/policy.pt", folder + "/policy.onnx")
    else:
        engine = onnx_engine(folder + "/policy.onnx")
    worst = worst_difference(recording, *engine)
    print(f"{len(recording['action'])} steps, largest difference {worst:.2e}")
    return 0 if worst < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
