/** Faults 45 to 60: workloads, the network, storage and budgets. */
import { claim, ended, type Fault, labels, object, pod, waits, workload } from './fault.ts';

const meta = (name: string, more: object = {}) => ({
  metadata: { name, uid: `uid-of-${name}`, creationTimestamp: '2020-01-01T00:00:00Z', ...more },
});
const service = (spec: object) =>
  object('v1', 'Service', { ports: [{ port: 80, targetPort: 8080 }], selector: labels, ...spec });
const volume = (name: string, spec: object) =>
  object(
    'v1',
    'PersistentVolume',
    {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: name },
      ...{ hostPath: { path: '/data' }, persistentVolumeReclaimPolicy: 'Retain' },
      ...spec,
    },
    name,
  );

const refused = (
  fault: string,
  says: RegExp,
  more: object[],
  spec: object = {},
  container: object = {},
): Fault => ({
  fault,
  objects: [...(more as Fault['objects']), workload('Deployment', container as never, spec as never)],
  subject: 'deployment/web',
  cause: /^replicaset\/web-/,
  says,
});

export const otherFaults: readonly Fault[] = [
  refused('has used up the quota of the namespace', /exceeded quota: none/, [
    object('v1', 'ResourceQuota', { hard: { pods: '0' } }, 'none'),
  ]),
  refused(
    'runs a privileged pod in a namespace for restricted pods',
    /PodSecurity|restricted/,
    [
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      },
    ],
    {},
    { securityContext: { privileged: true } },
  ),
  refused(
    'requests more than the LimitRange allows',
    /maximum cpu/,
    [object('v1', 'LimitRange', { limits: [{ type: 'Container', max: { cpu: '1' } }] }, 'most')],
    {},
    { resources: { limits: { cpu: '2' } } },
  ),
  refused('deleted the Service of an admission webhook', /webhook.*gate\.example\.com/, [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'gate' },
      webhooks: [
        {
          ...{ name: 'gate.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] },
          clientConfig: { service: { namespace: 'gone', name: 'gate' } },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'NAMESPACE' } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
      ],
    },
  ]),
  refused('names a ServiceAccount that does not exist', /robot/, [], { serviceAccountName: 'robot' }),
  {
    fault: 'paused a Deployment and forgot it',
    objects: [workload('Deployment', {}, {}, { paused: true })],
    subject: 'deployment/web',
    says: /paused/,
  },
  {
    fault: 'has a StatefulSet whose first pod fails, so that the other pods are not created',
    objects: [workload('StatefulSet', {}, {}, { replicas: 3 })],
    subject: 'statefulset/web',
    cause: 'pod/web-0',
    status: waits('CrashLoopBackOff', '', { lastState: ended(3) }),
    says: /exit code 3/,
  },
  {
    fault: 'has a Job whose pods fail more often than its backoffLimit allows',
    objects: [],
    subject: 'job/work',
    says: /fail/,
    later: {
      'jobs.batch': [
        {
          kind: 'Job',
          ...meta('work'),
          spec: { backoffLimit: 1 },
          status: {
            failed: 2,
            conditions: [
              {
                ...{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' },
                message: 'Job has reached the specified backoff limit',
              },
            ],
          },
        },
      ],
    },
  },
  {
    fault: 'suspended a CronJob',
    objects: [
      object('batch/v1', 'CronJob', {
        ...{ schedule: '@daily', suspend: true },
        jobTemplate: { spec: { template: { spec: { ...(pod().spec as object), restartPolicy: 'Never' } } } },
      }),
    ],
    subject: 'cronjob/web',
    says: /suspended/,
  },
  {
    fault: 'forbids concurrent Jobs of a CronJob, and the last one hangs',
    objects: [],
    subject: 'cronjob/nightly',
    says: /nightly-1.*(?:active|runs|running|not ended)/,
    later: {
      'cronjobs.batch': [
        {
          kind: 'CronJob',
          ...meta('nightly'),
          spec: { schedule: '*/5 * * * *', concurrencyPolicy: 'Forbid' },
          status: { active: [{ name: 'nightly-1' }], lastScheduleTime: '2020-01-01T00:00:00Z' },
        },
      ],
      'jobs.batch': [
        {
          kind: 'Job',
          ...meta('nightly-1', {
            ownerReferences: [{ kind: 'CronJob', name: 'nightly', uid: 'uid-of-nightly', controller: true }],
          }),
          spec: {},
          status: { active: 1, ready: 1, startTime: '2020-01-01T00:00:00Z' },
        },
      ],
    },
  },
  {
    fault: 'scales by the use of CPU, which the containers do not request',
    objects: [workload('Deployment')],
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    subject: 'hpa/web',
    says: /cpu.*requests none/,
    later: {
      'horizontalpodautoscalers.autoscaling': [
        {
          kind: 'HorizontalPodAutoscaler',
          ...meta('web'),
          spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
          status: {
            conditions: [
              {
                ...{ type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric' },
                message:
                  'the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container main of Pod shop-1',
              },
            ],
          },
        },
      ],
    },
  },
  {
    fault: 'misspells the label in the selector of a Service',
    objects: [workload('Deployment'), service({ selector: { app: 'wep' } })],
    subject: 'service/web',
    says: /app=wep matches no pod/,
  },
  {
    fault: 'names a port in an Ingress that the Service does not have',
    objects: [
      pod(),
      service({}),
      object('networking.k8s.io/v1', 'Ingress', {
        defaultBackend: { service: { name: 'web', port: { number: 8080 } } },
      }),
    ],
    subject: 'ingress/web',
    says: /no port 8080|port 8080/,
  },
  {
    fault: 'claims more than any volume has',
    objects: [
      volume('shelf', {}),
      claim({ storageClassName: 'shelf', resources: { requests: { storage: '10Gi' } } }),
    ],
    subject: 'pvc/data',
    says: /10Gi.*1Gi|1Gi.*10Gi|smaller|too small/,
  },
  {
    fault: 'claims a volume that is kept for a deleted claim',
    objects: [
      volume('kept', {
        claimRef: { kind: 'PersistentVolumeClaim', namespace: 'NAMESPACE', name: 'old', uid: 'gone' },
      }),
      claim({ storageClassName: 'kept' }),
    ],
    subject: 'pvc/data',
    says: /kept.*(?:Released|old)/,
  },
  {
    fault: 'requires one available pod of one, so that a node cannot be drained',
    objects: [
      workload('Deployment', {}, {}, { replicas: 1 }),
      object('policy/v1', 'PodDisruptionBudget', { minAvailable: 1, selector: { matchLabels: labels } }),
    ],
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    subject: 'pdb/web',
    says: /no pod may be evicted|drain/,
  },
];
