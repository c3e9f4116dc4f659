import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNotFound, newStatusError } from '../../../src/apimachinery/status-error.ts';
import { bearerToken } from '../../../src/apiserver/authentication/bearer-token.ts';
import { refusal } from '../../../src/apiserver/authorization/authorizer.ts';
import { toStatusError } from '../../../src/apiserver/errors.ts';
import { nodeNameOf } from '../../../src/apiserver/request/user.ts';
import { respondStatus, warningHeader } from '../../../src/apiserver/respond.ts';
import { addressAt, parseRange, positionIn } from '../../../src/kube-apiserver/claims/address-range.ts';
import { StoreRejectedError, StoreUnavailableError } from '../../../src/storage/store.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

describe('address ranges', () => {
  it('leave out the network and the broadcast address', () => {
    const range = parseRange('10.96.0.0/29');
    const first = 10n * 2n ** 24n + 96n * 2n ** 16n + 1n;
    assert.deepEqual(range, { family: 'IPv4', first, last: first + 5n, size: 6 });
    assert.equal(addressAt(range, 0), '10.96.0.1');
    assert.equal(addressAt(range, 5), '10.96.0.6');
    for (const outside of ['10.96.0.0', '10.96.0.7', '10.95.255.255', '192.168.0.1']) {
      assert.equal(positionIn(range, outside), undefined, outside);
    }
  });

  it('convert positions to addresses and back across byte boundaries', () => {
    const range = parseRange('10.96.0.0/16');
    for (const position of [0, 254, 255, 256, 65533]) {
      assert.equal(positionIn(range, addressAt(range, position)), position);
    }
    assert.equal(addressAt(parseRange('10.96.5.9/16'), 0), '10.96.0.1');
    assert.equal(parseRange('10.96.0.0/30').size, 2);
    for (const text of ['', 'None', '::1']) assert.equal(positionIn(range, text), undefined);
  });

  for (const text of ['', '10.96.0.0', '10.96.0.0/31', 'x/16']) {
    it(`are not ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseRange(text), /is not an IPv4 network/));
  }

  it('of IPv6 leave out the first address alone', () => {
    const range = parseRange('FD00:10:96::/112');
    assert.deepEqual([range.family, range.size], ['IPv6', 65_535]);
    assert.deepEqual([addressAt(range, 0), addressAt(range, 65_534)], ['fd00:10:96::1', 'fd00:10:96::ffff']);
    for (const position of [0, 255, 65_534])
      assert.equal(positionIn(range, addressAt(range, position)), position);
    assert.equal(positionIn(range, 'fd00:0010:0096:0:0:0:0:000a'), 9);
    for (const outside of ['fd00:10:96::', 'fd00:10:97::1', '10.96.0.1', '::ffff:10.96.0.1', ''])
      assert.equal(positionIn(range, outside), undefined, outside);
    assert.equal(positionIn(parseRange('10.96.0.0/16'), '::ffff:10.96.0.1'), undefined);
  });

  for (const text of [
    '::/64',
    'fd00::/107',
    'fd00::/127',
    'fd00::1/112',
    '::ffff:10.0.0.0/112',
    'fd00::/x',
  ]) {
    it(`of IPv6 are not ${text}`, () =>
      assert.throws(() => parseRange(text), /is not an IPv6 network of 108/));
  }
});

describe('warnings', () => {
  it('are limited as in upstream', () => {
    const many = Array.from({ length: 100 }, () => 'x'.repeat(1000));
    const { warning = '' } = warningHeader(many);
    assert.equal(
      warning,
      Array(16)
        .fill(`299 - "${'x'.repeat(256)}"`)
        .join(', '),
    );
    assert.equal(
      warningHeader(many.slice(0, 4)).warning?.length,
      4 * (1000 + '299 - ""'.length) + 3 * ', '.length,
    );
  });

  it('are one header, quoted, without line breaks', () => {
    assert.deepEqual(warningHeader([]), {});
    assert.deepEqual(warningHeader(['a "b" \\ c', 'd\ne é']), {
      warning: '299 - "a \\"b\\" \\\\ c", 299 - "d e ?"',
    });
  });
});

describe('users', () => {
  it('are node agents only by their name and group', () => {
    assert.equal(nodeNameOf({ name: 'system:node:a', groups: ['system:nodes'] }), 'a');
    assert.equal(nodeNameOf({ name: 'system:node:a', groups: [] }), undefined);
    assert.equal(nodeNameOf({ name: 'a', groups: ['system:nodes'] }), undefined);
  });

  it('are read from the token in the header', () => {
    for (const [header, token] of [
      ['Bearer abc', 'abc'],
      ['bearer  abc ', 'abc'],
      ['Bearer a b', undefined],
      ['Basic abc', undefined],
      [undefined, undefined],
    ] as const) {
      assert.equal(bearerToken(header), token);
    }
  });

  it('are rejected with their name, the verb and the namespace', () => {
    const user = { name: 'b"ob', groups: [] };
    const resource = {
      type: 'resource',
      user,
      verb: 'get',
      group: 'apps',
      resource: 'deployments/scale',
      name: 'x',
    } as const;
    assert.equal(
      refusal({ ...resource, namespace: 'n' }, { allowed: false, reason: '' }),
      'User "b\\"ob" cannot get resource "deployments/scale" in API group "apps" in the namespace "n"',
    );
  });
});

describe('errors', () => {
  const random = new SeededRandom(1);
  const request = (method: string) => new Request('https://x/api/v1/pods?token=secret', { method });

  it('of the API are returned unchanged and not logged', () => {
    const log = new RecordingLogger();
    const error = newNotFound({ group: '', plural: 'pods' }, 'x');
    assert.equal(toStatusError(error, request('GET'), { log, random }), error);
    assert.deepEqual(log.lines, []);
  });

  it('of the store report whether a retry may help', () => {
    const log = new RecordingLogger();
    const down = new StoreUnavailableError('x');
    assert.equal(toStatusError(down, request('GET'), { log, random }).status.code, 503);
    assert.equal(toStatusError(down, request('PUT'), { log, random }).status.code, 504);
    assert.equal(
      toStatusError(down, request('PUT'), { log, random }).status.details?.retryAfterSeconds,
      undefined,
    );
    const refused = toStatusError(new StoreRejectedError('too large'), request('PUT'), {
      log,
      random,
    }).status;
    assert.deepEqual([refused.code, refused.details], [500, undefined]);
    assert.match(refused.message ?? '', /too large/);
  });

  it('of the server are logged once, without the query, and contain no internals', () => {
    const log = new RecordingLogger();
    const { status } = toStatusError(new TypeError('inside'), request('GET'), { log, random });
    assert.equal(status.code, 500);
    assert.doesNotMatch(status.message ?? '', /inside/);
    assert.equal(log.lines.length, 1);
    assert.equal(log.lines[0]?.fields.path, '/api/v1/pods');
    assert.equal(log.lines[0]?.fields.error, 'inside');
  });

  it('have Retry-After if they contain a time', () => {
    const { status } = newStatusError('Timeout', 'x', { retryAfterSeconds: 3 });
    assert.equal(respondStatus(status).headers.get('retry-after'), '3');
  });
});
