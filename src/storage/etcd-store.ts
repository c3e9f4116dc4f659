/**
 * The Store contract on etcd's RPCs: reads are retried, writes are settled (etcd-write.ts), watches resume.
 */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { EtcdCalls } from './etcd-calls.ts';
import { listPages, toStoredValue } from './etcd-list.ts';
import { EtcdRoom } from './etcd-room.ts';
import { type EtcdRpc, nothingElse } from './etcd-rpc.ts';
import { progressIsOrdered } from './etcd-watch.ts';
import { EtcdWatches } from './etcd-watches.ts';
import { createWriter } from './etcd-write.ts';
import { CompactedError, type Store } from './store.ts';

export interface EtcdStoreOptions {
  readonly rpc: EtcdRpc;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Timeout of one call in milliseconds. */
  readonly attemptMs: number;
  /**
   * Time in milliseconds for which a read is retried and a lost write is settled before
   * StoreUnavailableError.
   */
  readonly settleMs: number;
  /**
   * Timeout of the first answer in milliseconds; `settleMs` by default. An etcd with much
   * data takes minutes to start.
   */
  readonly startMs?: number | undefined;
  /**
   * Returns what an administrator has to do before etcd answers again; while it returns a text, calls fail at
   * once.
   */
  readonly trouble?: (() => string | undefined) | undefined;
  /**
   * Returns whether no other process writes to this etcd; by default others may. A result of false is final.
   * See Store.knownRevision.
   */
  readonly isOnlyWriter?: (() => boolean) | undefined;
}

const readingRevision = 'reading the revision';

/** Creates the store. Resolves when etcd answers, or rejects with StoreUnavailableError after `startMs`. */
export async function createEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { rpc } = options;
  const calls = new EtcdCalls(options);
  const version = await firstAnswer(options, calls);
  const watches = new EtcdWatches({ ...options, calls, isProgressOrdered: progressIsOrdered(version) });
  const { onAnswer, range } = calls;
  const writer = createWriter({ ...options, onAnswer, lastRevision: () => calls.lastRevision });
  const room = new EtcdRoom(options);
  const read = async (key: string) => (await range(`reading ${key}`, { key: Buffer.from(key) })).kvs[0];

  return {
    async get(key) {
      const kv = await read(key);
      return kv && toStoredValue(kv);
    },
    ownerOf: async (claim) => (await read(claim))?.value.toString(),
    list: (prefix, listOptions) => listPages(calls, prefix, listOptions ?? {}),
    currentRevision: async () => (await range(readingRevision, nothingElse)).header.revision,
    knownRevision: () => (options.isOnlyWriter?.() && watches.hasStream ? calls.lastRevision : undefined),
    problem: () => options.trouble?.(),
    create: (key, value, claims) =>
      room.during(value.length, () => writer.write({ key, value, expected: 0, claims: claims ?? {} })),
    update: (key, value, expected, claims) =>
      room.during(value.length, () =>
        writer.write({ key, value, expected: existing(expected), claims: claims ?? {} }),
      ),
    delete: (key, expected, claims) =>
      writer.write({ key, value: undefined, expected: existing(expected), claims: claims ?? {} }),
    watch: (prefix, after, signal) => watches.watch(prefix, after, signal),
    requestProgress: () => watches.requestProgress(),
    room,
    async compact(revision) {
      // A compaction to this or a later revision has already happened, which is sufficient.
      await calls
        .ask(`compacting to ${revision}`, (timeoutMs) => rpc.compact(revision, timeoutMs))
        .catch((error) => {
          if (!(error instanceof CompactedError)) throw error;
        });
    },
    async close() {
      calls.close();
    },
  };
}

/** Waits until etcd answers, and resolves to its version. */
async function firstAnswer(
  { rpc, clock, log, settleMs, startMs }: EtcdStoreOptions,
  calls: EtcdCalls,
): Promise<string> {
  const late = clock.after(settleMs, () =>
    log.warn('etcd has not answered yet; with much data it takes minutes to start', { startMs }),
  );
  await calls.range(readingRevision, nothingElse, startMs).finally(() => late.cancel());
  const version = await calls.ask('reading the version of etcd', rpc.version);
  log.debug('connected to etcd', { version, revision: calls.lastRevision });
  return version;
}

/** Throws for 0, which is no revision of a key: it would compare as "does not exist". */
function existing(revision: number): number {
  if (revision <= 0) throw new RangeError(`${revision} is not a revision of a key`);
  return revision;
}
