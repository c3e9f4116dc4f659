/**
 * One conditional write on etcd, settled if its answer is lost.
 *
 * A write is a transaction that compares the key's mod_revision (and its claims). If no answer arrives, the
 * request may have been applied, may be lost, or may still be on its way through the cluster, so reading the
 * key proves nothing yet and sending it again could apply it twice. So every write also compares a fence key,
 * and settling works as follows: (1) write the fence: a request that was still on its way cannot be applied
 * any more; (2) read the key's history from before the write up to the fence, from one watch whose range
 * spans both; (3) either the history contains the write, with its revision, or the write was never applied
 * and may be sent again.
 *
 * A write is identified by its bytes (objects contain uids and Leases their holder, so equal bytes from
 * another writer mean the same state). A deletion has none, so its transaction also writes a mark of its own
 * to a key that all deletions share: of two writers that delete one revision, one finds its mark beside the
 * event.
 *
 * Limit: if etcd is down for longer than `settleMs`, or compaction removed the history, the outcome remains
 * unknown: StoreUnavailableError.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { findInHistory, type MarkedWrite, type Write } from './etcd-history.ts';
import {
  type Compare,
  compareEqual,
  type EtcdRpc,
  isUnanswered,
  markerKey,
  type RequestOp,
  type ResponseHeader,
  RpcError,
  type TxnResponse,
  targetModRevision,
  targetValue,
} from './etcd-rpc.ts';
import {
  ClaimLostError,
  type Claims,
  ClaimTakenError,
  KeyExistsError,
  mismatch,
  RevisionMismatchError,
  type StoredValue,
  StoreRejectedError,
  StoreUnavailableError,
  ValueTooLargeError,
} from './store.ts';

export interface WriterOptions {
  readonly rpc: EtcdRpc;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called with every answer, so that the store has the highest revision. */
  readonly onAnswer: (header: ResponseHeader) => void;
  /** Returns the highest revision in any answer. */
  readonly lastRevision: () => number;
  readonly attemptMs: number;
  readonly settleMs: number;
  /**
   * Returns what an administrator has to do before etcd answers again; while it returns a text, calls fail at
   * once.
   */
  readonly trouble?: (() => string | undefined) | undefined;
}

/** State that the failed branch of the transaction reads. */
interface Found {
  readonly current: StoredValue | undefined;
  readonly fence: number;
  readonly owners: ReadonlyMap<string, string>;
}

export interface Writer {
  /** Resolves to the write's revision; rejects as Store's methods do. */
  write(write: Write): Promise<number>;
}

export function createWriter(options: WriterOptions): Writer {
  return new EtcdWriter(options);
}

class EtcdWriter implements Writer {
  readonly #options: WriterOptions;
  /** Last known revision of each tree's fence; 0 if it was never written. */
  readonly #fences = new Map<string, number>();
  /** Fences being written, so that writes that were lost together share one. */
  readonly #raising = new Map<string, Promise<number>>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  async write(wanted: Write): Promise<number> {
    const options = this.#options;
    const { clock } = options;
    const write = { ...wanted, mark: Buffer.from(options.random.uuid()) };
    const fenceName = markerKey(write.key, 'fence').toString();
    const deadline = clock.now() + options.settleMs;
    let owners: ReadonlyMap<string, string> = new Map();
    for (;;) {
      const before = options.lastRevision();
      const outcome = await attempt(options, write, this.#knownFence(fenceName), owners);
      if (outcome.type === 'done') return outcome.revision;
      if (outcome.type === 'unanswered') {
        const revision = await this.#readBack(write, before, deadline, outcome.error);
        if (revision !== undefined) return revision;
        continue;
      }
      const { found } = outcome;
      // Answers may arrive in any order: an outdated fence only fails the next attempt.
      this.#fences.set(fenceName, found.fence);
      refuse(write, found);
      if (clock.now() >= deadline)
        throw new StoreUnavailableError(`the write of ${write.key} conflicted with other writes too often`);
      owners = found.owners;
    }
  }

  #knownFence(name: string): number {
    return this.#fences.get(name) ?? 0;
  }

  /**
   * Resolves to the revision of a write whose answer was lost; undefined if it was not made and may be sent
   * again. Rejects with StoreUnavailableError if the time is over.
   */
  async #readBack(
    write: MarkedWrite,
    before: number,
    deadline: number,
    lost: RpcError,
  ): Promise<number | undefined> {
    this.#options.log.debug('the answer to a write was lost, reading back', {
      key: write.key,
      error: errorMessage(lost),
    });
    const revision = await this.#settle(write, before, deadline);
    if (revision === undefined && this.#options.clock.now() >= deadline) throw unknownOutcome(write, lost);
    return revision;
  }

  async #settle(write: MarkedWrite, before: number, deadline: number): Promise<number | undefined> {
    const { clock, trouble } = this.#options;
    const fenceKey = markerKey(write.key, 'fence');
    // A fence whose write began before this write was lost may have been applied before it: only a later one
    // counts.
    await this.#raising.get(fenceKey.toString())?.catch(() => undefined);
    for (;;) {
      try {
        const fence = await this.#raiseFence(fenceKey, deadline);
        return await findInHistory(this.#options, write, before, fence, deadline);
      } catch (error) {
        if (!isUnanswered(error)) throw unknownOutcome(write, error);
        const reason = trouble?.();
        if (reason || clock.now() >= deadline) throw unknownOutcome(write, error, reason);
        await sleep(clock, 50);
      }
    }
  }

  #raiseFence(fenceKey: Buffer, deadline: number): Promise<number> {
    const name = fenceKey.toString();
    const pending = this.#raising.get(name);
    if (pending !== undefined) return pending;
    const raised = putFence(this.#options, fenceKey, deadline)
      .then((revision) => {
        this.#fences.set(name, revision);
        return revision;
      })
      .finally(() => this.#raising.delete(name));
    this.#raising.set(name, raised);
    return raised;
  }
}

