/**
 * `ctl diff -f`: shows the changes that `apply` would make, as computed by the server, with the program
 * `diff`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { makeTemporaryFolder } from '../../os/temporary-folder.ts';
import { pruneFlags, serverSideFlags, serverSideRefusals } from '../apply/apply-options.ts';
import { fileNameOf, textsOf } from '../apply/diff-files.ts';
import { readLastApplied } from '../apply/last-applied.ts';
import { collectionsToPrune, prunedKinds } from '../apply/prune-plan.ts';
import { membersOf } from '../apply/pruner.ts';
import { sendPatch } from '../apply/send-patch.ts';
import { serverSideManager } from '../apply/server-side.ts';
import type { Cluster } from '../connection/cluster.ts';
import { ExitError } from '../errors.ts';
import { type Flags, type FlagTable, fileFlags, requireManifests, selectorFlag } from '../flags/flags.ts';
import { writeQuery } from '../flags/write-options.ts';
import type { Io } from '../io.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  'show-managed-fields': { type: 'boolean', about: 'show metadata.managedFields' },
  'show-secrets': { type: 'boolean', about: 'show the values of Secrets' },
  ...fileFlags,
  ...selectorFlag,
  ...serverSideFlags,
  prune: { type: 'boolean', about: 'also show the objects that apply --prune would delete' },
  'prune-allowlist': pruneFlags['prune-allowlist'],
  concurrency: { type: 'string', hint: 'COUNT', about: 'objects that are compared at a time', usual: '1' },
} as const satisfies FlagTable;

export const diff: Verb = {
  about:
    'show what apply would change, by $KUBECTL_EXTERNAL_DIFF or diff -u -N; exit status 1 for differences',
  group: 'Advanced Commands',
  words: '-f FILE',
  flags: flagTable,
  examples: [
    'ctl diff -f web.yaml # show what apply would change',
    'cat web.yaml | minik8s ctl diff -f - # compare what another program prints',
    'ctl diff -f shop/ -R --prune -l app=shop # show also what apply --prune would delete',
    'ctl diff -f web.yaml --server-side # compare with the result of apply --server-side',
  ],
  usageStatus: 2,
  async run(context) {
    const { io, flags } = context;
    // Exit status 1 means that something differs, so failures must not use it.
    let failed = false;
    const report = (error: unknown) => {
      failed = true;
      context.report(error);
    };
    try {
      requireManifests(flags);
      requireFittingFlags(flags);
      await using directory = await makeTemporaryFolder(io.env.TMPDIR || tmpdir(), 'ctl-diff-');
      const folders = { live: join(directory.path, 'LIVE'), merged: join(directory.path, 'MERGED') };
      await mkdir(folders.live);
      await mkdir(folders.merged);
      await writeAll({ ...context, report }, folders);
      const status = await compare(io, folders.live, folders.merged);
      if (failed) io.exitWith(2);
      else if (status > 0) io.exitWith(status);
    } catch (error) {
      if (io.signal.aborted) throw error;
      context.report(error);
      io.exitWith(2);
    }
  },
};

function requireFittingFlags(flags: Flags): void {
  const refused = serverSideRefusals(flags).find(([applies]) => applies);
  if (refused) throw new UsageError(refused[1]);
}

interface Folders {
  readonly live: string;
  readonly merged: string;
}

/** Writes the files of all objects, and of those that would be pruned. Rejects with the first error. */
async function writeAll(context: VerbContext, folders: Folders): Promise<void> {
  const { flags } = context;
  const cluster = context.cluster();
  const all = flags.on('prune') ? await cluster.resources({ fresh: true }) : [];
  const kinds = flags.on('prune') ? prunedKinds(all, flags.texts('prune-allowlist')) : [];
  const workers = Math.max(1, flags.whole('concurrency') ?? 1);
  const uids = new Set<string>();
  const namespaces = new Set<string>();
  const targets = manifestTargets(context, cluster, 'apply');
  const work = async () => {
    for (let next = await targets.next(); !next.done; next = await targets.next()) {
      namespaces.add(next.value.namespace);
      const live = await writeStates(context, next.value, folders);
      if (live) uids.add(metadataOf(live).uid);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, maxWorkers) }, work));
  const labelSelector = flags.text('selector') || undefined;
  const rule = { labelSelector, applied: uids, needsAnnotation: true };
  for (const collection of collectionsToPrune(kinds, namespaces, labelSelector))
    for (const { object } of await membersOf(cluster, collection, rule)) {
      const [text] = textsOf(object, undefined, shownOf(flags));
      await writeFile(join(folders.live, fileNameOf(object)), text, { mode: 0o600 });
    }
}

