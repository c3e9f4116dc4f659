/** Objects that mutating policies see and change. */
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import type { Admission, SubresourceRequest } from '../../apiserver/admission/plugin.ts';
import { requestOf, shownObject, subresourceRequestOf } from '../admission-requests/attributes.ts';
import { changeObject, isChangeable } from '../admission-requests/change-object.ts';
import type { Address, HookedRequest } from '../admission-requests/plan/request.ts';
import type { ShownObjects } from '../admission-requests/plan/shown-objects.ts';
import type { KubeContext } from '../context.ts';

export interface MutationSubject {
  readonly request: HookedRequest;
  /**
   * Resolves to the objects as they are now, in the version of the address. Rejects with the StatusError of a
   * failed conversion.
   */
  shown(address: Address): Promise<ShownObjects>;
  /**
   * Takes a changed object. Resolves to true if it differs. Rejects with a StatusError for an object that its
   * kind cannot have.
   */
  take(address: Address, next: JsonObject, unknownFields: 'Ignore' | 'Strict'): Promise<boolean>;
}

/** Returns the object of a write, which is changed in place. */
export function writtenSubject(server: KubeContext, admission: Admission): MutationSubject {
  const shown = async (address: Address): Promise<ShownObjects> => ({
    object: await shownObject(server.kinds, admission, address, admission.object),
    old: await shownObject(server.kinds, admission, address, admission.old),
  });
  return {
    request: requestOf(server.kinds, admission),
    shown,
    async take(address, next, unknownFields) {
      if (isChangeable(server, admission, address))
        return changeObject(server, admission, { address, next, unknownFields });
      return refuseChange((await shown(address)).object, next, admission);
    },
  };
}

/** Returns the object of a request that stores none, such as an Eviction; it cannot be changed. */
export const requestedSubject = (server: KubeContext, request: SubresourceRequest): MutationSubject => ({
  request: subresourceRequestOf(server.kinds, request),
  shown: async () => ({ object: request.body, old: undefined }),
  take: (_address, next) => refuseChange(request.body, next, request),
});

async function refuseChange(
  object: JsonObject | undefined,
  next: JsonObject,
  { definition, subresource }: Pick<Admission, 'definition' | 'subresource'>,
): Promise<boolean> {
  if (deepEqual(object, next)) return false;
  const resource = [definition.plural, subresource].filter((part) => part !== '').join('/');
  throw new Error(`requests for ${resource} cannot be changed by policies`);
}
