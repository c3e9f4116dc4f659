/**
 * Claims of IPAddresses. One that does not belong to a Service reserves its address: no Service gets it.
 * IPAddresses of Services hold no claim, since the Service itself has it.
 */
import { type IPAddress, ipAddressResource, isOfService } from '../../api/networking/v1/ip-address.ts';
import { newAlreadyExists } from '../../apimachinery/status-error.ts';
import type { ClaimPlanner } from '../../apiserver/registry/claim-planner.ts';
import { ipClaim } from './service-claims.ts';

const heldBy = (address: IPAddress): readonly string[] =>
  isOfService(address) ? [] : [ipClaim(address.metadata.name)];

export const addressClaims: ClaimPlanner = {
  plan(object, old, taken) {
    const address = object as IPAddress;
    // A body without a reference is rejected by the validation that follows; the reference never changes.
    if (old || !address.spec?.parentRef) return {};
    const { name, uid } = address.metadata;
    const keys = heldBy(address);
    if (keys.some((key) => taken.has(key))) throw newAlreadyExists(ipAddressResource, name);
    return { acquire: keys.map((key) => ({ key, owner: uid })) };
  },
  held: (object) => ({ release: [...heldBy(object as IPAddress)] }),
};
