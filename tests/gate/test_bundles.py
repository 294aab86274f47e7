# SPDX-License-Identifier: Apache-2.0
"""A frozen bundle is one folder per content, read-only, and any change to it is noticed."""

from __future__ import annotations

import pytest

from redfirst.core.bundle import TestBundle
from redfirst.core.errors import UsageError
from redfirst.gate.bundles import FrozenBundleChanged, freeze, load_bundle, save_bundle

BUNDLE = TestBundle(b"patch\n", b"pytest a::b\n", b"{}")


def test_a_saved_bundle_is_read_back(tmp_path):
    save_bundle(BUNDLE, tmp_path / "b")
    assert load_bundle(tmp_path / "b") == BUNDLE


def test_a_missing_part_stays_missing(tmp_path):
    save_bundle(TestBundle(None, b"x", None), tmp_path / "b")
    assert load_bundle(tmp_path / "b") == TestBundle(None, b"x", None)


def test_no_folder_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no bundle folder"):
        load_bundle(tmp_path / "none")


def test_freezing_twice_gives_the_same_read_only_folder(tmp_path):
    one, two = freeze(BUNDLE, tmp_path), freeze(BUNDLE, tmp_path)
    assert one == two
    assert one.folder.name == BUNDLE.digest
    assert [path.name for path in tmp_path.iterdir()] == [BUNDLE.digest]
    assert not any(path.stat().st_mode & 0o222 for path in (one.folder, *one.folder.iterdir()))


@pytest.mark.parametrize("name", ["test.patch", "test_command", "test_contract.json"])
def test_a_changed_frozen_bundle_is_refused(tmp_path, name):
    frozen = freeze(BUNDLE, tmp_path)
    path = frozen.folder / name
    path.chmod(0o644)
    path.write_bytes(b"other")
    with pytest.raises(FrozenBundleChanged):
        load_bundle(frozen.folder)


def test_parts_cannot_be_shifted_between_files():
    assert TestBundle(b"a", b"b", b"c").digest != TestBundle(b"ab", b"", b"c").digest
