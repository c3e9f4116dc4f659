import assert from 'node:assert/strict';
import { it } from 'node:test';
import { storedLengths } from '../../../../src/roles/slurm/cluster-store.ts';

it('the stored length of a file ends at the first gap between its pieces', () => {
  const piece = (path: string, offset: number, length: number) => ({
    kind: 'Output' as const,
    path,
    offset,
    length,
  });
  const found = storedLengths([
    piece('a', 3, 2),
    piece('a', 0, 3),
    piece('b', 0, 1),
    piece('b', 2, 5),
    piece('c', 1, 1),
  ]);
  assert.deepEqual(found, [
    { kind: 'Output', path: 'a', length: 5 },
    { kind: 'Output', path: 'b', length: 1 },
    { kind: 'Output', path: 'c', length: 0 },
  ]);
});
