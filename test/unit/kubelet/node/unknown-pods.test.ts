import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PodSource, UnknownPods } from '../../../../src/kubelet/node/unknown-pods.ts';

function unknownPods(sources: readonly PodSource[]) {
  const ended: string[] = [];
  const pods = new UnknownPods({
    cache: { podUids: () => new Set(['wanted', 'left']) },
    workers: { has: (uid) => uid === 'wanted', orphan: (uid) => void ended.push(uid) },
    sources,
  });
  return { pods, ended };
}

describe('unknown pods', () => {
  it('are ended only after the API server and the files have been read', () => {
    const { pods, ended } = unknownPods(['api', 'files']);
    pods.end();
    pods.hasRead('files');
    pods.end();
    assert.deepEqual(ended, []);
    pods.hasRead('api');
    pods.end();
    assert.deepEqual(ended, ['left']);
  });

  it('do not wait for files on a node without static pods', () => {
    const { pods, ended } = unknownPods(['api']);
    pods.hasRead('api');
    pods.end();
    assert.deepEqual(ended, ['left']);
  });
});
