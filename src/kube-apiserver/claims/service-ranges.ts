/**
 * The ranges from which Services take addresses: those of the setting `service-cidr`, which need no object,
 * and those of ServiceCIDRs that are ready.
 */
import {
  cidrsOf,
  familyOfRange,
  isAllocatable,
  type ServiceCIDR,
  serviceCIDRResource,
} from '../../api/networking/v1/service-cidr.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { type AddressFamily, familyRanges } from '../../base/address-families.ts';
import type { IndexDeclaration } from '../../storage/cache.ts';
import type { KubeContext } from '../context.ts';
import { type AddressRange, networkRange, parseRange } from './address-range.ts';

export interface NamedRange extends AddressRange {
  readonly cidr: string;
}

/** Returns the ranges of a family, that of the setting first; none if the cluster lacks the family. */
export type ServiceRanges = (family: AddressFamily) => readonly NamedRange[];

const readyByFamily: IndexDeclaration = {
  name: 'ready ServiceCIDRs by family',
  prefix: storagePrefix(serviceCIDRResource),
  keysOf: (object) => {
    const ranges = object as ServiceCIDR;
    return isAllocatable(ranges) ? new Set(cidrsOf(ranges).map(familyOfRange)) : [];
  },
};

export function serviceRanges({
  cache,
  serviceCIDR,
}: Pick<KubeContext, 'cache' | 'serviceCIDR'>): ServiceRanges {
  const ready = cache.index(readyByFamily);
  const read = new Map<string, NamedRange>();
  const rangeOf = (cidr: string): NamedRange => {
    const known = read.get(cidr) ?? { cidr, ...networkRange(cidr) };
    read.set(cidr, known);
    return known;
  };
  const own = familyRanges(serviceCIDR);
  return (family) => {
    const cidr = own[family];
    if (cidr === undefined) return [];
    const further = ready
      .get(family)
      .flatMap(({ object }) => cidrsOf(object as ServiceCIDR))
      .filter((other) => familyOfRange(other) === family && other !== cidr);
    if (further.length === 0) read.clear();
    return [{ cidr, ...parseRange(cidr) }, ...[...new Set(further)].map(rangeOf)];
  };
}
