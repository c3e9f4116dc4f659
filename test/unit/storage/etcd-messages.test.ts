/** Messages of etcd's API, compared with etcd's own definitions of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WireWriter } from '../../../src/apimachinery/protobuf/writer.ts';
import { framed } from '../../../src/grpc/frames.ts';
import {
  readRange,
  readStatus,
  readTxn,
  readWatch,
  sizeOfTxn,
  writeRange,
  writeTxn,
  writeWatch,
} from '../../../src/storage/etcd-messages.ts';
import {
  compareEqual,
  type RangeRequest,
  targetModRevision,
  targetValue,
  type WatchRequest,
} from '../../../src/storage/etcd-rpc.ts';
import { methods } from '../../fixtures/etcd-wire.ts';

const method = (path: string) => methods.get(`/etcdserverpb.${path}`) ?? assert.fail(path);
const bytes = (text: string) => Buffer.from(text);
const messageOf = (write: (writer: WireWriter) => void) => framed(0, write).subarray(5);

/** Returns the value without empty and zero fields, which the definitions add for missing ones. */
function filled(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString();
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== 'object' || value === null) return value;
  const isFilled = ([, one]: [string, unknown]) =>
    !(one === '' || one === '0' || one === false || one === null || (Array.isArray(one) && one.length === 0));
  return Object.fromEntries(
    Object.entries(value)
      .filter(isFilled)
      .map(([name, one]) => [name, filled(one)])
      .filter(([, one]) => one !== ''),
  );
}
const asked = (path: string, write: (writer: WireWriter) => void) =>
  filled(method(path).requestDeserialize(messageOf(write)));
const answered = (path: string, message: object) => method(path).responseSerialize(message);

/** A number of more than 32 bits, and the largest number that is exact. */
const [large, largest] = [2 ** 40 + 3, Number.MAX_SAFE_INTEGER];

describe('the encoder for etcd', () => {
  const key = bytes('/r/a');

  it('writes a range', () => {
    const unsorted = { sort_order: 'None', sort_target: 'Key' };
    const range = (request: RangeRequest) => asked('KV/Range', (writer) => writeRange(writer, request));
    assert.deepEqual(range({ key }), { key: '/r/a', ...unsorted });
    assert.deepEqual(range({ key, range_end: bytes('/r0'), limit: 2500, revision: large }), {
      key: '/r/a',
      range_end: '/r0',
      limit: '2500',
      revision: `${large}`,
      ...unsorted,
    });
    assert.deepEqual(range({ key, limit: 0, revision: 0 }), { key: '/r/a', ...unsorted });
  });

  it('writes a transaction', () => {
    const value = 'v'.repeat(3000);
    const transaction = {
      compare: [
        { result: compareEqual, target: targetModRevision, key, mod_revision: large },
        { result: compareEqual, target: targetValue, key: bytes('/r/b'), value: bytes('owner') },
        { result: compareEqual, target: targetModRevision, key: bytes('/r/c'), mod_revision: 0 },
      ],
      success: [
        { request_put: { key, value: bytes(value) } },
        { request_delete_range: { key: bytes('/r/d') } },
        { request_put: { key: bytes('/r/e'), value: bytes('') } },
      ],
      failure: [{ request_range: { key } }],
    } as const;
    const request = asked('KV/Txn', (writer) => writeTxn(writer, transaction)) as Record<string, unknown[]>;
    assert.deepEqual(request.compare, [
      { result: 'Equal', target: 'Mod', key: '/r/a', mod_revision: `${large}` },
      { result: 'Equal', target: 'Value', key: '/r/b', value: 'owner' },
      { result: 'Equal', target: 'Mod', key: '/r/c' },
    ]);
    assert.deepEqual(request.success, [
      { request_put: { key: '/r/a', value } },
      { request_delete_range: { key: '/r/d' } },
      { request_put: { key: '/r/e' } },
    ]);
    assert.deepEqual(request.failure, [
      { request_range: { key: '/r/a', sort_order: 'None', sort_target: 'Key' } },
    ]);
    const length = messageOf((writer) => writeTxn(writer, transaction)).length;
    assert.ok(sizeOfTxn(transaction) >= length && sizeOfTxn(transaction) < 2 * length);
  });

  it('writes a watch', () => {
    const create = {
      key,
      range_end: bytes('/r0'),
      start_revision: large,
      progress_notify: true,
      fragment: true,
      watch_id: 1,
    };
    const watch = (request: WatchRequest) => asked('Watch/Watch', (writer) => writeWatch(writer, request));
    assert.deepEqual(watch({ create_request: create }), {
      create_request: {
        key: '/r/a',
        range_end: '/r0',
        start_revision: `${large}`,
        progress_notify: true,
        fragment: true,
        watch_id: '1',
      },
    });
    const quiet = { ...create, progress_notify: false, fragment: false };
    assert.deepEqual(watch({ create_request: quiet }), {
      create_request: { key: '/r/a', range_end: '/r0', start_revision: `${large}`, watch_id: '1' },
    });
    assert.deepEqual(watch({ progress_request: {} }), { progress_request: {} });
  });
});

