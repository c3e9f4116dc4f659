/** Decides what becomes of the IPAddress of a cluster IP. Pure. */
import type { Service } from '../../api/core/v1/service/service.ts';
import {
  addressManager,
  familyLabel,
  type IPAddress,
  ipAddressResource,
  isOfService,
  managedByLabel,
} from '../../api/networking/v1/ip-address.ts';
import type { Draft } from '../../apimachinery/meta.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';

export type AddressStep =
  | { readonly type: 'create'; readonly draft: Draft<IPAddress> }
  /** The IPAddress names another owner. It is made again once it is gone, if a Service has the address. */
  | { readonly type: 'delete' }
  | { readonly type: 'keep' };

const keep: AddressStep = { type: 'keep' };

export const isManaged = ({ metadata }: IPAddress): boolean =>
  metadata.labels?.[managedByLabel] === addressManager;

/**
 * `holder` is the Service that has the address, if one does. IPAddresses that others made are kept, unless
 * they name a Service while another one has the address.
 */
export function planAddress(
  address: string,
  existing: IPAddress | undefined,
  holder: Service | undefined,
): AddressStep {
  if (!existing) return holder ? { type: 'create', draft: draftOf(address, holder) } : keep;
  if (existing.metadata.deletionTimestamp !== undefined) return keep;
  if (!holder) return isManaged(existing) ? { type: 'delete' } : keep;
  const isOurs = isManaged(existing) || isOfService(existing);
  return isOurs && !isRight(existing, holder) ? { type: 'delete' } : keep;
}

function isRight(existing: IPAddress, { metadata }: Service): boolean {
  const { namespace, name } = existing.spec.parentRef;
  const isParent = namespace === metadata.namespace && name === metadata.name;
  return isManaged(existing) && isOfService(existing) && isParent;
}

const draftOf = (address: string, { metadata }: Service): Draft<IPAddress> => ({
  apiVersion: apiVersionOf(ipAddressResource),
  kind: ipAddressResource.kind,
  metadata: {
    name: address,
    labels: {
      [managedByLabel]: addressManager,
      [familyLabel]: address.includes(':') ? 'IPv6' : 'IPv4',
    },
  },
  spec: {
    parentRef: { group: '', resource: 'services', namespace: metadata.namespace, name: metadata.name },
  },
});
