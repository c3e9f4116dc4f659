/**
 * The Store contract on etcd's RPCs: reads are retried, writes are settled (etcd-write.ts), watches resume.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { listPages, toStoredValue } from './etcd-list.ts';
import { EtcdRoom } from './etcd-room.ts';
import {
  type EtcdRpc,
  isUnanswered,
  markerKey,
  nothingElse,
  type RangeRequest,
  type RangeResponse,
  type ResponseHeader,
  RpcError,
  type WatchStream,
} from './etcd-rpc.ts';
import { progressIsOrdered, watchEtcd } from './etcd-watch.ts';
import { createWriter } from './etcd-write.ts';
import { CompactedError, type Store, StoreRejectedError, StoreUnavailableError } from './store.ts';

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
  /** True if no other process writes to this etcd; false by default. See Store.knownRevision. */
  readonly isOnlyWriter?: boolean | undefined;
}

const retryMs = 50;

/** Creates the store. Resolves when etcd answers, or rejects with StoreUnavailableError after `startMs`. */
export async function createEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { rpc, clock, log, attemptMs } = options;
  const closed = new AbortController();
  const watches = new Set<{ readonly prefix: string; stream: WatchStream | undefined }>();
  let lastRevision = 0;
  let cluster: number | undefined;
  const onAnswer = (header: ResponseHeader) => {
    const revision = header.revision;
    // A database that was wiped or restored starts counting again.
    if (header.cluster_id !== cluster || revision > lastRevision) lastRevision = revision;
    cluster = header.cluster_id;
  };

  /** Retries a call without side effects until it is answered. */
  const ask = async <T>(
    what: string,
    call: (timeoutMs: number) => Promise<T>,
    withinMs = options.settleMs,
  ): Promise<T> => {
    const deadline = clock.now() + withinMs;
    for (;;) {
      try {
        return await call(Math.min(attemptMs, Math.max(deadline - clock.now(), 1)));
      } catch (error) {
        // A retry with little time left would only replace the reason by a missed deadline.
        const trouble = options.trouble?.();
        const last = closed.signal.aborted || trouble || clock.now() + 2 * retryMs >= deadline;
        if (last || !isUnanswered(error)) throw toStoreError(what, error, trouble);
        await sleep(clock, retryMs);
      }
    }
  };
  const range = async (what: string, request: RangeRequest, withinMs?: number): Promise<RangeResponse> => {
    const response = await ask(what, (timeoutMs) => rpc.range(request, timeoutMs), withinMs);
    onAnswer(response.header);
    return response;
  };
  const rangeOnce = async (what: string, request: RangeRequest): Promise<RangeResponse> => {
    const response = await rpc.range(request, attemptMs).catch((error: unknown) => {
      throw toStoreError(what, error, options.trouble?.());
    });
    onAnswer(response.header);
    return response;
  };
  const readingRevision = 'reading the revision';
  const currentRevision = async () => (await range(readingRevision, nothingElse)).header.revision;

  const late = clock.after(options.settleMs, () =>
    log.warn('etcd has not answered yet; with much data it takes minutes to start', {
      startMs: options.startMs,
    }),
  );
  await range(readingRevision, nothingElse, options.startMs).finally(() => late.cancel());
  const version = await ask('reading the version of etcd', rpc.version);
  const trustProgress = progressIsOrdered(version);
  log.debug('connected to etcd', { version, revision: lastRevision });
  const writer = createWriter({ ...options, onAnswer, lastRevision: () => lastRevision });
  const room = new EtcdRoom(options);

  const askProgress = (prefix: string, stream: WatchStream) => {
    if (trustProgress) return stream.send({ progress_request: {} });
    const put = { request_put: { key: markerKey(prefix, 'progress'), value: Buffer.alloc(0) } };
    rpc.txn({ compare: [], success: [put], failure: [] }, attemptMs).then(
      (response) => onAnswer(response.header),
      (error) => log.debug('the progress marker key was not written', { error: errorMessage(error) }),
    );
  };

  const read = async (key: string) => (await range(`reading ${key}`, { key: Buffer.from(key) })).kvs[0];

  return {
    async get(key) {
      const kv = await read(key);
      return kv && toStoredValue(kv);
    },
    ownerOf: async (claim) => (await read(claim))?.value.toString(),
    list: (prefix, listOptions) => listPages({ range, rangeOnce }, prefix, listOptions ?? {}),
    currentRevision,
    knownRevision() {
      // An open watch shows that this is still the etcd to which all writes went.
      const hears = [...watches].some(({ stream }) => stream !== undefined);
      return options.isOnlyWriter && hears ? lastRevision : undefined;
    },
    create: (key, value, claims) =>
      room.during(value.length, () => writer.write({ key, value, expected: 0, claims: claims ?? {} })),
    update: (key, value, expected, claims) =>
      room.during(value.length, () =>
        writer.write({ key, value, expected: existing(expected), claims: claims ?? {} }),
      ),
    delete: (key, expected, claims) =>
      writer.write({ key, value: undefined, expected: existing(expected), claims: claims ?? {} }),
    async *watch(prefix, after, signal) {
      const open: { readonly prefix: string; stream: WatchStream | undefined } = {
        prefix,
        stream: undefined,
      };
      watches.add(open);
      const onStream = (stream: WatchStream | undefined) => {
        open.stream = stream;
      };
      const ended = AbortSignal.any([signal, closed.signal]);
      try {
        for await (const batch of watchEtcd({ rpc, clock, log, prefix, after, signal: ended, onStream })) {
          if (batch.revision > lastRevision) lastRevision = batch.revision;
          yield batch;
        }
      } finally {
        watches.delete(open);
      }
      if (!signal.aborted) throw new StoreUnavailableError('the store is closed');
    },
    requestProgress() {
      for (const { prefix, stream } of watches) if (stream) askProgress(prefix, stream);
    },
    room,
    async compact(revision) {
      // A compaction to this or a later revision has already happened, which is sufficient.
      await ask(`compacting to ${revision}`, (timeoutMs) => rpc.compact(revision, timeoutMs)).catch(
        (error) => {
          if (!(error instanceof CompactedError)) throw error;
        },
      );
    },
    async close() {
      closed.abort();
      rpc.close();
    },
  };
}

function toStoreError(what: string, error: unknown, trouble?: string): unknown {
  if (!(error instanceof RpcError)) return error;
  switch (error.failure) {
    case 'compacted':
      return new CompactedError(`${what}: ${error.message}`, undefined);
    case 'refused':
    case 'too long':
      return new StoreRejectedError(`${what}: ${error.message}`, { cause: error });
    case 'unanswered':
      return new StoreUnavailableError(`${what}: etcd did not answer: ${trouble ?? error.message}`, {
        cause: error,
        trouble,
      });
  }
}

/** Throws for 0, which is no revision of a key: it would compare as "does not exist". */
function existing(revision: number): number {
  if (revision <= 0) throw new RangeError(`${revision} is not a revision of a key`);
  return revision;
}
