/** User and timeout of a request. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { impersonation, requestTimeout, withTimeout } from '../../../../src/cli/connection/connection.ts';
import { connectionFlags, Flags } from '../../../../src/cli/flags/flags.ts';
import type { ApiResponse, Transport } from '../../../../src/client/transport.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const flags = (...args: string[]) => new Flags(connectionFlags, args);

describe('impersonation', () => {
  it('is sent as headers, one for each group', () => {
    assert.deepEqual(impersonation(flags()), {});
    assert.deepEqual(impersonation(flags('--as', 'alice')), { 'impersonate-user': 'alice' });
    const all = flags('--as=system:serviceaccount:a:b', '--as-group', 'x,y', '--as-group=z', '--as-uid', '7');
    assert.deepEqual(impersonation(all), {
      'impersonate-user': 'system:serviceaccount:a:b',
      'impersonate-group': ['x,y', 'z'],
      'impersonate-uid': '7',
    });
  });

  it('is that of the kubeconfig, field by field, unless a flag names another', () => {
    const own = { user: 'jane', uid: '1', groups: ['dev'], extra: { 'a.test/(x)': ['1', '2'] } };
    const sent = {
      'impersonate-uid': '1',
      'impersonate-group': ['dev'],
      'impersonate-extra-a.test%2F%28x%29': ['1', '2'],
    };
    assert.deepEqual(impersonation(flags(), own), { 'impersonate-user': 'jane', ...sent });
    assert.deepEqual(impersonation(flags('--as', 'joe', '--as-uid=2', '--as-group=ops'), own), {
      ...sent,
      ...{ 'impersonate-user': 'joe', 'impersonate-uid': '2', 'impersonate-group': ['ops'] },
    });
  });

  it('is encoded as UTF-8', () => {
    assert.deepEqual(impersonation(flags('--as', 'Zoë')), { 'impersonate-user': 'ZoÃ«' });
  });

  it('without a user, or with an invalid value, is rejected', () => {
    assert.throws(() => impersonation(flags('--as-group', 'x')), /need --as/);
    assert.throws(() => impersonation(flags('--as-uid', 'x')), /need --as/);
    assert.throws(() => impersonation(flags('--as', 'a\nb')), /^UsageError: --as: expected text/);
    assert.throws(
      () => impersonation(flags('--as', 'a', '--as-group', 'a\r\nb')),
      /^UsageError: --as-group: /,
    );
  });
});

describe('the timeout of a request', () => {
  const clock = new FakeClock();
  /** Answers when `begin` resolves; unless `ends`, the body ends only with the signal. */
  const transportOf = (begin: Promise<void>, chunks: readonly string[], ends = false): Transport => ({
    async request({ signal }) {
      const aborted = Promise.withResolvers<never>();
      signal?.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
      aborted.promise.catch(() => undefined);
      await Promise.race([begin, aborted.promise]);
      async function* body() {
        for (const chunk of chunks) yield Buffer.from(chunk);
        if (!ends) await aborted.promise;
      }
      return { status: 200, header: () => undefined, body: body() } satisfies ApiResponse;
    },
    close: () => undefined,
  });
  const read = async (transport: Transport) => {
    let text = '';
    const { body } = await transport.request({ method: 'GET', path: '/api/v1/pods?limit=500' });
    for await (const chunk of body) text += Buffer.from(chunk).toString();
    return text;
  };
  const late = { message: 'GET /api/v1/pods: no whole answer within 5 s (--request-timeout)' };

  it('is read in seconds or with units; 0 is no timeout', () => {
    assert.equal(requestTimeout(flags('--request-timeout', '5')), 5_000);
    assert.equal(requestTimeout(flags('--request-timeout', '1m')), 60_000);
    assert.equal(requestTimeout(flags('--request-timeout', '0')), undefined);
    assert.equal(requestTimeout(flags()), undefined);
    assert.equal(requestTimeout(flags('--request-timeout=')), undefined, 'a variable that is not set');
    for (const wrong of ['soon', '2562048h', '9999999999999'])
      assert.throws(() => requestTimeout(flags('--request-timeout', wrong)), /--request-timeout: expected/);
  });

  it('ends a request that is not answered', async () => {
    const reading = read(withTimeout(transportOf(new Promise(() => undefined), []), 5_000, clock));
    const refused = assert.rejects(reading, late);
    await clock.advance(5_000);
    await refused;
  });

  it('ends a request whose response does not end', async () => {
    const reading = read(withTimeout(transportOf(Promise.resolve(), ['a']), 5_000, clock));
    const refused = assert.rejects(reading, late);
    await clock.advance(5_000);
    await refused;
  });

  it('cancels its timer when the response is complete', async () => {
    assert.equal(
      await read(withTimeout(transportOf(Promise.resolve(), ['a', 'b'], true), 5_000, clock)),
      'ab',
    );
    assert.equal(clock.pending, 0);
    const failing = { ...transportOf(Promise.resolve(), []), request: () => Promise.reject(new Error('no')) };
    await assert.rejects(read(withTimeout(failing, 5_000, clock)), /^Error: no$/);
    assert.equal(clock.pending, 0);
  });
});
