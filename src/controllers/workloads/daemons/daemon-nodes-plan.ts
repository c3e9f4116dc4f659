/** On which nodes a DaemonSet wants its pod, and the pod for a node (k8s.io/kubernetes pkg/controller/daemon/util). Pure. */
import type { Node } from '../../../api/core/v1/node.ts';
import { requiredNodes } from '../../../api/core/v1/node-selection.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import { taintKeys, tolerates } from '../../../api/core/v1/taints.ts';
import type { PodSpec, PodTemplateSpec, Toleration } from '../../../api/core/v1/types.gen.ts';
import { revisionLabel } from '../revisions/revisions-plan.ts';

export interface NodeFit {
  /** A pod is wanted there. */
  readonly run: boolean;
  /** A pod that is there may stay. */
  readonly stay: boolean;
}

const neither: NodeFit = { run: false, stay: false };

/** Made once for each template: every change of a node asks all of them. */
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

/** A node in trouble keeps its daemons, and gets them: they may be what mends it. */
const always: readonly Toleration[] = [
  toleration(taintKeys.notReady, 'NoExecute'),
  toleration(taintKeys.unreachable, 'NoExecute'),
  toleration(taintKeys.diskPressure, 'NoSchedule'),
  toleration(taintKeys.memoryPressure, 'NoSchedule'),
  toleration(taintKeys.pidPressure, 'NoSchedule'),
  toleration(taintKeys.unschedulable, 'NoSchedule'),
];
const onHostNetwork: readonly Toleration[] = [toleration(taintKeys.networkUnavailable, 'NoSchedule')];

/** What the template says of the same taint, such as for how long it is tolerated, gives way. */
function withDaemonTolerations({ tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const added = hostNetwork ? [...always, ...onHostNetwork] : always;
  const same = (a: Toleration, b: Toleration) =>
    a.key === b.key && a.effect === b.effect && a.operator === b.operator && !a.value;
  const replaced = tolerations.map((one) => added.find((other) => same(one, other)) ?? one);
  return [...replaced, ...added.filter((one) => !replaced.includes(one))];
}

/** The template of the pods of a revision. */
export function daemonTemplate(template: PodTemplateSpec, hash: string): PodTemplateSpec {
  const { metadata, spec } = template;
  return {
    metadata: { ...metadata, labels: { ...metadata.labels, [revisionLabel]: hash } },
    spec: { ...spec, tolerations: withDaemonTolerations(spec) },
  };
}

/** The template of the pod of one node. The scheduler binds it, so that it gets there only where there is room for it. */
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

/** The node that a pod is on or made for; undefined for one that says none. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const named = terms
    ?.flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return named?.values?.length === 1 ? named.values[0] : undefined;
}
