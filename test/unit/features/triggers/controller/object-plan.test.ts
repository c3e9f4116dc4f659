/** Complete content of an event about a changed object. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import { changedSince, reportedChange } from '../../../../../src/features/triggers/controller/object-plan.ts';

const types = ['Created' as const, 'Updated' as const, 'Deleted' as const];
const pods = { apiVersion: 'v1', kind: 'Pod', types };
const created = '2026-03-01T11:00:00Z';
const told = '2026-03-01T12:00:00Z';
const meta = { name: 'one', uid: 'u1', resourceVersion: '9', creationTimestamp: created };
const object = (more: object, rest: object = {}) =>
  ({ metadata: { ...meta, ...more }, ...rest }) as KubeObject;

describe('a change of an object', () => {
  it('has the whole object without managedFields, and a summary if it is too large', () => {
    const labels = { app: 'a' };
    const one = object(
      { namespace: 'ns', labels, annotations: { b: 'c' }, managedFields: [{ manager: 'ctl' }] },
      { spec: { nodeName: 'n1' } },
    );
    assert.deepEqual(reportedChange(pods, 'pods', 'MODIFIED', one, told), {
      key: ['object', 'u1', 'Updated', '9'],
      type: 'minik8s.io/object.updated',
      source: '/apis/v1/namespaces/ns/pods',
      subject: 'one',
      time: told,
      data: {
        change: 'Updated',
        object: {
          ...{ apiVersion: 'v1', kind: 'Pod', spec: { nodeName: 'n1' } },
          metadata: { ...meta, namespace: 'ns', labels, annotations: { b: 'c' } },
        },
      },
      lessData: {
        change: 'Updated',
        object: {
          ...{ apiVersion: 'v1', kind: 'Pod' },
          metadata: { name: 'one', namespace: 'ns', uid: 'u1', resourceVersion: '9' },
        },
        truncated: true,
      },
    });
  });

  it('of a kind without namespaces has a source without a namespace', () =>
    assert.equal(reportedChange(pods, 'nodes', 'ADDED', object({}), told)?.source, '/apis/v1/nodes'));

  it('has the creation time of a new object, otherwise the time of the report', () => {
    const times = (['ADDED', 'MODIFIED', 'DELETED'] as const).map(
      (type) => reportedChange(pods, 'pods', type, object({}), told)?.time,
    );
    assert.deepEqual(times, [created, told, told]);
  });

  it('of a run has the triggers that led to it, and of another kind none', () => {
    const one = object({ annotations: { 'minik8s.io/trigger-chain': 'a/b,c/d' } });
    const runs = { apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', types };
    const { depth, chain } = reportedChange(runs, 'workflowruns', 'ADDED', one, told) ?? assert.fail();
    assert.deepEqual([depth, chain], [2, ['a/b', 'c/d']]);
    const first = object({ annotations: { 'minik8s.io/trigger-chain': 'a/b' } });
    assert.equal(reportedChange(runs, 'workflowruns', 'ADDED', first, told)?.depth, 1);
    for (const happening of [
      reportedChange(pods, 'pods', 'ADDED', one, told),
      reportedChange(runs, 'workflowruns', 'ADDED', object({}), told),
    ])
      assert.ok(happening && !('depth' in happening) && !('chain' in happening));
  });
});

describe('after a lost history', () => {
  it('an object counts as new if it was created in the second of the last state or later', () => {
    const since = Date.parse('2026-03-01T11:59:00.001Z');
    const changes = changedSince(
      pods,
      'pods',
      ['2026-03-01T11:58:59Z', '2026-03-01T11:59:00Z', '2026-03-01T11:59:01Z'].map(
        (creationTimestamp, index) => object({ creationTimestamp, resourceVersion: String(index + 11) }),
      ),
      { from: '10', since, time: told },
    );
    assert.deepEqual(
      changes.map(({ happening }) => happening?.type),
      ['updated', 'created', 'created'].map((change) => `minik8s.io/object.${change}`),
    );
  });

  it('an ignored change of an object moves the position as well', () => {
    const changes = changedSince(
      { ...pods, types: ['Deleted'] },
      'pods',
      [object({ resourceVersion: '12' })],
      {
        ...{ from: '10', since: 0, time: told },
      },
    );
    assert.deepEqual(changes, [{ resourceVersion: '12', happening: undefined }]);
  });
});
