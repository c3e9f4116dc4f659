import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../../src/apimachinery/json-decode.ts';
import { TextError } from '../../../src/apimachinery/value-limit.ts';
import { parseYaml, parseYamlStream } from '../../../src/apimachinery/yaml.ts';
import { formatYaml } from '../../../src/apimachinery/yaml-output/format-yaml.ts';
import { processorTime } from '../../fixtures/processor-time.ts';

for (const [text, duplicates] of [
  ['{"a":1,"b":{"a":2}}', []],
  ['{"a":1,"a":2}', ['a']],
  ['{"spec":{"replicas":1,"x":[{"n":1,"n":2}],"replicas":3}}', ['spec.x[0].n', 'spec.replicas']],
  ['{"a" : "b:c\\"", "\\u0061": 1}', ['a']],
  ['{"a":"\\\\","b":"x\\":","a":1}', ['a']],
  ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ['[{"a":"a\\":"},"b"]', []],
  ['"text"', []],
] as const) {
  test(`the duplicate keys of ${text} are reported`, () => {
    const parsed = parseJson(text, true);
    assert.deepEqual(parsed.duplicates, duplicates);
    assert.deepEqual(parsed.value, JSON.parse(text));
    assert.deepEqual(parseJson(text, false).duplicates, []);
  });
}

for (const [text, message] of [
  ['', 'invalid JSON at line 1, column 1: expected a value, found the end of the text'],
  ['{"a":1,}', 'invalid JSON at line 1, column 8: expected a key in double quotes, found "}"'],
  ['{\n"a" 1}', 'invalid JSON at line 2, column 5: expected \':\', found "1"'],
  ['[1 2]', "invalid JSON at line 1, column 4: expected ',' or ']', found \"2\""],
  ['{"a":1', "invalid JSON at line 1, column 7: expected ',' or '}', found the end of the text"],
  ['{"a":"x', 'invalid JSON at line 1, column 8: expected a closing double quote, found the end of the text'],
  ['{"a":1} x', 'invalid JSON at line 1, column 9: expected the end of the text, found "x"'],
  ['{"a":01}', "invalid JSON at line 1, column 7: expected ',' or '}', found \"1\""],
  [
    '"a\nb"',
    'invalid JSON at line 1, column 1: expected a string without raw control characters or unknown escapes, found "\\""',
  ],
] as const) {
  test(`the error for ${JSON.stringify(text)} has the place and the fault`, () => {
    assert.throws(() => parseJson(text, false), { name: 'TextError', message });
  });
}

test('deep nesting is rejected and does not overflow the stack', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  assert.throws(() => parseJson(deep, true), TextError);
  assert.throws(() => parseJson('['.repeat(100_000), true), TextError);
  assert.throws(() => parseYaml(deep), TextError);
});

for (const [text, value] of [
  ['a: on\nb: "yes"\nc: true\nd: ~', { a: true, b: 'yes', c: true, d: null }],
  ['mode: 0644\nother: 0o644\nport: 80\nx: 08', { mode: 420, other: 420, port: 80, x: 8 }],
  ['"on": [1, 2.5, "3"]', { on: [1, 2.5, '3'] }],
  ['base: &b {x: 1}\nc: {<<: *b, z: 2}', { base: { x: 1 }, c: { x: 1, z: 2 } }],
  ['time: 2026-01-01T00:00:00Z', { time: '2026-01-01T00:00:00Z' }],
  ['{"json": [true]}', { json: [true] }],
  ['---\na: 1\n...\n', { a: 1 }],
  ['# comment\n---\na: |\n  x\n  y\n', { a: 'x\ny\n' }],
] as const) {
  test(`YAML ${JSON.stringify(text)} is parsed`, () => assert.deepEqual(parseYaml(text).value, value));
}

test('duplicate keys in YAML are reported with their paths', () => {
  assert.deepEqual(parseYaml('a: 1\nb:\n- c: 1\n  c: 2\na: 3').duplicates, ['b[0].c', 'a']);
});

