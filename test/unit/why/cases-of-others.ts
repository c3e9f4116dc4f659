/** States of workloads, claims, nodes and other objects, each with the rule that must recognize it. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { Case } from './why-cases.ts';
import { about, condition, event, node, object, pod } from './why-objects.ts';

const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ kind, name, uid: `uid-of-${kind}-${name}`, controller: true }],
});
const claim = (spec: JsonObject, status: JsonObject = { phase: 'Pending' }) =>
  object('PersistentVolumeClaim', 'data', { spec, status });
const scalers = 'horizontalpodautoscalers.autoscaling';
const scaler = (more: JsonObject) =>
  object('HorizontalPodAutoscaler', 'web', {
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
    ...more,
  });
const refused = (message: string): Case['objects'] => ({
  'replicasets.apps': [
    object('ReplicaSet', 'web', {
      spec: { replicas: 1 },
      status: { replicas: 0, conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', message)] },
    }),
  ],
});
const refusal = (message: string, says: RegExp, mend: RegExp): Case => ({
  ...{
    rule: 'workload-refused',
    about: about('replicasets.apps', 'web'),
    objects: refused(message),
    says,
    mend,
  },
});

export const otherCases: readonly Case[] = [
  {
    rule: 'namespace-terminating',
    about: { key: 'namespaces', namespace: '', name: 'old' },
    objects: {
      namespaces: [
        object('Namespace', 'old', {
          metadata: { namespace: '', deletionTimestamp: '2026-01-01T00:00:00Z' },
          status: {
            conditions: [
              condition(
                'NamespaceFinalizersRemaining',
                'True',
                '',
                'finalizers remaining: a.b/c in 1 resource',
              ),
            ],
          },
        }),
      ],
    },
    says: /a\.b\/c in 1 resource/,
    mend: /finalizer/,
  },
  refusal(
    'pods "web-1" is forbidden: maximum memory usage per Container is 8Mi, but limit is 64Mi',
    /^its pods are refused: maximum memory usage per Container is 8Mi/,
    /^set resources of the containers within the bounds/,
  ),
  refusal(
    'pods "web-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2',
    /refused: exceeded quota: small/,
    /^edit quota small -n default$/,
  ),
  refusal(
    'pods "web-" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
    /robot/,
    /^create serviceaccount robot -n default$/,
  ),
  refusal(
    'pods "web-" is forbidden: violates PodSecurity "restricted:latest": privileged',
    /PodSecurity/,
    /securityContext/,
  ),
  refusal(
    'admission webhook "check.example.com" denied the request: no',
    /check\.example\.com/,
    /check\.example\.com/,
  ),
  {
    rule: 'deployment-paused',
    about: about('deployments.apps', 'web'),
    objects: {
      'deployments.apps': [
        object('Deployment', 'web', { spec: { paused: true, replicas: 2 }, status: { readyReplicas: 2 } }),
      ],
    },
    says: /0 of 2 pods have the current template/,
    mend: /^rollout resume deployment\/web -n default$/,
  },
  {
    rule: 'workload-pods',
    about: about('deployments.apps', 'web'),
    objects: {
      'deployments.apps': [
        object('Deployment', 'web', { spec: { replicas: 2 }, status: { updatedReplicas: 2 } }),
      ],
      'replicasets.apps': [
        object('ReplicaSet', 'web-1', {
          metadata: ownedBy('Deployment', 'web'),
          spec: { replicas: 2 },
          status: { replicas: 2 },
        }),
      ],
      pods: [
        pod('web-1-a', {
          metadata: ownedBy('ReplicaSet', 'web-1'),
          spec: { schedulingGates: [{ name: 'gate' }] },
        }),
      ],
    },
    says: /0 of 2 pods are ready/,
    first: 'pod-gated',
  },
  {
    rule: 'job-suspended',
    about: about('jobs.batch', 'work'),
    objects: { 'jobs.batch': [object('Job', 'work', { spec: { suspend: true } })] },
    says: /suspended/,
    mend: /^patch job work -n default/,
  },
  {
    rule: 'job-failed',
    about: about('jobs.batch', 'work'),
    objects: {
      'jobs.batch': [
        object('Job', 'work', {
          status: {
            active: 1,
            failed: 3,
            conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 'too often')],
          },
        }),
      ],
    },
    says: /too often/,
    evidence: /BackoffLimitExceeded, failed pods: 3/,
  },
  {
    rule: 'job-retries',
    about: about('jobs.batch', 'work'),
    objects: { 'jobs.batch': [object('Job', 'work', { status: { active: 1, failed: 1 } })] },
    says: /1 of its pods have failed/,
  },
  {
    rule: 'cron-schedule',
    about: about('cronjobs.batch', 'nightly'),
    objects: {
      'cronjobs.batch': [object('CronJob', 'nightly', { spec: { schedule: '* * *' } })],
      events: [event('CronJob', 'nightly', 'UnparseableSchedule', 'unparseable schedule: * * *')],
    },
    says: /unparseable schedule/,
  },
  {
    rule: 'cron-last-job',
    about: about('cronjobs.batch', 'nightly'),
    objects: {
      'cronjobs.batch': [object('CronJob', 'nightly', { spec: {} })],
      'jobs.batch': [
        object('Job', 'nightly-1', {
          metadata: ownedBy('CronJob', 'nightly'),
          status: { active: 1, conditions: [condition('Failed', 'True', 'DeadlineExceeded', 'too long')] },
        }),
      ],
    },
    says: /nightly-1 has failed/,
    first: 'job-failed',
  },
  {
    rule: 'claim-lost',
    about: about('persistentvolumeclaims', 'data'),
    objects: { persistentvolumeclaims: [claim({ volumeName: 'v1' }, { phase: 'Lost' })] },
    says: /v1 is gone/,
  },
  {
    rule: 'claim-class',
    about: about('persistentvolumeclaims', 'data'),
    objects: {
      persistentvolumeclaims: [claim({ storageClassName: 'fast' })],
      'storageclasses.storage.k8s.io': [object('StorageClass', 'local', { metadata: { namespace: '' } })],
    },
    says: /StorageClass fast does not exist/,
    evidence: /classes: local/,
  },
  {
    rule: 'claim-no-default',
    about: about('persistentvolumeclaims', 'data'),
    objects: { persistentvolumeclaims: [claim({})], 'storageclasses.storage.k8s.io': [] },
    says: /no default class/,
  },
  {
    rule: 'claim-unused',
    about: about('persistentvolumeclaims', 'data'),
    objects: {
      persistentvolumeclaims: [claim({ storageClassName: 'local' })],
      'storageclasses.storage.k8s.io': [
        object('StorageClass', 'local', {
          metadata: { namespace: '' },
          volumeBindingMode: 'WaitForFirstConsumer',
        }),
      ],
    },
    says: /when the first pod uses it/,
  },
  {
    rule: 'claim-provisioning',
    about: about('persistentvolumeclaims', 'data'),
    objects: {
      persistentvolumeclaims: [claim({ storageClassName: 'local' })],
      events: [event('pvc', 'data', 'ProvisioningFailed', 'no room')],
    },
    says: /no room/,
  },
  {
    rule: 'autoscaler-target',
    about: about(scalers, 'web'),
    objects: { [scalers]: [scaler({})], 'deployments.apps': [] },
    says: /target Deployment web does not exist/,
  },
  {
    rule: 'autoscaler-metrics',
    about: about(scalers, 'web'),
    objects: {
      [scalers]: [
        scaler({
          status: {
            conditions: [
              condition(
                'ScalingActive',
                'False',
                'FailedGetResourceMetric',
                'missing request for cpu in container main',
              ),
            ],
          },
        }),
      ],
    },
    says: /a container requests none/,
    mend: /^set resources deployment\/web -n default --requests=cpu=AMOUNT$/,
  },
  {
    rule: 'node-not-ready',
    about: { key: 'nodes', namespace: '', name: 'n1' },
    objects: {
      nodes: [
        node('n1', { status: { conditions: [condition('Ready', 'False', 'KubeletNotReady', 'no engine')] } }),
      ],
    },
    says: /not ready: no engine/,
  },
  {
    rule: 'node-cordoned',
    about: { key: 'nodes', namespace: '', name: 'n1' },
    objects: { nodes: [node('n1', { spec: { unschedulable: true } })] },
    says: /cordoned/,
    mend: /^uncordon n1$/,
  },
];
