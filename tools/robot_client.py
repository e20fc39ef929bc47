#!/usr/bin/env python3
"""A robot for `gripstream run DIR`, as small as it gets: replace read_sensors and move by your driver's calls.

    python3 tools/robot_client.py DIR/manifest.yaml [SECONDS [STATES TARGETS]]       needs pyzmq

docs/robot.md describes the messages; deploy/robot_messages.h is what they are."""
import re, struct, sys, time
import zmq

HEAD = "<4sHHIIq"                              # kind, version, 0, sequence, run, stamp_ns
STATES = HEAD + "II64d64d"                     # joints, flags (1: goodbye), q, qd
FRAME = HEAD + "32sIIIId"                      # camera, width, height, format (1: depth16, 2: rgb8), bytes, depth unit
TARGETS = HEAD + "IIII3d64d64d"                # joints, phase, answers, stop, object, q, qd
PHASES = ["waiting", "home", "policy", "grasped", "place", "done", "stopped"]

manifest = open(sys.argv[1]).read()
home = [float(x) for x in re.search(r"\n  home: \[(.*?)\]", manifest).group(1).split(",")]
camera, width, height = re.search(r"\ncamera:\n  name: \"?(\w*)\"?\n  width_px: (\d+)\n  height_px: (\d+)", manifest).groups()
pixels = struct.pack("<H", 1000) * (int(width) * int(height))  # a wall, 1 m away
q = list(home)


def read_sensors():
    return q, [0.0] * len(q), pixels


def move(targets):
    q[:] = targets


context = zmq.Context()
publisher, subscriber = context.socket(zmq.PUB), context.socket(zmq.SUB)
states, targets = sys.argv[3:5] if len(sys.argv) > 4 else ("tcp://127.0.0.1:7411", "tcp://127.0.0.1:7412")
publisher.bind(states)
subscriber.bind(targets)
subscriber.setsockopt(zmq.SUBSCRIBE, b"GSJT")
end, last, sequence = time.monotonic() + float(sys.argv[2] if len(sys.argv) > 2 else 1e9), None, 0
while time.monotonic() < end:
    sequence += 1
    positions, speeds, image = read_sensors()
    now, pad = time.monotonic_ns(), [0.0] * (64 - len(q))
    run = 1 if last is not None else 0         # the operator's go: begin once the runner answers
    publisher.send(struct.pack(FRAME, b"GSCF", 1, 0, sequence, 0, now, camera.encode(), int(width), int(height), 1,
                               len(image), 0.001) + image)
    flags = 1 if time.monotonic() > end - 0.2 else 0
    publisher.send(struct.pack(STATES, b"GSJS", 1, 0, sequence, run, now, len(q), flags, *positions, *pad, *speeds, *pad))
    while subscriber.poll(1000 // 60):
        message = struct.unpack(TARGETS, subscriber.recv())
        if PHASES[message[7]] != last:
            last = PHASES[message[7]]
            print(last, "" if last != "stopped" else message[9], flush=True)
        if message[6]:
            move(message[13:13 + len(q)])
        break
