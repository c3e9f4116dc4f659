/** Progress of a pull, from the recorded messages of Docker 28. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Pulls } from '../../../../src/kubelet/images/pulls.ts';

it('the state of a pull is the sum of the last report of each layer', () => {
  const pulls = new Pulls();
  const pull = pulls.begin('nginx:1');
  const other = pulls.begin('nginx:1');
  assert.deepEqual(pulls.list()[0], {
    ...{ image: 'nginx:1', layers: 0, doneLayers: 0, totalBytes: 0, doneBytes: 0 },
  });
  for (const line of [
    { status: 'Pulling from library/nginx', id: '1' },
    { status: 'Pulling fs layer', progressDetail: {}, id: 'a' },
    { status: 'Pulling fs layer', progressDetail: {}, id: 'b' },
    { status: 'Already exists', progressDetail: {}, id: 'c' },
    { status: 'Downloading', progressDetail: { current: 10, total: 100 }, id: 'a' },
    { status: 'Downloading', progressDetail: { current: 60, total: 100 }, id: 'a' },
    { status: 'Digest: sha256:0' },
  ])
    pull.record(line);
  assert.deepEqual(pulls.list()[0], {
    ...{ image: 'nginx:1', layers: 3, doneLayers: 1, totalBytes: 100, doneBytes: 60 },
  });
  pull.record({ status: 'Pull complete', progressDetail: {}, id: 'a' });
  assert.deepEqual(pulls.list()[0], {
    ...{ image: 'nginx:1', layers: 3, doneLayers: 2, totalBytes: 0, doneBytes: 0 },
  });
  pull.end();
  assert.equal(pulls.list().length, 1, 'the other pull of the same image continues');
  other.end();
  assert.deepEqual(pulls.list(), []);
});
