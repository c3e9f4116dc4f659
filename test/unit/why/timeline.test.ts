import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Snapshot, type SnapshotSource } from '../../../src/why/snapshot.ts';
import { pastOf } from '../../../src/why/timeline.ts';
import { event, now, object, pod } from './why-objects.ts';

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const met = (type: string, second: number) => ({ type, status: 'True', lastTransitionTime: at(second) });
const owner = (kind: string, name: string) => ({
  ownerReferences: [{ kind, name, uid: `uid-of-${kind}-${name}`, controller: true }],
});

const web = pod('web', {
  metadata: owner('ReplicaSet', 'web-1'),
  spec: { nodeName: 'n1' },
  status: {
    phase: 'Running',
    conditions: [met('PodScheduled', 1), met('Ready', 9)],
    containerStatuses: [{ name: 'main', ready: true, state: { running: { startedAt: at(6) } } }],
  },
});
const pulled = {
  ...event('pods', 'web', 'Pulled', 'Successfully pulled image "shop:1" in 4.2s (4.3s including waiting)'),
  lastTimestamp: at(5),
};
const steps = [
  'scheduled to n1 after 1 s',
  'image shop:1 pulled in 4.2s after 4 s',
  'container main started after 1 s',
  'ready after 3 s',
];

const past = (objects: SnapshotSource['objects'], key: 'pods' | 'deployments.apps' | 'jobs.batch') =>
  pastOf(new Snapshot({ nowMs: Date.parse(now), objects }), { key, namespace: 'default', name: 'web' });

describe('the steps of the start', () => {
  it('of a pod are scheduling, pulls of images, containers and readiness, each with its duration', () => {
    assert.equal(past({ pods: [web], events: [pulled] }, 'pods'), steps.map((one) => `  ${one}\n`).join(''));
  });

  it('of a Deployment are its own, followed by those of its newest pod', () => {
    const deployment = object('Deployment', 'web', { status: { conditions: [met('Available', 10)] } });
    const replicaSet = object('ReplicaSet', 'web-1', { metadata: owner('Deployment', 'web') });
    const objects = { 'deployments.apps': [deployment], 'replicasets.apps': [replicaSet], pods: [web] };
    const [first, last] = [steps[0], steps.at(-1)];
    assert.equal(
      past(objects, 'deployments.apps'),
      `  available after 10 s\n  pod/web:\n    ${first}\n    container main started after 5 s\n    ${last}\n`,
    );
  });

  it('of a Job are its start and its end', () => {
    const job = object('Job', 'web', { status: { startTime: at(0), completionTime: at(7) } });
    assert.equal(
      past({ 'jobs.batch': [job] }, 'jobs.batch'),
      '  started after less than a second\n  ended after 7 s\n',
    );
  });

  it('are empty for an object that reports no times', () => {
    assert.equal(past({ pods: [pod('web', { status: 'x' })] }, 'pods'), '');
  });
});
