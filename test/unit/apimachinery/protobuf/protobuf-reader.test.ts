import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachField, ProtobufError, WireReader } from '../../../../src/apimachinery/protobuf/reader.ts';
import { readIntOrString, readQuantity, readTime } from '../../../../src/apimachinery/protobuf/well-known.ts';
import { integer, lengthDelimited, tag, text, varint } from '../../../fixtures/protobuf-writer.ts';

const readerOf = (...bytes: (number | readonly number[])[]) => new WireReader(Uint8Array.from(bytes.flat()));
const fails = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ProtobufError, String(error));
  assert.match(error.message, message);
  assert.ok(!error.message.includes('\n'));
  return true;
};

test('integers of 32 and 64 bits are read with and without a sign', () => {
  const numbers = [0, 1, 127, 128, 300, 2 ** 31 - 1, 2 ** 32, 2 ** 48, 2 ** 49 - 1, 2 ** 49, 2 ** 53 - 1];
  for (const value of [...numbers, ...numbers.map((number) => -number)]) {
    // A negative zero is decoded as zero.
    assert.equal(readerOf(varint(value)).int64(0), value + 0, String(value));
  }
  for (const value of [0, 1, -1, 80, 2 ** 31 - 1, -(2 ** 31)])
    assert.equal(readerOf(varint(value)).int32(0), value);
});

test('integers that are too large are truncated as in Go', () => {
  assert.equal(readerOf(varint(2 ** 32 + 5)).int32(0), 5);
  assert.equal(readerOf(varint(2 ** 31)).int32(0), -(2 ** 31));
  assert.equal(readerOf(varint(2n ** 63n + 7n)).int32(0), 7);
  assert.equal(readerOf(varint(2n ** 63n)).int64(0), -(2 ** 63));
  assert.ok(!Number.isSafeInteger(readerOf(varint(2n ** 60n + 1n)).int64(0)));
});

test('an integer may have more bytes than necessary, up to ten', () => {
  assert.equal(readerOf(0x81, 0x80, 0x00).int64(0), 1);
  assert.equal(readerOf(Array(9).fill(0x80), 0x00).int32(0), 0);
  assert.equal(readerOf(Array(9).fill(0x80), 0x00).bool(0), false);
  assert.throws(() => readerOf(Array(10).fill(0x80), 0x00).int64(0), fails(/longer than 64 bits/));
});

test('doubles, bytes, booleans and strings are read', () => {
  assert.equal(readerOf([...new Uint8Array(Float64Array.of(-1.5).buffer)]).double(1), -1.5);
  assert.deepEqual(readerOf(3, 1, 2, 3).bytes(2), Uint8Array.of(1, 2, 3));
  assert.equal(readerOf(2).bool(0), true);
  const words = '\uFEFFgrüße 東京 \0';
  const bytes = [...new TextEncoder().encode(words)];
  assert.equal(readerOf(bytes.length, bytes).string(2), words);
  assert.throws(() => readerOf(2, 0xc3, 0x28).string(2), fails(/not valid UTF-8/));
});

test('a value written as another type is refused', () => {
  const reads: [wanted: number, read: (reader: WireReader, wire: number) => unknown][] = [
    [0, (reader, wire) => reader.int32(wire)],
    [0, (reader, wire) => reader.int64(wire)],
    [0, (reader, wire) => reader.bool(wire)],
    [1, (reader, wire) => reader.double(wire)],
    [2, (reader, wire) => reader.bytes(wire)],
    [2, (reader, wire) => reader.string(wire)],
  ];
  for (const [wanted, read] of reads)
    for (const wire of [0, 1, 2, 3, 4, 5, 6, 7].filter((other) => other !== wanted))
      assert.throws(
        () => read(readerOf(Array(8).fill(0)), wire),
        fails(new RegExp(`wire type ${wire} where ${wanted} is expected`)),
      );
});

