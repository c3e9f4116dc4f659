/** JSON Patch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch, readJsonPatch } from '../../../src/apimachinery/patch-json.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';

const hasCode = (code: number) => (error: unknown) =>
  error instanceof StatusError && error.status.code === code;

for (const [what, document, patch, result] of [
  ['add a member', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
  ['add replaces a member', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
  ['insert an item', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
  ['append an item', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
  ['add replaces the whole document', { a: 1 }, [{ op: 'add', path: '', value: { b: 1 } }], { b: 1 }],
  [
    'remove',
    { a: 1, b: [1, 2] },
    [
      { op: 'remove', path: '/a' },
      { op: 'remove', path: '/b/0' },
    ],
    { b: [2] },
  ],
  ['replace', { a: [1, 2] }, [{ op: 'replace', path: '/a/1', value: 'x' }], { a: [1, 'x'] }],
  [
    'escapes',
    { 'a/b': 1, 'c~d': 2 },
    [
      { op: 'remove', path: '/a~1b' },
      { op: 'replace', path: '/c~0d', value: 3 },
    ],
    { 'c~d': 3 },
  ],
  [
    'adjacent escapes',
    { 'a~1': 1, 'a/': 2, '~0': 3, '~': 4, '/~': 5 },
    [
      { op: 'remove', path: '/a~01' },
      { op: 'test', path: '/a~1', value: 2 },
      { op: 'remove', path: '/~00' },
      { op: 'test', path: '/~0', value: 4 },
      { op: 'remove', path: '/~1~0' },
    ],
    { 'a/': 2, '~': 4 },
  ],
  ['move', { a: { x: 1 }, b: {} }, [{ op: 'move', from: '/a/x', path: '/b/y' }], { a: {}, b: { y: 1 } }],
  [
    'copy is deep',
    { a: { x: 1 } },
    [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'replace', path: '/b/x', value: 2 },
    ],
    { a: { x: 1 }, b: { x: 2 } },
  ],
  ['test passes', { a: { x: [1] } }, [{ op: 'test', path: '/a', value: { x: [1] } }], { a: { x: [1] } }],
] as const) {
  test(`a JSON patch is applied: ${what}`, () => {
    const before = JSON.stringify(document);
    assert.deepEqual(applyJsonPatch(document, readJsonPatch(patch)), result);
    assert.equal(JSON.stringify(document), before);
  });
}

for (const [what, patch] of [
  ['a removal of a missing member', [{ op: 'remove', path: '/x' }]],
  ['a replacement of a missing member', [{ op: 'replace', path: '/x', value: 1 }]],
  ['an addition below a missing member', [{ op: 'add', path: '/x/y', value: 1 }]],
  ['an index beyond the end', [{ op: 'add', path: '/l/3', value: 1 }]],
  ['an index with a leading zero', [{ op: 'replace', path: '/l/00', value: 1 }]],
  ['a removal at the index -', [{ op: 'remove', path: '/l/-' }]],
  ['failed test', [{ op: 'test', path: '/a', value: 2 }]],
  ['a move of an object into itself', [{ op: 'move', from: '/o', path: '/o/x' }]],
  ['inherited member', [{ op: 'copy', from: '/constructor', path: '/x' }]],
  [
    'growing copies',
    [
      { op: 'add', path: '/l', value: ['x'.repeat(1e5)] },
      ...Array(40).fill({ op: 'copy', from: '/l', path: '/l/-' }),
    ],
  ],
] as const) {
  test(`a JSON patch with ${what} is rejected with 422`, () => {
    assert.throws(() => applyJsonPatch({ a: 1, l: [1, 2], o: {} }, readJsonPatch(patch)), hasCode(422));
  });
}

for (const [patch, code] of [
  [{}, 400],
  [[1], 400],
  [[{ op: 'add', path: '/a' }], 400],
  [[{ op: 'add', path: 'a', value: 1 }], 400],
  [[{ op: 'frob', path: '/a' }], 400],
  [[{ op: 'move', path: '/a' }], 400],
  [Array(10_001).fill({ op: 'remove', path: '/a' }), 413],
] as const) {
  test(`the JSON patch ${JSON.stringify(patch).slice(0, 40)} is rejected with ${code}`, () => {
    assert.throws(() => readJsonPatch(patch), hasCode(code));
  });
}
