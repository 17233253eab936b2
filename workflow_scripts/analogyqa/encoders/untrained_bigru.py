"""The BiGRU with the initial weights of a seed: the encoder before training."""

import numpy as np

from analogyqa.settings.systems import Training


class UntrainedBiGRUEncoder:
    """Encodes as `BiGRUEncoder` does before its first step, without dropout: [n, sentence_dim]."""

    def __init__(self, word_vectors: np.ndarray, training: Training, seed: int) -> None:
        import torch  # not at the top: most encoders that are not trained need no PyTorch

        from analogyqa.encoders.bigru import BiGRUEncoder

        torch.set_num_threads(1)  # with more threads, the last bits differ
        self.encoder = BiGRUEncoder(word_vectors, training, seed).eval().requires_grad_(False)

    def __call__(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Encode word ids [n, t] with lengths [n]."""
        import torch

        return self.encoder(torch.from_numpy(words), torch.from_numpy(lengths)).numpy()

    def winners(self, words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the position of the word that each dimension comes from: int [n, sentence_dim]."""
        import torch

        return self.encoder.winners(torch.from_numpy(words), torch.from_numpy(lengths)).numpy()
