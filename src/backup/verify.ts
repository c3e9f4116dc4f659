/** Verification of a backup: an etcd serves its database, and every object is read from there. */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Exec } from '../os/exec.ts';
import { startEmbeddedEtcd } from '../storage/embedded-etcd.ts';
import { openRpc } from '../storage/etcd.ts';
import { untilServing } from '../storage/etcd-process.ts';
import { type EtcdRpc, type KeyValue, RpcError } from '../storage/etcd-rpc.ts';
import { extractBackup } from './extract.ts';
import { damaged, type Manifest } from './manifest.ts';
import { withScratch } from './scratch.ts';
import type { BackupSource } from './source.ts';

export interface VerifyOptions {
  readonly source: BackupSource;
  /** Existing directory in which the copies are made. */
  readonly workIn: string;
  /** Directory for the copies if nothing can be written to `workIn`: the medium may be read-only. */
  readonly otherwiseIn?: string;
  readonly passphrase: string | undefined;
  readonly etcdBinary: string;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Throws an Error if the value of a key is no object. */
  readonly check: (key: string, value: Buffer) => void;
  readonly signal: AbortSignal;
}

export interface Verified {
  readonly manifest: Manifest;
  /** Number of keys that were read, and the bytes of their values. */
  readonly keys: number;
  readonly bytes: number;
}

/** Timeout of the start of etcd in milliseconds: it reads the whole database. */
const startMs = 300_000;
/** Number of keys in a page, and the timeout of its answer in milliseconds. */
const page = { keys: 100, ms: 60_000 };

/** Verifies a backup. Rejects with BackupError that says what is wrong. */
export function verifyBackup(options: VerifyOptions): Promise<Verified> {
  const { workIn, otherwiseIn, etcdBinary, clock, random, log, signal } = options;
  const verify = async (into: string): Promise<Verified> => {
    const manifest = await extractBackup({ ...options, into, now: clock.now() });
    const own = { binary: etcdBinary, earlierBinary: join(into, 'none'), dataDir: join(into, 'etcd') };
    const etcd = await startEmbeddedEtcd({ ...own, log, clock, signal });
    try {
      const { endpoints, keepaliveMs } = etcd;
      const socketPath = (endpoints[0] ?? '').replace(/^unix:/, '');
      await untilServing({ socketPath, clock, limitMs: startMs, signal }).catch((error) => {
        throw new Error(etcd.trouble() ?? errorMessage(error), { cause: error });
      });
      const rpc = await openRpc({ endpoints, keepaliveMs, clock, random, log });
      try {
        const read = await readAll(rpc, options);
        if (read.keys !== manifest.keys)
          throw damaged(`${read.keys} keys can be read, not the ${manifest.keys} that were stored`);
        return { manifest, ...read };
      } finally {
        rpc.close();
      }
    } finally {
      await etcd.stop();
    }
  };
  return withScratch(workIn, verify, otherwiseIn);
}

async function readAll(rpc: EtcdRpc, { check, signal }: VerifyOptions): Promise<Omit<Verified, 'manifest'>> {
  let [keys, bytes] = [0, 0];
  for (let key = Buffer.from([0]); ; ) {
    signal.throwIfAborted();
    const { kvs, more } = await pageFrom(rpc, key, page.keys);
    for (const each of kvs) {
      checkOne(each, check);
      bytes += each.value.length;
    }
    keys += kvs.length;
    const last = kvs.at(-1);
    if (!more || !last) return { keys, bytes };
    key = Buffer.concat([last.key, Buffer.from([0])]);
  }
}

/** Reads a page of keys, with fewer of them if their values are too long for one answer. */
async function pageFrom(rpc: EtcdRpc, key: Buffer, limit: number): ReturnType<EtcdRpc['range']> {
  try {
    return await rpc.range({ key, range_end: Buffer.from([0]), limit }, page.ms);
  } catch (error) {
    if (!(error instanceof RpcError && error.failure === 'too long') || limit === 1) throw error;
    return pageFrom(rpc, key, Math.ceil(limit / 4));
  }
}

function checkOne({ key, value }: KeyValue, check: VerifyOptions['check']): void {
  try {
    check(key.toString(), value);
  } catch (error) {
    throw damaged(`${key} is no object (${(error as Error).message})`);
  }
}
