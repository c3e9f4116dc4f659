/** Writes what a webhook or a policy changes into the object of a write. */
import { conversion, type FieldValidation } from '../../apimachinery/decode.ts';
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newInternalError, newInvalid, StatusError } from '../../apimachinery/status-error.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import type { KubeContext } from '../context.ts';
import type { Address } from './plan/request.ts';

type Server = Pick<KubeContext, 'clock' | 'fields' | 'kinds' | 'turns'>;

/** Change of an object by a webhook or policy. */
export interface ObjectChange {
  /** The version in which the object was shown. */
  readonly address: Address;
  /** The changed object, in that version. */
  readonly next: JsonObject;
  /** Treatment of fields that the kind lacks. */
  readonly unknownFields: Extract<FieldValidation, 'Ignore' | 'Strict'>;
}

/** Returns whether the object of the write can be changed in the version of the address. */
export const isChangeable = (
  { kinds }: Pick<Server, 'kinds'>,
  { object, definition, view }: Admission,
  { group, version, resource }: Address,
): boolean =>
  object !== undefined &&
  kinds.find(group, version, resource) !== undefined &&
  (view !== undefined || object.kind === definition.kind);

/**
 * Changes the object in place. Resolves to true if it has changed. Rejects with a StatusError, and the object
 * stays as it is.
 */
export async function changeObject(
  server: Server,
  admission: Admission,
  { address, next, unknownFields }: ObjectChange,
): Promise<boolean> {
  const { object, definition, view } = admission;
  const served = server.kinds.find(address.group, address.version, address.resource);
  if (!object || !served) throw new Error('the object cannot be changed in this version');
  if (view) {
    const before = view.show(object);
    view.take(object, next);
    return !deepEqual(before, view.show(object));
  }
  const read = await decoded(server, served, next, unknownFields);
  const changed = served.versions ? await served.versions.convert(read, apiVersionOf(definition)) : read;
  definition.strategy.setDefaults?.(changed);
  keepIdentity(definition, object, changed);
  if (deepEqual(object, changed)) return false;
  replaceContents(object, changed);
  return true;
}

async function decoded(
  server: Server,
  served: ResourceDefinition,
  value: JsonObject,
  unknownFields: FieldValidation,
): Promise<KubeObject> {
  try {
    const work = new RequestWork(server);
    return (await work.through(conversion(server.fields, served, value, unknownFields))).object;
  } catch (error) {
    // A wrong value is Invalid, as if the client had sent it; a value of the wrong type is the fault of the
    // webhook or policy.
    const isUnreadable = error instanceof StatusError && error.status.reason === 'BadRequest';
    throw isUnreadable ? newInternalError(error.message) : error;
  }
}

/**
 * Keeps what webhooks and policies may not change: the fields of the server, and the owners of fields. Throws
 * Invalid if the object was renamed.
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
