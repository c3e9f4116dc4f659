import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesMessages } from '../../../src/api/message-table.ts';
import { parseJson } from '../../../src/apimachinery/json-decode.ts';
import { decodeMessage } from '../../../src/apimachinery/protobuf/decode-message.ts';
import { ProtobufError } from '../../../src/apimachinery/protobuf/reader.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';
import {
  countValues,
  maxDepth,
  maxValues,
  measureJson,
  TextError,
} from '../../../src/apimachinery/value-limit.ts';
import { lengthDelimited, tag, text } from '../../fixtures/protobuf-writer.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const hasCode = (code: number) => (error: unknown) =>
  error instanceof StatusError && error.status.code === code;

for (const [json, keys, values] of [
  ['0', 0, 1],
  ['"a,[{:"', 0, 1],
  ['"\\",\\\\",', 0, 2],
  ['{}', 0, 2],
  ['[1,2,3]', 0, 4],
  ['{"a":{"b":[]},"c":":,"}', 3, 5],
  ['{"a,":1,"b\\"{":2}', 2, 3],
  ['"open,,,', 0, 1],
] as const)
  test(`${json} has ${keys} keys and at most ${values} values`, () => {
    assert.deepEqual(measureJson(json), { keys, values });
  });

const random = new SeededRandom(5);
function randomValue(depth: number): unknown {
  const pick = random.below(depth > 0 ? 6 : 4);
  if (pick === 4) return Array.from({ length: random.below(4) }, () => randomValue(depth - 1));
  if (pick === 5)
    return Object.fromEntries(
      Array.from({ length: random.below(4) }, (_, i) => [`k"${i},[`, randomValue(depth - 1)]),
    );
  return [1.5e3, 'a"b\\,{[:', null, true][pick];
}

test('the scan counts the nodes that the parser creates; empty lists and objects count twice', () => {
  const empties = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const inner = Object.values(value);
    return inner.length === 0 ? 1 : inner.reduce((sum: number, item) => sum + empties(item), 0);
  };
  for (let run = 0; run < 500; run++) {
    const value = randomValue(6);
    const json = JSON.stringify(value, undefined, random.below(2));
    assert.equal(measureJson(json).values, countValues(value) + empties(value), json);
  }
});

test('the maximum numbers of values and levels are accepted, and one more is rejected', () => {
  const list = (length: number) => `[${Array(length).fill('0').join(',')}]`;
  assert.equal((parseJson(list(maxValues - 1), false).value as unknown[]).length, maxValues - 1);
  assert.throws(() => parseJson(list(maxValues), false), hasCode(413));
  assert.equal(countValues([[0, { a: [] }], 'x']), 6);
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.ok(parseJson(nested(maxDepth), false).value);
  assert.throws(() => parseJson(nested(maxDepth + 1), false), TextError);
  let value: unknown = 0;
  for (let depth = 0; depth <= maxDepth; depth++) value = [value];
  assert.throws(() => countValues(value), hasCode(400));
});

test('a text is rejected before it is parsed', () => {
  // The parser would report the syntax error at the end of the text.
  assert.throws(() => parseJson(`[${'0,'.repeat(maxValues)}`, false), hasCode(413));
});

const message = (name: string) => {
  const found = kubernetesMessages.typeOf(name);
  assert.ok(found);
  return found;
};
const times = (count: number, field: readonly number[]) => Uint8Array.from(Array(count).fill(field).flat());

for (const [what, field] of [
  ['entries of a map', [0x12, 0]],
  ['one field repeated many times', [0x0a, 0]],
  ['fields without a name', [0x78, 0]],
  ['groups', tag(15, 3)],
] as const)
  test(`a protobuf message with too many ${what} is rejected`, () => {
    assert.throws(
      () => decodeMessage(times(maxValues + 1, field), message('core.v1.ConfigMap')),
      hasCode(413),
    );
  });

test('values in map entries and embedded JSON of protobuf are counted', () => {
  const entry = lengthDelimited(2, Array(maxValues).fill(text(1, '')).flat());
  assert.throws(() => decodeMessage(Uint8Array.from(entry), message('core.v1.ConfigMap')), hasCode(413));
  const json = `[${Array(maxValues / 2)
    .fill('0')
    .join(',')}]`;
  const managed = lengthDelimited(17, lengthDelimited(7, text(1, json)));
  const metadata = (count: number) => Uint8Array.from(lengthDelimited(1, Array(count).fill(managed).flat()));
  assert.ok(decodeMessage(metadata(1), message('core.v1.ConfigMap')));
  assert.throws(() => decodeMessage(metadata(2), message('core.v1.ConfigMap')), hasCode(413));
  assert.throws(() => decodeMessage(Uint8Array.of(0x12), message('core.v1.ConfigMap')), ProtobufError);
});
