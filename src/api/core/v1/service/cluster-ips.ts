/** Rules of the cluster IPs of a Service and of their families. */
import { deepEqual } from '../../../../apimachinery/equality.ts';
import { duplicateCause, invalidCause, notSupportedCause } from '../../../../apimachinery/field-error.ts';
import { nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { addressFamilies } from '../../../../base/address-families.ts';
import { isIPv4, isIPv6 } from '../../../../base/addresses.ts';
import { checkIPAddress } from '../../../ip.ts';
import type { Service } from '../types.gen.ts';
import { hasNodePorts, isHeadless } from './defaults.ts';

type Spec = Service['spec'];

const path = 'spec.clusterIPs';
const unchangeable = 'may not change once set';

/** Validates the cluster IPs of a Service that is no ExternalName. */
export function validateClusterIPs(spec: Spec): StatusCause[] {
  const addresses = spec.clusterIPs ?? [];
  const causes: StatusCause[] = [];
  if (spec.clusterIP !== addresses[0] && (spec.clusterIP || addresses[0]))
    causes.push(invalidCause(path, addresses, 'first value must match `clusterIP`'));
  causes.push(...(isHeadless(spec) ? headlessCauses(spec, addresses) : validateAddresses(addresses)));
  const families = validateFamilies(spec);
  const matched = causes.length + families.length > 0 || isHeadless(spec) ? [] : familyCauses(spec);
  return [...causes, ...families, ...matched];
}

const headlessCauses = (spec: Spec, addresses: readonly string[]): StatusCause[] => [
  ...(hasNodePorts(spec)
    ? [invalidCause(`${path}[0]`, 'None', `may not be set to 'None' for ${spec.type} services`)]
    : []),
  ...(addresses.length > 1 ? [invalidCause(path, addresses, "'None' must be the first and only value")] : []),
];

/** Allows one address of each family. */
function validateAddresses(addresses: readonly string[]): StatusCause[] {
  const causes = addresses.flatMap((ip, index) => nameCauses(`${path}[${index}]`, ip, checkIPAddress));
  if (addresses.length > 2) causes.push(invalidCause(path, addresses, 'may only hold up to 2 values'));
  const bothFamilies = addresses.some(isIPv4) && addresses.some(isIPv6);
  if (causes.length > 0 || addresses.length < 2 || bothFamilies) return causes;
  return [invalidCause(path, addresses, 'may specify no more than one IP for each IP family')];
}

function validateFamilies(spec: Spec): StatusCause[] {
  const seen = new Set<string>();
  return (spec.ipFamilies ?? []).flatMap((family, index) => {
    const at = `spec.ipFamilies[${index}]`;
    if (!addressFamilies.some((one) => one === family))
      return [notSupportedCause(at, family, addressFamilies)];
    if (seen.has(family)) return [duplicateCause(at, family)];
    seen.add(family);
    return [];
  });
}

/** Compares each address with the family at its place. */
const familyCauses = ({ clusterIPs = [], ipFamilies = [] }: Spec): StatusCause[] =>
  clusterIPs.flatMap((ip, index) => {
    const family = ipFamilies[index];
    if (family === undefined || (isIPv6(ip) ? 'IPv6' : 'IPv4') === family) return [];
    const why = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    return [invalidCause(`${path}[${index}]`, ip, why)];
  });

const isExternalName = ({ type }: Spec) => type === 'ExternalName';

/**
 * Rejects a change of the first cluster IP, which other machines may have cached. The second one may be
 * added, and removed by the policy SingleStack.
 */
export function validateClusterIPsUpdate(spec: Spec, old: Spec): StatusCause[] {
  if (isExternalName(old) || isExternalName(spec) || (isHeadless(old) && isHeadless(spec))) return [];
  const [now, before] = [spec.clusterIPs ?? [], old.clusterIPs ?? []];
  if (before.length === 0) return [];
  if (now.length === 0) return [invalidCause(`${path}[0]`, now, 'primary clusterIP can not be unset')];
  const compared = now.length === before.length ? before : before.slice(0, 1);
  return [
    ...compared.flatMap((ip, index) =>
      ip === now[index] ? [] : [invalidCause(`${path}[${index}]`, now, unchangeable)],
    ),
    ...releaseCauses(spec, now, before, 'clusterIP'),
  ];
}

/**
 * Rejects a change of the first family, which is the family of the cluster IP. A Service without a cluster
 * IP, before or after, may have other families.
 */
export function validateFamiliesUpdate(spec: Spec, old: Spec): StatusCause[] {
  const withoutIP = (one: Spec) => isExternalName(one) || isHeadless(one);
  if (withoutIP(old) || withoutIP(spec)) return [];
  const [now, before] = [spec.ipFamilies ?? [], old.ipFamilies ?? []];
  const compared = now.length === before.length ? now.length : Math.min(1, now.length, before.length);
  return [
    ...(deepEqual(now.slice(0, compared), before.slice(0, compared))
      ? []
      : [invalidCause('spec.ipFamilies[0]', now, unchangeable)]),
    ...releaseCauses(spec, now, before, 'ipFamily'),
  ];
}

/** Requires the policy SingleStack of a Service that has one value fewer than before. */
function releaseCauses(
  { ipFamilyPolicy }: Spec,
  now: readonly string[],
  before: readonly string[],
  what: 'clusterIP' | 'ipFamily',
): StatusCause[] {
  if (now.length !== 1 || before.length < 2 || ipFamilyPolicy === 'SingleStack') return [];
  const why = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalidCause('spec.ipFamilyPolicy', ipFamilyPolicy, why)];
}
