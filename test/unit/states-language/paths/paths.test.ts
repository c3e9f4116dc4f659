/**
 * JSONPath as the States Language uses it. The document is from the article in which JSONPath was first
 * described.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../../src/states-language/json.ts';
import { SyntaxProblem } from '../../../../src/states-language/paths/cursor.ts';
import { evaluatePath, PathProblem } from '../../../../src/states-language/paths/evaluate.ts';
import { isDefinite, isReference } from '../../../../src/states-language/paths/json-path.ts';
import { parsePath } from '../../../../src/states-language/paths/parse.ts';
import { PutProblem, putAt } from '../../../../src/states-language/paths/put.ts';

const book = (category: string, title: string, price: number, more: object = {}) => ({
  category,
  title,
  price,
  ...more,
});
const document: Json = {
  store: {
    book: [
      book('reference', 'A', 8.95),
      book('fiction', 'B', 12.99),
      book('fiction', 'C', 8.99, { isbn: '0-553' }),
      book('fiction', 'D', 22.99, { isbn: '0-395' }),
    ],
    bicycle: { color: 'red', price: 19.95 },
  },
  'detail-type': 'odd',
  "it's": 1,
  limit: 10,
  zero: 0,
  none: null,
  no: false,
  list: [0, 1, 2, 3, 4, 5],
  nested: [[1, 2], [3]],
  mixed: [1, '1', true, null, { a: 1 }],
  words: ['b', 'a'],
};
const roots = {
  input: document,
  context: { Execution: { Name: 'one' } },
  variable: (name: string): Json | undefined => ({ x: 42, größe: { a: [7] } })[name],
};
const find = (path: string) => evaluatePath(parsePath(path), roots);

const found: [path: string, value: Json | undefined][] = [
  ['$', document],
  ['$.limit', 10],
  ['$.none', null],
  ['$.no', false],
  ['$.missing', undefined],
  ['$.missing.deeper', undefined],
  ['$.limit.deeper', undefined],
  ['$.list.deeper', undefined],
  ['$.constructor', undefined],
  ['$.list.length', undefined],
  ['$.detail-type', 'odd'],
  ["$['detail-type']", 'odd'],
  ['$["detail-type"]', 'odd'],
  ["$['it\\'s']", 1],
  ["$['it\\u0027s']", 1],
  ['$.store.bicycle.color', 'red'],
  ["$['store']['bicycle']['color']", 'red'],
  ['$.list[0]', 0],
  ['$.list[5]', 5],
  ['$.list[6]', undefined],
  ['$.list[-1]', 5],
  ['$.list[-6]', 0],
  ['$.list[-7]', undefined],
  ['$.store[0]', undefined],
  ['$.nested[0][1]', 2],
  ['$.list[0,2]', [0, 2]],
  ['$.list[ 0 , 2 ]', [0, 2]],
  ["$['limit','zero']", [10, 0]],
  ['$.list[1:3]', [1, 2]],
  ['$.list[:2]', [0, 1]],
  ['$.list[4:]', [4, 5]],
  ['$.list[-2:]', [4, 5]],
  ['$.list[:-4]', [0, 1]],
  ['$.list[::2]', [0, 2, 4]],
  ['$.list[ 1 : 5 : 2 ]', [1, 3]],
  ['$.list[::-1]', [5, 4, 3, 2, 1, 0]],
  ['$.list[3:0:-2]', [3, 1]],
  ['$.list[-9:9]', [0, 1, 2, 3, 4, 5]],
  ['$.list[9:-9:-1]', [5, 4, 3, 2, 1, 0]],
  ['$.list[9:]', []],
  ['$.store[1:2]', []],
  ['$.list[*]', [0, 1, 2, 3, 4, 5]],
  ['$.store.bicycle.*', ['red', 19.95]],
  ['$.limit.*', []],
  ['$.store.book[*].title', ['A', 'B', 'C', 'D']],
  ['$..title', ['A', 'B', 'C', 'D']],
  ["$..['color']", ['red']],
  ['$..price', [8.95, 12.99, 8.99, 22.99, 19.95]],
  ['$.store..price', [8.95, 12.99, 8.99, 22.99, 19.95]],
  ['$..book[2].title', ['C']],
  ['$.nested..*', [[1, 2], [3], 1, 2, 3]],
  ['$..[1].title', ['B']],
  ['$.missing[*]', []],
  ['$..isbn', ['0-553', '0-395']],
  ['$..book[?(@.isbn)].title', ['C', 'D']],
  ['$..book[?(!@.isbn)].title', ['A', 'B']],
  ['$.store.book[?(@.price < 10)].title', ['A', 'C']],
  ['$.store.book[?@.price < 10].title', ['A', 'C']],
  ['$.store.book[?(@.price<$.limit)].title', ['A', 'C']],
  ['$.store.book[?(@.price <= 8.95)].title', ['A']],
  ['$.store.book[?(@.price > 12.99)].title', ['D']],
  ['$.store.book[?(@.price >= 12.99)].title', ['B', 'D']],
  ['$.store.book[?(10 > @.price)].title', ['A', 'C']],
  ["$.store.book[?(@.title == 'B')].price", [12.99]],
  ['$.store.book[?(@.title != "B")].title', ['A', 'C', 'D']],
  ["$.store.book[?(@.category == 'fiction' && @.price < 10)].title", ['C']],
  ["$.store.book[?(@.category == 'reference' || @.price > 20)].title", ['A', 'D']],
  ["$.store.book[?(@.title == 'A' || @.title == 'B' && @.price > 20)].title", ['A']],
  ["$.store.book[?((@.title == 'A' || @.title == 'B') && @.price > 10)].title", ['B']],
  ["$.store.book[?(!(@.category == 'fiction'))].title", ['A']],
  ["$.store.book[?(@.title in ['A', 'D'])].title", ['A', 'D']],
  ["$.store.book[?(@.title nin ['A', 'D'])].title", ['B', 'C']],
  ['$.store.book[?(@.title in [])].title', []],
  ['$.store.book[?(@.title in @.title)].title', []],
  ['$.store.book[?(@.title nin @.title)].title', []],
  ['$.list[?(@ > 3)]', [4, 5]],
  ['$.list[?(@ >= 3 && @ != 4)]', [3, 5]],
  ['$.list[?(@ == -1e0)]', []],
  ['$.mixed[?(@ == 1)]', [1]],
  ["$.mixed[?(@ == '1')]", ['1']],
  ['$.mixed[?(@ == true)]', [true]],
  ['$.mixed[?(@ == false)]', []],
  ['$.mixed[?(@ == null)]', [null]],
  ['$.mixed[?(@ < 2)]', [1]],
  ["$.mixed[?(@ <= '1')]", ['1']],
  ["$.mixed[?(@ >= '1')]", ['1']],
  ['$.mixed[?(@.a == 1)]', [{ a: 1 }]],
  ['$.mixed[?(@ == $.mixed[4])]', [{ a: 1 }]],
  ['$.nested[?(@ == [1,2])]', [[1, 2]]],
  ['$.nested[?(@ == [1, 2, 3])]', []],
  ['$.nested[?(@[*])]', [[1, 2], [3]]],
  ['$.nested[?(@[1:])]', [[1, 2]]],
  ['$.nested[?(@.length() == 1)]', [[3]]],
  ['$.store[?(@.color)]', [{ color: 'red', price: 19.95 }]],
  ['$.list.length()', 6],
  ['$.detail-type.length()', 3],
  ['$.store.length()', 2],
  ['$.limit.length()', undefined],
  ['$.missing.length()', undefined],
  ['$.list[1:3].length()', 2],
  ['$.list.min()', 0],
  ['$.list.max()', 5],
  ['$.list.sum()', 15],
  ['$.list.avg()', 2.5],
  ['$.words.min()', undefined],
  ['$.limit.sum()', undefined],
  ['$.mixed.sum()', 1],
  ['$.store.keys()', ['book', 'bicycle']],
  ['$.list.keys()', undefined],
  ['$.list.first()', 0],
  ['$.list.last()', 5],
  ['$.limit.first()', undefined],
  ['$$.Execution.Name', 'one'],
  ['$$', { Execution: { Name: 'one' } }],
  ['$x', 42],
  ['$größe.a[0]', 7],
  ['$unknown', undefined],
];
for (const [path, value] of found)
  test(`${path} finds ${(JSON.stringify(value) ?? 'nothing').slice(0, 60)}`, () =>
    assert.deepEqual(find(path), value));

const broken: [path: string, problem: RegExp][] = [
  ['', /a path begins with \$ at character 1$/],
  ['a', /a path begins with \$/],
  ['$.', /expected a name at character 3/],
  ['$..', /expected a name at character 4/],
  ['$a b', /unexpected ' ' at character 3/],
  ['$[', /expected a name in '…', an index, a slice, \* or \? at character 3/],
  ['$[0', /expected \] at character 4/],
  ['$[]', /expected a name/],
  ["$['a", /expected '/],
  ['$["a\']', /expected "/],
  ['$[0:1:0]', /cannot go by 0/],
  ['$[a]', /expected a name/],
  ['$.a[?()]', /expected a path, a number, a text in '…', true, false or null at character 7/],
  ['$.a[?(@.b', /expected \)/],
  ['$.a[?(@.b == )]', /expected a path, a number/],
  ["$.a[?('x')]", /expected one of == != <= >= < > in nin at/],
  ['$.a[?(@.b =~ /x/)]', /regular expressions are not supported at character 11/],
  ['$.a[(@.length-1)]', /expected a name/],
  ['$.a.size()', /one of the functions length, min, max, sum, avg, keys, first, last/],
  ['$.a.*()', /one of the functions/],
  ['$.a.length().b', /unexpected '\.' at character 13/],
  ['$.a[?(@.b == [1)]', /expected \]/],
  [`$${'.a'.repeat(1100)}`, /is longer than 2048 characters/],
  [`$[?${'('.repeat(30)}@.a`, /more than 20 levels of nesting/],
  [`$[?${'!'.repeat(30)}@.a]`, /more than 20 levels of nesting/],
  [`$[?@ == ${'['.repeat(30)}]`, /more than 20 levels of nesting/],
];
for (const [path, problem] of broken)
  test(`the path "${path.slice(0, 40)}" is refused`, () =>
    assert.throws(
      () => parsePath(path),
      (error) => error instanceof SyntaxProblem && problem.test(error.message),
    ));

test('parentheses that are closed no longer count as nesting', () => {
  const tests = Array.from({ length: 50 }, () => '(@ > 1)').join(' && ');
  assert.deepEqual(evaluatePath(parsePath(`$[?${tests}]`), { input: [1, 2] }), [2]);
});

test('a path that visits too many values fails', () => {
  const tree = (depth: number): Json => (depth === 0 ? 1 : [tree(depth - 1), tree(depth - 1)]);
  const path = parsePath('$..*..*..*..*..*');
  assert.throws(() => evaluatePath(path, { input: tree(12) }), PathProblem);
  const large = Array.from({ length: 1000 }, (_, index) => Array.from({ length: 200 }, () => index));
  assert.throws(
    () => evaluatePath(parsePath('$[?(@ == $[999])]'), { input: large }),
    /looks at more than 100000 values/,
  );
  assert.deepEqual(evaluatePath(parsePath('$[?(@ == $[3])][0]'), { input: large.slice(0, 100) }), [3]);
});

test('definite paths and reference paths are distinguished from others', () => {
  const kinds = (path: string) => [isDefinite(parsePath(path)), isReference(parsePath(path))];
  for (const path of ['$', '$.a', "$['a'].b", '$.a[0].b']) assert.deepEqual(kinds(path), [true, true], path);
  for (const path of ['$.a[-1]', '$.a.length()']) assert.deepEqual(kinds(path), [true, false], path);
  for (const path of ['$..a', '$.*', '$[0,1]', '$[0:1]', '$[?(@.a)]', '$.a[*].b'])
    assert.deepEqual(kinds(path), [false, false], path);
});

const put: [document: Json, path: string, result: Json][] = [
  [{ a: 1 }, '$', 9],
  [{ a: 1 }, '$.b', { a: 1, b: 9 }],
  [{ a: 1 }, '$.a', { a: 9 }],
  [{ a: 1 }, '$.b.c', { a: 1, b: { c: 9 } }],
  [{ a: { x: 1 } }, '$.a.b', { a: { x: 1, b: 9 } }],
  [{ a: [1, 2, 3] }, '$.a[1]', { a: [1, 9, 3] }],
  [{ a: [{ b: 1 }] }, '$.a[0].b', { a: [{ b: 9 }] }],
  [{}, "$['detail-type']", { 'detail-type': 9 }],
];
for (const [before, path, after] of put)
  test(`a value is put at ${path} in ${JSON.stringify(before)}, which is not changed itself`, () => {
    const copy = structuredClone(before);
    assert.deepEqual(putAt(before, parsePath(path), 9), after);
    assert.deepEqual(before, copy);
  });

const notPut: [document: Json, path: string, problem: RegExp][] = [
  [{ a: 1 }, '$.a.b', /there is no object for the field b/],
  [[1], '$.a', /there is no object for the field a/],
  [{ a: null }, '$.a.b', /there is no object/],
  [{ a: {} }, '$.a[0]', /there is no list for the index 0/],
  [{}, '$.a[0]', /there is no list for the index 0/],
  [{ a: [1] }, '$.a[1]', /the list has no index 1/],
];
for (const [before, path, problem] of notPut)
  test(`a value cannot be put at ${path} in ${JSON.stringify(before)}`, () =>
    assert.throws(
      () => putAt(before, parsePath(path), 9),
      (error) => error instanceof PutProblem && problem.test(error.message),
    ));

test('a field named __proto__ is stored like any field, and changes no prototype', () => {
  const result = putAt({}, parsePath('$.__proto__.polluted'), true);
  assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":true}}');
  assert.equal(Object.hasOwn({}, 'polluted') || 'polluted' in {}, false);
  assert.equal(evaluatePath(parsePath('$.__proto__'), { input: {} }), undefined);
});
