/** Volumes, nodes and budgets that stand in the way, and Jobs that hang. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { ObjectRef } from '../../../src/why/kinds.ts';
import type { Case } from './why-cases.ts';
import { condition, node, object, pod, waiting } from './why-objects.ts';

const data: ObjectRef = { key: 'persistentvolumeclaims', namespace: 'default', name: 'data' };
const claim = (spec: JsonObject) =>
  object('PersistentVolumeClaim', 'data', {
    spec: { storageClassName: 'hand', accessModes: ['ReadWriteOnce'], ...spec },
    status: { phase: 'Pending' },
  });
const asks = (storage: string) => ({ resources: { requests: { storage } } });
const volume = (spec: JsonObject, phase = 'Available', name = 'v1') =>
  object('PersistentVolume', name, {
    metadata: { namespace: '' },
    spec: {
      ...{ storageClassName: 'hand', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      ...spec,
    },
    status: { phase },
  });
const unfit = (
  spec: JsonObject,
  one: JsonObject,
  says: RegExp,
  mend = /create a volume of class hand/,
): Case => ({
  ...{ rule: 'claim-volumes', about: data, says, mend },
  objects: {
    persistentvolumeclaims: [claim(spec)],
    persistentvolumes: [one],
    'storageclasses.storage.k8s.io': [],
  },
});
const atNode = (name: string) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ values: [name] }] }] } },
});
const report = {
  'scheduler.minik8s.io/rejections': JSON.stringify({
    nodes: [{ node: 'n1', reasons: [{ reason: 'node(s) had volume node affinity conflict' }] }],
  }),
};
const nightly: ObjectRef = { key: 'cronjobs.batch', namespace: 'default', name: 'nightly' };

export const placeCases: readonly Case[] = [
  unfit(asks('10Gi'), volume({}), /v1 is too small: it has 1Gi, the claim requests 10Gi/),
  unfit(
    { ...asks('1Gi'), accessModes: ['ReadWriteMany'] },
    volume({}),
    /v1 has the access modes ReadWriteOnce, the claim requests ReadWriteMany/,
  ),
  unfit(
    asks('1Gi'),
    volume({ claimRef: { namespace: 'default', name: 'old' } }, 'Released'),
    /v1 is Released: it is kept for the claim default\/old, which is gone/,
    /^patch pv v1 --type=merge -p '\{"spec":\{"claimRef":null\}\}'$/,
  ),
  {
    rule: 'pod-volume-node',
    objects: {
      pods: [
        pod('web', {
          metadata: { annotations: report },
          spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
          status: { conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/1 nodes')] },
        }),
      ],
      persistentvolumeclaims: [
        object('PersistentVolumeClaim', 'data', { spec: { volumeName: 'v1' }, status: { phase: 'Bound' } }),
      ],
      persistentvolumes: [volume(atNode('n2'), 'Bound')],
    },
    says: /the volume v1 is on n2/,
  },
  {
    rule: 'pod-node-missing',
    objects: { pods: [pod('web', { spec: { nodeName: 'n9' } })], nodes: [node('n1')] },
    says: /its node n9 does not exist/,
    evidence: /nodes: n1/,
    mend: /^delete pod web -n default$/,
  },
  {
    rule: 'cron-blocked',
    about: nightly,
    objects: {
      'cronjobs.batch': [
        object('CronJob', 'nightly', {
          spec: { concurrencyPolicy: 'Forbid' },
          status: { active: [{ name: 'nightly-1' }] },
        }),
      ],
      'jobs.batch': [
        object('Job', 'nightly-1', { status: { startTime: '2025-01-01T00:00:00Z', active: 1, ready: 1 } }),
      ],
    },
    says: /starts no Job: nightly-1 is active since 2025-01-01T00:00:00Z/,
    mend: /^delete job nightly-1 -n default$/,
  },
  {
    rule: 'budget-blocks',
    about: { key: 'poddisruptionbudgets.policy', namespace: 'default', name: 'web' },
    objects: {
      'poddisruptionbudgets.policy': [
        object('PodDisruptionBudget', 'web', {
          status: { ...{ expectedPods: 1, currentHealthy: 1, desiredHealthy: 1 }, disruptionsAllowed: 0 },
        }),
      ],
    },
    says: /no pod may be evicted: 1 of 1 pods are healthy, and 1 must be/,
    mend: /^patch pdb web -n default/,
  },
  {
    rule: 'budget-blocks',
    about: { key: 'poddisruptionbudgets.policy', namespace: 'default', name: 'web' },
    objects: {
      'poddisruptionbudgets.policy': [
        object('PodDisruptionBudget', 'web', {
          spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] } },
          status: { ...{ expectedPods: 2, currentHealthy: 1, desiredHealthy: 1 }, disruptionsAllowed: 0 },
        }),
      ],
      pods: [
        // A pod that the budget does not select is no reason, although it is the first that is not ready.
        waiting('other', 'CrashLoopBackOff', 'back-off'),
        pod('web-1', {
          metadata: { labels: { app: 'web' } },
          spec: { schedulingGates: [{ name: 'a.b/gate' }] },
          status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'SchedulingGated')] },
        }),
      ],
    },
    says: /no pod may be evicted: 1 of 2 pods are healthy, and 1 must be/,
    first: 'pod-gated',
  },
];
