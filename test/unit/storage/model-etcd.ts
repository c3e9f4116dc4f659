/**
 * etcd as the store sees it, in memory: revisions, versions, transactions and the history of a range. What becomes of
 * a transaction (applied or not, answered or not, late) a test says.
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
  type WatchRequest,
  type WatchResponse,
} from '../../../src/storage/etcd-rpc.ts';

type Event = WatchResponse['events'][number];

export const unanswered = () => new RpcError('unanswered', 'the connection was cut');

/** Whether the transaction raises a fence, rather than writes an object. */
export const raisesFence = ({ success }: TxnRequest) =>
  success[0]?.request_put?.key.toString().endsWith('.fence') === true;

export class ModelEtcd {
  revision = 1;
  #cluster = 1;
  #values = new Map<string, KeyValue>();
  #history: Event[] = [];
  /** Does with a transaction what the test wants; `apply` carries it out, whenever that is. */
  onTxn: (request: TxnRequest, apply: () => TxnResponse) => Promise<TxnResponse> = async (_, apply) =>
    apply();

  readonly rpc: EtcdRpc = {
    range: async (request) => this.#range(request),
    txn: (request) => this.onTxn(request, () => this.#txn(request)),
    compact: async () => undefined,
    version: async () => '3.5.13',
    openWatch: async () => this.#openWatch(),
    close() {},
  };

  /** Another database takes its place: empty, and counting anew. */
  wipe(): void {
    this.#cluster++;
    this.revision = 1;
    this.#values = new Map();
    this.#history = [];
  }

  /** What somebody else writes; undefined deletes. */
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

  #header() {
    return { cluster_id: String(this.#cluster), revision: String(this.revision) };
  }

  #range({ key }: RangeRequest): RangeResponse {
    const found = this.#values.get(key.toString());
    return { header: this.#header(), kvs: found ? [found] : [], more: false, count: found ? '1' : '0' };
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
    const responses = ops.map((op) => {
      if (op.request_put) this.#store(op.request_put.key, op.request_put.value, next);
      if (op.request_delete_range) this.#remove(op.request_delete_range.key, next);
      return op.request_range ? { response_range: this.#range(op.request_range) } : {};
    });
    return { header: this.#header(), succeeded, responses };
  }

  #store(key: Buffer, value: Buffer, revision: number): void {
    const version = Number(this.#values.get(key.toString())?.version ?? 0) + 1;
    const kv = { key, value, mod_revision: String(revision), version: String(version) };
    this.#values.set(key.toString(), kv);
    this.#happened({ type: 'PUT', kv }, revision);
  }

  #remove(key: Buffer, revision: number): void {
    if (!this.#values.delete(key.toString())) return;
    const kv = { key, value: Buffer.alloc(0), mod_revision: String(revision), version: '0' };
    this.#happened({ type: 'DELETE', kv }, revision);
  }

  #happened(event: Event, revision: number): void {
    this.revision = revision;
    this.#history.push(event);
  }

  /** What has happened already; then the stream is silent until it is cancelled. */
  #openWatch() {
    const asked = Promise.withResolvers<WatchRequest>();
    const cancelled = Promise.withResolvers<void>();
    const responses = async function* (this: ModelEtcd): AsyncGenerator<WatchResponse> {
      const { create_request: wanted } = await asked.promise;
      if (wanted) yield this.#since(wanted);
      await cancelled.promise;
    };
    return { send: asked.resolve, responses: responses.call(this), cancel: cancelled.resolve };
  }

  #since(wanted: NonNullable<WatchRequest['create_request']>): WatchResponse {
    const events = this.#history.filter(
      ({ kv }) =>
        Number(kv.mod_revision) >= wanted.start_revision &&
        Buffer.compare(kv.key, wanted.key) >= 0 &&
        Buffer.compare(kv.key, wanted.range_end) < 0,
    );
    const rest = {
      created: false,
      canceled: false,
      compact_revision: '0',
      cancel_reason: '',
      fragment: false,
    };
    return { header: this.#header(), watch_id: '1', ...rest, events };
  }
}
