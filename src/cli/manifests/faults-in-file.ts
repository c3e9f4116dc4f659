/** Explains why the server cannot read an object, with the lines of the object's manifest. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { openApiPath, schemaOfKind } from '../apply/merge-schema.ts';
import type { Cluster } from '../connection/cluster.ts';
import { inContext } from '../errors.ts';
import { recordAt } from '../objects/objects.ts';
import type { ManifestTarget } from '../objects/targets.ts';
import type { VerbContext } from '../verb.ts';
import { adviseToConvert } from './convert-advice.ts';
import { hintsFor } from './hints-plan.ts';
import { manifestFaults, oneFieldOf, pathOf } from './manifest-faults-plan.ts';

/**
 * Reports why a command failed for an object of a manifest: its faults, or else the error itself, after
 * `doing`; then the hints for it. Rejects with the error if the command must end.
 */
export async function reportInFile(
  { io, report, cluster }: Pick<VerbContext, 'io' | 'report' | 'cluster'>,
  target: Pick<ManifestTarget, 'resource' | 'manifest'>,
  error: unknown,
  doing?: string,
): Promise<void> {
  if (io.signal.aborted) throw error;
  const { file, line } = target.manifest;
  const whole = doing === undefined ? error : inContext(error, `${doing} "${file}:${line}"`);
  for (const one of (await faultsInFile(cluster(), target, error)) ?? [whole]) report(one);
  if (error instanceof StatusError)
    for (const { path, text } of hintsFor(error, target.manifest.object))
      io.err(`Note: ${file}:${target.manifest.lineOf(path)}: ${text}\n`);
  if (isRefused(error)) await adviseToConvert({ io }, target.manifest);
}

/** Returns true if the server rejects the contents of the object, and not, for example, the user. */
const isRefused = (error: unknown) =>
  error instanceof StatusError && (error.status.reason === 'Invalid' || error.status.reason === 'BadRequest');

/**
 * Returns an error for each fault, such as `web.yaml:5: spec.replicas: expected a whole number, got "two"`.
 * Returns undefined if the error is not a BadRequest of the server, or if no fault is found in the manifest:
 * the server's message is the only information then.
 */
async function faultsInFile(
  cluster: Pick<Cluster, 'get'>,
  { resource, manifest }: Pick<ManifestTarget, 'resource' | 'manifest'>,
  error: unknown,
): Promise<readonly Error[] | undefined> {
  if (!(error instanceof StatusError) || error.status.reason !== 'BadRequest') return undefined;
  const document = await documentOf(cluster, resource);
  const schema = document && schemaOfKind(document, resource);
  const { file, object } = manifest;
  const found = schema ? manifestFaults(recordAt(document, 'components', 'schemas'), schema, object) : [];
  const one = oneFieldOf(error.message);
  if (found.length === 0 && one)
    found.push({ path: pathOf(one.field), message: `${one.field}: ${one.message}` });
  if (found.length === 0) return undefined;
  return found.map(
    (fault) => new Error(`${file}:${manifest.lineOf(fault.path)}: ${fault.message}`, { cause: error.cause }),
  );
}

/** Resolves to undefined if the server has no such document, or if the user may not read it. */
async function documentOf(
  cluster: Pick<Cluster, 'get'>,
  resource: ManifestTarget['resource'],
): Promise<JsonObject | undefined> {
  try {
    return await cluster.get(openApiPath(resource));
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}