describe('the decoder for etcd', () => {
  const header = { cluster_id: '5', member_id: '9', revision: `${largest}`, raft_term: '2' };
  const read = { cluster_id: 5, revision: largest };
  const kv = {
    key: bytes('/r/a'),
    create_revision: '3',
    mod_revision: `${large}`,
    version: '7',
    value: bytes('A'),
    lease: '12',
  };
  const readKv = { key: bytes('/r/a'), value: bytes('A'), mod_revision: large, version: 7 };

  it('reads a range', () => {
    assert.deepEqual(readRange(answered('KV/Range', { header, kvs: [kv, kv], more: true, count: '9' })), {
      header: read,
      kvs: [readKv, readKv],
      more: true,
      count: 9,
    });
    assert.deepEqual(readRange(Buffer.alloc(0)), {
      header: { cluster_id: 0, revision: 0 },
      kvs: [],
      more: false,
      count: 0,
    });
  });

  it('reads a range of very many keys', () => {
    const kvs = Array.from({ length: 20_000 }, () => kv);
    assert.equal(readRange(answered('KV/Range', { header, kvs })).kvs.length, kvs.length);
  });

  it('reads a transaction', () => {
    const responses = [{ response_range: { header, kvs: [kv] } }, { response_put: { header } }];
    const answer = readTxn(answered('KV/Txn', { header, succeeded: true, responses }));
    const range = { header: read, kvs: [readKv], more: false, count: 0 };
    assert.deepEqual(answer, {
      header: read,
      succeeded: true,
      responses: [{ response_range: range }, {}],
    });
    assert.equal(readTxn(answered('KV/Txn', { header })).succeeded, false);
  });

  it('reads a watch', () => {
    const nothing = {
      watch_id: 0,
      created: false,
      canceled: false,
      compact_revision: 0,
      cancel_reason: '',
      fragment: false,
      events: [],
    };
    const watch = (message: object) => readWatch(answered('Watch/Watch', { header, ...message }));
    assert.deepEqual(watch({}), { ...nothing, header: read });
    assert.deepEqual(watch({ watch_id: '1', created: true, fragment: true }), {
      ...nothing,
      ...{ header: read, watch_id: 1, created: true, fragment: true },
    });
    assert.deepEqual(
      watch({ watch_id: '-1', canceled: true, compact_revision: `${large}`, cancel_reason: 'gone' }),
      {
        ...nothing,
        ...{ header: read, watch_id: -1, canceled: true, compact_revision: large, cancel_reason: 'gone' },
      },
    );
    const gone = { key: bytes('/r/a'), mod_revision: '8' };
    assert.deepEqual(
      watch({
        events: [
          { type: 'Put', kv, prev_kv: kv },
          { type: 'Delete', kv: gone },
        ],
      }).events,
      [
        { type: 'put', kv: readKv },
        { type: 'delete', kv: { key: gone.key, value: bytes(''), mod_revision: 8, version: 0 } },
      ],
    );
  });

  it('reads a version', () => {
    const message = { header, version: '3.6.1', dbSize: '123', errors: ['what'] };
    assert.equal(readStatus(answered('Maintenance/Status', message)).version, '3.6.1');
  });

  it('distinguishes clusters by all 64 bits of their ids', () => {
    const ids = ['14841639068965178418', '14841639068965188418', '1'];
    const found = ids.map(
      (id) => readRange(answered('KV/Range', { header: { cluster_id: id } })).header.cluster_id,
    );
    assert.equal(new Set(found).size, ids.length);
  });
});
