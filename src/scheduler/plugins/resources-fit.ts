import { changedNode } from '../cluster-events.ts';
import type { Plugin, Rejection } from '../framework.ts';
import type { NodeInfo, PodInfo, Resources } from '../node-info.ts';
import { type ScoringStrategy, scoreOf } from '../scoring-strategy.ts';

const name = 'NodeResourcesFit';

/** Resources that are scored; upstream's default. */
const scored = ['cpu', 'memory'];

/** Rejects nodes with insufficient free resources, and scores the others by the strategy. */
export const resourcesFit = (strategy: ScoringStrategy): Plugin<Wanted> => ({
  name,
  preFilter: (pod) => ({ state: wantedBy(pod) }),
  filter: (_pod, node, wanted) => shortages(wanted, node),
  helps(event, pod) {
    const node =
      event.kind === 'podRemoved' || event.kind === 'podChanged' || event.kind === 'nominationEnded'
        ? event.node
        : changedNode(event, 'allocatable');
    return node !== undefined && shortages(wantedBy(pod), node).length === 0;
  },
  score(pod, node) {
    let sum = 0;
    for (const resource of scored) {
      const taken = amountOf(node.weighed, resource) + amountOf(pod.weighed, resource);
      sum += scoreOf(strategy, taken, amountOf(node.allocatable, resource));
    }
    return sum / scored.length;
  },
});

/** Requests above zero, by resource. */
type Wanted = readonly { readonly resource: string; readonly requested: number }[];

const wantedBy = ({ requests }: PodInfo): Wanted =>
  [...requests]
    .filter(([, requested]) => requested > 0)
    .map(([resource, requested]) => ({ resource, requested }));

function shortages(wanted: Wanted, node: NodeInfo): readonly Rejection[] {
  let rejections: Rejection[] | undefined;
  const pods = node.allocatable.get('pods');
  if (pods !== undefined && node.podCount + 1 > pods)
    rejections = [short('Too many pods', 'pods', 1, pods - node.podCount, pods)];
  for (const { resource, requested } of wanted) {
    const capacity = amountOf(node.allocatable, resource);
    const free = capacity - amountOf(node.requested, resource);
    if (requested <= free) continue;
    rejections ??= [];
    rejections.push(short(`Insufficient ${resource}`, resource, requested, free, capacity));
  }
  return rejections ?? none;
}

const none: readonly Rejection[] = [];

const amountOf = (resources: Resources, resource: string) => resources.get(resource) ?? 0;

function short(text: string, resource: string, requested: number, free: number, capacity: number): Rejection {
  const shortage = { resource, requested, free };
  // A request above the capacity of the node would not fit even without any other pod.
  return requested > capacity
    ? { plugin: name, text, unresolvable: true, shortage }
    : { plugin: name, text, shortage };
}