test('unknown fields are skipped, groups with their whole content', () => {
  const unknown = [
    ...integer(7, 300),
    ...tag(8, 1),
    ...Array(8).fill(9),
    ...lengthDelimited(9, [1, 2, 3]),
    ...tag(10, 5),
    ...Array(4).fill(9),
    ...tag(11, 3),
    ...integer(1, 5),
    ...tag(12, 3),
    ...text(1, 'inner'),
    ...tag(12, 4),
    ...tag(11, 4),
  ];
  const found: string[] = [];
  eachField(readerOf(...text(1, 'a'), ...unknown, ...text(1, 'b'), ...unknown), {
    1: (reader, wire) => found.push(reader.string(wire)),
  });
  assert.deepEqual(found, ['a', 'b']);
});

const broken: [name: string, bytes: readonly number[], expected: RegExp][] = [
  ['field number 0', [0x00, 0x00], /illegal tag 0/],
  ['a field number beyond 2^29', varint(2 ** 32), /illegal tag 4294967296/],
  ['a tag of 64 bits', varint(2n ** 60n), /illegal tag/],
  ['a tag without a value', tag(3, 0), /ends too early/],
  ['a length beyond the end', [...tag(3, 2), 5, 1], /ends too early/],
  ['a length of 2^64 - 1', [...tag(3, 2), ...varint(-1), 1], /ends too early/],
  ['a short fixed64', [...tag(3, 1), 1, 2, 3], /ends too early/],
  ['a short fixed32', [...tag(3, 5), 1, 2, 3], /ends too early/],
  ['wire type 6', tag(3, 6), /illegal wire type 6/],
  ['wire type 7', tag(3, 7), /illegal wire type 7/],
  ['an end of a group that was not started', tag(3, 4), /was not started/],
  ['a group without an end', tag(3, 3), /ends too early/],
  ['thousands of open groups', Array(20_000).fill(tag(3, 3)).flat(), /ends too early/],
];
for (const [name, bytes, expected] of broken)
  test(`a message with ${name} is rejected`, () =>
    assert.throws(() => eachField(readerOf(bytes), {}), fails(expected)));

test('times are read with seconds and fractions', () => {
  const time = (seconds: number, nanos: number, digits: 0 | 6) =>
    readTime(readerOf(integer(1, seconds), integer(2, nanos)), digits);
  assert.equal(time(1_700_000_000, 999_999_999, 0), '2023-11-14T22:13:20Z');
  assert.equal(time(1_700_000_000, 12_345_999, 6), '2023-11-14T22:13:20.012345Z');
  assert.equal(time(0, 0, 0), '1970-01-01T00:00:00Z');
  assert.equal(time(-1, 0, 6), '1969-12-31T23:59:59.000000Z');
  assert.equal(time(253_402_300_799, 0, 0), '9999-12-31T23:59:59Z');
  assert.equal(time(-62_135_596_800, 0, 0), undefined);
  assert.equal(readTime(readerOf(), 6), undefined);
  for (const [seconds, nanos] of [
    [253_402_300_800, 0] as const,
    [-62_135_596_801, 0] as const,
    [0, 1e9] as const,
    [0, -1] as const,
  ])
    assert.throws(() => time(seconds, nanos, 0), fails(/between the years 1 and 9999/));
});

test('quantities and int-or-strings are read', () => {
  assert.equal(readQuantity(readerOf(text(1, '1500m'))), '1500m');
  assert.equal(readQuantity(readerOf()), '0');
  assert.equal(readIntOrString(readerOf()), 0);
  assert.equal(readIntOrString(readerOf(integer(1, 0), integer(2, 80), text(3, ''))), 80);
  assert.equal(readIntOrString(readerOf(integer(1, 0), integer(2, -1), text(3, 'x'))), -1);
  assert.equal(readIntOrString(readerOf(integer(1, 1), integer(2, 80), text(3, 'http'))), 'http');
  assert.throws(() => readIntOrString(readerOf(text(2, 'x'))), fails(/wire type 2 where 0/));
});
