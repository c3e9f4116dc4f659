/** A real etcd for tests, in a directory of its own that is removed with it. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../src/storage/embedded-etcd.ts';
import { connectEtcd } from '../../src/storage/etcd.ts';
import type { Store } from '../../src/storage/store.ts';
import { makeDirectory } from '../e2e/harness/belongings.ts';
import { etcdBinary } from '../fixtures/etcd-binary.ts';

/** Debian's etcd: 3.4, and 3.5 from Debian 13 on. */
export const earlierBinary = '/usr/bin/etcd';
export const binaries = { binary: etcdBinary, earlierBinary };

export function requireEarlierEtcd(): void {
  if (!existsSync(earlierBinary)) throw new Error(`${earlierBinary} is missing: run bin/setup --tests`);
}

export interface TestEtcd {
  readonly directory: string;
  readonly etcd: EmbeddedEtcd;
  /** Connects to `endpoint`, if given. */
  connect(
    endpoint?: string,
    options?: { readonly keepaliveMs?: number; readonly attemptMs?: number; readonly settleMs?: number },
  ): Promise<Store>;
  stop(): Promise<void>;
}

export async function startTestEtcd(
  subdirectory = 'etcd',
  more: { readonly binary?: string; readonly quotaBytes?: number } = {},
): Promise<TestEtcd> {
  // The directory is removed with this process, and the etcd ends with it too, however the process ends.
  const directory = makeDirectory('minik8s-store-');
  const etcd = await startEmbeddedEtcd({
    ...binaries,
    ...more,
    dataDir: path.join(directory, subdirectory),
    log: silentLogger,
    clock: systemClock,
    signal: new AbortController().signal,
  });
  return {
    directory,
    etcd,
    connect: (endpoint, options) =>
      connectEtcd({
        endpoints: endpoint === undefined ? etcd.endpoints : [endpoint],
        keepaliveMs: etcd.keepaliveMs,
        log: silentLogger,
        clock: systemClock,
        random: systemRandom,
        ...options,
      }),
    async stop() {
      await etcd.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
