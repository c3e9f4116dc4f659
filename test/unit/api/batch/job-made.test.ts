/**
 * Fields that the server sets in a Job (selector, labels, defaults), and how a Job is printed and deleted.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobResource } from '../../../../src/api/batch/v1/job.ts';
import { cells, created, merge } from '../../../fixtures/kinds.ts';
import { head, spec, template } from '../../../fixtures/workloads.ts';

const uid = '11111111-2222-3333-4444-555555555555';
const job = merge(head('batch/v1', 'Job'), {
  metadata: { uid },
  spec: { template: merge(template, { spec: { restartPolicy: 'Never' } }) },
}) as Record<string, unknown>;

const failure = (...rules: object[]) => spec({ podFailurePolicy: { rules } });
const ready = { type: 'DisruptionTarget' };
const indexed = (fields: object) => spec({ completionMode: 'Indexed', completions: 5, ...fields });

test('a Job gets its selector and labels', () => {
  const made = created(jobResource, job);
  const labels = { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': 'web' };
  assert.deepEqual(made.spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } });
  const older = { 'controller-uid': uid, 'job-name': 'web' };
  assert.deepEqual(made.spec.template.metadata.labels, { ...older, ...labels, app: 'web' });
  // A Job without labels gets those of its pods.
  assert.deepEqual(made.metadata.labels, { ...older, ...labels, app: 'web' });
  const own = merge(job, { metadata: { labels: { own: '1' } } });
  assert.deepEqual(created(jobResource, own).metadata.labels, { own: '1' });
  const bare = created(jobResource, merge(job, { spec: { template: { metadata: null } } }));
  assert.deepEqual(bare.metadata.labels, { ...older, ...labels });
  assert.deepEqual(bare.spec.template.metadata.labels, { ...older, ...labels });
});

test('a Job gets the defaults of Kubernetes', () => {
  const rest = (patch: object) => {
    const { template: _t, selector: _s, ...fields } = created(jobResource, merge(job, patch)).spec;
    return fields;
  };
  const defaults = {
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: 'TerminatingOrFailed',
  };
  assert.deepEqual(rest({}), defaults);
  const { completions: _c, ...withoutEnd } = defaults;
  assert.deepEqual(rest(spec({ parallelism: 3 })), { ...withoutEnd, parallelism: 3 });
  assert.deepEqual(rest(spec({ completions: 3 })), { ...defaults, completions: 3 });
  assert.equal(rest(indexed({ backoffLimitPerIndex: 1 })).backoffLimit, 2147483647);
  const policy = rest(failure({ action: 'Count', onPodConditions: [ready] }));
  assert.equal(policy.podReplacementPolicy, 'Failed');
  assert.deepEqual(policy.podFailurePolicy?.rules?.[0]?.onPodConditions, [{ ...ready, status: 'True' }]);
});

test('a Job has the columns of kubectl', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const texts = (patch: object, status: object = {}) => {
    const made = created(jobResource, merge(job, patch));
    return cells(jobResource, Object.assign(made, { status }), now);
  };
  assert.deepEqual(texts({}), {
    Name: 'web',
    Status: 'Running',
    Completions: '0/1',
    Duration: '',
    Age: '<unknown>',
    Containers: 'web',
    Images: 'nginx:1',
    Selector: `batch.kubernetes.io/controller-uid=${uid}`,
  });
  assert.equal(texts(spec({ parallelism: 3 }), { succeeded: 2 }).Completions, '2/1 of 3');
  assert.equal(texts(spec({ parallelism: 1 }), { succeeded: 1 }).Completions, '1/1');
  assert.equal(texts({}, { startTime: '2026-03-01T11:59:00Z' }).Duration, '60s');
  const done = { startTime: '2026-03-01T10:00:00Z', completionTime: '2026-03-01T10:05:00Z' };
  assert.equal(texts({}, done).Duration, '5m');
  const state = (...types: string[]) =>
    texts({}, { conditions: types.map((type) => ({ type, status: 'True' })) }).Status;
  assert.equal(state('Suspended', 'Complete'), 'Complete');
  assert.equal(state('FailureTarget', 'Failed'), 'Failed');
  assert.equal(state('FailureTarget', 'Suspended'), 'Suspended');
  assert.equal(state('FailureTarget'), 'FailureTarget');
  assert.equal(texts({}, { conditions: [{ type: 'Complete', status: 'False' }] }).Status, 'Running');
  const gone = merge(job, { metadata: { deletionTimestamp: '2026-03-01T11:00:00Z' } });
  assert.equal(cells(jobResource, created(jobResource, gone), now).Status, 'Terminating');
});

test('a delete without options orphans the pods of a Job, and status.successful is a selectable field', () => {
  assert.equal(jobResource.strategy.orphansByDefault, true);
  const made = created(jobResource, job);
  assert.equal(jobResource.selectableFields['status.successful']?.(made), '0');
  made.status = { succeeded: 3 };
  assert.equal(jobResource.selectableFields['status.successful']?.(made), '3');
});
