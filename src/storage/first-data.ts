/**
 * The data of an etcd whose first start did not come to its end. etcd makes its log first and writes itself into it as
 * a member a little later; killed in between, it finds a log without any member ever after and waits for a leader for
 * good (3.4). Such data hold nothing of anybody's: a file beside them says so until etcd has served once.
 */
import { access, type FileHandle, open, rm } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';

const markerOf = (dataDir: string) => path.join(dataDir, 'unfinished');

/** Where etcd has its data. */
export const dataOf = (dataDir: string) => path.join(dataDir, 'data');

/** Before each start: data that nobody was ever served from go, and new ones are marked. */
export async function prepareData(dataDir: string, directory: FileHandle): Promise<void> {
  if (await isUnfinished(dataDir)) await rm(dataOf(dataDir), { recursive: true, force: true });
  else if (!(await isThere(dataOf(dataDir)))) {
    await (await open(markerOf(dataDir), 'w', 0o600)).close();
    await directory.sync();
  }
}

export function isUnfinished(dataDir: string): Promise<boolean> {
  return isThere(markerOf(dataDir));
}

/** From now on the data stay. Nothing may be written to etcd before. */
export async function keepData(dataDir: string, directory: FileHandle): Promise<void> {
  await rm(markerOf(dataDir), { force: true });
  // A marker that came back after a power failure would cost all that was written since.
  await directory.sync();
}

export interface ServingOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Resolves when etcd has a leader and reads from it. It tells nobody when that begins, so it is asked. */
export async function untilServing({ socketPath, clock, limitMs, signal }: ServingOptions): Promise<void> {
  const deadline = clock.now() + limitMs;
  for (;;) {
    const answer = await health(socketPath, signal).catch(errorMessage);
    if (answer.includes('"true"')) return;
    signal.throwIfAborted();
    if (clock.now() >= deadline) throw new Error(`etcd did not become ready: ${answer}`);
    await sleep(clock, 20, signal);
  }
}

function health(socketPath: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path: '/health', agent: false, signal, timeout: 2000 },
      (response) => void text(response).then(resolve, reject),
    );
    call.once('timeout', () => call.destroy(new Error('no answer')));
    call.once('error', reject);
    call.end();
  });
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
