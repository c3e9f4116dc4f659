/**
 * Wire encoding of the messages of etcd's API (etcd-rpc.ts): field numbers are those of its rpc.proto and
 * kv.proto.
 */
import { WireReader } from '../apimachinery/protobuf/reader.ts';
import type { WireWriter } from '../apimachinery/protobuf/writer.ts';
import type {
  Compare,
  FullMember,
  KeyValue,
  MemberStatus,
  RangeRequest,
  RangeResponse,
  RequestOp,
  ResponseHeader,
  TxnRequest,
  TxnResponse,
  WatchEvent,
  WatchRequest,
  WatchResponse,
} from './etcd-rpc.ts';

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

export function writeRange(writer: WireWriter, request: RangeRequest): void {
  writer.bytes(1, request.key);
  if (request.range_end) writer.bytes(2, request.range_end);
  if (request.limit) writer.varint(3, request.limit);
  if (request.revision) writer.varint(4, request.revision);
}

export function writeTxn(writer: WireWriter, { compare, success, failure }: TxnRequest): void {
  for (const one of compare) writeCompare(writer, one);
  for (const operation of success) writeOperation(writer, 2, operation);
  for (const operation of failure) writeOperation(writer, 3, operation);
}

function writeCompare(writer: WireWriter, { result, target, key, mod_revision, value }: Compare): void {
  const start = writer.begin(1);
  writer.varint(1, result);
  writer.varint(2, target);
  writer.bytes(3, key);
  if (mod_revision !== undefined) writer.varint(6, mod_revision);
  if (value) writer.bytes(7, value);
  writer.end(start);
}

function writeOperation(writer: WireWriter, field: number, operation: RequestOp): void {
  const { request_range: range, request_put: put, request_delete_range: deletion } = operation;
  const start = writer.begin(field);
  const inner = writer.begin(range ? 1 : put ? 2 : 3);
  if (range) writeRange(writer, range);
  if (put) {
    writer.bytes(1, put.key);
    writer.bytes(2, put.value);
  }
  if (deletion) writer.bytes(1, deletion.key);
  writer.end(inner);
  writer.end(start);
}

/** Returns the approximate size of a transaction in bytes. */
export const sizeOfTxn = ({ success }: TxnRequest): number =>
  success.reduce((sum, { request_put: put }) => sum + (put ? put.value.length : 0), 1024);

export function writeWatch(writer: WireWriter, { create_request: create }: WatchRequest): void {
  const start = writer.begin(create ? 1 : 3);
  if (create) {
    writer.bytes(1, create.key);
    writer.bytes(2, create.range_end);
    writer.varint(3, create.start_revision);
    if (create.progress_notify) writer.varint(4, 1);
    writer.varint(7, create.watch_id);
    if (create.fragment) writer.varint(8, 1);
  }
  writer.end(start);
}

export function readRange(message: Buffer): RangeResponse {
  return rangeOf(readerOf(message));
}

function rangeOf(reader: WireReader): RangeResponse {
  const kvs: KeyValue[] = [];
  const response: Mutable<RangeResponse> = { header: noHeader, kvs, more: false, count: 0 };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) response.header = headerOf(reader.within(wire));
    else if (field === 2) kvs.push(keyValueOf(reader.within(wire)));
    else if (field === 3) response.more = reader.bool(wire);
    else if (field === 4) response.count = reader.int64(wire);
    else reader.skip(wire);
  }
  return response;
}

export function readTxn(message: Buffer): TxnResponse {
  const reader = readerOf(message);
  const responses: { response_range?: RangeResponse }[] = [];
  const response: Mutable<TxnResponse> = { header: noHeader, succeeded: false, responses };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) response.header = headerOf(reader.within(wire));
    else if (field === 2) response.succeeded = reader.bool(wire);
    else if (field === 3) responses.push(operationOf(reader.within(wire)));
    else reader.skip(wire);
  }
  return response;
}

function operationOf(reader: WireReader): { response_range?: RangeResponse } {
  const response: { response_range?: RangeResponse } = {};
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) response.response_range = rangeOf(reader.within(wire));
    else reader.skip(wire);
  }
  return response;
}

