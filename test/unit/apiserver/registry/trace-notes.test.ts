import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { setTraceNote, traceAnnotation, traceNoteOf } from '../../../../src/apimachinery/trace-note.ts';
import { type NotedWrite, nextNote } from '../../../../src/apiserver/registry/trace-notes.ts';

const noteOf = (digit: string, span = '1') => `00-${digit.repeat(32)}-${span.repeat(16)}-01`;
const at = (digit: string, sampled = true) => ({
  traceId: digit.repeat(32),
  spanId: '2'.repeat(16),
  sampled,
});
const here = noteOf('a', '2');

const cases: [what: string, write: Partial<NotedWrite>, expected: string | undefined][] = [
  ['a user in a trace', { context: at('a') }, here],
  [
    'a user in a trace, to an object with a note of another trace',
    { context: at('a'), before: noteOf('b') },
    here,
  ],
  ['a user in a trace that is not recorded', { context: at('a', false), before: noteOf('b') }, undefined],
  ['a user outside of a trace', { before: noteOf('b') }, undefined],
  ['a user in a trace, to an object with an owner', { context: at('a'), owner: { note: noteOf('c') } }, here],
  [
    'a controller, to an object of its own',
    { isOwn: true, context: at('a'), owner: { note: noteOf('c') } },
    noteOf('c'),
  ],
  [
    'a controller, to an object whose owner has no note',
    { isOwn: true, context: at('a'), owner: { note: undefined }, before: here },
    undefined,
  ],
  [
    'a controller, to an object whose owner has a damaged note',
    { isOwn: true, owner: { note: 'x' } },
    undefined,
  ],
  [
    'a component without an owner, in the same trace',
    { isOwn: true, context: at('a'), before: noteOf('a', '9') },
    noteOf('a', '9'),
  ],
  [
    'a component without an owner, in another trace',
    { isOwn: true, context: at('a'), before: noteOf('b') },
    here,
  ],
  ['a component outside of a trace', { isOwn: true, before: noteOf('b') }, noteOf('b')],
  [
    'a component outside of a trace that changes the desired state',
    { isOwn: true, before: noteOf('b'), asksAnew: true },
    undefined,
  ],
];
for (const [what, write, expected] of cases) {
  test(`a write of ${what} stores the trace ${expected?.slice(3, 8)}`, () => {
    const usual = { isOwn: false, context: undefined, owner: undefined, before: undefined, asksAnew: false };
    assert.equal(nextNote({ ...usual, ...write }), expected);
  });
}

test('an object whose only annotation was the trace has no annotations after its removal', () => {
  const object = (annotations?: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      uid: '',
      resourceVersion: '',
      creationTimestamp: '',
      ...(annotations && { annotations }),
    },
  });
  const bare = object();
  setTraceNote(bare, here);
  assert.equal(traceNoteOf(bare), here);
  setTraceNote(bare, undefined);
  assert.deepEqual(bare, object());
  const shared = Object.freeze({ own: 'a', [traceAnnotation]: here });
  const other = object(shared);
  setTraceNote(other, undefined);
  assert.deepEqual(other, object({ own: 'a' }));
  assert.equal(shared[traceAnnotation], here);
});
