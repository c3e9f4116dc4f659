/**
 * The address families of a Service (upstream: registry/core/service/storage/alloc.go): their defaults from
 * the families of the cluster, and the changes of a Service between one family and both. Pure.
 */
import { deepEqual } from '../../../../apimachinery/equality.ts';
import { invalidCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { type AddressFamily, addressFamilies, familyOf } from '../../../../base/address-families.ts';
import type { Service } from '../types.gen.ts';
import { isHeadless } from './defaults.ts';

type Spec = Service['spec'];

const policyPath = 'spec.ipFamilyPolicy';

/**
 * Sets `ipFamilyPolicy` and `ipFamilies`, and removes the second cluster IP from a Service that becomes
 * SingleStack (mutates `spec`). Returns causes if the cluster, whose families are `cluster` with the default
 * one first, cannot serve the Service. The cluster IPs and families of `spec` must be valid. `old` is
 * undefined for a new Service.
 */
export function chooseFamilies(
  spec: Spec,
  old: Spec | undefined,
  cluster: readonly AddressFamily[],
): StatusCause[] {
  if (spec.type === 'ExternalName' || (old && keepsFamilies(spec, old))) return [];
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? defaultPolicy(spec);
  const causes = [...(old ? applyPolicy(spec, old) : []), ...policyCauses(spec)];
  causes.push(...inferFamilies(spec, cluster));
  if (causes.length > 0) return causes;
  if (!isOpenHeadless(spec)) {
    const refused = clusterCauses(spec, cluster);
    if (refused.length > 0) return refused;
  }
  completeFamilies(spec, cluster);
  return [];
}

/**
 * Returns true for a PreferDualStack Service whose update changes neither addresses nor families. It keeps
 * the number of its families, so that a second range of the cluster changes no Service by itself.
 */
function keepsFamilies(spec: Spec, old: Spec): boolean {
  const fields = ['ipFamilyPolicy', 'ipFamilies', 'clusterIP', 'clusterIPs'] as const;
  if (spec.ipFamilyPolicy !== 'PreferDualStack' || !spec.ipFamilies?.length) return false;
  return fields.every((field) => deepEqual(spec[field], old[field]));
}

/** Returns true for a headless Service without a selector, whose endpoints others write in any family. */
const isOpenHeadless = (spec: Spec): boolean =>
  isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;

const defaultPolicy = (spec: Spec) => (isOpenHeadless(spec) ? 'RequireDualStack' : 'SingleStack');

/**
 * Removes what an update to SingleStack releases; returns causes for a value that is released under another
 * policy.
 */
function applyPolicy(spec: Spec, old: Spec): StatusCause[] {
  const { ipFamilyPolicy } = spec;
  if (ipFamilyPolicy === 'SingleStack') {
    for (const field of ['clusterIPs', 'ipFamilies'] as const)
      if (deepEqual(spec[field], old[field])) keepFirst(spec, field);
    return [];
  }
  const released = (what: string) =>
    invalidCause(policyPath, ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(isReduced(spec.clusterIPs, old.clusterIPs) ? [released('cluster IP')] : []),
    ...(isReduced(spec.ipFamilies, old.ipFamilies) ? [released('IP family')] : []),
  ];
}

function keepFirst(spec: Spec, field: 'clusterIPs' | 'ipFamilies'): void {
  if (spec[field] !== undefined && spec[field].length > 1) spec[field] = spec[field].slice(0, 1);
}

/** Returns true if two values became one, and the first one stayed. */
const isReduced = (now: readonly string[] = [], before: readonly string[] = []): boolean =>
  now.length === 1 && before.length === 2 && now[0] === before[0];

function policyCauses({ ipFamilyPolicy, clusterIPs, ipFamilies }: Spec): StatusCause[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const several = (what: string) =>
    invalidCause(
      policyPath,
      ipFamilyPolicy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...((clusterIPs ?? []).length === 2 ? [several('cluster IPs')] : []),
    ...((ipFamilies ?? []).length === 2 ? [several('IP families')] : []),
  ];
}

/** Adds the families of the cluster IPs that have none yet. */
function inferFamilies(spec: Spec, cluster: readonly AddressFamily[]): StatusCause[] {
  if (isHeadless(spec)) return [];
  const known = spec.ipFamilies?.length ?? 0;
  return (spec.clusterIPs ?? []).flatMap((ip, index, all) => {
    if (index < known) return [];
    const family = familyOf(ip);
    if (family === undefined || !cluster.includes(family)) {
      const why = `${family ?? 'an IPv4-mapped IPv6 address'} is not configured on this cluster`;
      return [invalidCause(`spec.clusterIPs[${index}]`, all, why)];
    }
    spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    return [];
  });
}

/** Returns causes for a policy and families that the cluster does not have. */
function clusterCauses(
  { ipFamilyPolicy, ipFamilies = [] }: Spec,
  cluster: readonly AddressFamily[],
): StatusCause[] {
  const missing = ipFamilies.flatMap((family, index) =>
    cluster.some((one) => one === family)
      ? []
      : [invalidCause(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
  );
  if (ipFamilyPolicy !== 'RequireDualStack' || cluster.length > 1) return missing;
  const why = 'this cluster is not configured for dual-stack services';
  return [invalidCause(policyPath, ipFamilyPolicy, why), ...missing];
}

/** Adds the default family, and the other one where policy and cluster allow it. */
function completeFamilies(spec: Spec, cluster: readonly AddressFamily[]): void {
  const families = spec.ipFamilies?.length ? [...spec.ipFamilies] : cluster.slice(0, 1);
  const mayHaveBoth = isOpenHeadless(spec) || cluster.length > 1;
  if (spec.ipFamilyPolicy !== 'SingleStack' && families.length === 1 && mayHaveBoth)
    families.push(...addressFamilies.filter((family) => family !== families[0]));
  spec.ipFamilies = families;
}
