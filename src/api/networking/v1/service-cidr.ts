/** ServiceCIDR: a range from which Services take their cluster IPs, of one family or of both. */
import { findCondition } from '../../../apimachinery/conditions.ts';
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { type AddressFamily, liesIn } from '../../../base/address-families.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { checkCanonicalCIDR } from '../../ip.ts';
import type { ServiceCIDR } from './types.gen.ts';

export type { ServiceCIDR } from './types.gen.ts';

/** Name of the ServiceCIDR with the ranges of the setting `service-cidr`. */
export const defaultRangesName = 'kubernetes';

/** Finalizer that keeps a range as long as addresses of it are used. */
export const rangeProtection = 'networking.k8s.io/service-cidr-finalizer';

export const cidrsOf = ({ spec }: ServiceCIDR): readonly string[] => spec?.cidrs ?? [];

/** Returns the family of a range in canonical form. */
export const familyOfRange = (cidr: string): AddressFamily => (cidr.includes(':') ? 'IPv6' : 'IPv4');

export const readyCondition = ({ status }: ServiceCIDR) => findCondition(status?.conditions, 'Ready');

/** Returns true if Services may take new addresses of these ranges. */
export const isAllocatable = (ranges: ServiceCIDR): boolean =>
  !isTerminating(ranges) && readyCondition(ranges)?.status === 'True';

/** Returns true if an address in canonical form is in one of the ranges. */
export const hasServiceAddress = (ranges: ServiceCIDR, address: string): boolean =>
  cidrsOf(ranges).some((cidr) => liesIn(cidr, `${address}/${address.includes(':') ? 128 : 32}`));

/** The ranges of Services that a node serves besides those of its setting `service-cidr`. */
export interface FurtherRanges {
  /** Returns the ranges of both families, in canonical form. */
  current(): readonly string[];
  /** Calls the listener after each change of `current`. */
  onChange(listener: () => void): void;
}

const path = 'spec.cidrs';
const immutable = 'field is immutable';

function validate({ spec }: ServiceCIDR): StatusCause[] {
  const cidrs = spec?.cidrs ?? [];
  if (cidrs.length === 0) return [requiredCause(path, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalidCause(path, cidrs, 'may only hold up to 2 values')];
  const causes = cidrs.flatMap((cidr, index) => nameCauses(`${path}[${index}]`, cidr, checkCanonicalCIDR));
  const isTwice = new Set(cidrs.map(familyOfRange)).size < cidrs.length;
  if (causes.length > 0 || !isTwice) return causes;
  const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  return [invalidCause(path, cidrs, why)];
}

/** Allows only that a range of the second family is added. */
function validateUpdate(ranges: ServiceCIDR, old: ServiceCIDR): StatusCause[] {
  const [now, before] = [cidrsOf(ranges), cidrsOf(old)];
  const isGrown = before.length === 1 && now.length === 2;
  if (now.length !== before.length && !isGrown) return [invalidCause(path, now, immutable)];
  return before.flatMap((cidr, index) =>
    now[index] === cidr ? [] : [invalidCause(`${path}[${index}]`, now[index], immutable)],
  );
}

export const serviceCIDRResource: ResourceDefinition<ServiceCIDR> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  singular: 'servicecidr',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'networking.v1.ServiceCIDR',
  rules: {
    'networking.v1.ServiceCIDR': {},
    'networking.v1.ServiceCIDRSpec': {},
    'networking.v1.ServiceCIDRStatus': {},
  },
  strategy: { validate, validateUpdate, countsGenerations: false },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'CIDRs',
      type: 'string',
      description: 'The ranges, one or one of each family.',
      cell: (ranges) => cidrsOf(ranges).join(','),
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
