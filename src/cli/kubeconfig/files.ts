/** Reads the kubeconfig files of a command, and writes the ones that it changes. */
import { constants } from 'node:fs';
import { access, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { UsageError } from '../../base/usage-error.ts';
import { parseKubeconfig, readOptional } from '../../client/kubeconfig.ts';
import { makeFolder } from '../../os/make-folder.ts';
import { replaceBehindLink } from '../../os/replace-behind-link.ts';
import { kubeconfigFiles } from '../connection/find-kubeconfig.ts';
import type { Flags } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import type { Changes, KubeconfigDocument, KubeconfigDocuments } from './documents.ts';
import { kubeconfigText } from './documents.ts';

type FilesIo = Pick<Io, 'env' | 'homeDirectory'>;

/**
 * Returns the documents that `ctl config` shows and changes: the file of --kubeconfig, those of $KUBECONFIG,
 * or `~/.kube/config`. If the last one has no context, the entries of a master's admin.conf are added. Throws
 * UsageError for a file that is no kubeconfig.
 */
export function readDocuments(io: FilesIo, flags: Flags): KubeconfigDocuments {
  const given = flags.text('kubeconfig');
  const places = kubeconfigFiles(io, given);
  if (given !== undefined) return { files: [readDocument(given)], target: given, explicit: true };
  const [first = [], ...others] = places;
  if (others.length > 1) return listed([...new Set(first)]);
  const home = readDocument(first[0] ?? '');
  const used = hasContext([home])
    ? undefined
    : others
        .flat()
        .map(readable)
        .find((file) => file && hasContext([file]));
  const files = [used ? borrowed(home, used) : home];
  return { files, target: home.path, explicit: false };
}

/**
 * Returns the user's own file with the entries of a master's admin.conf. The master reads admin.conf and
 * rewrites it at each start, so changes are made in this copy.
 */
function borrowed(home: KubeconfigDocument, { path, document }: KubeconfigDocument): KubeconfigDocument {
  const both = (list: string) => [home.document[list] ?? [], document[list] ?? []].flat();
  const merged = { ...home.document, ...document, clusters: both('clusters'), users: both('users') };
  return { path: home.path, document: merged, exists: true, source: path };
}

/** Returns the documents of $KUBECONFIG; new entries go to the first file that exists, else to the last. */
function listed(paths: readonly string[]): KubeconfigDocuments {
  const files = paths.map(readDocument);
  const target = files.find(({ exists }) => exists)?.path ?? paths.at(-1) ?? '';
  return { files, target, explicit: false };
}

const hasContext = (files: readonly KubeconfigDocument[]): boolean =>
  files.some(({ document }) => Array.isArray(document.contexts) && document.contexts.length > 0);

/** Returns undefined for a file that this user may not read. */
function readable(path: string): KubeconfigDocument | undefined {
  try {
    return readDocument(path);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

function readDocument(path: string): KubeconfigDocument {
  const text = readOptional(path);
  if (text === undefined) return { path, document: {}, exists: false };
  // kubectl treats an empty file as one without entries.
  if (text.trim() === '') return { path, document: {}, exists: true };
  parseKubeconfig(text, path);
  return { path, document: documentIn(text, path), exists: true };
}

function documentIn(text: string, path: string): JsonObject {
  try {
    const { value } = parseYaml(text);
    return isRecord(value) ? value : {};
  } catch (error) {
    throw new UsageError(`kubeconfig ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Changes files by `plan`. The files are locked as kubectl locks them, and read again once they are
 * locked; each is replaced atomically and is readable by its owner only. A symbolic link is kept. Rejects
 * before anything is written if another command holds a lock or a file must not be written.
 */
export async function changeFiles(
  io: FilesIo & Pick<Io, 'err'>,
  flags: Flags,
  plan: (documents: KubeconfigDocuments) => Changes,
): Promise<void> {
  const before = readDocuments(io, flags);
  const paths = plan(before)
    .list()
    .map(({ path }) => path);
  const locks: string[] = [];
  try {
    for (const path of paths.toSorted()) {
      await requireWritable(path);
      locks.push(await lock(path));
    }
    const changed = plan(readDocuments(io, flags)).list();
    const unlocked = changed.find(({ path }) => !paths.includes(path));
    if (unlocked) throw new Error(`kubeconfig ${unlocked.path} was changed by another command: try again`);
    for (const { path, document } of changed)
      await replaceBehindLink(path, kubeconfigText(document), () => 0o600);
    if (changed.length > 0) noteCopies(io, before);
  } finally {
    for (const path of locks) await rm(path, { force: true });
  }
}

/** Notes which kubeconfig was copied: the master renews the certificate only in its own file. */
function noteCopies({ err }: Pick<Io, 'err'>, { files }: KubeconfigDocuments): void {
  for (const { path, source } of files)
    if (source !== undefined)
      err(`Note: ${source} belongs to the master: it was copied to ${path}, which is used from now on\n`);
}

/** Rejects for a file that its owner made read-only, although it could be replaced in its folder. */
async function requireWritable(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new Error(`kubeconfig ${path} cannot be written: ${code}`);
  }
}

/** Creates the lock file that kubectl and ctl use to exclude each other; resolves to its path. */
async function lock(path: string): Promise<string> {
  const name = `${path}.lock`;
  try {
    makeFolder(dirname(path));
    await (await open(name, 'wx', 0)).close();
    return name;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new Error(`kubeconfig ${path} cannot be written: ${code}`);
    throw new Error(`another command is changing the kubeconfig ${path}; if none is running, remove ${name}`);
  }
}
