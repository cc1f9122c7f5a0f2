"""What a checkpoint holds is read again, whatever happened to the file."""

import os

import pytest

from tests.verification.support import fill_disk
from verification.engine.checkpoint import Checkpoint
from verification.engine.tally import Tally
from verification.engine.trials import Batch

needs_full_disk = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


KEY = {"seed": 1}


def write(path, count, key=KEY):
    with Checkpoint(path, key, resume=False, read=Tally.from_json) as checkpoint:
        for k in range(count):
            tally = Tally()
            tally.add({"ratio": k / 10})
            checkpoint.add(Batch("claim", "cell", k, k + 1, 1), tally)


def test_what_was_added_is_read_again(tmp_path):
    write(tmp_path / "new" / "file", 3)
    found = Checkpoint(tmp_path / "new" / "file", KEY, resume=True, read=Tally.from_json).finished
    assert sorted(batch.start for batch in found) == [0, 1, 2]
    assert found[Batch("claim", "cell", 2, 3, 1)].mean("ratio") == pytest.approx(0.2)


def test_an_unfinished_line_is_dropped(tmp_path):
    write(tmp_path / "file", 3)
    text = (tmp_path / "file").read_text()
    (tmp_path / "file").write_text(text[:-20])
    checkpoint = Checkpoint(tmp_path / "file", KEY, resume=True, read=Tally.from_json)
    assert len(checkpoint.finished) == 2
    with checkpoint:
        pass
    assert len(Checkpoint(tmp_path / "file", KEY, resume=True, read=Tally.from_json).finished) == 2


def test_results_under_another_key_are_not_used(tmp_path):
    write(tmp_path / "file", 3)
    other = Checkpoint(tmp_path / "file", {"seed": 2}, resume=True, read=Tally.from_json)
    assert other.finished == {}
    assert other.is_stale


@needs_full_disk
def test_a_checkpoint_is_kept_when_it_cannot_be_opened_anew(tmp_path):
    path, batch = tmp_path / "checkpoint", Batch("claim", "cell", 0, 1, 1)
    with Checkpoint(path, {}, resume=False, read=Tally.from_json) as checkpoint:
        checkpoint.add(batch, Tally())
    fill_disk(path)
    again = Checkpoint(path, {}, resume=True, read=Tally.from_json)
    with pytest.raises(OSError, match="No space left on device"), again:
        pass
    assert list(Checkpoint(path, {}, resume=True, read=Tally.from_json).finished) == [batch]


@needs_full_disk
def test_a_checkpoint_that_cannot_grow_names_its_file(tmp_path, monkeypatch):
    path, batch = tmp_path / "checkpoint", Batch("claim", "cell", 0, 1, 1)

    def open_full(*arguments, **options):
        return open("/dev/full", *arguments[1:], **options)

    checkpoint = Checkpoint(path, {}, resume=False, read=Tally.from_json)
    monkeypatch.setattr("verification.engine.checkpoint.open", open_full, raising=False)
    with pytest.raises(OSError, match="No space left on device") as caught, checkpoint:
        checkpoint.add(batch, Tally())
    assert caught.value.filename == str(path)
