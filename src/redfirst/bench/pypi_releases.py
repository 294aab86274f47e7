# SPDX-License-Identifier: Apache-2.0
"""Bugs of released packages: one folder a bug, Base and the fix are source distributions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redfirst.bench.dataset import Workshop
from redfirst.bench.fields import Fields, read_bytes, read_json
from redfirst.bench.instance import Gold, Hidden, Instance, SourcePatch
from redfirst.bench.overlay import lay_over
from redfirst.bench.releases import release_folder
from redfirst.core.errors import UsageError

INSTANCE_FILE = "instance.json"


@dataclass(frozen=True)
class PypiReleases:
    """The data set ``pypi-releases:DIR``."""

    folder: Path

    @property
    def spec(self) -> str:
        return f"pypi-releases:{self.folder.resolve()}"

    def ids(self) -> tuple[str, ...]:
        """Names of the folders that hold an instance."""
        if not self.folder.is_dir():
            raise UsageError(f"no folder at {self.folder}", "name the folder of the bugs")
        found = sorted(path.parent.name for path in self.folder.glob(f"*/{INSTANCE_FILE}"))
        if not found:
            raise UsageError(f"{self.folder} has no bugs", f"a bug is a folder with {INSTANCE_FILE}")
        return tuple(found)

    def instance(self, instance_id: str) -> Instance:
        """Reads instance.json and nothing else."""
        fields = Fields.of_file(self.folder / instance_id / INSTANCE_FILE)
        if fields.text("instance_id") != instance_id:
            raise fields.fault("instance_id", f"the folder's name, {instance_id!r}")
        return Instance(
            instance_id=instance_id,
            package=fields.text("package"),
            import_name=fields.text("import_name"),
            base_version=fields.text("base_version"),
            requirements=fields.texts("requirements"),
            pip_install=fields.text("pip_install", "-e ."),
            install_env=fields.pairs("install_env"),
            runner=fields.text("runner"),
            test_paths=fields.texts("test_paths", ()),
            report=fields.text("problem_statement"),
        )

    def checkout(self, instance: Instance, workshop: Workshop) -> Path:
        """The unpacked source distribution of the release that has the bug."""
        return release_folder(instance.package, instance.base_version, workshop)

    def hidden(self, instance_id: str) -> Hidden:
        """Reads hidden.json, correct_patch.diff and wrong_patches.json."""
        folder = self.folder / instance_id
        fields = Fields.of_file(folder / "hidden.json")
        correct = SourcePatch("correct", read_bytes(folder / "correct_patch.diff"))
        if not correct.diff.strip():
            raise UsageError(f"{folder / 'correct_patch.diff'} is empty", "correct the data set")
        return Hidden(
            fixed_version=fields.text("fixed_version"),
            gold=_gold(fields.inner("gold")),
            correct=correct,
            wrong=_wrong(folder / "wrong_patches.json"),
        )

    def gold(self, instance: Instance, hidden: Hidden, workshop: Workshop) -> Path:
        """Base with the named files of the fixed release laid over it."""
        base = self.checkout(instance, workshop)
        fixed = release_folder(instance.package, hidden.fixed_version, workshop)
        return lay_over(base, fixed, hidden.gold, instance, workshop.cache)


def _gold(fields: Fields) -> Gold:
    if not fields.is_text("files"):
        files = fields.texts("files")
        if not files:
            raise fields.fault("files", "a list of paths that is not empty, or '*'")
        return Gold(None if files == ("*",) else files, fields.texts("roots", ()))
    if fields.text("files") != "*":
        raise fields.fault("files", "a list of paths, or '*'")
    return Gold(None, fields.texts("roots", ()))


def _wrong(path: Path) -> tuple[SourcePatch, ...]:
    value = read_json(path)
    if not isinstance(value, list):
        raise UsageError(f"{path} is not a JSON list", "correct the data set")
    found = []
    for number, item in enumerate(value, 1):
        fields = Fields(f"{path}: patch {number}", item)
        found.append(SourcePatch(f"wrong-{number}", fields.text("diff").encode(), fields.text("why", "")))
    return tuple(found)
