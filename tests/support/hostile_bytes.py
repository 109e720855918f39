"""Files as an enemy or a broken program makes them: each a name and bytes, all built here, none larger than needed."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from engine.lines.canonical import chain_body, chain_value

BOMS = {
    "utf8": b"\xef\xbb\xbf",
    "utf16le": b"\xff\xfe",
    "utf16be": b"\xfe\xff",
    "utf32le": b"\xff\xfe\x00\x00",
    "utf32be": b"\x00\x00\xfe\xff",
}
BROKEN_UTF8 = {
    "lone_continuation": b"\x80",
    "overlong": b"\xc0\xaf",
    "overlong_three": b"\xe0\x80\xaf",
    "surrogate_half": b"\xed\xa0\x80",
    "above_last": b"\xf4\x90\x80\x80",
    "cut": b"\xe2\x82",
    "never_used": b"\xfe\xff",
}
TEXTS = {
    "nul": "a\x00b",
    "line_separators": "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg",
    "lone_surrogate": "\ud83d and \udc00",
    "nfc": "\u00e9",
    "nfd": "e\u0301",
    "bidi": "\u202eevil\u2066x\u2069\u200f",
    "zero_width": "a\u200b\u200d\ufeffb\U000e0041",
    "look_alike": "p\u0430ypal",
    "combining": "a" + "\u0301" * 100_000,
    "html": "<img src=http://192.0.2.1/x onerror=alert(1)><script>alert(1)</script>",
    "markdown": "![x](http://192.0.2.1/x) [y](javascript:alert(1)) $\\href{x}{y}$",
    "directives": ":red[INTACT] :material/check: :green-badge[verified]",
    "terminal": "\x1b[2J\x1b]0;title\x07\x1b[32mHOLDS\x9b1m\r",
    "formula": '=HYPERLINK("http://192.0.2.1","x")',
    "prototype": "__proto__",
    "constructor": "constructor",
    "climbing": "../../../../etc/passwd",
    "absolute": "/etc/passwd",
    "device": "CON",
    "long_name": "n" * 255,
    "words": "verified HOLDS INTACT",
}
NUMBERS = {
    "digits_4301": "1" * 4301,
    "digits_4301_negative": "-" + "9" * 4301,
    "exponent": "1E400",
    "negative_exponent": "-1E400",
    "nan": "NaN",
    "infinity": "Infinity",
    "negative_zero": "-0",
    "tiny": "1e-400",
    "huge_exponent": "1e999999999999999999999",
    "above_uint64": "18446744073709551616",
    "true": "true",
    "text": '"3"',
    "list": "[]",
    "object": "{}",
    "null": "null",
    "fraction": "3.0",
    "hex_text": '"0x1f"',
}
MESSAGE = '{"role": "user", "content": %s}'


def chained(records: list[dict[str, Any]]) -> bytes:
    """Return an honest ledger of these records."""
    previous, lines = "genesis", []
    for record in records:
        previous = chain_value(previous, chain_body(record))
        lines.append(json.dumps({**record, "chain": previous}).encode())
    return b"".join(line + b"\n" for line in lines)


def receipt_record(**changed: Any) -> dict[str, Any]:
    """Return a v2 receipt of empty content with parts replaced; its digest does not follow."""
    empty = "sha256:json-c14n:v1:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    side = {"count": 0, "bytes": 0, "digest": empty}
    return {
        "schema": "arcaeon-compact:receipt:v2",
        "pre": dict(side),
        "post": dict(side),
        "dropped": {"count": 0, "bytes": 0, "items": []},
        "introduced": {"count": 0, "bytes": 0},
        "compactor": "c",
        "method": "m",
        "kind": "compaction_receipt",
        "opened_at": "2026-01-01T00:00:00Z",
        "receipt_digest": empty,
        **changed,
    }


HONEST = chained([{"ts": "2026-01-01T00:00:00Z", "i": n, "text": "one"} for n in range(4)])
RECEIPT = json.dumps(receipt_record())


def files() -> Iterator[tuple[str, bytes]]:
    """Yield every hostile file: its name and its bytes."""
    yield from _encodings()
    yield from _ends()
    yield from _texts()
    yield from _numbers()
    yield from _keys()
    yield from _shapes()
    yield from _sizes()
    yield from _packed()
    yield from _pins()
    yield from _sessions()


def _encodings() -> Iterator[tuple[str, bytes]]:
    text = HONEST.decode()
    for name, mark in BOMS.items():
        yield f"bom_{name}.jsonl", mark + HONEST
    for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-7"):
        yield f"as_{name}.jsonl", text.encode(name)
    for name, wrong in BROKEN_UTF8.items():
        yield f"utf8_{name}.jsonl", HONEST.replace(b"one", wrong, 1)
        yield f"utf8_{name}.json", b'["' + wrong + b'"]'
        yield f"utf8_{name}_session.jsonl", (MESSAGE % '"one"').encode().replace(b"one", wrong) + b"\n"
        yield f"utf8_{name}_end.jsonl", HONEST + wrong


def _ends() -> Iterator[tuple[str, bytes]]:
    yield "empty.jsonl", b""
    yield "empty.json", b""
    yield "blank.jsonl", b"\n \n\t\r\n"
    yield "crlf.jsonl", HONEST.replace(b"\n", b"\r\n")
    yield "cr.jsonl", HONEST.replace(b"\n", b"\r")
    yield "no_end.jsonl", HONEST[:-1]
    yield "torn.jsonl", HONEST[:-9]
    yield "nul_filled.jsonl", HONEST + b"\0" * 4096
    yield "nul_front.jsonl", b"\0" * 4096 + HONEST
    yield "nul_only.jsonl", b"\0" * 70_000
    yield "raw_newline.jsonl", HONEST.replace(b"one", b"o\nne", 1)
    yield "two_records.jsonl", HONEST.replace(b"}\n", b"}", 1)


def _texts() -> Iterator[tuple[str, bytes]]:
    for name, text in TEXTS.items():
        record = {"ts": text, "kind": text, text: text}
        yield f"text_{name}.jsonl", chained([record, record])
        yield (
            f"claim_{name}.jsonl",
            chained([receipt_record(compactor=text, method=text, opened_at=text, schema2=text)]),
        )
        yield f"schema_{name}.jsonl", chained([receipt_record(schema="arcaeon-compact:receipt:" + text)])
        yield f"content_{name}.json", json.dumps([text, {text: text}, {"role": text, "content": text}]).encode()
        yield f"session_{name}.json", json.dumps([{"role": "user", "content": text}, {"role": text}]).encode()
        raw = text.encode("utf-8", "surrogatepass")
        yield f"raw_{name}.jsonl", b'{"a": "' + raw + b'"}\n'


def _numbers() -> Iterator[tuple[str, bytes]]:
    for name, number in NUMBERS.items():
        yield f"number_{name}.jsonl", b'{"i": %s, "chain": "00"}\n' % number.encode()
        yield f"number_{name}.json", b"[%s]" % number.encode()
        yield f"chain_{name}.jsonl", b'{"i": 1, "chain": %s}\n' % number.encode()
        yield f"line_{name}.jsonl", HONEST + number.encode() + b"\n"
        for field in ("count", "bytes"):
            wrong = RECEIPT.replace(f'"{field}": 0', f'"{field}": {number}', 1)
            yield f"receipt_{field}_{name}.jsonl", wrong.encode() + b"\n"
        for field in ("pre", "dropped", "introduced", "schema", "receipt_digest", "compactor", "opened_at"):
            head, _, tail = RECEIPT.partition(f'"{field}": ')
            old = json.JSONDecoder().raw_decode(tail)[1]
            yield f"receipt_{field}_{name}.jsonl", f'{head}"{field}": {number}{tail[old:]}\n'.encode()
        yield f"receipt_items_{name}.jsonl", RECEIPT.replace('"items": []', f'"items": [{number}]').encode()


def _keys() -> Iterator[tuple[str, bytes]]:
    for name, line in {
        "top": '{"a": 1, "a": 2, "chain": "x"}',
        "equal": '{"a": 1, "a": 1, "chain": "x"}',
        "escaped": '{"a": 1, "\\u0061": 2, "chain": "x"}',
        "nested": '{"b": [{"a": 1, "a": 2}], "chain": "x"}',
        "chain": '{"chain": "x", "chain": "y"}',
        "receipt": RECEIPT[:-1] + ', "pre": null}',
        "receipt_nested": RECEIPT.replace('"count": 0', '"count": 0, "count": 1', 1),
        "normal_forms": '{"\u00e9": 1, "e\u0301": 2, "chain": "x"}',
        "prototype": '{"__proto__": {"chain": "x"}, "constructor": 1, "chain": "x"}',
    }.items():
        yield f"keys_{name}.jsonl", line.encode() + b"\n"
        yield f"keys_{name}.json", b"[" + line.encode() + b"]"


def _shapes() -> Iterator[tuple[str, bytes]]:
    for name, line in {
        "scalars": b'42\n[]\nnull\n"x"\ntrue\n',
        "words": b"verified\nHOLDS\n",
        "brackets": b"]}\n",
    }.items():
        yield f"shape_{name}.jsonl", HONEST + line
        yield f"shape_{name}_only.jsonl", line
    yield "receipt_list.jsonl", b'{"schema": ["arcaeon-compact:receipt:v2"], "kind": "compaction_receipt"}\n'
    yield "receipt_bare.jsonl", b'{"schema": "arcaeon-compact:receipt:v2"}\n'


def _sizes() -> Iterator[tuple[str, bytes]]:
    for name, opened, closed in (("lists", b"[", b"]"), ("objects", b'{"a":', b"}")):
        deep = opened * 100_000 + b"1" + closed * 100_000
        yield f"deep_{name}.jsonl", deep + b"\n" + HONEST
        yield f"deep_{name}.json", deep
        yield f"deep_{name}_open.jsonl", opened * 100_000
        yield f"deep_{name}_row.jsonl", b'{"chain": "x", "a": ' + deep + b"}\n"
        yield f"deep_{name}_receipt.jsonl", RECEIPT[:-1].encode() + b', "x": ' + deep + b"}\n"
        yield f"deep_{name}_session.jsonl", (MESSAGE % deep.decode()).encode() + b"\n"
    nested_900 = b"[" * 900 + b"]" * 900
    yield "deep_900.json", b"[" + nested_900 + b"]"
    yield "deep_900_row.jsonl", b'{"chain": "x", "a": ' + nested_900 + b"}\n"
    yield "deep_900_session.json", b"[" + (MESSAGE % nested_900.decode()).encode() + b"]"
    yield "deep_900_receipt.jsonl", RECEIPT[:-1].encode() + b', "x": ' + nested_900 + b"}\n"


def large_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files that are hostile by their size; a few doors see them, for they take a second each."""
    keys = b",".join(b'"k%d":1' % n for n in range(1_000_000))
    yield "million_keys.jsonl", b"{" + keys + b', "chain": "x"}\n'
    yield "ten_megabytes.jsonl", b'{"a": "' + b"x" * 10_000_000 + b'", "chain": "x"}\n' + HONEST
    yield "long_line.jsonl", b'{"a": "' + b"x" * 17_000_000 + b'", "chain": "x"}\n' + HONEST
    yield "ten_megabytes.json", b'["' + b"x" * 10_000_000 + b'"]'
    yield "digits_million.jsonl", b'{"chain": "x", "i": ' + b"1" * 1_000_000 + b"}\n"
    yield "manifest.jsonl", RECEIPT.replace("[]", json.dumps(["x"] * 100_000)).encode() + b"\n"
    yield "bomb.jsonl", gzip.compress(b"0" * 60_000_000)
    yield "short_rows.jsonl", b"{}\n" * 200_000


