/** Reads the permissions of minik8s' own files that hold keys. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { configFileOf } from '../../installation/plan/role.ts';
import { ifThere } from '../../os/if-there.ts';
import type { OwnFile } from '../checks/files.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

export async function readOwnFiles({ situation: { dataDir } }: Sources): Promise<readonly OwnFile[]> {
  const found = await Promise.all([
    // The folders and files in it have permissions of their own.
    fileAt(dataDir, 0o755),
    ...['pki', 'pki/front-proxy', 'etcd'].map((folder) => fileAt(join(dataDir, folder), 0o700)),
    fileAt(join(dataDir, 'admin.conf'), 0o600),
    ...['pki', 'pki/front-proxy', 'node'].map((folder) => keysIn(join(dataDir, folder))),
    ...[...new Set(Object.values(configFileOf))].map(configWithToken),
  ]);
  return found.flat();
}

/** Resolves to an empty list if the file does not exist. */
async function fileAt(path: string, most: number): Promise<readonly OwnFile[]> {
  const found = await ifThere(stat(path));
  return found ? [{ path, mode: found.mode & 0o777, most }] : [];
}

async function keysIn(directory: string): Promise<readonly OwnFile[]> {
  const names = (await ifThere(readdir(directory))) ?? [];
  const keys = names.filter((name) => name.endsWith('.key')).sort();
  return (await Promise.all(keys.map((name) => fileAt(join(directory, name), 0o600)))).flat();
}

/** Resolves to the file if it holds a token: other users may read a configuration file without one. */
async function configWithToken(path: string): Promise<readonly OwnFile[]> {
  return /^token:/m.test(await textOf(path)) ? fileAt(path, 0o600) : [];
}
