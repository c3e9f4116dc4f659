/** Nodes and pods as in large clusters, for the scheduler. */
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';

export const nodeCount = 5_000;
export const podCount = 10_000;
const zones = 10;
/** Number of pods that share a label, such as the pods of a Deployment. */
const podsOfOne = 100;

const meta = (name: string, labels: Record<string, string>, namespace?: string) => ({
  name,
  ...(namespace && { namespace }),
  labels,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

export function nodes(): readonly Node[] {
  const amounts = { cpu: '4', memory: '32Gi', pods: '110' };
  return Array.from({ length: nodeCount }, (_, index) => {
    const name = `node-${index}`;
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: meta(name, {
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': `zone-${index % zones}`,
      }),
      spec: {},
      status: { allocatable: amounts, capacity: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
    } as unknown as Node;
  });
}

/** Constraints of pods, in addition to requests of 100m and 500Mi (as in upstream's scheduler_perf). */
export const workloads = {
  plain: () => ({}),
  /** Spread evenly over the zones, and at most one pod with a label per node. */
  spread: (labels: Record<string, string>) => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: labels },
      },
    ],
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
        ],
      },
    },
  }),
} as const;
export type Workload = keyof typeof workloads;

export function pods(workload: Workload, count = podCount): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => {
    const labels = { app: `app-${Math.floor(index / podsOfOne)}` };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: meta(`pod-${index}`, labels, 'default'),
      spec: {
        schedulerName: 'default-scheduler',
        terminationGracePeriodSeconds: 30,
        containers: [
          {
            name: 'pause',
            image: 'registry.k8s.io/pause:3.10',
            resources: { requests: { cpu: '100m', memory: '500Mi' } },
          },
        ],
        ...workloads[workload](labels),
      },
      status: { phase: 'Pending' },
    } as unknown as Pod;
  });
}
