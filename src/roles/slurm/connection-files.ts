/** The Secret of a connection, as a pod has it: a file for each key, all replaced together when the Secret changes. */
import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Current, replaceable } from '../../base/current.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { ConnectionSettings } from '../../slurm/connection-settings.ts';

/** What the files say; else why they cannot be used, without anything that stands in them. */
export async function readConnection(directory: string): Promise<ConnectionSettings | string> {
  const names = await readdir(directory).catch(() => []);
  const texts = new Map<string, string>();
  for (const name of names)
    if (!name.startsWith('.')) texts.set(name, await readFile(join(directory, name), 'utf8'));
  return connectionOf(texts);
}

export function connectionOf(texts: ReadonlyMap<string, string>): ConnectionSettings | string {
  if (texts.size === 0) return 'the Secret is not there, or has no key of a connection';
  const line = (key: string) => texts.get(key)?.replace(/\r?\n$/, '');
  const [host = '', user = '', port = '22'] = [line('host'), line('user'), line('port')];
  const [password, privateKey] = [line('password'), texts.get('privateKey')];
  const knownHosts = texts.get('knownHosts') ?? '';
  const missing = Object.entries({ host, user, knownHosts }).find(([, text]) => text.trim() === '');
  if (missing) return `the Secret has no ${missing[0]}`;
  if (!/^[A-Za-z0-9.:_-]{1,253}$/.test(host)) return 'host of the Secret must be a name or an address';
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
    return 'port of the Secret must be a number from 1 to 65535';
  if (!password && !privateKey?.trim()) return 'the Secret has neither privateKey nor password';
  const passphrase = line('passphrase');
  return {
    host,
    port: Number(port),
    user,
    knownHosts,
    ...(password && { password }),
    ...(privateKey?.trim() && { privateKey }),
    ...(passphrase && { passphrase }),
  };
}

/** Follows the files until the signal aborts. */
export async function followConnection(
  directory: string,
  log: Logger,
  signal: AbortSignal,
): Promise<Current<ConnectionSettings | string>> {
  let reading: Promise<unknown> = Promise.resolve();
  const watcher = watch(directory, { persistent: false, signal });
  const current = replaceable(await readConnection(directory));
  const look = async () => {
    try {
      const next = await readConnection(directory);
      if (JSON.stringify(next) !== JSON.stringify(current.value)) current.replace(next);
    } catch (error) {
      // A file went while they were replaced: the replacement itself is told too.
      log.debug('the files of the Secret change', { error: errorMessage(error) });
    }
  };
  watcher.on('change', () => {
    reading = reading.then(look);
  });
  watcher.on('error', (error) =>
    log.warn('the Secret is not followed any more', { error: errorMessage(error) }),
  );
  return current;
}
