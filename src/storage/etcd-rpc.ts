/**
 * The part of etcd's API that the store uses, as data: field names are those of etcd's rpc.proto. etcd.ts
 * implements it on the wire; everything else here is free of the network.
 */

export interface RangeRequest {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
}

/** Range of a key that never exists: the answer only has the current revision. */
export const nothingElse: RangeRequest = { key: Buffer.from([0]) };

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly mod_revision: number;
  readonly version: number;
}

export interface ResponseHeader {
  /** First 53 bits of the cluster id, which distinguish clusters. */
  readonly cluster_id: number;
  readonly revision: number;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** Number of all keys in the range, whatever the limit. */
  readonly count: number;
}

/** etcd's CompareResult and CompareTarget by number. */
export const compareEqual = 0;
export const targetModRevision = 2;
export const targetValue = 3;

export interface Compare {
  readonly result: typeof compareEqual;
  readonly target: typeof targetModRevision | typeof targetValue;
  readonly key: Buffer;
  readonly mod_revision?: number;
  readonly value?: Buffer;
}

export interface RequestOp {
  readonly request_range?: RangeRequest;
  readonly request_put?: { readonly key: Buffer; readonly value: Buffer };
  readonly request_delete_range?: { readonly key: Buffer };
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeResponse }[];
}

export interface WatchRequest {
  readonly create_request?: {
    readonly key: Buffer;
    readonly range_end: Buffer;
    readonly start_revision: number;
    readonly progress_notify: boolean;
    readonly fragment: boolean;
    readonly watch_id: number;
  };
  readonly progress_request?: Record<string, never>;
}

export interface WatchEvent {
  readonly type: 'put' | 'delete';
  readonly kv: KeyValue;
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly watch_id: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: number;
  readonly cancel_reason: string;
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

export interface WatchStream {
  send(request: WatchRequest): void;
  /** Yields the responses. Ends, or throws RpcError, with the connection. */
  readonly responses: AsyncIterable<WatchResponse>;
  cancel(): void;
}

/**
 * Kind of a failed call. `refused`: the server rejected the request and nothing happened. `compacted`: the
 * revision no longer exists. `too long`: the answer exceeds the maximum message size, request less.
 * `unanswered`: connection, deadline, leader election; it is unknown whether the request was applied.
 */
export type RpcFailure = 'refused' | 'compacted' | 'too long' | 'unanswered';

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly failure: RpcFailure;
  constructor(failure: RpcFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

export function isUnanswered(error: unknown): boolean {
  return error instanceof RpcError && error.failure === 'unanswered';
}

/** Status that a member reports; sizes in bytes. */
export interface MemberStatus {
  readonly version: string;
  readonly revision: number;
  readonly size: number;
  readonly inUse: number;
  /** Undefined before etcd 3.6. */
  readonly quota: number | undefined;
  /** True if any member has raised the alarm NOSPACE. */
  readonly isFull: boolean;
}

/** An alarm NOSPACE, by the id of the member that raised it. */
export type FullMember = bigint;

/** Calls to one member, not to the cluster. */
export interface MemberRpc {
  status(timeoutMs: number): Promise<MemberStatus>;
  /** Defragments the member, which answers no other call meanwhile. */
  defragment(timeoutMs: number): Promise<void>;
  /**
   * Yields the bytes of the member's database at one revision, followed by their SHA-256 digest (32 bytes).
   * Throws RpcError when the stream fails, and when the signal aborts.
   */
  snapshot(signal?: AbortSignal): AsyncIterable<Buffer>;
}

/**
 * Client of etcd. Every call rejects with RpcError, and none is retried. `timeoutMs` is the timeout of a
 * call.
 */
export interface EtcdRpc {
  range(request: RangeRequest, timeoutMs: number): Promise<RangeResponse>;
  txn(request: TxnRequest, timeoutMs: number): Promise<TxnResponse>;
  /**
   * Compacts the history. With `isPhysical` it resolves when the history is removed from the database;
   * otherwise as soon as it cannot be read any more.
   */
  compact(revision: number, timeoutMs: number, isPhysical?: boolean): Promise<void>;
  /** Returns the server's version, such as `3.4.23`. */
  version(timeoutMs: number): Promise<string>;
  /** One member for each endpoint. */
  readonly members: readonly MemberRpc[];
  /** Disarms the alarm NOSPACE of all members; an alarm of damaged data remains. */
  disarmFull(timeoutMs: number): Promise<void>;
  openWatch(): Promise<WatchStream>;
  close(): void;
}

/** Returns the end of the range of all keys that start with `prefix`. */
export function prefixEnd(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  const last = end.at(-1);
  if (last === undefined) throw new RangeError('no range for the empty prefix');
  // Never exceeds a byte: no text in UTF-8 ends in 0xff.
  end[end.length - 1] = last + 1;
  return end;
}

/**
 * Returns the key of a marker of the store. Markers sort directly below the tree that they belong to
 * (`/registry.progress` < `/registry/`), so that one range, and hence one ordered watch, can span both, and
 * no list of the tree contains them.
 */
export function markerKey(key: string, name: 'progress' | 'fence' | 'gone'): Buffer {
  const tree = /^\/[^/]+(?=\/)/.exec(key)?.[0];
  if (tree === undefined) throw new RangeError(`the key ${key} is not below any prefix`);
  return Buffer.from(`${tree}.${name}`);
}
