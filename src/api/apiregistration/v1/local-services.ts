/**
 * The APIServices of the groups and versions that this server serves itself, with upstream's priorities
 * (cmd/kube-apiserver/app/aggregator.go).
 */
import type { Kinds } from '../../../apimachinery/kind-set.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { apiServiceName, apiServiceResource } from './api-service.ts';
import type { APIService } from './types.gen.ts';

/** Label of the APIServices that this server keeps; `onstart` for its own kinds, `true` for added ones. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged';

/** Group versions that this server only serves until an APIService names an extension server for them. */
const yielding: ReadonlySet<string> = new Set(['metrics.k8s.io/v1beta1']);

/** Priority of groups, and of their versions if it is not `usualVersion`. */
const groupPriorities: Readonly<Record<string, number>> = {
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
};
const versionPriorities: Readonly<Record<string, number>> = {
  v1: 1,
  'autoscaling/v2': 30,
  'flowcontrol.apiserver.k8s.io/v1': 21,
};
const usualVersion = 15;
/** Priorities of groups of custom resources, and of minik8s' own groups. */
const otherGroup = 1000;
const otherVersion = 100;

/** Returns the priority of a group that this server serves itself. */
export const groupPriority = (group: string): number => groupPriorities[group] ?? otherGroup;

/** APIService of this server, and whether its kinds are permanent. */
export interface LocalService {
  readonly draft: Draft<APIService> & { readonly metadata: { readonly name: string } };
  readonly isPermanent: boolean;
}

type Served = Pick<Kinds, 'all' | 'removalOf'>;

/** Returns true if no extension server can serve the version: it has a kind that is never removed. */
export function isBuiltIn(kinds: Served, group: string, version: string): boolean {
  if (yielding.has(apiVersionOf({ group, version }))) return false;
  return kinds.all.some(
    (kind) => kind.group === group && kind.version === version && kinds.removalOf(kind) === undefined,
  );
}

/** Returns the APIServices of this server by name. */
export function localServices(kinds: Served): ReadonlyMap<string, LocalService> {
  const served = new Map(
    kinds.all
      .filter((kind) => kind.group !== apiServiceResource.group && !yielding.has(apiVersionOf(kind)))
      .map(({ group, version }) => [apiServiceName({ group, version }), { group, version }]),
  );
  return new Map(
    [...served].map(([name, { group, version }]) => [name, localService(kinds, name, group, version)]),
  );
}

function localService(kinds: Served, name: string, group: string, version: string): LocalService {
  const isPermanent = isBuiltIn(kinds, group, version);
  const groupPriorityMinimum = groupPriority(group);
  const known = versionPriorities[apiVersionOf({ group, version })];
  const versionPriority = known ?? (group in groupPriorities ? usualVersion : otherVersion);
  const labels = { [automanagedLabel]: isPermanent ? 'onstart' : 'true' };
  const { kind } = apiServiceResource;
  const draft = {
    apiVersion: apiVersionOf(apiServiceResource),
    kind,
    metadata: { name, labels },
    spec: { ...(group && { group }), version, groupPriorityMinimum, versionPriority },
  };
  return { draft, isPermanent };
}
