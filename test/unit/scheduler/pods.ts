/** Pods without a node, and nodes with pods on them. */
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { plugins } from '../../../src/scheduler/plugins/index.ts';
import { type ScheduleOptions, scheduleOne } from '../../../src/scheduler/schedule-one.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { container, pod } from '../controllers/objects.ts';

/** Returns a pod with the given requests that has no node. */
export const wanting = (name: string, requests: Record<string, string>, spec: Partial<Pod['spec']> = {}) =>
  pod(name, {
    phase: 'Pending',
    spec: { nodeName: undefined, containers: [container({ resources: { requests } })], ...spec },
  });

export const plain = (spec: Partial<Pod['spec']> = {}) => wanting('p', {}, spec);

export function snapshotOf(nodes: readonly Node[], bound: readonly Pod[] = []): Snapshot {
  const snapshot = new Snapshot();
  for (const one of nodes) snapshot.setNode(one);
  for (const one of bound) snapshot.setPod(one);
  return snapshot;
}

export const decideWith = (one: Pod, snapshot: Snapshot, options: Partial<ScheduleOptions> = {}) =>
  scheduleOne(one, snapshot, {
    policy: 'Default',
    random: new SeededRandom(1),
    plugins: plugins(),
    ...options,
  });

/** Returns the name of the chosen node; undefined if there is none. */
export const nodeFor = (...given: Parameters<typeof decideWith>): string | undefined => {
  const decision = decideWith(...given);
  return decision.kind === 'node' ? decision.node : undefined;
};
