/** The answer to a client whose request failed, and the line in the log. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toStatusError } from '../../../src/apiserver/errors.ts';
import type { Fields } from '../../../src/base/log.ts';
import {
  ClaimLostError,
  CompactedError,
  StoreRejectedError,
  StoreUnavailableError,
  ValueTooLargeError,
} from '../../../src/storage/store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const random = new SeededRandom(1);
const down = new StoreUnavailableError('x');
const full = new StoreUnavailableError('x', { trouble: 'etcd has no space left: run etcdctl defrag' });
const lost = new ClaimLostError({ key: '/term', owner: 'a' }, 'b');

describe('the answer to a client reports', () => {
  for (const [title, error, method, code, reason, message] of [
    [
      'an unreachable etcd',
      down,
      'GET',
      503,
      'ServiceUnavailable',
      /^etcd is not reachable; try again in a moment$/,
    ],
    ['the same by HEAD', down, 'HEAD', 503, 'ServiceUnavailable', /try again/],
    [
      'a write with an unknown outcome',
      down,
      'POST',
      504,
      'Timeout',
      /it is not known whether the change was made$/,
    ],
    ['the same by DELETE', down, 'DELETE', 504, 'Timeout', /it is not known/],
    [
      'the fault of etcd',
      full,
      'GET',
      503,
      'ServiceUnavailable',
      /^etcd is not reachable; etcd has no space left: run/,
    ],
    [
      'the same for a write',
      full,
      'PUT',
      504,
      'Timeout',
      /was made; etcd has no space left: run etcdctl defrag$/,
    ],
    [
      'too large an object',
      new ValueTooLargeError('x'),
      'POST',
      413,
      'RequestEntityTooLarge',
      /larger than etcd accepts/,
    ],
    [
      'a refusal of etcd',
      new StoreRejectedError('no'),
      'PUT',
      500,
      'InternalError',
      /etcd refused the request: no/,
    ],
    [
      'another leader',
      lost,
      'PUT',
      409,
      'Conflict',
      /no longer the leader, and nothing was changed: .*held by b/,
    ],
    ['a compacted revision', new CompactedError('x', 7), 'GET', 410, 'Expired', /too old: list again/],
    [
      'a fault of the server',
      new TypeError('secret'),
      'GET',
      500,
      'InternalError',
      /see the log of the server$/,
    ],
    ['an error without a message', null, 'GET', 500, 'InternalError', /see the log of the server$/],
    ['a thrown value that is no error', 'secret', 'GET', 500, 'InternalError', /^(?!.*secret)/],
  ] as const)
    test(title, () => {
      const request = new Request('https://x/api/v1/pods?token=secret', { method });
      const { status } = toStatusError(error, request, { log: new RecordingLogger(), random });
      assert.deepEqual([status.code, status.reason], [code, reason]);
      assert.match(status.message?.replace(/^Internal error occurred: /, '') ?? '', message);
      // client-go would take it as permission to repeat a write.
      assert.equal(status.details?.retryAfterSeconds, undefined);
    });
});

describe('the log contains', () => {
  const linesOf = (error: unknown, signal?: AbortSignal) => {
    const log = new RecordingLogger();
    const request = new Request('https://x/api/v1/pods?token=secret', {
      method: 'PUT',
      headers: { 'audit-id': 'mine' },
      ...(signal && { signal }),
    });
    const { status } = toStatusError(error, request, { log, random });
    return { lines: log.lines.map(({ level, fields }): Fields => ({ level, ...fields })), status };
  };

  test('one line for an etcd that is unreachable or refuses', () => {
    for (const error of [down, new StoreRejectedError('x')]) {
      const line = { level: 'warn', method: 'PUT', path: '/api/v1/pods', id: 'mine', error: 'x' };
      assert.deepEqual(linesOf(error).lines, [line]);
    }
  });

  test('one line for a fault, with its place', () => {
    const [line, ...more] = linesOf(new TypeError('inside')).lines;
    assert.deepEqual([line?.level, line?.error, line?.method], ['error', 'inside', 'PUT']);
    assert.match(String(line?.stack), /errors\.test\.ts/);
    assert.deepEqual(more, []);
  });

  test('no errors of the client or of another server', () => {
    for (const error of [lost, new CompactedError('x', 7), new ValueTooLargeError('x')])
      assert.deepEqual(linesOf(error).lines, []);
  });

  test('errors of a request whose client has disconnected are not logged', () => {
    const { lines, status } = linesOf(new TypeError('inside'), AbortSignal.abort());
    assert.deepEqual([lines, status.code], [[], 504]);
  });
});
