"""Print the hash of each operation that training uses, in the arithmetic of this process."""

import hashlib
import json

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from analogyqa.arithmetic import reproducible_arithmetic


def compute() -> dict[str, torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    x, y = (torch.randn(61, 300, generator=draw) for _ in range(2))
    weight, bias = torch.randn(150, 300, generator=draw), torch.randn(150, generator=draw)
    positive = x.abs() + 0.1
    torch.manual_seed(0)
    gru, lstm = nn.GRU(300, 40, bidirectional=True), nn.LSTM(300, 40)
    encoded = gru(x[:, None])[0]
    encoded.square().sum().backward()
    gradients = {name: value.grad for name, value in gru.named_parameters()}
    points = F.normalize(x.double(), dim=1) * 0.9
    return {
        "product": x @ y.T,
        "batched product": x.view(61, 10, 30) @ y.view(61, 30, 10),
        "linear": F.linear(x, weight, bias),
        "matrix times vector": x @ y[0],
        "dot": x[0] @ y[0],
        "convolution": F.conv1d(x[None, :, :].transpose(1, 2), weight[:, :, None].repeat(1, 1, 5)),
        "sum": x.sum(),
        "mean": x.mean(dim=1),
        "norm": x.norm(dim=1),
        "cosine": F.cosine_similarity(x, y),
        "square root": positive.sqrt(),
        "square root in double precision": positive.double().sqrt(),
        "exponential": x.exp(),
        "logarithm": positive.log(),
        "sigmoid": x.sigmoid(),
        "tanh": x.tanh(),
        "softmax": x.softmax(dim=1),
        "log-softmax": x.log_softmax(dim=1),
        "arsinh in double precision": torch.asinh(points),
        "maximum": x.view(61, 10, 30).amax(dim=1),
        "dropout": F.dropout(x),
        "GRU": encoded,
        **{f"gradient of {name}": value for name, value in gradients.items()},
        "LSTM": lstm(x[:, None])[0],
        "NumPy: product": torch.from_numpy(x.numpy() @ y.numpy().T),
        "NumPy: exponential": torch.from_numpy(np.exp(x.numpy())),
        "NumPy: norm": torch.from_numpy(np.linalg.norm(x.numpy(), axis=1)),
        "NumPy: sum": torch.from_numpy(x.numpy().sum(axis=0)),
        "NumPy: order": torch.from_numpy(np.argsort(x.numpy(), axis=1, kind="stable")),
    }


if __name__ == "__main__":
    with reproducible_arithmetic():
        results = compute()
    hashes = {
        name: hashlib.sha256(value.detach().numpy().tobytes()).hexdigest()
        for name, value in results.items()
    }
    print(json.dumps(hashes))
