/** DELETE of one object. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Admission } from '../admission/plugin.ts';
import type { Aside } from '../load/shed.ts';
import type { UserInfo } from '../request/user.ts';
import type { ServerContext } from '../server-context.ts';
import { releaseClaims } from './claims.ts';
import { type DeletionOptions, markDeleted } from './deletion.ts';
import { type Decision, guaranteedUpdate } from './guaranteed-update.ts';
import { checkPreconditions, type Preconditions } from './object-meta.ts';

export interface DeleteRequest {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly options: DeletionOptions;
  readonly preconditions: Preconditions;
  /** The version in which the client addressed the kind; default: the stored version. */
  readonly served?: ResourceDefinition;
  /** Adds a Warning header to the answer. */
  readonly warn?: (text: string) => void;
  /** See `Admission.aside`. */
  readonly aside?: Aside | undefined;
  /** See `Admission.isStep`. */
  readonly isStep?: boolean;
  /**
   * Changes the object in the write that deletes it; not called for an object that is already being deleted.
   */
  readonly lastWords?: (object: KubeObject) => void;
}

export interface Deleted {
  /** True if the object is removed; false while finalizers or a grace period keep it. */
  readonly gone: boolean;
  readonly object: KubeObject;
}

export async function deleteObject(server: ServerContext, request: DeleteRequest): Promise<Deleted> {
  const { definition, namespace, name, user, served, dryRun, warn, options, isStep } = request;
  const asked = {
    ...({ operation: 'delete', definition, namespace, name, subresource: '', user } as const),
    ...{ dryRun, deletion: options, aside: request.aside },
    ...(served && { served }),
    ...(warn && { warn }),
    ...(isStep && { isStep }),
  };
  const outcome = await guaranteedUpdate(server, request, async ({ current }): Promise<Decision> => {
    const admission: Admission = { ...asked, old: current };
    await server.admission.mutate(admission);
    await server.admission.validate(admission);
    const { resourceVersion } = request.preconditions;
    checkPreconditions(
      definition,
      current,
      request.preconditions,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current.metadata.resourceVersion}`,
    );
    const held = releaseClaims(server, definition, current);
    switch (markDeleted(definition, current, request.options, server.clock.now()).type) {
      case 'remove':
        request.lastWords?.(current);
        return { type: 'remove', object: current, claims: held };
      case 'mark':
        request.lastWords?.(current);
        return { type: 'write', object: current };
      case 'keep':
        return { type: 'keep', object: current };
    }
  });
  return { gone: outcome.type === 'remove', object: outcome.object };
}
