/**
 * Model of etcd in memory as the store sees it: revisions, versions, transactions, history and watches. The
 * test decides the outcome of each call (applied or not, answered or not, late).
 */
import {
  type Compare,
  compareEqual,
  type EtcdRpc,
  type KeyValue,
  type RangeRequest,
  type RangeResponse,
  type RequestOp,
  RpcError,
  type TxnRequest,
  type TxnResponse,
  targetModRevision,
  type WatchResponse,
} from '../../../src/storage/etcd-rpc.ts';
import { ModelWatch } from './model-watch.ts';

type Event = WatchResponse['events'][number];

export const unanswered = () => new RpcError('unanswered', 'the connection was cut');

/** Returns whether the transaction raises a fence rather than writes an object. */
export const raisesFence = ({ success }: TxnRequest) =>
  success[0]?.request_put?.key.toString().endsWith('.fence') === true;

export class ModelEtcd {
  revision = 1;
  /** Version of etcd; before 3.5.13, a progress notification may be ahead of events that are not sent yet. */
  version = '3.5.13';
  readonly watches = new Set<ModelWatch>();
  /** Maximum bytes of the values in one answer to a read. */
  answerBytes = Number.POSITIVE_INFINITY;
  #cluster = 1;
  #compacted = 0;
  #closed = false;
  #values = new Map<string, KeyValue>();
  #history: Event[] = [];
  /** Handles a transaction; `apply` carries the transaction out at that time. */
  onTxn: (request: TxnRequest, apply: () => TxnResponse, timeoutMs: number) => Promise<TxnResponse> = async (
    _,
    apply,
  ) => apply();
  /** Called with the name of any other call before its answer; an error that it throws is the answer. */
  onCall: (name: 'range' | 'compact' | 'version' | 'watch', timeoutMs: number) => void = () => {};

  readonly rpc: EtcdRpc = {
    range: async (request, timeoutMs) => {
      this.#check('range', timeoutMs);
      return this.#range(request);
    },
    txn: async (request, timeoutMs) => {
      if (this.#closed) throw unanswered();
      return this.onTxn(request, () => this.#txn(request), timeoutMs);
    },
    compact: async (revision, timeoutMs) => {
      this.#check('compact', timeoutMs);
      this.#compact(revision);
    },
    version: async (timeoutMs) => {
      this.#check('version', timeoutMs);
      return this.version;
    },
    members: [],
    disarmFull: async () => undefined,
    openWatch: async () => {
      this.#check('watch', 0);
      return this.#openWatch();
    },
    close: () => {
      this.#closed = true;
      this.cut();
    },
  };

  /** Replaces the database with an empty one, whose revisions begin again. */
  wipe(): void {
    this.#cluster++;
    this.revision = 1;
    this.#compacted = 0;
    this.#values = new Map();
    this.#history = [];
  }

  /** Cuts the connection of every watch. */
  cut(): void {
    for (const watch of [...this.watches]) watch.end(unanswered());
  }

  /** Writes a value as another client; undefined deletes the key. Returns the revision. */
  put(key: string, value: string | undefined): number {
    const at = Buffer.from(key);
    const op: RequestOp =
      value === undefined
        ? { request_delete_range: { key: at } }
        : { request_put: { key: at, value: Buffer.from(value) } };
    this.#txn({ compare: [], success: [op], failure: [] });
    return this.revision;
  }

  value(key: string): string | undefined {
    return this.#values.get(key)?.value.toString();
  }

  /** All existing keys. */
  get keys(): readonly string[] {
    return [...this.#values.keys()].sort();
  }

  header() {
    return { cluster_id: this.#cluster, revision: this.revision };
  }

  #check(name: 'range' | 'compact' | 'version' | 'watch', timeoutMs: number): void {
    if (this.#closed) throw unanswered();
    this.onCall(name, timeoutMs);
  }

  #range({ key, range_end: end, limit, revision }: RangeRequest): RangeResponse {
    if (key.length === 0) throw new RpcError('refused', 'etcdserver: key is not provided');
    const found = [...this.#valuesAt(revision)]
      .map(([, kv]) => kv)
      .filter((kv) => (end ? isWithin(kv.key, key, end) : kv.key.equals(key)))
      .sort((one, other) => Buffer.compare(one.key, other.key));
    const kvs = found.slice(0, limit || undefined);
    if (kvs.reduce((sum, { value }) => sum + value.length, 0) > this.answerBytes)
      throw new RpcError('too long', 'Received message larger than max');
    const more = kvs.length < found.length;
    return { header: this.header(), kvs, more, count: found.length };
  }

  #valuesAt(revision: number | undefined): ReadonlyMap<string, KeyValue> {
    if (!revision) return this.#values;
    if (revision < this.#compacted)
      throw new RpcError('compacted', 'mvcc: required revision has been compacted');
    if (revision > this.revision)
      throw new RpcError('refused', 'mvcc: required revision is a future revision');
    const values = new Map<string, KeyValue>();
    for (const { type, kv } of this.#history) {
      if (Number(kv.mod_revision) > revision) break;
      if (type === 'put') values.set(kv.key.toString(), kv);
      else values.delete(kv.key.toString());
    }
    return values;
  }

  #compact(revision: number): void {
    if (revision <= this.#compacted)
      throw new RpcError('compacted', 'mvcc: required revision has been compacted');
    if (revision > this.revision)
      throw new RpcError('refused', 'mvcc: required revision is a future revision');
    this.#compacted = revision;
  }

  #holds(compare: Compare): boolean {
    if (compare.result !== compareEqual) return false;
    const found = this.#values.get(compare.key.toString());
    if (compare.target === targetModRevision)
      return Number(found?.mod_revision ?? 0) === compare.mod_revision;
    return found !== undefined && compare.value !== undefined && found.value.equals(compare.value);
  }

  #txn(request: TxnRequest): TxnResponse {
    const succeeded = request.compare.every((each) => this.#holds(each));
    const ops = succeeded ? request.success : request.failure;
    const next = this.revision + 1;
    const before = this.#history.length;
    const responses = ops.map((op) => {
      if (op.request_put) this.#store(op.request_put.key, op.request_put.value, next);
      if (op.request_delete_range) this.#remove(op.request_delete_range.key, next);
      return op.request_range ? { response_range: this.#range(op.request_range) } : {};
    });
    const events = this.#history.slice(before);
    if (events.length > 0) for (const watch of [...this.watches]) watch.happened(events);
    return { header: this.header(), succeeded, responses };
  }

  #store(key: Buffer, value: Buffer, revision: number): void {
    const version = Number(this.#values.get(key.toString())?.version ?? 0) + 1;
    const kv = { key, value, mod_revision: revision, version: version };
    this.#values.set(key.toString(), kv);
    this.#happened({ type: 'put', kv }, revision);
  }

  #remove(key: Buffer, revision: number): void {
    if (!this.#values.delete(key.toString())) return;
    const kv = { key, value: Buffer.alloc(0), mod_revision: revision, version: 0 };
    this.#happened({ type: 'delete', kv }, revision);
  }

  #happened(event: Event, revision: number): void {
    this.revision = revision;
    this.#history.push(event);
  }

  #openWatch(): ModelWatch {
    const watch = new ModelWatch({
      header: () => this.header(),
      compacted: () => this.#compacted,
      past: () => this.#history,
      onEnd: () => void this.watches.delete(watch),
    });
    this.watches.add(watch);
    return watch;
  }
}

const isWithin = (key: Buffer, from: Buffer, end: Buffer) =>
  Buffer.compare(key, from) >= 0 && Buffer.compare(key, end) < 0;
