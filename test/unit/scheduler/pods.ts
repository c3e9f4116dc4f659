/** Pods that have no node yet, and nodes with pods on them. */
import type { Node } from '../../../src/api/core/v1/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod.ts';
import { type Policy, scheduleOne } from '../../../src/scheduler/schedule-one.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { container, pod } from '../controllers/objects.ts';

/** One that asks for this much. */
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

export const decide = (one: Pod, snapshot: Snapshot, policy: Policy = 'Default', lastNode?: string) =>
  scheduleOne(one, snapshot.nodes, { policy, random: new SeededRandom(1), lastNode });
