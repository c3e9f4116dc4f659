import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { created, merge, testUpdate, updated } from '../../../../fixtures/kinds.ts';
import { head, pod, spec, template } from '../../../../fixtures/workloads.ts';

const uid = '11111111-2222-3333-4444-555555555555';
const job = merge(head('batch/v1', 'Job'), {
  metadata: { uid },
  spec: { template: merge(template, { spec: { restartPolicy: 'Never' } }) },
}) as Record<string, unknown>;
const indexed = (fields: object) => spec({ completionMode: 'Indexed', completions: 5, ...fields });

testUpdate(jobResource, job, [
  [
    'all mutable fields',
    spec({
      parallelism: 4,
      activeDeadlineSeconds: 5,
      backoffLimit: 1,
      suspend: true,
      ttlSecondsAfterFinished: 3,
    }),
  ],
  ['completions', spec({ completions: 3 }), 'spec.completions: Invalid value: 3: field is immutable'],
  [
    'the pods',
    pod({ containers: [{ name: 'web', image: 'nginx:2' }] }),
    'spec.template: Invalid value: {"metadata":{"labels":{',
  ],
  [
    'a changed node selector',
    pod({ nodeSelector: { a: 'b' } }),
    'spec.template: Invalid value: {"metadata":',
  ],
  [
    'all other immutable fields',
    indexed({
      completions: 1,
      backoffLimitPerIndex: 1,
      managedBy: 'example.com/x',
      podFailurePolicy: {},
      podReplacementPolicy: 'Failed',
      successPolicy: { rules: [{ succeededCount: 1 }] },
    }),
    'spec.completionMode: Invalid value: "Indexed": field is immutable',
    'spec.podFailurePolicy: Invalid value: {}: field is immutable',
    'spec.backoffLimitPerIndex: Invalid value: 1: field is immutable',
    'spec.managedBy: Invalid value: "example.com/x": field is immutable',
    'spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: field is immutable',
  ],
  [
    'the selector',
    spec({
      manualSelector: true,
      selector: { matchLabels: { app: 'web', 'batch.kubernetes.io/controller-uid': null } },
    }),
    'spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: field is immutable',
  ],
]);

testUpdate(jobResource, merge(job, indexed({ parallelism: 5 })) as Record<string, unknown>, [
  ['fewer indexes', spec({ completions: 3, parallelism: 3 })],
  [
    'completions without parallelism',
    spec({ completions: 6 }),
    'spec.completions: Invalid value: 6: can only be modified in tandem with spec.parallelism',
  ],
]);

const affinity = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
const waiting = merge(job, merge(spec({ suspend: true }), pod({ affinity }))) as Record<string, unknown>;
const onNode = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
  },
};
testUpdate(jobResource, waiting, [
  [
    'changed scheduling fields of the template',
    spec({
      template: {
        metadata: { labels: { more: 'x' }, annotations: { a: 'b' } },
        spec: {
          nodeSelector: { a: 'b' },
          tolerations: [{ operator: 'Exists' }],
          schedulingGates: [{ name: 'example.com/a' }],
          affinity: { nodeAffinity: onNode },
        },
      },
    }),
  ],
  ['a removed affinity', pod({ affinity: null }), 'spec.template: Invalid value: '],
  ['a changed host network', pod({ hostNetwork: true }), 'spec.template: Invalid value: '],
]);
testUpdate(jobResource, merge(job, spec({ suspend: true })) as Record<string, unknown>, [
  ['a first affinity', pod({ affinity: { nodeAffinity: onNode } })],
]);
testUpdate(
  jobResource,
  merge(job, merge(spec({ suspend: true }), pod({ affinity: { nodeAffinity: onNode } }))) as Record<
    string,
    unknown
  >,
  [['no affinity any more', pod({ affinity: null })]],
);

test('a suspended Job that has run keeps the scheduling fields of its template', () => {
  const old = created(jobResource, merge(job, spec({ suspend: true })));
  const change = merge(old, pod({ nodeSelector: { a: 'b' } }));
  assert.deepEqual(updated(jobResource, old, change).problems, []);
  old.status = { startTime: '2026-03-01T12:00:00Z' };
  assert.match(
    updated(jobResource, old, change).problems[0] ?? '',
    /^spec.template: .*: field is immutable$/,
  );
});
