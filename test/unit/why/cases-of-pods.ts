/** States of pods, each with the rule that must recognize it. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { Case } from './why-cases.ts';
import { about, condition, event, node, object, pod, waiting } from './why-objects.ts';

const ended = (exitCode: number, reason = 'Error') => ({ terminated: { exitCode, reason } });

/** A ready pod whose container ended within a second and runs again since a time. */
const restarted = (
  name: string,
  exitCode: number,
  startedAt: string,
  metadata: JsonObject = {},
  container: JsonObject = {},
) =>
  pod(name, {
    metadata,
    spec: { nodeName: 'n1', containers: [{ name: 'main', ...container }] },
    status: {
      phase: 'Running',
      conditions: [condition('Ready', 'True')],
      containerStatuses: [
        {
          ...{ name: 'main', restartCount: 3, state: { running: { startedAt } } },
          lastState: {
            terminated: {
              ...{ exitCode, reason: 'Error' },
              ...{ startedAt: '2026-01-01T23:59:40Z', finishedAt: '2026-01-01T23:59:40Z' },
            },
          },
        },
      ],
    },
  });

export const podCases: readonly Case[] = [
  {
    rule: 'pod-gated',
    objects: { pods: [pod('web', { spec: { schedulingGates: [{ name: 'example.com/quota' }] } })] },
    says: /example\.com\/quota/,
    mend: /program that removes the gate/,
  },
  {
    rule: 'pod-claims',
    objects: {
      pods: [
        pod('web', { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] } }),
      ],
      persistentvolumeclaims: [],
    },
    says: /PersistentVolumeClaim data does not exist/,
  },
  {
    rule: 'pod-no-scheduler',
    objects: { pods: [pod('web', { spec: { schedulerName: 'mine' }, status: { phase: 'Pending' } })] },
    says: /spec\.schedulerName is mine/,
  },
  {
    rule: 'pod-terminating',
    objects: {
      pods: [pod('web', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.b/c'] } })],
    },
    says: /a\.b\/c/,
    mend: /start the controller/,
  },
  {
    rule: 'pod-evicted',
    objects: {
      pods: [
        pod('web', {
          spec: { nodeName: 'n1' },
          status: { phase: 'Failed', reason: 'Evicted', message: 'low on memory' },
        }),
      ],
    },
    says: /Evicted/,
    evidence: /low on memory/,
    mend: /^delete pod web -n default$/,
  },
  {
    rule: 'pod-on-lost-node',
    objects: {
      pods: [pod('web', { spec: { nodeName: 'n1' }, status: { phase: 'Running' } })],
      nodes: [node('n1', { status: { conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] } })],
    },
    says: /n1 is not ready/,
    first: 'node-not-ready',
    mend: /minik8s status/,
  },
  {
    rule: 'pod-image',
    objects: {
      pods: [waiting('web', 'ImagePullBackOff', 'Back-off')],
      events: [event('pods', 'web', 'Failed', 'Failed to pull image "hello": no such host')],
    },
    says: /the image hello cannot be pulled/,
    evidence: /no such host/,
    mend: /^set image pod\/web -n default main=IMAGE$/,
  },
  {
    rule: 'pod-references',
    objects: {
      pods: [
        pod('web', {
          spec: {
            nodeName: 'n1',
            containers: [{ name: 'main', envFrom: [{ secretRef: { name: 'keys' } }] }],
          },
          status: { phase: 'Pending' },
        }),
      ],
      secrets: [],
    },
    says: /the Secret keys does not exist in namespace default/,
    mend: /^create secret generic keys -n default/,
  },
  {
    rule: 'pod-references',
    objects: {
      pods: [
        waiting('web', 'CreateContainerConfigError', "couldn't find key color in ConfigMap default/paint"),
      ],
    },
    says: /the ConfigMap paint has no key color/,
    mend: /^patch configmap paint -n default .*"data":\{"color"/,
  },
  {
    rule: 'pod-references',
    objects: {
      pods: [
        waiting(
          'web',
          'CreateContainerConfigError',
          'container has runAsNonRoot and image will run as root (pod: "web_default(u)", container: main)',
        ),
      ],
    },
    says: /container main cannot be configured/,
    mend: /^set securityContext\.runAsUser of container main/,
  },
  {
    rule: 'pod-out-of-memory',
    objects: {
      pods: [
        pod('web', {
          spec: { nodeName: 'n1', containers: [{ name: 'main', resources: { limits: { memory: '64Mi' } } }] },
          status: {
            phase: 'Running',
            containerStatuses: [
              {
                name: 'main',
                state: { waiting: { reason: 'CrashLoopBackOff' } },
                lastState: ended(137, 'OOMKilled'),
              },
            ],
          },
        }),
      ],
    },
    says: /limit of 64Mi/,
  },
  {
    rule: 'pod-start-error',
    objects: {
      pods: [
        waiting('web', 'CreateContainerError', 'exec: "serve": executable file not found in $PATH', {
          command: ['serve'],
        }),
      ],
    },
    says: /no such program \(serve\)/,
  },
  {
    rule: 'pod-liveness',
    objects: {
      pods: [
        pod('web', {
          spec: { nodeName: 'n1', containers: [{ name: 'main', livenessProbe: { httpGet: { port: 1 } } }] },
          status: {
            phase: 'Running',
            containerStatuses: [{ name: 'main', restartCount: 3, state: ended(137) }],
          },
        }),
      ],
      events: [event('pods', 'web', 'Unhealthy', 'Liveness probe failed: connection refused')],
    },
    says: /the liveness probe of container main fails/,
    evidence: /connection refused/,
  },
  {
    rule: 'pod-hook',
    objects: {
      pods: [
        pod('web', {
          spec: {
            nodeName: 'n1',
            containers: [{ name: 'main', lifecycle: { postStart: { exec: { command: ['/warm'] } } } }],
          },
          status: {
            phase: 'Running',
            containerStatuses: [{ name: 'main', restartCount: 3, state: ended(0) }],
          },
        }),
      ],
      events: [event('pods', 'web', 'FailedPostStartHook', 'PostStartHook failed')],
    },
    says: /the postStart hook of container main fails/,
    evidence: /warm/,
  },
  {
    rule: 'pod-exits',
    objects: {
      pods: [
        pod('web', {
          spec: { nodeName: 'n1' },
          status: {
            phase: 'Running',
            containerStatuses: [
              {
                name: 'main',
                state: { waiting: { reason: 'CrashLoopBackOff' } },
                lastState: ended(0, 'Completed'),
              },
            ],
          },
        }),
      ],
    },
    says: /ends without an error/,
  },
  {
    rule: 'pod-crash',
    objects: {
      pods: [
        pod('web', {
          spec: { nodeName: 'n1' },
          status: {
            phase: 'Running',
            containerStatuses: [
              { name: 'main', state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended(127) },
            ],
          },
        }),
      ],
    },
    says: /exit code 127 \(the command was not found\)/,
    mend: /^logs web -n default -c main --previous$/,
  },
  {
    rule: 'pod-liveness',
    objects: {
      pods: [restarted('web', 137, '2026-01-01T23:59:58Z', {}, { livenessProbe: { httpGet: { port: 1 } } })],
      events: [event('pods', 'web', 'Unhealthy', 'Liveness probe failed: connection refused')],
    },
    says: /the liveness probe of container main fails/,
  },
  {
    rule: 'pod-crash',
    objects: { pods: [restarted('web', 1, '2026-01-01T23:59:58Z')] },
    says: /^container main ends with exit code 1 /,
    mend: /^logs web -n default -c main --previous$/,
  },
  {
    rule: 'pod-exits',
    objects: { pods: [restarted('web', 0, '2026-01-01T23:59:58Z')] },
    says: /ends without an error/,
  },
  {
    rule: 'workload-pods',
    about: about('replicasets.apps', 'web'),
    objects: {
      'replicasets.apps': [
        object('ReplicaSet', 'web', { spec: { replicas: 1 }, status: { replicas: 1, readyReplicas: 0 } }),
      ],
      pods: [
        restarted('web-1', 1, '2026-01-01T23:59:58Z', {
          ownerReferences: [
            { kind: 'ReplicaSet', name: 'web', uid: 'uid-of-ReplicaSet-web', controller: true },
          ],
        }),
      ],
    },
    says: /^0 of 1 pods are ready$/,
    first: 'pod-crash',
  },
  {
    rule: 'pod-mount',
    objects: {
      pods: [pod('web', { spec: { nodeName: 'n1' }, status: { phase: 'Pending' } })],
      events: [event('pods', 'web', 'FailedMount', 'MountVolume.SetUp failed: hostPath type check failed')],
    },
    says: /hostPath type check failed/,
  },
  {
    rule: 'pod-readiness',
    objects: {
      pods: [
        pod('web', {
          spec: {
            nodeName: 'n1',
            containers: [{ name: 'main', readinessProbe: { tcpSocket: { port: 1 } } }],
          },
          status: {
            phase: 'Running',
            conditions: [condition('Ready', 'False', 'ContainersNotReady')],
            containerStatuses: [{ name: 'main', ready: false, state: { running: {} } }],
          },
        }),
      ],
      events: [event('pods', 'web', 'Unhealthy', 'Readiness probe failed: HTTP 500')],
    },
    says: /the readiness probe of container main fails/,
    evidence: /HTTP 500/,
  },
  {
    rule: 'pod-starting',
    objects: { pods: [pod('web', { spec: { nodeName: 'n1' }, status: { phase: 'Pending' } })] },
    says: /n1 has not reported it yet/,
  },
  {
    rule: 'pod-starting',
    objects: {
      pods: [
        pod('web', {
          spec: { nodeName: 'n1', initContainers: [{ name: 'wait' }], containers: [{ name: 'main' }] },
          status: {
            phase: 'Pending',
            initContainerStatuses: [
              { name: 'wait', state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
            ],
            containerStatuses: [{ name: 'main', state: { waiting: { reason: 'PodInitializing' } } }],
          },
        }),
      ],
    },
    says: /^init container wait runs, and the next one waits for its end$/,
    mend: /^logs web -n default -c wait$/,
  },
  {
    rule: 'node-pressure',
    about: { key: 'nodes', namespace: '', name: 'n1' },
    objects: {
      nodes: [
        node('n1', {
          status: { conditions: [condition('Ready', 'True'), condition('DiskPressure', 'True', '', 'full')] },
        }),
      ],
    },
    says: /short of disk space/,
  },
  {
    rule: 'finalizer',
    about: { key: 'configmaps', namespace: 'default', name: 'kept' },
    objects: {
      configmaps: [
        object('ConfigMap', 'kept', {
          metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.b/c'] },
        }),
      ],
    },
    says: /a\.b\/c/,
  },
];