def _packed() -> Iterator[tuple[str, bytes]]:
    packed = gzip.compress(HONEST, mtime=0)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("receipts.jsonl", HONEST)
    session = gzip.compress((MESSAGE % '"one"').encode() + b"\n", mtime=0)
    yield "gzip.jsonl", packed
    yield "gzip_cut.jsonl", packed[:-9]
    yield "gzip_twice.jsonl", packed + packed
    yield "gzip_tail.jsonl", packed + b"\0junk"
    yield "gzip_head.jsonl", b"\x1f\x8b\x08"
    yield "gzip_session.jsonl.gz", session
    yield "gzip_session_cut.jsonl.gz", session[:-5]
    yield "gzip_session_flip.jsonl.gz", session[:20] + bytes([session[20] ^ 0xFF]) + session[21:]
    yield "zip.jsonl", held.getvalue()
    yield "zip.json", held.getvalue()
    yield "zstd.jsonl", b"\x28\xb5\x2f\xfd\x00\x00"
    yield "sqlite.jsonl", b"SQLite format 3\x00" + b"\0" * 84
    yield "binary.json", bytes(range(256)) * 16


def _pins() -> Iterator[tuple[str, bytes]]:
    for name, rows in {**NUMBERS, "minus": "-1", "zero": "0"}.items():
        yield f"pin_{name}.pin", f'{{"namespace": "n", "rows": {rows}, "chain": "x"}}\n'.encode()
    for name, text in TEXTS.items():
        if name != "combining":
            value = json.dumps(text)
            line = f'{{"namespace": {value}, "rows": 4, "chain": {value}, "as_of": {value}}}\n'
            yield f"pin_text_{name}.pin", line.encode()
    yield "pin_words.pin", b"arcaeon-ledger head chain=\xff rows=x\n"
    yield "pin_digits.pin", b"arcaeon-ledger head chain=x rows=" + b"9" * 5000 + b" as_of=x\n"
    yield "pin_deep.pin", b'{"namespace": "n", "rows": 4, "chain": ' + b"[" * 100_000 + b"\n[]\n"


