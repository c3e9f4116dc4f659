/** `ctl replace -f`: replaces objects by manifests; an object that does not exist is an error. */

import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import { withLastApplied } from '../apply/last-applied.ts';
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
  saveConfigFlag,
  validateFlag,
  writeFlags,
  writeQuery,
} from '../flags/write-options.ts';
import { reportInFile } from '../manifests/faults-in-file.ts';
import { kindName } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import { cascadeFlag, isGone, propagationOf } from '../objects/removal.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import { type ObjectFormat, printedFormat } from '../printers/object-format.ts';
import { callRaw, rawPath } from '../raw-call.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  force: { type: 'boolean', about: 'delete each object and create it again' },
  'grace-period': {
    type: 'string',
    hint: 'SECONDS',
    about: 'with --force: seconds given to a pod to terminate gracefully',
    usual: 'the grace period of each pod',
  },
  timeout: { type: 'string', hint: 'DURATION', about: 'with --force: time to wait', usual: 'no limit' },
  ...cascadeFlag,
  wait: { type: 'boolean', on: true, about: 'with --force: wait until the old object is gone (always on)' },
  subresource: {
    type: 'string',
    hint: 'NAME',
    about: 'replace this subresource of the object, such as status',
  },
  raw: { type: 'string', hint: 'PATH', about: 'send the file to this path of the API, unchanged' },
  ...saveConfigFlag,
  ...writeFlags,
  ...managerFlag,
  ...validateFlag,
} as const satisfies FlagTable;

export const replace: Verb = {
  about: 'replace objects by those of manifests',
  group: 'Advanced Commands',
  words: '-f FILE',
  flags: flagTable,
  examples: [
    'ctl replace -f web.yaml # replace an object as a whole',
    'ctl replace -f web.yaml --force # delete it, and create it again',
    'ctl replace -f pod.yaml --force --grace-period=5 # give the old pod five seconds to terminate',
    'ctl replace --raw /api/v1/namespaces/default/configmaps/settings -f settings.json # send a file as it is',
  ],
  async run(context) {
    const { flags } = context;
    requireFittingFlags(flags);
    // A wrong format or validation is an error before anything is replaced.
    const format = printedFormat(flags);
    fieldValidationOf(flags);
    if (flags.given('raw')) {
      await callRaw(context, 'PUT', rawPath(flags, []));
      return;
    }
    const targets = manifestTargets(context, context.cluster(), 'replace');
    const replace = (target: ManifestTarget) => replaceOne(context, target, format);
    if (!flags.on('force')) {
      await forEachTarget(context, targets, replace);
      return;
    }
    // All objects are deleted before the first is created, as in kubectl; after a failure none is created.
    const all = await Array.fromAsync(targets);
    if (await forEachTarget(context, all, (target) => remove(context, target)))
      await forEachTarget(context, all, replace);
  },
};

/** Calls `change` for each object; errors are reported. Resolves to true if there was none. */
async function forEachTarget(
  context: VerbContext,
  targets: AsyncIterable<ManifestTarget> | Iterable<ManifestTarget>,
  change: (target: ManifestTarget) => Promise<void>,
): Promise<boolean> {
  let isWhole = true;
  for await (const target of targets) {
    try {
      if (!target.name) throw new Error('metadata.name is missing');
      await change(target);
    } catch (error) {
      isWhole = false;
      await reportInFile(context, target, error, 'error when replacing');
    }
  }
  return isWhole;
}

/** Replaces one object, or creates it after its removal, and prints it. */
async function replaceOne(
  context: VerbContext,
  target: ManifestTarget,
  format: ObjectFormat | undefined,
): Promise<void> {
  const { io, flags } = context;
  const { resource, namespace, name } = target;
  const cluster = context.cluster();
  const dryRun = dryRunOf(flags);
  const query = writeQuery(dryRun, fieldValidationOf(flags), fieldManagerOf(flags));
  const force = flags.on('force');
  const object = flags.on('save-config') ? withLastApplied(target.object) : target.object;
  const after = force
    ? await cluster.send('POST', collectionPath(resource, namespace) + query, object)
    : await put(cluster, targetPath(target, flags.text('subresource')), object, { dryRun, query });
  io.out(format?.(after) ?? `${kindName(resource)}/${name} replaced${dryRunSuffix[dryRun]}\n`);
}

/** Throws UsageError without a file, and for flags that exclude each other. */
function requireFittingFlags(flags: Flags): void {
  requireManifests(flags);
  const force = flags.on('force');
  if (force && dryRunOf(flags) !== 'none')
    throw new UsageError('--dry-run can not be used when --force is set');
  if (force && flags.given('subresource'))
    throw new UsageError('--subresource can not be used with --force: a subresource cannot be deleted');
  if (!force && (flags.given('grace-period') || flags.given('timeout')))
    throw new UsageError('--grace-period and --timeout must have --force specified');
}

/** Replaces the object; a manifest without a resourceVersion replaces any version of it. */
async function put(
  cluster: Cluster,
  path: string,
  object: JsonObject,
  { dryRun, query }: { readonly dryRun: DryRun; readonly query: string },
): Promise<JsonObject> {
  if (dryRun === 'client') return object;
  const metadata = recordAt(object, 'metadata');
  const { resourceVersion } = metadata.resourceVersion
    ? metadataOf(object)
    : metadataOf(await cluster.get(path));
  return cluster.send('PUT', path + query, { ...object, metadata: { ...metadata, resourceVersion } });
}

/** Deletes the object and prints that. Resolves when it is gone. */
async function remove(context: VerbContext, target: ManifestTarget): Promise<void> {
  const { io, flags } = context;
  const { resource, name } = target;
  const cluster = context.cluster();
  const seconds = flags.whole('grace-period');
  const body = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...propagationOf(flags),
    // The new object may only be created once the old one has ended; a grace period of 0 would not wait for
    // that.
    ...(seconds !== undefined && seconds >= 0 && { gracePeriodSeconds: Math.max(seconds, 1) }),
  };
  try {
    const { uid } = metadataOf(await cluster.get(targetPath(target)));
    await cluster.send('DELETE', targetPath(target), body);
    io.out(`${kindName(resource)} "${name}" deleted\n`);
    const timeoutMs = flags.duration('timeout') || undefined;
    using work = beginWork(io.progress, `${kindName(resource)}/${name}`);
    if (await isGone(follow(cluster, target, { clock: io.clock, timeoutMs }), uid, work)) return;
    throw new Error(`timed out waiting for ${resource.plural}/${name} to be deleted`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
