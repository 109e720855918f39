"""Our walk and the reference verifier give the same answer for generated and damaged ledgers."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from engine.ledger import verify as module
from engine.ledger.backend import reference_verify
from engine.ledger.report import ChainReport, Rules
from engine.lines import reader
from engine.lines.source import FileSource
from tests.support.damage import ledger


def _in_chunks(path: Path, *, strict: bool, cuts: list[int]) -> ChainReport:
    """Walk a file in stretches cut at line ends, as separate processes would."""
    data = path.read_bytes()
    source = FileSource(path)
    rules = Rules(strict=strict)
    whole = module.Stretch(0, len(data), 1)
    declarations = module.collect_declarations(source, whole, rules)
    starts = sorted({0, *(data.find(b"\n", cut) + 1 for cut in cuts)} if b"\r" not in data else {0})
    ends = [*starts[1:], len(data)]
    chunks = []
    for start, end in zip(starts, ends, strict=True):
        stretch = module.Stretch(start, end, data[:start].count(b"\n") + 1)
        chunks.append(module.walk_stretch(source, stretch, declarations, rules))
    survey = module.Survey(len(data), "", may_declare=True, stretches=())
    return module.build_report(source, survey, chunks, declarations, rules)


def test_no_difference_to_the_reference(tmp_path: Path, sweep: Callable[[int], int], monkeypatch: object) -> None:
    """Every field in both modes, whole and in chunks, with blocks from 7 bytes up; raising is the one exception."""
    path = tmp_path / "ledger.jsonl"
    block = reader.BLOCK_BYTES
    compared = raised = reds = 0
    try:
        for seed in range(sweep(400)):
            path.write_bytes(ledger(seed))
            rng = random.Random(seed)
            for strict in (False, True):
                expected = reference_verify(path, strict=strict)
                reader.BLOCK_BYTES = rng.choice([7, 64, 4096, block])
                cuts = [rng.randrange(path.stat().st_size + 1) for _ in range(rng.randrange(4))]
                ours = module.verify_chain(FileSource(path), strict=strict)
                cut = _in_chunks(path, strict=strict, cuts=cuts)
                assert ours.reference == cut.reference, f"seed {seed}: chunks differ"
                assert [f.line for f in ours.findings] == [f.line for f in cut.findings], f"seed {seed}"
                if expected is None:
                    raised += 1
                    assert ours.reference.ok is False
                    continue
                assert ours.reference.as_json() == expected, f"seed {seed} strict {strict}"
                compared += 1
                reds += ours.reference.ok is False
    finally:
        reader.BLOCK_BYTES = block
    assert compared > 10 * max(1, raised)
    assert 0.2 < reds / compared < 0.95