export function readWatch(message: Buffer): WatchResponse {
  const reader = readerOf(message);
  const events: WatchEvent[] = [];
  const response: Mutable<WatchResponse> = {
    header: noHeader,
    watch_id: 0,
    created: false,
    canceled: false,
    compact_revision: 0,
    cancel_reason: '',
    fragment: false,
    events,
  };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    switch (field) {
      case 1:
        response.header = headerOf(reader.within(wire));
        break;
      case 2:
        response.watch_id = reader.int64(wire);
        break;
      case 3:
        response.created = reader.bool(wire);
        break;
      case 4:
        response.canceled = reader.bool(wire);
        break;
      case 5:
        response.compact_revision = reader.int64(wire);
        break;
      case 6:
        response.cancel_reason = reader.string(wire);
        break;
      case 7:
        response.fragment = reader.bool(wire);
        break;
      case 11:
        events.push(eventOf(reader.within(wire)));
        break;
      default:
        reader.skip(wire);
    }
  }
  return response;
}

function eventOf(reader: WireReader): WatchEvent {
  const event: Mutable<WatchEvent> = { type: 'put', kv: noKeyValue };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) event.type = reader.int64(wire) === 1 ? 'delete' : 'put';
    else if (field === 2) event.kv = keyValueOf(reader.within(wire));
    else reader.skip(wire);
  }
  return event;
}

/** Decodes the answer to Status. */
export function readStatus(message: Buffer): MemberStatus {
  const reader = readerOf(message);
  const status: Mutable<MemberStatus> = {
    version: '',
    revision: 0,
    size: 0,
    inUse: 0,
    quota: undefined,
    isFull: false,
  };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    switch (field) {
      case 1:
        status.revision = headerOf(reader.within(wire)).revision;
        break;
      case 2:
        status.version = reader.string(wire);
        break;
      case 3:
        status.size = reader.int64(wire);
        break;
      // Field 8 contains the alarms, as text.
      case 8:
        status.isFull = reader.string(wire).includes('NOSPACE') || status.isFull;
        break;
      case 9:
        status.inUse = reader.int64(wire);
        break;
      case 12:
        status.quota = reader.int64(wire) || undefined;
        break;
      default:
        reader.skip(wire);
    }
  }
  return status;
}

const alarmDeactivate = 2;
const alarmNoSpace = 1;

/** Encodes an alarm request: without a member it reads all alarms, with a member it disarms that member's. */
export function writeAlarm(writer: WireWriter, disarmed?: FullMember): void {
  if (disarmed === undefined) return;
  writer.varint(1, alarmDeactivate);
  writer.varint(2, disarmed);
  writer.varint(3, alarmNoSpace);
}

/** Returns the members that have raised NOSPACE. */
export function readFullMembers(message: Buffer): FullMember[] {
  const reader = readerOf(message);
  const members: FullMember[] = [];
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field !== 2) {
      reader.skip(wire);
      continue;
    }
    const { member, type } = readAlarm(reader.within(wire));
    if (type === alarmNoSpace) members.push(member);
  }
  return members;
}

function readAlarm(reader: WireReader) {
  let [member, type] = [0n, 0];
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) member = reader.uint64(wire);
    else if (field === 2) type = reader.int32(wire);
    else reader.skip(wire);
  }
  return { member, type };
}

/** Defaults of a message that omits its header. */
const noHeader: ResponseHeader = { cluster_id: 0, revision: 0 };

function headerOf(reader: WireReader): ResponseHeader {
  const header: Mutable<ResponseHeader> = { ...noHeader };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) header.cluster_id = reader.int64(wire);
    else if (field === 3) header.revision = reader.int64(wire);
    else reader.skip(wire);
  }
  return header;
}

const noBytes = Buffer.alloc(0);
const noKeyValue: KeyValue = { key: noBytes, value: noBytes, mod_revision: 0, version: 0 };

function keyValueOf(reader: WireReader): KeyValue {
  const kv: Mutable<KeyValue> = { ...noKeyValue };
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1) kv.key = bufferOf(reader.bytes(wire));
    else if (field === 3) kv.mod_revision = reader.int64(wire);
    else if (field === 4) kv.version = reader.int64(wire);
    else if (field === 5) kv.value = bufferOf(reader.bytes(wire));
    else reader.skip(wire);
  }
  return kv;
}

/** Returns the same bytes as a Buffer, without a copy. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/**
 * Returns a reader without a limit on values: a list of etcd contains more values than a client's body may.
 */
const readerOf = (message: Buffer): WireReader =>
  new WireReader(message, { values: Number.NEGATIVE_INFINITY });

/** Returns the bytes of a part of a snapshot (SnapshotResponse.blob). */
export function readSnapshotPart(message: Buffer): Buffer {
  const reader = readerOf(message);
  let blob: Buffer = Buffer.alloc(0);
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 3) blob = bufferOf(reader.bytes(wire));
    else reader.skip(wire);
  }
  return blob;
}
