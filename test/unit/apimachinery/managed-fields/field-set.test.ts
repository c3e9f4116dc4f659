/**
 * Sets of fields: their form in FieldsV1, their order, and facts that are known without decoding that form.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  describePath,
  type FieldPath,
  FieldSet,
  hasAll,
  readFields,
  touches,
  writeFields,
} from '../../../../src/apimachinery/managed-fields/field-set.ts';
import {
  compareTexts,
  inElementOrder,
  keyElement,
} from '../../../../src/apimachinery/managed-fields/path-element.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

describe('fields in the form of FieldsV1', () => {
  for (const [what, paths, written] of [
    ['nothing', [], {}],
    ['a field', [['f:a']], { 'f:a': {} }],
    ['a field below another', [['f:a', 'f:b']], { 'f:a': { 'f:b': {} } }],
    ['both', [['f:a'], ['f:a', 'f:b']], { 'f:a': { '.': {}, 'f:b': {} } }],
    [
      'items by key, by value and by index',
      [
        ['f:a', 'k:{"name":"x"}', 'f:b'],
        ['f:s', 'v:"x"'],
        ['f:i', 'i:3'],
      ],
      { 'f:a': { 'k:{"name":"x"}': { 'f:b': {} } }, 'f:i': { 'i:3': {} }, 'f:s': { 'v:"x"': {} } },
    ],
    [
      'keys such as constructor',
      [['f:__proto__', 'f:constructor']],
      JSON.parse('{"f:__proto__":{"f:constructor":{}}}'),
    ],
  ] as const satisfies readonly (readonly [string, readonly FieldPath[], object])[]) {
    test(`${what}: a written field set is parsed to the same set`, () => {
      const set = FieldSet.of(...paths);
      assert.deepEqual(writeFields(set), written);
      assert.ok(readFields(written).equals(set));
      assert.equal(set.size, paths.length);
    });
  }

  test('are equal for any spelling of a key', () => {
    const [set] = ['k:{"b":1,"a":"x"}', 'k:{ "a" : "x", "b": 1.0 }'].map((key) => readFields({ [key]: {} }));
    assert.ok(set?.has(['k:{"a":"x","b":1}']));
    assert.ok(readFields({ 'k:{ "a" : "x", "b": 1.0 }': {} }).equals(set ?? new FieldSet()));
  });

  test('are dropped if their form is unknown', () => {
    assert.ok(readFields({ 'x:a': {}, 'f:b': {} }).equals(FieldSet.of(['f:b'])));
  });

  for (const wrong of [
    { a: {} },
    { '': {} },
    { 'k:': {} },
    { 'k:[1]': {} },
    { 'k:{"a"': {} },
    { 'v:': {} },
    { 'i:': {} },
    { 'i:1e3': {} },
    { 'f:a': 1 },
    { 'f:a': [] },
    [],
    'f:a',
    null,
  ]) {
    test(`${JSON.stringify(wrong)} is not a field set`, () => {
      assert.throws(() => readFields(wrong));
    });
  }

  test('are rejected if they are too deep for any object', () => {
    let deep: object = {};
    for (let i = 0; i < 400; i++) deep = { 'f:a': deep };
    assert.throws(() => readFields(deep), /steps deep/);
  });
});

test('steps are in the order of structured-merge-diff: fields, keys, values, indexes', () => {
  const order = [
    ...['f:a', 'f:b', 'f:\u{ffff}', 'f:\u{1f600}'],
    ...['k:{"a":1}', 'k:{"a":2,"b":1}', 'k:{"a":10}', 'k:{"b":1}'],
    ...['v:2', 'v:10', 'v:"a"', 'v:false', 'v:true', 'v:[1]', 'v:{"a":1}', 'v:null'],
    ...['i:-1', 'i:2', 'i:10'],
  ];
  const random = new SeededRandom(3);
  const shuffled = order
    .map((element) => ({ element, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ element }) => element);
  assert.deepEqual(inElementOrder(shuffled), order);
});

describe('items with the same key names are in the order of their keys', () => {
  const orderOf = (names: readonly string[]) =>
    names.toSorted(compareTexts).map((name) => keyElement({ name }));
  const ofAll = (names: readonly string[]) => inElementOrder(names.map((name) => keyElement({ name })));
  for (const [what, names] of [
    ['plain ones', ['b', 'a-b', 'a', 'a.b', 'a/b', 'A', 'a_b', 'aa', '', '0', '10', '9']],
    ['a key with a space', ['a', 'a b', 'a!', 'a-']],
    ['a key with a quote', ['a"', 'a', 'a#', 'a\\b']],
    ['keys beyond ASCII', ['é', 'a', '\u{ffff}', '\u{1f600}']],
  ] as const) {
    test(what, () => assert.deepEqual(ofAll(names), orderOf(names)));
  }

  test('which also holds among items with other key names', () => {
    const elements = [keyElement({ port: 2 }), keyElement({ name: 'b' }), keyElement({ name: 'a', port: 1 })];
    assert.deepEqual(inElementOrder(elements), [elements[2], elements[1], elements[0]]);
  });
});

test('strings are sorted by their bytes in UTF-8', () => {
  const texts = ['', 'a', 'aa', 'b', 'é', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}'];
  for (const a of texts)
    for (const b of texts)
      assert.equal(
        Math.sign(compareTexts(a, b)),
        Buffer.compare(Buffer.from(a), Buffer.from(b)),
        `${a} ${b}`,
      );
});

test('a path is printed as in error messages', () => {
  assert.equal(
    describePath(['f:spec', 'k:{"name":"a","port":80}', 'v:"x"', 'i:3']),
    '.spec[name="a",port=80][="x"][3]',
  );
});

describe('any sets', () => {
  const random = new SeededRandom(11);
  const path = () => Array.from({ length: 1 + random.below(3) }, () => `f:${'abc'[random.below(3)]}`);
  const draw = () => FieldSet.of(...Array.from({ length: random.below(7) }, path));
  const textsOf = (set: FieldSet) => new Set([...set.paths()].map((one) => one.join('/')));

  test('have the union, intersection and difference of their sets of paths', () => {
    for (let round = 0; round < 2_000; round++) {
      const [a, b, c] = [draw(), draw(), draw()];
      const [one, other] = [textsOf(a), textsOf(b)];
      assert.deepEqual(textsOf(a.union(b)), one.union(other));
      assert.deepEqual(textsOf(FieldSet.union([a, b, c])), one.union(other).union(textsOf(c)));
      assert.deepEqual(textsOf(a.intersection(b)), one.intersection(other));
      assert.deepEqual(textsOf(a.difference(b)), one.difference(other));
      const isBelow = (text: string) => [...other].some((above) => `${text}/`.startsWith(`${above}/`));
      assert.deepEqual(textsOf(a.without(b)), new Set([...one].filter((text) => !isBelow(text))));
      assert.ok(readFields(writeFields(a)).equals(a));
    }
  });

  test('have different written forms', () => {
    const seen = { touched: 0, untouched: 0, all: 0 };
    for (let round = 0; round < 4_000; round++) {
      const [a, b] = [draw(), draw()];
      const written = writeFields(a);
      assert.equal(hasAll(written, b), b.difference(a).isEmpty);
      if (!touches(written, b)) {
        assert.ok(a.intersection(b).isEmpty);
        assert.ok(a.without(b).equals(a));
        seen.untouched++;
      } else seen.touched++;
      if (!b.isEmpty && hasAll(written, b)) seen.all++;
    }
    assert.ok(seen.touched > 500 && seen.untouched > 500 && seen.all > 50, JSON.stringify(seen));
  });
});
