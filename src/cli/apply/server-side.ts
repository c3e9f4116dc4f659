/** `ctl apply --server-side`: sends the manifest, and the server does the rest. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { isConflict, StatusError } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import type { Cluster } from '../cluster.ts';
import { metadataOf } from '../objects.ts';
import { type ManifestTarget, targetPath } from '../targets.ts';
import { annotationOwners, entriesOf, upgradedEntries } from './manager-upgrade.ts';

/** The name under which kubectl applies on the server: either may go on after the other. */
export const serverSideManager = 'kubectl';
/** The name under which the annotation is kept for who goes back to the apply of clients, as kubectl's. */
const annotationManager = 'kubectl-last-applied';

const maxConflicts = 5;

export interface ServerSideOptions {
  readonly manager: string;
  /** Takes fields that others own with other values. */
  readonly force: boolean;
  /** Of every request, with the manager in it. */
  query(manager: string): string;
  warn(text: string): void;
}

/** The object as it is then. Rejects with the server's StatusError, with what to do about a conflict. */
export async function applyOnServer(
  cluster: Cluster,
  target: ManifestTarget,
  options: ServerSideOptions,
): Promise<JsonObject> {
  const send = (body: JsonObject, manager = options.manager, force = options.force) =>
    cluster.send(
      'PATCH',
      `${targetPath(target)}${options.query(manager)}&force=${force}`,
      body,
      patchTypes.apply,
    );
  let object: JsonObject;
  try {
    object = await send(target.object);
  } catch (error) {
    throw isConflict(error) ? withAdvice(error) : error;
  }
  try {
    object = await keepAnnotation(object, target, options, send);
    const upgraded = await upgrade(cluster, object, target, options);
    // What the client applied and the manifest no longer has can go now.
    return upgraded ? await send(target.object) : object;
  } catch (error) {
    options.warn(
      `Warning: it was applied, but fields that were applied without --server-side may stay: ${errorMessage(error)}\n`,
    );
    return object;
  }
}

/** Otherwise the first apply on the server would remove it. */
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

/** Whether the object had managers from the time when clients applied. */
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
    `${error.message}\nOthers have these fields. To take them all, run the command again with --force-conflicts. To leave some to ` +
    'them, remove those from the manifest; with the values that they have now in the manifest both of you have them.';
  return new StatusError({ ...error.status, message });
}
