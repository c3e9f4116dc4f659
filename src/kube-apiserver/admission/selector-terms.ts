/**
 * Limits the selectors of a namespace. Controllers compare each changed pod with the selectors of all
 * Services, budgets and workloads of its namespace in one turn of the event loop, and nodes compare it with
 * those of all network policies. So many long selectors would hold up the whole control plane, or the nodes.
 * Upstream has no such limit.
 */
import { daemonSetResource } from '../../api/apps/v1/daemon-set.ts';
import { deploymentResource } from '../../api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../api/apps/v1/replica-set.ts';
import { statefulSetResource } from '../../api/apps/v1/stateful-set.ts';
import { jobResource } from '../../api/batch/v1/job.ts';
import { replicationControllerResource } from '../../api/core/v1/replication-controller.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { type NetworkPolicy, networkPolicyResource } from '../../api/networking/v1/network-policy.ts';
import { podDisruptionBudgetResource } from '../../api/policy/v1/pod-disruption-budget.ts';
import { tooManyCause } from '../../apimachinery/field-error.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceDefinition, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { LabelSelector } from '../../apimachinery/schema.ts';
import { maxSelectorTerms } from '../../apimachinery/selector-length.ts';
import { newInvalid } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { KubeContext } from '../context.ts';

/** Number of terms up to which a selector does not count, so that ordinary objects have no limit. */
const fewTerms = 10;
/**
 * Maximum number of terms of the longer selectors of one kind in a namespace, including the values of sets:
 * the first comparison reads all of them.
 */
export const maxNamespaceTerms = 50_000;

type Selecting = KubeObject & { readonly spec?: { readonly selector?: unknown } };

interface Size {
  /** Number of requirements of the longest selector, in which a set is one. */
  readonly requirements: number;
  /** Number of requirements of all selectors, in which a set is as many as it has values. */
  readonly terms: number;
}

interface Counted {
  /** Field that an error names. */
  readonly path: string;
  readonly sizeOf: (object: KubeObject) => Size;
}

function mapSize(selector: unknown): Size {
  const { length } = Object.keys(selector ?? {});
  return { requirements: length, terms: length };
}

function selectorSize(selector: unknown): Size {
  const { matchLabels, matchExpressions = [] } = (selector ?? {}) as LabelSelector;
  const { length } = Object.keys(matchLabels ?? {});
  const values = matchExpressions.reduce((sum, { values }) => sum + Math.max(1, values?.length ?? 0), 0);
  return { requirements: length + matchExpressions.length, terms: length + values };
}

function policySize({ spec }: NetworkPolicy): Size {
  const peers = [...(spec.ingress ?? []).map(({ from }) => from), ...(spec.egress ?? []).map(({ to }) => to)];
  const selectors = peers
    .flatMap((list) => list ?? [])
    .flatMap(({ podSelector, namespaceSelector }) => [podSelector, namespaceSelector]);
  return [spec.podSelector, ...selectors].map(selectorSize).reduce((all, one) => ({
    requirements: Math.max(all.requirements, one.requirements),
    terms: all.terms + one.terms,
  }));
}

const ofSelector = (sizeOf: (selector: unknown) => Size): Counted => ({
  path: 'spec.selector',
  sizeOf: (object) => sizeOf((object as Selecting).spec?.selector),
});

const kindKey = ({ group, plural }: Pick<ResourceDefinition, 'group' | 'plural'>) => `${plural}.${group}`;

const counted = new Map<string, Counted>([
  ...[serviceResource, replicationControllerResource].map(
    (kind) => [kindKey(kind), ofSelector(mapSize)] as const,
  ),
  ...[
    daemonSetResource,
    deploymentResource,
    replicaSetResource,
    statefulSetResource,
    jobResource,
    podDisruptionBudgetResource,
  ].map((kind) => [kindKey(kind), ofSelector(selectorSize)] as const),
  [kindKey(networkPolicyResource), { path: 'spec', sizeOf: (one) => policySize(one as NetworkPolicy) }],
]);

export const selectorTermLimit = ({ cache }: Pick<KubeContext, 'cache'>): AdmissionPlugin => ({
  name: 'SelectorTermLimit',
  validate(admission) {
    const kind = counted.get(kindKey(admission.definition));
    if (kind) check(cache, admission, kind);
  },
});

function check(
  cache: KubeContext['cache'],
  { definition, namespace, name, object, old }: Admission,
  { path, sizeOf }: Counted,
): void {
  if (!object) return;
  const { requirements, terms } = sizeOf(object);
  // Other changes of an object whose selector is too long are allowed.
  if (terms <= fewTerms || (old && terms <= sizeOf(old).terms)) return;
  const refuse = (sum: number, limit: number) =>
    newInvalid(definition, name, [tooManyCause(path, sum, limit)]);
  if (requirements > maxSelectorTerms) throw refuse(requirements, maxSelectorTerms);
  const sum = cache
    .list(storagePrefix(definition, namespace))
    .map(({ object: stored }) => stored)
    .filter(({ metadata }) => metadata.uid !== old?.metadata.uid)
    .map((stored) => sizeOf(stored).terms)
    .filter((each) => each > fewTerms)
    .reduce((all, each) => all + each, terms);
  if (sum > maxNamespaceTerms) throw refuse(sum, maxNamespaceTerms);
}
