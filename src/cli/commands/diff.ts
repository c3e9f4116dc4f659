/**
 * `ctl diff -f`: shows the changes that `apply` would make, as computed by the server, with the program
 * `diff`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { fileNameOf, textsOf } from '../apply/diff-files.ts';
import { readLastApplied } from '../apply/last-applied.ts';
import { sendPatch } from '../apply/send-patch.ts';
import type { Cluster } from '../connection/cluster.ts';
import { ExitError } from '../errors.ts';
import { type FlagTable, fileFlags, requireManifests } from '../flags/flags.ts';
import { writeQuery } from '../flags/write-options.ts';
import type { Io } from '../io.ts';
import { targetPath } from '../objects/object-target.ts';
import { recordAt } from '../objects/objects.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  'show-managed-fields': { type: 'boolean', about: 'show metadata.managedFields' },
  ...fileFlags,
} as const satisfies FlagTable;

export const diff: Verb = {
  about:
    'show the changes that apply would make ($KUBECTL_EXTERNAL_DIFF, or diff -u -N); exit status 1 if there are any',
  flags: flagTable,
  async run(context) {
    const { io, flags } = context;
    requireManifests(flags);
    const cluster = context.cluster();
    const managedFields = flags.on('show-managed-fields');
    // The directories are readable by the user only.
    const directory = await mkdtemp(join(io.env.TMPDIR || tmpdir(), 'ctl-diff-'));
    try {
      const [live, merged] = [join(directory, 'LIVE'), join(directory, 'MERGED')];
      await mkdir(live);
      await mkdir(merged);
      // Exit status 1 means that something differs, so failures must not use it.
      let failed = false;
      const report = (error: unknown) => {
        failed = true;
        context.report(error);
      };
      for await (const target of manifestTargets({ ...context, report }, cluster, 'apply'))
        await writeStates(cluster, target, { live, merged }, managedFields);
      const status = await compare(io, live, merged);
      if (failed) io.exitWith(2);
      else if (status > 0) io.exitWith(status);
    } catch (error) {
      if (io.signal.aborted || error instanceof UsageError) throw error;
      context.report(error);
      io.exitWith(2);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

/** Writes the files of an object: as it is stored, if it exists, and as it would be after the change. */
async function writeStates(
  cluster: Cluster,
  target: ManifestTarget,
  { live, merged }: { readonly live: string; readonly merged: string },
  managedFields: boolean,
): Promise<void> {
  const { file, line } = target.manifest;
  if (!target.name) throw new Error(`${file}:${line}: diff needs metadata.name`);
  const before = await read(cluster, target);
  const after = await applied(cluster, target, before);
  const name = fileNameOf(after);
  const [one, other] = textsOf(before, after, managedFields);
  if (before) await writeFile(join(live, name), one, { mode: 0o600 });
  await writeFile(join(merged, name), other, { mode: 0o600 });
}

async function read(cluster: Cluster, target: ManifestTarget): Promise<JsonObject | undefined> {
  try {
    return await cluster.get(targetPath(target));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Resolves to the object as the server would store it. */
async function applied(
  cluster: Cluster,
  target: ManifestTarget,
  current: JsonObject | undefined,
): Promise<JsonObject> {
  const { resource, namespace, object } = target;
  // Annotations from other sources are kept, including that of the last applied configuration.
  const metadata = recordAt(object, 'metadata');
  const modified = {
    ...object,
    metadata: { ...metadata, annotations: { ...recordAt(metadata, 'annotations') } },
  };
  const query = writeQuery('server');
  if (!current) return cluster.send('POST', collectionPath(resource, namespace) + query, object);
  const original = readLastApplied(current) ?? {};
  return (await sendPatch(cluster, target, { original, modified, current }, query)) ?? current;
}

/**
 * Resolves to the exit status: 1 if the directories differ. Rejects if the program cannot be run or fails.
 */
async function compare({ env, out }: Io, live: string, merged: string): Promise<number> {
  const [program = 'diff', ...args] = (env.KUBECTL_EXTERNAL_DIFF || 'diff -u -N').split(/\s+/);
  const child = spawn(program, [...args, live, merged], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env },
  });
  child.stdout.setEncoding('utf8').on('data', out);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0 || code === 1) return code;
  throw new ExitError(`${program} ended with ${code}`, code ?? 2);
}