const shownOf = (flags: Flags) => ({
  managedFields: flags.on('show-managed-fields'),
  secrets: flags.on('show-secrets'),
});

/** Maximum number of objects that are compared at a time. */
const maxWorkers = 64;

/**
 * Writes the files of an object: as it is stored, if it exists, and as it would be after the change. Resolves
 * to the stored object.
 */
async function writeStates(
  { flags, cluster: connect }: VerbContext,
  target: ManifestTarget,
  { live, merged }: Folders,
): Promise<JsonObject | undefined> {
  const cluster = connect();
  const { file, line } = target.manifest;
  if (!target.name) throw new Error(`${file}:${line}: diff needs metadata.name`);
  const before = await read(cluster, target);
  const after = flags.on('server-side')
    ? await appliedOnServer(cluster, target, flags)
    : await applied(cluster, target, before, flags.text('field-manager') || undefined);
  const name = fileNameOf(after);
  const [one, other] = textsOf(before, after, shownOf(flags));
  if (before) await writeFile(join(live, name), one, { mode: 0o600 });
  await writeFile(join(merged, name), other, { mode: 0o600 });
  return before;
}

async function read(cluster: Cluster, target: ManifestTarget): Promise<JsonObject | undefined> {
  try {
    return await cluster.get(targetPath(target));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Resolves to the object as the server would merge it. */
const appliedOnServer = (cluster: Cluster, target: ManifestTarget, flags: Flags): Promise<JsonObject> => {
  const query = writeQuery('server', undefined, flags.text('field-manager') || serverSideManager);
  const path = `${targetPath(target)}${query}&force=${flags.on('force-conflicts')}`;
  return cluster.send('PATCH', path, target.object, patchTypes.apply);
};

/** Resolves to the object as the server would store it. */
async function applied(
  cluster: Cluster,
  target: ManifestTarget,
  current: JsonObject | undefined,
  manager: string | undefined,
): Promise<JsonObject> {
  const { resource, namespace, object } = target;
  // Annotations from other sources are kept, including that of the last applied configuration.
  const metadata = recordAt(object, 'metadata');
  const modified = {
    ...object,
    metadata: { ...metadata, annotations: { ...recordAt(metadata, 'annotations') } },
  };
  const query = writeQuery('server', undefined, manager);
  if (!current) return cluster.send('POST', collectionPath(resource, namespace) + query, object);
  const original = readLastApplied(current) ?? {};
  return (await sendPatch(cluster, target, { original, modified, current }, query)) ?? current;
}

/**
 * Resolves to the exit status: 1 if the directories differ. Rejects if the program cannot be run or fails.
 */
async function compare({ env, out, signal }: Io, live: string, merged: string): Promise<number> {
  const [program = 'diff', ...args] = (env.KUBECTL_EXTERNAL_DIFF || 'diff -u -N').split(/\s+/);
  // kubectl passes the folders before the options of $KUBECTL_EXTERNAL_DIFF.
  const words = env.KUBECTL_EXTERNAL_DIFF ? [live, merged, ...args] : [...args, live, merged];
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env },
    signal,
  });
  child.stdout.setEncoding('utf8').on('data', out);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0 || code === 1) return code;
  throw new ExitError(`${program} ended with ${code}`, code ?? 2);
}