test('a merge key after the same key of the map is a duplicate, because parsers differ; before it, the key of the map takes precedence', () => {
  const base = 'base: &base {x: 1}\n';
  assert.deepEqual(parseYaml(`${base}a: {x: 2, <<: *base}`).duplicates, ['a.x']);
  assert.deepEqual(parseYaml(`${base}a: {x: 2, <<: [{y: 1}, *base]}`).duplicates, ['a.x']);
  const { value, duplicates } = parseYaml(`${base}a: {<<: *base, x: 2}`);
  assert.deepEqual([value, duplicates], [{ base: { x: 1 }, a: { x: 2 } }, []]);
});

for (const text of [
  '',
  '# nothing',
  'a: 1\n---\nb: 2',
  'a: [1',
  '? {x: 1}\n: 2',
  'a: b: c',
  '\ta: 1',
  'a: *nowhere',
]) {
  test(`YAML ${JSON.stringify(text)} is refused in one line`, () => {
    assert.throws(
      () => parseYaml(text),
      (error) => error instanceof TextError && !error.message.includes('\n'),
    );
  });
}

test('the expansion of aliases is limited', () => {
  let bomb = 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n';
  for (let i = 1; i < 9; i++)
    bomb += `a${i}: &a${i} [${Array(10)
      .fill(`*a${i - 1}`)
      .join(',')}]\n`;
  assert.throws(() => parseYaml(bomb), TextError);
});

test('a stream is read as its documents, and YAML is written so that older parsers read it', () => {
  assert.deepEqual(
    parseYamlStream('a: 1\n---\n---\n# none\n---\nb: 2\n').map((parsed) => parsed.value),
    [{ a: 1 }, { b: 2 }],
  );
  assert.equal(formatYaml({ a: 'on', b: ['x'], c: '0644' }), 'a: "on"\nb:\n- x\nc: "0644"\n');
  // The keys of managedFields have no quotes in kubectl's output.
  assert.equal(formatYaml({ '.': {}, 'f:a': { '.': '-.' } }), '.: {}\nf:a:\n  .: -.\n');
});

test('an alias in a merge refers to the last earlier node with its name', () => {
  const { value, duplicates } = parseYaml(
    'a: &n {x: 1}\nb: &n {z: 1}\nc: {x: 2, z: 2, <<: *n}\nd: &n {x: 1}\n',
  );
  assert.deepEqual(duplicates, ['c.z']);
  assert.deepEqual((value as { c: unknown }).c, { x: 2, z: 2 });
});

const link = (count: number, next: (before: number) => string) =>
  `a0: &a0 {k: 1}\n${Array.from({ length: count }, (_, n) => `a${n + 1}: &a${n + 1} {<<: *a${next(n)}, k${n}: 1}`).join('\n')}\n`;
const maps = Array.from({ length: 2500 }, (_, n) => `k${n}: 1`).join(', ');

for (const [what, text, message] of [
  ['a chain of merges', link(1700, String), /alias/],
  ['merges of one map', link(1700, () => '0'), /alias/],
  ['many merges of one large map', `b: &b {${maps}}\nc: {<<: [${Array(7000).fill('*b')}]}`, /100000 keys/],
  [
    'merges of a large map',
    `b: &b {${maps}}\n${Array.from({ length: 2500 }, (_, n) => `c${n}: {<<: *b}\n`).join('')}`,
    /100000 keys/,
  ],
] as const) {
  test(`${what} is rejected at little cost`, () => {
    assert.ok(text.length < 64 * 1024, String(text.length));
    const start = processorTime();
    assert.throws(
      () => parseYaml(text),
      (error) => error instanceof TextError && message.test(error.message),
    );
    assert.ok(processorTime() - start < 2_500, `${processorTime() - start} ms`);
  });
}
