/** `ctl apply --server-side`: sends the manifest; the server merges it. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { isConflict, StatusError } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import type { Cluster } from '../connection/cluster.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import type { ManifestTarget } from '../objects/targets.ts';
import { annotationOwners, entriesOf, upgradedEntries } from './manager-upgrade.ts';

/**
 * kubectl's manager name for server-side apply: kubectl and minik8s can apply the same objects alternately.
 */
export const serverSideManager = 'kubectl';
/**
 * kubectl's manager name for the annotation of the last applied configuration, kept for users who return to
 * client-side apply.
 */
const annotationManager = 'kubectl-last-applied';

const maxConflicts = 5;

export interface ServerSideOptions {
  readonly manager: string;
  /** Subresource of the object that is applied, such as status; the object itself by default. */
  readonly subresource?: string | undefined;
  /** Takes over fields that other managers own with different values. */
  readonly force: boolean;
  /** Returns the query of a request with the given manager. */
  query(manager: string): string;
  warn(text: string): void;
}

/**
 * Resolves to the resulting object. Rejects with the server's StatusError; for a conflict, the message also
 * says what to do.
 */
export async function applyOnServer(
  cluster: Cluster,
  target: ManifestTarget,
  options: ServerSideOptions,
): Promise<JsonObject> {
  const send = (body: JsonObject, manager = options.manager, force = options.force) =>
    cluster.send(
      'PATCH',
      `${targetPath(target, options.subresource)}${options.query(manager)}&force=${force}`,
      body,
      patchTypes.apply,
    );
  let object: JsonObject;
  try {
    object = await send(target.object);
  } catch (error) {
    throw isConflict(error) ? withAdvice(error) : error;
  }
  // The fields of a subresource were never applied by a client.
  if (options.subresource) return object;
  try {
    object = await keepAnnotation(object, target, options, send);
    const upgraded = await upgrade(cluster, object, target, options);
    // Fields that the client applied and the manifest no longer has can be removed now.
    return upgraded ? await send(target.object) : object;
  } catch (error) {
    options.warn(
      `Warning: the object was applied, but fields that were applied without --server-side may stay: ${errorMessage(error)}\n`,
    );
    return object;
  }
}

/** Keeps the annotation, which the first server-side apply would otherwise remove. */
async function keepAnnotation(
  object: JsonObject,
  { name, object: { apiVersion, kind } }: ManifestTarget,
  { manager }: ServerSideOptions,
  send: (body: JsonObject, manager: string, force: boolean) => Promise<JsonObject>,
): Promise<JsonObject> {
  const text = metadataOf(object).annotations[lastAppliedAnnotation];
  if (manager !== serverSideManager || text === undefined) return object;
  if (annotationOwners(object, 'Apply').length > 0) return object;
  const metadata = { name, annotations: { [lastAppliedAnnotation]: text } };
  return send({ apiVersion, kind, metadata }, annotationManager, false);
}

/** Moves the fields of client-side managers to `manager`; resolves to false if there is nothing to move. */
async function upgrade(
  cluster: Cluster,
  applied: JsonObject,
  target: ManifestTarget,
  { manager, query }: ServerSideOptions,
): Promise<boolean> {
  const clients = annotationOwners(applied, 'Update');
  let object = applied;
  for (let attempt = 1; ; attempt++) {
    const value = upgradedEntries(entriesOf(object), clients, manager);
    if (!value) return false;
    const { resourceVersion } = metadataOf(object);
    const patch = [
      { op: 'replace', path: '/metadata/managedFields', value },
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ];
    try {
      await cluster.send('PATCH', targetPath(target) + query(manager), patch, patchTypes.json);
      return true;
    } catch (error) {
      if (!isConflict(error) || attempt === maxConflicts) throw error;
    }
    object = await cluster.get(targetPath(target));
  }
}

function withAdvice(error: unknown): unknown {
  if (!(error instanceof StatusError)) return error;
  const message =
    `${error.message}\nOther field managers own these fields. To take over all of them, run the command again with ` +
    '--force-conflicts. To leave a field to its manager, remove the field from the manifest. To share it, give ' +
    'the field in the manifest the value that it has on the server.';
  return new StatusError({ ...error.status, message });
}
