/** Objects as the server would hold them, for tests of the controllers' decisions. */
import type { Deployment } from '../../../src/api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../src/api/apps/v1/replica-set.ts';
import type { Node, Taint } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { Service, ServicePort } from '../../../src/api/core/v1/service/service.ts';
import type { Container } from '../../../src/api/core/v1/types.gen.ts';
import type { ObjectMeta, OwnerReference } from '../../../src/apimachinery/meta.ts';

export const start = Date.UTC(2026, 0, 1);
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString().replace('.000Z', 'Z');

export function meta(name: string, over: Partial<ObjectMeta> = {}): ObjectMeta {
  return {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: at(0),
    ...over,
  };
}

export function ownedBy(kind: string, name: string): OwnerReference {
  return {
    apiVersion: 'apps/v1',
    kind,
    name,
    uid: `uid-${name}`,
    controller: true,
    blockOwnerDeletion: true,
  };
}

export function container(over: Partial<Container> = {}): Container {
  return {
    name: 'app',
    image: 'app:1',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...over,
  };
}

export interface PodOptions {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<Pod['spec']>;
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** Time at which the pod became ready, in seconds after the start. */
  readonly readyAt?: number;
  readonly ip?: string;
  readonly restarts?: number;
}

export function pod(name: string, options: PodOptions = {}): Pod {
  const { phase = 'Running', readyAt, ip, restarts = 0 } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(name, { labels: { app: 'web' }, ...options.metadata }),
    spec: {
      schedulerName: 'default-scheduler',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      containers: [container()],
      nodeName: 'n1',
      ...options.spec,
    },
    status: {
      phase,
      ...(ip && { podIP: ip, podIPs: [{ ip }] }),
      conditions: [
        readyAt === undefined
          ? { type: 'Ready', status: 'False' }
          : { type: 'Ready', status: 'True', lastTransitionTime: at(readyAt) },
      ],
      containerStatuses: [
        { name: 'app', image: 'app:1', imageID: '', ready: readyAt !== undefined, restartCount: restarts },
      ],
    },
  };
}

const template = (image: string) => ({
  metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '', labels: { app: 'web' } },
  spec: { ...pod('template').spec, nodeName: undefined, containers: [container({ image })] },
});

export function replicaSet(name: string, replicas: number, over: Partial<ReplicaSet> = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: meta(name, { generation: 1, labels: { app: 'web' } }),
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template('app:1') },
    ...over,
  };
}

export function deployment(
  replicas: number,
  spec: Partial<Deployment['spec']> = {},
  image = 'app:1',
): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta('web', { generation: 1 }),
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: template(image),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...spec,
    },
  };
}

export function service(over: Partial<Service['spec']> = {}, ports?: Partial<ServicePort>[]): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta('web'),
    spec: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      selector: { app: 'web' },
      ports: (ports ?? [{}]).map((port) => ({ protocol: 'TCP', port: 80, targetPort: 8080, ...port })),
      ...over,
    },
  };
}

export interface NodeOptions {
  readonly labels?: Record<string, string>;
  readonly taints?: Taint[];
  readonly unschedulable?: boolean;
  readonly allocatable?: Record<string, string>;
  readonly ready?: 'True' | 'False' | 'Unknown';
}

export function node(name: string, options: NodeOptions = {}): Node {
  const { labels, taints, unschedulable, ready = 'True' } = options;
  const allocatable = options.allocatable ?? { cpu: '2', memory: '4Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...meta(name, labels && { labels }), namespace: undefined },
    spec: { ...(taints && { taints }), ...(unschedulable && { unschedulable }) },
    status: { allocatable, capacity: allocatable, conditions: [{ type: 'Ready', status: ready }] },
  };
}
