/** A DaemonSet and its pods as the server would hold them. */
import type { DaemonSet } from '../../../../../src/api/apps/v1/daemon-set.ts';
import type { Node } from '../../../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { nodeFit } from '../../../../../src/controllers/workloads/daemons/daemon-nodes-plan.ts';
import { type Daemons, daemonsOf } from '../../../../../src/controllers/workloads/daemons/daemons-plan.ts';
import { meta, node, ownedBy, type PodOptions, pod, replicaSet, start } from '../../objects.ts';

type Spec = DaemonSet['spec'];

export function daemonSet(over: Partial<Spec> = {}, podSpec: Partial<Pod['spec']> = {}): DaemonSet {
  const { template } = replicaSet('web', 1).spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: meta('web', { generation: 1 }),
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { ...template, spec: { ...template.spec, ...podSpec } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
      ...over,
    },
  };
}

export const surging = (maxSurge: number | string): Partial<Spec> => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge } },
});

/** Pod of the DaemonSet on a node; ready from the start, unless `options` differ. */
export const daemon = (name: string, nodeName: string, hash = 'new', options: PodOptions = {}): Pod =>
  pod(name, {
    readyAt: 0,
    ...options,
    spec: { nodeName, ...options.spec },
    metadata: {
      labels: { app: 'web', 'controller-revision-hash': hash },
      ownerReferences: [ownedBy('DaemonSet', 'web')],
      ...options.metadata,
    },
  });

/** Pods and nodes of the DaemonSet for a decision one minute after the start. */
export const daemons = (set: DaemonSet, nodes: readonly (string | Node)[], ...pods: Pod[]): Daemons =>
  daemonsOf(
    set,
    'new',
    nodes.map((one) => (typeof one === 'string' ? node(one) : one)),
    nodeFit(set.spec.template),
    pods,
    start + 60_000,
  );
