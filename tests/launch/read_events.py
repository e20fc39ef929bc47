"""Reads a TensorBoard event folder with TensorBoard's own reader and prints tag, step and value of every scalar, and tag,
step, size and first bytes of every image."""
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

accumulator = EventAccumulator(sys.argv[1])
accumulator.Reload()
for tag in sorted(accumulator.Tags()["scalars"]):
    for event in accumulator.Scalars(tag):
        print(tag, event.step, f"{event.value:.6g}")
for tag in accumulator.Tags()["images"]:
    for event in accumulator.Images(tag):
        print(tag, event.step, f"{event.width}x{event.height}", event.encoded_image_string[1:4].decode())
