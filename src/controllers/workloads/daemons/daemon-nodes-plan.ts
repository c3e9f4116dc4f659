/**
 * Decides on which nodes a DaemonSet runs a pod, and builds the pod for a node (k8s.io/kubernetes
 * pkg/controller/daemon/util). Pure.
 */
import type { Node } from '../../../api/core/v1/node/node.ts';
import { requiredNodes } from '../../../api/core/v1/node/selection.ts';
import { taintKeys, tolerates } from '../../../api/core/v1/node/taints.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PodSpec, PodTemplateSpec, Toleration } from '../../../api/core/v1/types.gen.ts';
import { revisionLabel } from '../revisions/revisions-plan.ts';

export interface NodeFit {
  /** True if the node should run a pod. */
  readonly run: boolean;
  /** True if an existing pod may stay. */
  readonly stay: boolean;
}

const neither: NodeFit = { run: false, stay: false };

/**
 * Returns the fit of nodes. It is computed once for each template, because every change of a node evaluates
 * all of them.
 */
export function nodeFit(template: PodTemplateSpec): (node: Node) => NodeFit {
  const found = known.get(template);
  if (found) return found;
  const fit = fitOf(template);
  known.set(template, fit);
  return fit;
}

const known = new WeakMap<PodTemplateSpec, (node: Node) => NodeFit>();

function fitOf({ spec }: PodTemplateSpec): (node: Node) => NodeFit {
  const required = requiredNodes(spec);
  const tolerations = withDaemonTolerations(spec);
  return (node) => {
    if (spec.nodeName && spec.nodeName !== node.metadata.name) return neither;
    if (required && !required.suits(node)) return neither;
    const repelling = (node.spec.taints ?? []).filter(
      (taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(tolerations, taint),
    );
    return {
      run: repelling.length === 0,
      stay: repelling.every(({ effect }) => effect !== 'NoExecute'),
    };
  };
}

const toleration = (key: string, effect: 'NoExecute' | 'NoSchedule'): Toleration => ({
  key,
  operator: 'Exists',
  effect,
});

/**
 * Tolerations that every daemon gets. A failing node keeps its daemon pods and gets new ones, because they
 * may repair the node.
 */
const always: readonly Toleration[] = [
  toleration(taintKeys.notReady, 'NoExecute'),
  toleration(taintKeys.unreachable, 'NoExecute'),
  toleration(taintKeys.diskPressure, 'NoSchedule'),
  toleration(taintKeys.memoryPressure, 'NoSchedule'),
  toleration(taintKeys.pidPressure, 'NoSchedule'),
  toleration(taintKeys.unschedulable, 'NoSchedule'),
];
const onHostNetwork: readonly Toleration[] = [toleration(taintKeys.networkUnavailable, 'NoSchedule')];

/**
 * Adds the tolerations. They replace tolerations of the template for the same taint, for example with a time
 * limit.
 */
function withDaemonTolerations({ tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const added = hostNetwork ? [...always, ...onHostNetwork] : always;
  const same = (a: Toleration, b: Toleration) =>
    a.key === b.key && a.effect === b.effect && a.operator === b.operator && !a.value;
  const replaced = tolerations.map((one) => added.find((other) => same(one, other)) ?? one);
  return [...replaced, ...added.filter((one) => !replaced.includes(one))];
}

/** Returns the template of the pods of a revision. */
export function daemonTemplate(template: PodTemplateSpec, hash: string): PodTemplateSpec {
  const { metadata, spec } = template;
  return {
    metadata: { ...metadata, labels: { ...metadata.labels, [revisionLabel]: hash } },
    spec: { ...spec, tolerations: withDaemonTolerations(spec) },
  };
}

/**
 * Returns the template of the pod of one node. The scheduler binds the pod, so that it starts only if the
 * node has room.
 */
export function templateForNode(template: PodTemplateSpec, node: string): PodTemplateSpec {
  const { spec } = template;
  const { affinity } = spec;
  const nodeSelectorTerms = [
    { matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [node] }] },
  ];
  return {
    ...template,
    spec: {
      ...spec,
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
        },
      },
    },
  };
}

/** Returns the node to which a pod is bound or for which it was created, or undefined. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const named = terms
    ?.flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return named?.values?.length === 1 ? named.values[0] : undefined;
}