def _sessions() -> Iterator[tuple[str, bytes]]:
    loop = [
        {"type": "user", "uuid": "a", "parentUuid": "b", "sessionId": "s", "message": {"role": "user", "content": "x"}},
        {"type": "user", "uuid": "b", "parentUuid": "a", "sessionId": "s", "message": {"role": "user", "content": "y"}},
    ]
    cut = {"type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": None, "sessionId": "s"}
    rows = [*loop, {**cut, "logicalParentUuid": "nowhere"}, loop[0]]
    yield "session_loop.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    yield "session_cut.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows)[:-20]
    yield "session_not_text.jsonl", b'{"type": "user", "uuid": 5, "parentUuid": [], "message": 7, "sessionId": {}}\n'
    yield "codex_wrong.jsonl", b'{"type": "session_meta", "payload": []}\n{"type": "compacted", "payload": null}\n'
    yield "pi_wrong.jsonl", b'{"type": "session", "version": 3, "id": []}\n{"type": "compaction", "id": {}}\n'
    yield "opencode_wrong.json", b'{"info": null, "messages": [{"info": [], "parts": 5}, null]}'
    yield "gemini_wrong.json", b'{"sessionId": 1, "messages": [null, {"type": "user", "content": {}}]}'
    yield "swe_wrong.traj", b'{"trajectory": [null, {"query": 5}], "history": [[]], "environment": "x"}'