type Outcome =
  | { readonly type: 'done'; readonly revision: number }
  | { readonly type: 'failed'; readonly found: Found }
  | { readonly type: 'unanswered'; readonly error: RpcError };

async function attempt(
  options: WriterOptions,
  write: MarkedWrite,
  fence: number,
  owners: ReadonlyMap<string, string>,
): Promise<Outcome> {
  try {
    const response = await options.rpc.txn(transaction(write, fence, owners), options.attemptMs);
    const revision = response.header.revision;
    options.onAnswer(response.header);
    return response.succeeded
      ? { type: 'done', revision }
      : { type: 'failed', found: readFailure(write, response) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.failure !== 'unanswered') {
      const Refusal = isTooLarge(error) ? ValueTooLargeError : StoreRejectedError;
      throw new Refusal(`etcd refused to write ${write.key}: ${error.message}`, { cause: error });
    }
    return { type: 'unanswered', error };
  }
}

/**
 * Returns whether a value exceeds etcd's own limit (--max-request-bytes), or the limit of messages that etcd
 * reads at all.
 */
const isTooLarge = ({ message }: RpcError) =>
  /request is too large|received message larger than max/.test(message);

function transaction(write: MarkedWrite, fence: number, owners: ReadonlyMap<string, string>) {
  const key = Buffer.from(write.key);
  const fenceKey = markerKey(write.key, 'fence');
  const compare: Compare[] = [modRevisionIs(key, write.expected), modRevisionIs(fenceKey, fence)];
  // The mark is written first: events of one transaction have its order.
  const success: RequestOp[] = write.value
    ? [{ request_put: { key, value: write.value } }]
    : [
        { request_put: { key: markerKey(write.key, 'gone'), value: write.mark } },
        { request_delete_range: { key } },
      ];
  const failure: RequestOp[] = [{ request_range: { key } }, { request_range: { key: fenceKey } }];
  for (const claim of write.claims.acquire ?? []) {
    const claimKey = Buffer.from(claim.key);
    const owner = Buffer.from(claim.owner);
    // The claim was found to be the writer's own already: then it must still be, and needs no write.
    if (owners.get(claim.key) === claim.owner) {
      compare.push({ result: compareEqual, target: targetValue, key: claimKey, value: owner });
    } else {
      compare.push(modRevisionIs(claimKey, 0));
      success.push({ request_put: { key: claimKey, value: owner } });
    }
    failure.push({ request_range: { key: claimKey } });
  }
  for (const { key: held, owner } of write.claims.holding ?? []) {
    const heldKey = Buffer.from(held);
    compare.push({ result: compareEqual, target: targetValue, key: heldKey, value: Buffer.from(owner) });
    failure.push({ request_range: { key: heldKey } });
  }
  for (const released of write.claims.release ?? []) {
    success.push({ request_delete_range: { key: Buffer.from(released) } });
  }
  return { compare, success, failure };
}

function modRevisionIs(key: Buffer, revision: number): Compare {
  return { result: compareEqual, target: targetModRevision, key, mod_revision: revision };
}

function readFailure(write: Write, response: TxnResponse): Found {
  const [own, fence, ...claims] = response.responses.map((part) => part.response_range?.kvs[0]);
  const owners = new Map<string, string>();
  for (const kv of claims) if (kv) owners.set(kv.key.toString(), kv.value.toString());
  return {
    current: own && { key: write.key, value: own.value, revision: own.mod_revision },
    fence: fence ? fence.mod_revision : 0,
    owners,
  };
}

/**
 * Throws if the write cannot succeed; returns if only the fence or a claim of the writer's own failed the
 * comparison.
 */
function refuse(write: Write, found: Found): void {
  const { key, expected } = write;
  if (expected === 0 && found.current) throw new KeyExistsError(`${key} already exists`);
  if (expected !== 0 && found.current?.revision !== expected) {
    throw new RevisionMismatchError(mismatch(key, expected, found.current), found.current);
  }
  refuseClaims(write.claims, found.owners);
}

function refuseClaims({ acquire = [], holding = [] }: Claims, owners: ReadonlyMap<string, string>): void {
  for (const claim of acquire) {
    const owner = owners.get(claim.key);
    if (owner !== undefined && owner !== claim.owner)
      throw new ClaimTakenError(`${claim.key} is taken by ${owner}`, claim.key);
  }
  for (const claim of holding) {
    const owner = owners.get(claim.key);
    if (owner !== claim.owner) throw new ClaimLostError(claim, owner);
  }
}

function unknownOutcome(write: Write, cause: unknown, trouble?: string): StoreUnavailableError {
  const message = `etcd did not answer the write of ${write.key}, and it is unknown whether the write was made`;
  return new StoreUnavailableError(message, { cause, trouble });
}

/** Writes a fence. A fence may be written twice without harm. */
async function putFence(options: WriterOptions, fenceKey: Buffer, deadline: number): Promise<number> {
  const { rpc, clock } = options;
  const put = { request_put: { key: fenceKey, value: Buffer.from(String(clock.now())) } };
  const timeoutMs = Math.min(options.attemptMs, Math.max(deadline - clock.now(), 1));
  const { header } = await rpc.txn({ compare: [], success: [put], failure: [] }, timeoutMs);
  options.onAnswer(header);
  return header.revision;
}
