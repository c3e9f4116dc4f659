/** Writes the patch of a webhook into the object of a write. */
import { conversion } from '../../apimachinery/decode.ts';
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { applyPatch, type Patch } from '../../apimachinery/patch.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';
import { newInternalError, newInvalid, StatusError } from '../../apimachinery/status-error.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import type { KubeContext } from '../context.ts';
import { noObjectToPatch } from './plan/refusals.ts';
import type { Address } from './plan/request.ts';

type Server = Pick<KubeContext, 'clock' | 'fields' | 'kinds' | 'turns'>;

/**
 * Changes the object in place. `shown` is the object as the webhook got it, in the version of `address`.
 * Resolves to true if the object has changed. Rejects with a StatusError, and the object stays as it is.
 */
export async function applyWebhookPatch(
  server: Server,
  admission: Admission,
  {
    webhook,
    address,
    shown,
    patch,
  }: {
    webhook: string;
    address: Address;
    shown: JsonObject | undefined;
    patch: Patch;
  },
): Promise<boolean> {
  const { object, definition, view } = admission;
  const served = server.kinds.find(address.group, address.version, address.resource);
  if (!object || !shown || !served || (!view && object.kind !== definition.kind))
    throw noObjectToPatch(webhook);
  const type = objectTypeOf(served, server.fields);
  if (view) {
    view.take(object, patched(shown, patch, type));
    return true;
  }
  const read = await decoded(server, served, patched(shown, patch, type));
  const next = served.versions ? await served.versions.convert(read, apiVersionOf(definition)) : read;
  definition.strategy.setDefaults?.(next);
  keepIdentity(definition, object, next);
  const changed = !deepEqual(object, next);
  replaceContents(object, next);
  return changed;
}

function patched(shown: JsonObject, patch: Patch, type: ReturnType<typeof objectTypeOf>): JsonObject {
  try {
    return applyPatch(shown, patch, type);
  } catch (error) {
    throw error instanceof StatusError ? newInternalError(error.message) : error;
  }
}

async function decoded(server: Server, served: ResourceDefinition, value: JsonObject): Promise<KubeObject> {
  try {
    const work = new RequestWork(server);
    return (await work.through(conversion(server.fields, served, value, 'Ignore'))).object;
  } catch (error) {
    // A wrong value is Invalid, as if the client had sent it; a value of the wrong type is the webhook's
    // fault.
    const isUnreadable = error instanceof StatusError && error.status.reason === 'BadRequest';
    throw isUnreadable ? newInternalError(error.message) : error;
  }
}

/**
 * Keeps what a webhook may not change: the fields of the server, and the owners of fields. Throws Invalid if
 * it has renamed the object.
 */
function keepIdentity(definition: ResourceDefinition, before: KubeObject, after: KubeObject): void {
  const causes = (['name', 'namespace'] as const)
    .filter((field) => (after.metadata[field] ?? '') !== (before.metadata[field] ?? ''))
    .map((field) => invalidCause(`metadata.${field}`, after.metadata[field], 'field is immutable'));
  if (causes.length > 0) throw newInvalid(definition, before.metadata.name, causes);
  const { uid, resourceVersion, creationTimestamp } = before.metadata;
  Object.assign(after.metadata, { uid, resourceVersion, creationTimestamp });
  for (const field of serverFields) {
    if (before.metadata[field] === undefined) delete after.metadata[field];
    else Object.assign(after.metadata, { [field]: before.metadata[field] });
  }
}

const serverFields = [
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generateName',
  'generation',
  'managedFields',
] as const;

function replaceContents(object: KubeObject, next: KubeObject): void {
  for (const key of Object.keys(object)) delete (object as unknown as JsonObject)[key];
  Object.assign(object, next);
}
