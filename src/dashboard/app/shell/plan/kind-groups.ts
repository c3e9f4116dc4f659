/** The kinds in the navigation, under headings. Pure. */
import type { ApiKind } from '../../cluster/plan/discovery.ts';

export interface KindGroup {
  readonly title: string;
  readonly kinds: readonly ApiKind[];
}

/** Kinds with a fixed place, in the order of the navigation. */
const usual: readonly (readonly [title: string, keys: readonly string[]])[] = [
  [
    'Workloads',
    [
      'pods',
      'deployments.apps',
      'statefulsets.apps',
      'daemonsets.apps',
      'replicasets.apps',
      'jobs.batch',
      'cronjobs.batch',
      'horizontalpodautoscalers.autoscaling',
      'poddisruptionbudgets.policy',
    ],
  ],
  ['minik8s', []],
  [
    'Network',
    [
      'services',
      'ingresses.networking.k8s.io',
      'networkpolicies.networking.k8s.io',
      'endpointslices.discovery.k8s.io',
      'ingressclasses.networking.k8s.io',
    ],
  ],
  ['Configuration', ['configmaps', 'secrets', 'resourcequotas', 'limitranges']],
  ['Storage', ['persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage.k8s.io']],
  ['Cluster', ['nodes', 'namespaces', 'events', 'customresourcedefinitions.apiextensions.k8s.io']],
  [
    'Access',
    [
      'serviceaccounts',
      'roles.rbac.authorization.k8s.io',
      'rolebindings.rbac.authorization.k8s.io',
      'clusterroles.rbac.authorization.k8s.io',
      'clusterrolebindings.rbac.authorization.k8s.io',
    ],
  ],
];

/** Groups of Kubernetes and of minik8s; all others are of custom resources or of extension servers. */
const isBuiltIn = (group: string) => group === '' || !group.includes('.') || group.endsWith('.k8s.io');
const isOwn = (group: string) => group === 'minik8s.io' || group.endsWith('.minik8s.io');

/** Returns the kinds under headings; the last ones are `Custom`, if there are any, and `More`. */
export function kindGroups(kinds: readonly ApiKind[]): KindGroup[] {
  const byKey = new Map(kinds.map((kind) => [kind.key, kind]));
  const placed = new Set(usual.flatMap(([, keys]) => keys));
  const others = kinds.filter(({ key }) => !placed.has(key)).toSorted((a, b) => a.kind.localeCompare(b.kind));
  const groups = usual.map(([title, keys]) => ({
    title,
    kinds:
      title === 'minik8s'
        ? others.filter(({ group }) => isOwn(group))
        : keys.flatMap((key) => byKey.get(key) ?? []),
  }));
  const custom = others.filter(({ group }) => !isOwn(group) && !isBuiltIn(group));
  const more = others.filter(({ group, key }) => isBuiltIn(group) && key !== 'events.events.k8s.io');
  return [...groups, { title: 'Custom', kinds: custom }, { title: 'More', kinds: more }].filter(
    (group) => group.kinds.length > 0,
  );
}

/** Returns the name of a kind's objects: `NetworkPolicies` for `NetworkPolicy` and `networkpolicies`. */
export function titleOf({ kind, plural }: Pick<ApiKind, 'kind' | 'plural'>): string {
  const lower = kind.toLowerCase();
  let same = 0;
  while (same < lower.length && lower[same] === plural[same]) same++;
  return same === 0 ? kind : kind.slice(0, same) + plural.slice(same);
}
