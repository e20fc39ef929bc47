"""Tests README.md, CONTRIBUTING.md and docs/*.md: every gripstream command in them is one that works.

Of each command, options must be in that command's --help, --set keys in the configuration reference, and files of the
repository there. Commands that only look are run, in a folder where a small run has been made; those that would train
have their configuration read by `gripstream describe`. Links between the pages must lead somewhere.
"""

import functools
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.environ["GRIPSTREAM_BINARY_DIR"] + "/gripstream"
PAGES = [SOURCE + "/README.md", SOURCE + "/CONTRIBUTING.md", *sorted(glob.glob(SOURCE + "/docs/*.md"))]
PLACEHOLDERS = {"CONFIG": "configs/tiny.yaml", "RUN": "runs/mine", "MODEL": "envs/assets/kuka_allegro.xml"}

# Run as they are, with these arguments more.
LOOKS = {
    "describe": [], "plan": [], "render": [], "doctor": [], "reference": [], "plot": [], "compare": [], "keygen": [],
    "top": ["--once"],
    "eval": ["--set", "eval.episodes=8", "--set", "eval.sheet_rows=0", "--set", "eval.blank_image=false"],
    "play": ["--episodes", "1", "--width", "64", "--height", "48"],
    "export": [],
}
# Their configuration is read, and described.
STARTS = {"train", "launch", "learner", "sim_server"}
# Their options are looked at: they take minutes, or wait for others.
LONG = {"distill", "tune", "bench", "synergies", "run", "sim_robot"}


def read(path):
    with open(path) as file:
        return file.read()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def blocks(page):
    """Lines of indented and fenced blocks, continued ones joined."""
    text = re.sub(r"\\\n\s*", "", read(page))
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line.strip()


def commands(page):
    """Argument lists behind `gripstream`, from blocks and from `...` in the text."""
    lines = list(blocks(page))
    lines += [code for code in re.findall(r"`([^`\n]+)`", read(page)) if " " in code]
    for line in lines:
        match = re.match(r"(?:mpirun -n \d+ )?(?:build/release/)?gripstream (.*)$", line)
        if match:
            words = shlex.split(match.group(1).split(" > ")[0], comments=True)
            yield [functools.reduce(lambda w, kv: re.sub(rf"\b{kv[0]}\b", kv[1], w), PLACEHOLDERS.items(), word)
                   for word in words]


def run(arguments, folder=SOURCE):
    return subprocess.run([COMMAND, *arguments], cwd=folder, capture_output=True, text=True)


@functools.cache
def help_of(command):
    ended = run([command, "--help"])
    return ended.stdout if ended.returncode == 0 else None


@functools.cache
def keys():
    return set(re.findall(r"^\| `([^`]+)`", run(["reference"]).stdout, re.MULTILINE))


class Docs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = {}
        for page in PAGES:
            for words in commands(page):
                cls.all.setdefault(tuple(words), os.path.relpath(page, SOURCE))
        cls.folder = tempfile.mkdtemp()
        for name in ("configs", "envs"):
            os.symlink(f"{SOURCE}/{name}", f"{cls.folder}/{name}")
        ended = run(["train", "configs/tiny.yaml", "--set", "run.dir=runs/mine", "--set", "train.iterations=1",
                     "--set", "eval.episodes=8", "--set", "eval.sheet_rows=0", "--set", "wire.transport=inproc"],
                    cls.folder)
        assert ended.returncode == 0, ended.stderr
        for words in cls.all:
            for word in words:
                if re.match(r"runs/[\w-]+$", word) and not os.path.exists(f"{cls.folder}/{word}"):
                    os.symlink("mine", f"{cls.folder}/{word}")
        robot = read(SOURCE + "/envs/assets/kuka_allegro.xml")
        write(cls.folder + "/my_robot.xml", robot.replace('camera name="depth"', 'camera name="front"'))
        os.mkdir(cls.folder + "/my_objects")
        wedge = "v 0 0 0\nv .05 0 0\nv 0 .05 0\nv 0 0 .05\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
        for name in "abcde":  # one in five is held out
            write(f"{cls.folder}/my_objects/{name}.obj", wedge)
        write(cls.folder + "/my_run.yaml", "task: {model: my_robot.xml, camera: front}\n")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_there_are_commands_and_each_subcommand_is_shown(self):
        shown = {words[0] for words in self.all}
        self.assertGreater(len(self.all), 40)
        self.assertEqual(shown - set(LOOKS) - STARTS - LONG - {"--version"}, set())
        self.assertEqual((set(LOOKS) | STARTS | LONG) - shown, set())

    def test_options_keys_and_files_are_there(self):
        for words, page in self.all.items():
            with self.subTest(page=page, command=" ".join(words)):
                text = help_of(words[0])
                self.assertIsNotNone(text, "no such command")
                for i, word in enumerate(words):
                    if "=" in word and not word.startswith("-"):
                        self.assertEqual(words[i - 1], "--set", f"{word} stands alone")
                    if re.match(r"--?[a-z]", word):
                        self.assertRegex(text, rf"(^|[\s,]){re.escape(word.split('=')[0])}\b")
                    if word == "--set" and words[0] not in ("run", "sim_robot") and i + 1 < len(words):
                        self.assertIn(words[i + 1].split("=")[0], keys())
                    if re.match(r"(configs|envs|docs|tools)/[\w./-]+$", word):
                        self.assertTrue(os.path.exists(f"{SOURCE}/{word}"), word)

    def test_what_looks_runs_and_what_starts_has_a_configuration(self):
        done = set()
        for words, page in self.all.items():
            command, rest = words[0], list(words[1:])
            if "..." in words or not rest and command not in ("doctor", "reference"):
                continue  # the command's name alone, in a sentence
            if any(word.endswith(".so") for word in rest):
                continue  # tests/envs has a task library of its own
            if command in STARTS and "--resume" not in rest:
                sets = [f"--set={rest[i + 1]}" for i, word in enumerate(rest) if word == "--set"]
                configs = [word for word in rest if word.endswith(".yaml") and not word.startswith("-")]
                if not configs:
                    continue
                arguments = ["describe", configs[0], *sets]
            elif command in LOOKS:
                arguments = [command, *rest, *LOOKS[command]]
            else:
                continue
            if tuple(arguments) in done:
                continue
            done.add(tuple(arguments))
            with self.subTest(page=page, command=" ".join(words)):
                ended = run(arguments, self.folder)
                if "not installed" in ended.stderr:
                    continue  # a robot from a Python package
                self.assertEqual(ended.returncode, 0, ended.stderr)
                shutil.rmtree(self.folder + "/KEYS", ignore_errors=True)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", read(page)):
                if "://" not in link:
                    target = os.path.join(os.path.dirname(page), link)
                    self.assertTrue(os.path.exists(target), f"{os.path.relpath(page, SOURCE)}: {link}")

    def test_every_page_is_in_the_index(self):
        index = read(SOURCE + "/docs/README.md")
        for page in glob.glob(SOURCE + "/docs/*.md"):
            name = os.path.basename(page)
            if name != "README.md":
                self.assertIn(f"({name})", index)


if __name__ == "__main__":
    if not os.path.exists(COMMAND):
        print("skipped: gripstream is not built")
        sys.exit(77)
    unittest.main()
