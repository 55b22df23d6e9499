"""What scikit-image makes of pairs of images: each line of standard input has the dtype, the shape with channels
last, the window (0 for Gaussian weights), sigma, whether variances are of samples, and the data range (0 for the
default), and after it come the pixels of both. The answer is the mean, the map, both of float64, and the PSNR and MSE."""
import sys
import warnings

import numpy as np
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio, structural_similarity

warnings.simplefilter("ignore")

while line := sys.stdin.buffer.readline().split():
    dtype, window, sigma, sample, span = np.dtype(line[0].decode()), int(line[1]), float(line[2]), line[3] == b"true", float(line[4])
    shape = tuple(int(n) for n in line[5:])

    def image():
        data = sys.stdin.buffer.read(int(np.prod(shape)) * dtype.itemsize)
        return np.frombuffer(data, dtype).reshape(shape)

    a, b = image(), image()
    wide = a.astype(np.float64), b.astype(np.float64)  # scikit-image adds float32 in float32
    span = span or np.iinfo(dtype).max
    settings = {"win_size": window} if window else {"gaussian_weights": True, "sigma": sigma}
    mean, similarity = structural_similarity(*wide, data_range=span, use_sample_covariance=sample, channel_axis=-1, full=True, **settings)
    psnr, mse = peak_signal_noise_ratio(*wide, data_range=span), mean_squared_error(*wide)
    for out in (np.float64(mean), similarity.astype(np.float64), np.float64(psnr), np.float64(mse)):
        sys.stdout.buffer.write(out.tobytes())
    sys.stdout.buffer.flush()
