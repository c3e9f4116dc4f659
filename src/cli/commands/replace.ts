/** `ctl replace -f`: replaces objects by manifests; an object that does not exist is an error. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import type { Cluster } from '../connection/cluster.ts';
import {
  type DryRun,
  dryRunOf,
  dryRunSuffix,
  type Flags,
  type FlagTable,
  requireManifests,
} from '../flags/flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  validateFlag,
  writeFlags,
  writeQuery,
} from '../flags/write-options.ts';
import { reportInFile } from '../manifests/faults-in-file.ts';
import { kindName } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  force: { type: 'boolean', about: 'delete each object and create it again' },
  'grace-period': {
    type: 'string',
    hint: 'SECONDS',
    about: 'with --force: seconds given to a pod to terminate gracefully',
  },
  timeout: { type: 'string', hint: 'DURATION', about: 'with --force: time to wait', usual: 'no limit' },
  ...writeFlags,
  ...managerFlag,
  ...validateFlag,
} as const satisfies FlagTable;

export const replace: Verb = {
  about: 'replace objects by manifests',
  flags: flagTable,
  async run(context) {
    const { io, flags } = context;
    requireFittingFlags(flags);
    const force = flags.on('force');
    const dryRun = dryRunOf(flags);
    const format = printedFormat(flags);
    const cluster = context.cluster();
    const query = writeQuery(dryRun, fieldValidationOf(flags), fieldManagerOf(flags));
    for await (const target of manifestTargets(context, cluster, 'create')) {
      const { resource, name } = target;
      try {
        if (!name) throw new Error('metadata.name is missing');
        if (force) await removed(context, cluster, target);
        const { namespace } = target;
        const after = force
          ? await cluster.send('POST', collectionPath(resource, namespace) + query, target.object)
          : await put(cluster, target, dryRun, query);
        const line = `${kindName(resource)}/${name} replaced${dryRunSuffix[dryRun]}\n`;
        io.out(format?.(after) ?? line);
      } catch (error) {
        await reportInFile(context, target, error, 'error when replacing');
      }
    }
  },
};

/** Throws UsageError without a file, and for flags that exclude each other. */
function requireFittingFlags(flags: Flags): void {
  requireManifests(flags);
  const force = flags.on('force');
  if (force && dryRunOf(flags) !== 'none')
    throw new UsageError('--dry-run can not be used when --force is set');
  if (!force && (flags.given('grace-period') || flags.given('timeout')))
    throw new UsageError('--grace-period and --timeout must have --force specified');
}

/** A manifest without a resourceVersion replaces the object whatever its version is. */
async function put(
  cluster: Cluster,
  target: ManifestTarget,
  dryRun: DryRun,
  query: string,
): Promise<JsonObject> {
  const { object } = target;
  if (dryRun === 'client') return object;
  const metadata = recordAt(object, 'metadata');
  const { resourceVersion } = metadata.resourceVersion
    ? metadataOf(object)
    : metadataOf(await cluster.get(targetPath(target)));
  return cluster.send('PUT', targetPath(target) + query, {
    ...object,
    metadata: { ...metadata, resourceVersion },
  });
}

/** Resolves when the deleted object is gone. */
async function removed({ io, flags }: VerbContext, cluster: Cluster, target: ManifestTarget): Promise<void> {
  const { resource, name } = target;
  const gracePeriodSeconds = flags.whole('grace-period');
  const body = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: 'Background',
    ...(gracePeriodSeconds !== undefined && gracePeriodSeconds >= 0 && { gracePeriodSeconds }),
  };
  try {
    const { uid } = metadataOf(await cluster.get(targetPath(target)));
    await cluster.send('DELETE', targetPath(target), body);
    io.out(`${kindName(resource)} "${name}" deleted\n`);
    const timeoutMs = flags.duration('timeout') || undefined;
    for await (const state of follow(cluster, target, { clock: io.clock, timeoutMs }))
      if (!state || metadataOf(state).uid !== uid) return;
    throw new Error(`timed out waiting for ${resource.plural}/${name} to be deleted`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
