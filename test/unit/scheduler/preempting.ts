/** Nodes with pods that may be preempted for another pod, and the decision about them. */
import assert from 'node:assert/strict';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { selectorFromLabelSelector } from '../../../src/apimachinery/labels.ts';
import type { Budget, Remedy } from '../../../src/scheduler/framework.ts';
import { at, container, node, pod } from '../controllers/objects.ts';
import { decideWith, snapshotOf, wanting } from './pods.ts';

export const sized = (name: string, cpu: string) =>
  node(name, { allocatable: { cpu, memory: '8Gi', pods: '10' } });
/** Returns a pod on a node that requests `cpu`, has a priority, and started at the second `started`. */
export function on(
  nodeName: string,
  name: string,
  cpu: string,
  priority: number,
  more: Partial<Pod['spec']> & { started?: number; labels?: Record<string, string> } = {},
): Pod {
  const { started = 0, labels = { app: name }, ...spec } = more;
  const made = pod(name, {
    metadata: { labels },
    spec: { nodeName, priority, containers: [container({ resources: { requests: { cpu } } })], ...spec },
  });
  return { ...made, status: { ...made.status, startTime: at(started) } };
}

export const unstarted = (one: Pod): Pod => ({ ...one, status: { ...one.status, startTime: undefined } });

export const urgent = (cpu: string, spec: Partial<Pod['spec']> = {}) =>
  wanting('urgent', { cpu }, { priority: 100, ...spec });

export const budget = (app: string, allowed: number, disrupted: string[] = []): Budget => ({
  namespace: 'default',
  selector: selectorFromLabelSelector({ matchLabels: { app } }),
  allowed,
  disrupted: new Set(disrupted),
});

export interface Given {
  readonly nodes: readonly Node[];
  readonly bound: readonly Pod[];
  readonly budgets?: readonly Budget[];
  readonly nominated?: string;
}

/**
 * Returns the remedy; asserts that it does not depend on the first node of the search or the order of pods.
 */
export function remedyFor(one: Pod, { nodes, bound, budgets = [], nominated }: Given): Remedy | undefined {
  const remedies = [0, 0.99].flatMap((drawn) =>
    [bound, bound.toReversed()].map((pods) => {
      const random = { next: () => drawn, uuid: () => '' };
      const options = { budgets: () => budgets, nominated, random };
      const decision = decideWith(one, snapshotOf(nodes, pods), options);
      assert.equal(decision.kind, 'unschedulable');
      return decision.kind === 'unschedulable' ? decision.remedy : undefined;
    }),
  );
  for (const other of remedies) assert.deepEqual(told(other), told(remedies[0]));
  return remedies[0];
}

export const told = (remedy: Remedy | undefined) =>
  remedy?.kind === 'preempt'
    ? [remedy.node, remedy.victims.map(({ pod: { metadata } }) => metadata.name)]
    : remedy && `${remedy.kind}: ${remedy.why}`;

export const [a, b] = [sized('a', '2'), sized('b', '2')];
