/**
 * The Secret of a connection, as mounted in a pod: one file per key, all replaced together when the Secret
 * changes.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Current, replaceable } from '../../base/current.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import {
  type ConnectionSettings,
  connectionSettings,
} from '../../features/slurm/client/connection-settings.ts';

/**
 * Resolves to the settings in the files, or to the reason why they cannot be used. The reason contains
 * nothing from the files.
 */
export async function readConnection(directory: string): Promise<ConnectionSettings | string> {
  const names = await readdir(directory).catch(() => []);
  const texts: Record<string, string> = {};
  for (const name of names)
    if (!name.startsWith('.')) texts[name] = await readFile(join(directory, name), 'utf8');
  if (Object.keys(texts).length === 0) return 'the Secret is not there, or has no key of a connection';
  return connectionSettings(texts);
}

/** Access to the mounted files. A watcher emits `change` for each change of an entry, `error` at its end. */
export interface MountedSecret {
  readonly read: (directory: string) => Promise<ConnectionSettings | string>;
  readonly watch: (
    directory: string,
    options: { readonly persistent: boolean; readonly signal: AbortSignal },
  ) => Pick<FSWatcher, 'on'>;
}

/** Follows the files until the signal aborts. */
export async function followConnection(
  directory: string,
  log: Logger,
  signal: AbortSignal,
  mounted: MountedSecret = { read: readConnection, watch },
): Promise<Current<ConnectionSettings | string>> {
  let reading: Promise<unknown> = Promise.resolve();
  const watcher = mounted.watch(directory, { persistent: false, signal });
  const current = replaceable(await mounted.read(directory));
  const look = async () => {
    try {
      const next = await mounted.read(directory);
      if (JSON.stringify(next) !== JSON.stringify(current.value)) current.replace(next);
    } catch (error) {
      // A file was removed during the replacement, which triggers an event of its own.
      log.debug('the files of the Secret change', { error: errorMessage(error) });
    }
  };
  watcher.on('change', () => {
    reading = reading.then(look);
  });
  watcher.on('error', (error) =>
    log.warn('changes of the Secret are no longer followed', { error: errorMessage(error) }),
  );
  return current;
}
