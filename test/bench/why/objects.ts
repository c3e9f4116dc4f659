/** A cluster of 10,000 pods for explanations: Deployments with ReplicaSets, Services, nodes, and faults. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { SnapshotSource } from '../../../src/why/snapshot.ts';
import { typicalPod } from '../pod-shape.ts';

export const podCount = 10_000;
const podsOfWorkload = 25;
/** Number of workloads of which one has a fault. */
const faulty = 10;
const at = '2026-01-01T00:00:00Z';

const namespaceOf = (workload: number) => `team-${workload % 20}`;
const owner = (kind: string, uid: string, name: string) => ({
  ownerReferences: [{ kind, name, uid, controller: true }],
});
const head = (kind: string, name: string, namespace: string, more: object = {}) => ({
  kind,
  metadata: { name, namespace, uid: `${kind}-${name}`, creationTimestamp: at, ...more },
});

/** Returns the objects as a client reads them: every tenth Deployment has pods that crash. */
export function clusterObjects(): SnapshotSource['objects'] {
  const workloads = Array.from({ length: podCount / podsOfWorkload }, (_, number) => number);
  return {
    nodes: Array.from({ length: 50 }, (_, number) => ({
      ...head('Node', `node-${number}`, ''),
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })),
    namespaces: Array.from({ length: 20 }, (_, number) => head('Namespace', `team-${number}`, '')),
    'deployments.apps': workloads.map((number) => workload('Deployment', number, `web-${number}`, {})),
    'replicasets.apps': workloads.flatMap((number) => [
      workload(
        'ReplicaSet',
        number,
        `web-${number}-new`,
        owner('Deployment', `Deployment-web-${number}`, `web-${number}`),
      ),
      // The ReplicaSets of the ten previous versions.
      ...Array.from({ length: 10 }, (_, version) => ({
        ...head(
          'ReplicaSet',
          `web-${number}-${version}`,
          namespaceOf(number),
          owner('Deployment', `Deployment-web-${number}`, `web-${number}`),
        ),
        spec: { replicas: 0 },
        status: { replicas: 0 },
      })),
    ]),
    services: workloads.map((number) => ({
      ...head('Service', `web-${number}`, namespaceOf(number)),
      spec: { selector: { app: 'web', number: String(number) }, ports: [{ port: 80, targetPort: 8080 }] },
    })),
    pods: Array.from({ length: podCount }, (_, index) => pod(index)),
    configmaps: workloads.map((number) => head('ConfigMap', `web-${number}`, namespaceOf(number))),
    secrets: workloads.map((number) => head('Secret', `web-${number}`, namespaceOf(number))),
    events: Array.from({ length: 4000 }, (_, number) => ({
      ...head('Event', `event-${number}`, namespaceOf(number)),
      ...{ type: 'Warning', reason: 'BackOff', message: 'Back-off restarting', lastTimestamp: at },
      involvedObject: { kind: 'Pod', uid: `pod-${number}` },
    })),
    'horizontalpodautoscalers.autoscaling': [],
    'ingresses.networking.k8s.io': [],
    persistentvolumeclaims: [],
  };
}

function workload(kind: string, number: number, name: string, more: object): JsonObject {
  const ready = number % faulty === 0 ? podsOfWorkload - 5 : podsOfWorkload;
  return {
    ...head(kind, name, namespaceOf(number), more),
    spec: { replicas: podsOfWorkload },
    status: { replicas: podsOfWorkload, readyReplicas: ready, updatedReplicas: podsOfWorkload },
  };
}

function pod(index: number): JsonObject {
  const number = Math.floor(index / podsOfWorkload);
  const { metadata, spec, status } = typicalPod(index);
  const isFaulty = number % faulty === 0 && index % podsOfWorkload < 5;
  const name = `web-${number}-new`;
  const crashed = {
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [
      {
        name: 'server',
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 1, reason: 'Error' } },
      },
    ],
  };
  return {
    kind: 'Pod',
    metadata: {
      ...metadata,
      namespace: namespaceOf(number),
      uid: `pod-${index}`,
      labels: { app: 'web', number: String(number), 'pod-template-hash': '5d8c7b6f9' },
      ...owner('ReplicaSet', `ReplicaSet-${name}`, name),
    },
    spec,
    status: isFaulty ? { ...status, ...crashed } : status,
  };
}
