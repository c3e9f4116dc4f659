import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatRotation,
  lateNodes,
  nextStep,
  type RotationState,
} from '../../../../src/roles/certs/rotate-plan.ts';

const nodes = [
  { name: 'a', standing: 'does not trust the next authority' },
  { name: 'b', standing: 'has certificates of the former authority' },
  { name: 'c', standing: 'done' },
];
const state = (phase?: RotationState['phase']): RotationState => ({
  ...(phase && { phase, former: 'sha256:1', next: 'sha256:2' }),
  nodes,
});

test('the step issue follows the step trust, and the step finish is taken only if an administrator requests it', () => {
  assert.deepEqual(
    [undefined, 'trust', 'issue', 'finish'].map((phase) => nextStep(state(phase as 'trust'))),
    ['trust', 'issue', undefined, 'trust'],
  );
});

test('a phase waits only for the nodes that have not followed it', () => {
  assert.deepEqual(lateNodes(state()), []);
  assert.deepEqual(lateNodes(state('trust')), ['a does not trust the next authority']);
  assert.deepEqual(lateNodes(state('issue')), [
    'a does not trust the next authority',
    'b has certificates of the former authority',
  ]);
  assert.deepEqual(lateNodes(state('finish')), []);
});

test('the state is printed with the phase, both authorities and each node', () => {
  assert.equal(formatRotation(state()), 'the authority has not been rotated\n');
  assert.match(
    formatRotation(state('issue')),
    /^phase {4}issue: .*\nformer {3}sha256:1\nnext {5}sha256:2\nnode {5}a: does not trust .*\n(.*\n)node {5}c: done\n$/,
  );
});
