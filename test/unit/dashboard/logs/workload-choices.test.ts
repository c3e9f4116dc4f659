/** Groups of pods whose logs belong together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workloadChoices } from '../../../../src/dashboard/app/pages/logs/plan/workload-choices.ts';
import { pod } from '../../why/why-objects.ts';

const web = (name: string, hash: string, more: object = {}) =>
  pod(name, {
    metadata: {
      labels: { app: 'web', tier: 'front', 'pod-template-hash': hash, ...more },
      ownerReferences: [{ kind: 'ReplicaSet', name: `web-${hash}`, controller: true }],
    },
  });

describe('the choices of logs', () => {
  it('have the pods of both versions of a Deployment together, by the labels that they share', () => {
    const [choice, ...more] = workloadChoices([web('web-a-1', 'a'), web('web-b-1', 'b', { tier: 'new' })]);
    assert.deepEqual(more, []);
    assert.deepEqual([choice?.title, choice?.labels, choice?.pod], ['default/web', 'app=web', '']);
    assert.equal(choice?.pods.length, 2);
  });

  it('name a pod that has no workload or no labels', () => {
    const choices = workloadChoices([pod('alone', { metadata: { labels: { app: 'x' } } }), pod('bare')]);
    assert.deepEqual(
      choices.map(({ title, labels, pod: name }) => [title, labels, name]),
      [
        ['default/alone', '', 'alone'],
        ['default/bare', '', 'bare'],
      ],
    );
  });
});
