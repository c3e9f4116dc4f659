/**
 * The part of etcd's API the store is built on, as data: field names are those of etcd's rpc.proto. etcd.ts implements it
 * on the wire; everything else here is free of the network.
 */

export interface RangeRequest {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
}

/** Of a key that is never there: the answer tells how far etcd is, and nothing else. */
export const nothingElse: RangeRequest = { key: Buffer.from([0]) };

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly mod_revision: number;
  readonly version: number;
}

export interface ResponseHeader {
  /** Its first 53 bits, which tell one cluster from another. */
  readonly cluster_id: number;
  readonly revision: number;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** All keys of the range, whatever the limit. */
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
  /** Ends, or throws RpcError, with the connection. */
  readonly responses: AsyncIterable<WatchResponse>;
  cancel(): void;
}

/**
 * How a call failed. `refused`: the server answered that it will not; nothing happened. `compacted`: it no longer
 * has that revision. `too long`: there is more than one answer may hold, ask for less. `unanswered`: connection,
 * deadline, leader election; whether anything happened is unknown.
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

/** What a member says of itself; sizes in bytes. */
export interface MemberStatus {
  readonly version: string;
  readonly revision: number;
  readonly size: number;
  readonly inUse: number;
  /** From etcd 3.6 on. */
  readonly quota: number | undefined;
  /** Whether any member has raised the alarm NOSPACE. */
  readonly isFull: boolean;
}

/** An alarm NOSPACE, by the id of the member that raised it. */
export type FullMember = bigint;

/** Calls that are about one member, not the cluster. */
export interface MemberRpc {
  status(timeoutMs: number): Promise<MemberStatus>;
  /** The member answers nothing else meanwhile. */
  defragment(timeoutMs: number): Promise<void>;
}

/** Every call rejects with RpcError, and none is retried. `timeoutMs` bounds a call. */
export interface EtcdRpc {
  range(request: RangeRequest, timeoutMs: number): Promise<RangeResponse>;
  txn(request: TxnRequest, timeoutMs: number): Promise<TxnResponse>;
  /** `isPhysical`: resolves when the history has gone from the database, rather than when nobody can read it. */
  compact(revision: number, timeoutMs: number, isPhysical?: boolean): Promise<void>;
  /** The server's version, such as `3.4.23`. */
  version(timeoutMs: number): Promise<string>;
  /** One for each endpoint. */
  readonly members: readonly MemberRpc[];
  /** Disarms the alarm NOSPACE of all members; an alarm of damaged data stays. */
  disarmFull(timeoutMs: number): Promise<void>;
  openWatch(): Promise<WatchStream>;
  close(): void;
}

/** The end of the range of all keys that start with `prefix`. */
export function prefixEnd(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  const last = end.at(-1);
  if (last === undefined) throw new RangeError('no range for the empty prefix');
  // Never too great for a byte: no text in UTF-8 ends in 0xff.
  end[end.length - 1] = last + 1;
  return end;
}

/**
 * Keys the store keeps for itself lie right below the tree they serve (`/registry.progress` < `/registry/`), so
 * one range, and hence one ordered watch, can span both, and no list of the tree shows them.
 */
export function markerKey(key: string, name: 'progress' | 'fence' | 'gone'): Buffer {
  const tree = /^\/[^/]+(?=\/)/.exec(key)?.[0];
  if (tree === undefined) throw new RangeError(`the key ${key} is not below any prefix`);
  return Buffer.from(`${tree}.${name}`);
}
