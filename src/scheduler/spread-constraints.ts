/** Converts topology spread constraints of a pod to queries for counts of matching pods. Pure. */
import type { Node } from '../api/core/v1/node/node.ts';
import { requiredNodes } from '../api/core/v1/node/selection.ts';
import { tolerates } from '../api/core/v1/node/taints.ts';
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { PodSpec, TopologySpreadConstraint } from '../api/core/v1/types.gen.ts';
import { type Labels, type Selector, selectorFromLabelSelector } from '../apimachinery/labels.ts';
import { podsOf } from './affinity-term.ts';
import { queryId } from './query-id.ts';
import type { CountQuery } from './topology/domain-counts.ts';

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly query: CountQuery;
}

type Action = TopologySpreadConstraint['whenUnsatisfiable'];

const known = new WeakMap<Pod, Map<Action, readonly SpreadConstraint[]>>();

/** Returns the pod's required or preferred constraints, parsed once for each version of the pod. */
export function spreadConstraints(pod: Pod, action: Action): readonly SpreadConstraint[] {
  const all = pod.spec.topologySpreadConstraints ?? [];
  if (all.length === 0) return [];
  const byAction = known.get(pod) ?? new Map<Action, readonly SpreadConstraint[]>();
  known.set(pod, byAction);
  const found = byAction.get(action);
  if (found) return found;
  const chosen = all.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action);
  const keys = chosen.map(({ topologyKey }) => topologyKey);
  const among: Among = { keys, id: queryId(keys), inclusions: new Map() };
  const read = chosen.map((constraint) => readConstraint(pod, constraint, among));
  byAction.set(action, read);
  return read;
}

/** Properties that the constraints of a pod share. */
interface Among {
  /** Topology keys. Only nodes with all of them count, since no other node can be chosen. */
  readonly keys: readonly string[];
  readonly id: string;
  /** Inclusions by their affinity and taint policies. */
  readonly inclusions: Map<string, Inclusion>;
}

function readConstraint(pod: Pod, constraint: TopologySpreadConstraint, { keys, id, inclusions }: Among) {
  const { topologyKey, maxSkew, minDomains = 1, labelSelector, matchLabelKeys = [] } = constraint;
  const { namespace = '', labels = {} } = pod.metadata;
  const selector = withLabels(selectorFromLabelSelector(labelSelector), labels, matchLabelKeys);
  const policies = `${constraint.nodeAffinityPolicy} ${constraint.nodeTaintsPolicy}`;
  const inclusion = inclusions.getOrInsertComputed(policies, () => inclusionOf(pod.spec, constraint));
  const pods = podsOf(namespace, selector);
  const query: CountQuery = {
    id: JSON.stringify(['spread', topologyKey, pods.id, id, inclusion.id]),
    topologyKey,
    pods: [pods],
    terminating: false,
    everyDomain: true,
    includes: (node) => keys.every((key) => hasLabel(node, key)) && inclusion.includes(node),
  };
  return { topologyKey, maxSkew, minDomains, query };
}

function withLabels(selector: Selector, labels: Labels, keys: readonly string[]): Selector {
  const requirements = keys.flatMap((key) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined ? [] : [{ key, operator: '=' as const, values: [value] }];
  });
  return requirements.length === 0
    ? selector
    : { ...selector, requirements: [...selector.requirements, ...requirements] };
}

interface Inclusion {
  readonly id: string;
  includes(node: Node): boolean;
}

/** Returns which nodes count, with an identifier that is equal for equal inclusions. */
function inclusionOf(
  spec: PodSpec,
  { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' }: TopologySpreadConstraint,
): Inclusion {
  const required = nodeAffinityPolicy === 'Honor' ? requiredNodes(spec) : undefined;
  const selected = required && [spec.nodeSelector, spec.affinity?.nodeAffinity];
  const honoursTaints = nodeTaintsPolicy === 'Honor';
  return {
    id: queryId([selected ?? null, honoursTaints ? [spec.tolerations ?? []] : null]),
    includes: (node) =>
      (required?.suits(node) ?? true) && (!honoursTaints || toleratesAll(node, spec.tolerations)),
  };
}

const toleratesAll = ({ spec }: Node, tolerations: PodSpec['tolerations']) =>
  (spec.taints ?? []).every((taint) => taint.effect === 'PreferNoSchedule' || tolerates(tolerations, taint));

/**
 * Default constraints for pods of Services and of sets without constraints of their own (upstream's system
 * defaults).
 */
const defaults = [
  { topologyKey: 'kubernetes.io/hostname', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5 },
];

export function defaultConstraints(pod: Pod, siblings: Selector | undefined): readonly SpreadConstraint[] {
  if (!siblings) return [];
  const pods = podsOf(pod.metadata.namespace ?? '', siblings);
  const { id, includes } = inclusionOf(pod.spec, {
    topologyKey: '',
    maxSkew: 1,
    whenUnsatisfiable: 'ScheduleAnyway',
  });
  return defaults.map(({ topologyKey, maxSkew }) => ({
    topologyKey,
    maxSkew,
    minDomains: 1,
    query: {
      id: JSON.stringify(['spread', topologyKey, pods.id, null, id]),
      topologyKey,
      pods: [pods],
      terminating: false,
      everyDomain: false,
      includes,
    },
  }));
}

const hasLabel = ({ metadata: { labels } }: Node, key: string) => Object.hasOwn(labels ?? {}, key);
