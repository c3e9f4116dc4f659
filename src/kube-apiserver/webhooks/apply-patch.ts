/** Writes the patch of a webhook into the object of a write. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { applyPatch, type Patch } from '../../apimachinery/patch.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';
import { newInternalError, StatusError } from '../../apimachinery/status-error.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { changeObject, isChangeable } from '../admission-requests/change-object.ts';
import type { Address } from '../admission-requests/plan/request.ts';
import type { KubeContext } from '../context.ts';
import { noObjectToPatch } from './plan/refusals.ts';

type Server = Pick<KubeContext, 'clock' | 'fields' | 'kinds' | 'turns'>;

interface WebhookPatch {
  readonly webhook: string;
  readonly address: Address;
  /** The object as the webhook got it, in the version of `address`. */
  readonly shown: JsonObject | undefined;
  readonly patch: Patch;
}

/**
 * Changes the object in place. Resolves to true if the object has changed. Rejects with a StatusError, and
 * the object stays as it is.
 */
export async function applyWebhookPatch(
  server: Server,
  admission: Admission,
  { webhook, address, shown, patch }: WebhookPatch,
): Promise<boolean> {
  const served = server.kinds.find(address.group, address.version, address.resource);
  if (!shown || !served || !isChangeable(server, admission, address)) throw noObjectToPatch(webhook);
  const next = patched(shown, patch, objectTypeOf(served, server.fields));
  return changeObject(server, admission, { address, next, unknownFields: 'Ignore' });
}

function patched(shown: JsonObject, patch: Patch, type: ReturnType<typeof objectTypeOf>): JsonObject {
  try {
    return applyPatch(shown, patch, type);
  } catch (error) {
    throw error instanceof StatusError ? newInternalError(error.message) : error;
  }
}
