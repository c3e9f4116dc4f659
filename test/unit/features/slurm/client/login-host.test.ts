/**
 * Connections to a login host: the times at which they are opened and closed, and the requests that wait for
 * one.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { replaceable } from '../../../../../src/base/current.ts';
import type { ConnectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { type HostState, LoginHost } from '../../../../../src/features/slurm/client/login-host.ts';
import { ConnectionError } from '../../../../../src/features/slurm/client/ssh.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { FakeHost } from '../../../../fixtures/slurm/fake-host.ts';

const settings: ConnectionSettings = { host: 'h', port: 22, user: 'me', password: 'p', knownHosts: 'k' };
/** A random source without effect, so that delays are exact. */
const random = { next: () => 0 };
/** Script that the host answers at once. */
const quick = 'main() {\nfind . -path\n}\nmain\n';

function begin(first: ConnectionSettings | string = settings) {
  const [host, clock, log, stop] = [
    new FakeHost(),
    new FakeClock(),
    new RecordingLogger(),
    new AbortController(),
  ];
  const connection = replaceable<ConnectionSettings | string>(first);
  const states: HostState[] = [];
  const login = new LoginHost({
    ...{ connection, clock, log, signal: stop.signal, random: random as never, open: host.open },
    onState: (state) => states.push(state),
  });
  /** Outcome of each request, in the order in which they ended. */
  const outcomes: string[] = [];
  const asks = (lane: 'ask' | 'submit' | 'build', name: string = lane) => {
    void login.run(lane, quick).then(
      () => outcomes.push(`${name} answered`),
      (error: Error) => outcomes.push(`${name}: ${error.message}`),
    );
  };
  return { host, clock, log, stop, connection, states, login, outcomes, asks };
}
const away = () => new ConnectionError('HostAway', 'it cannot be reached');
const last = <T>(list: readonly T[]): T => list.at(-1) ?? assert.fail('there is none');

it('no connection is opened before the first request, and one connection serves all requests', async () => {
  const { host, clock, asks, outcomes, states } = begin();
  await clock.advance(60_000);
  assert.equal(host.logins.length, 0);
  for (const lane of ['ask', 'submit', 'build'] as const) asks(lane);
  await clock.advance(0);
  assert.deepEqual(outcomes.toSorted(), ['ask answered', 'build answered', 'submit answered']);
  assert.deepEqual([host.logins.length, host.connections], [1, 1]);
  assert.deepEqual(states, [{ connected: true, reason: 'Connected', message: 'connected to h as me' }]);
});

it('an unreachable host is retried after half a second, then after twice as long each time, at most a minute', async () => {
  const { host, clock, asks, states, log, outcomes } = begin();
  host.refuses = away;
  asks('ask');
  const times: number[] = [];
  for (let ms = 0; ms < 300_000; ms += 100) {
    const before = host.logins.length;
    await clock.advance(100);
    if (host.logins.length > before) times.push(clock.monotonic() / 1000);
  }
  assert.deepEqual(times.slice(0, 10), [0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 123.5, 183.5, 243.5]);
  assert.deepEqual(last(states), { connected: false, reason: 'HostAway', message: 'it cannot be reached' });
  assert.deepEqual(log.of('warn')[0]?.fields, {
    ...{ reason: 'HostAway', why: 'it cannot be reached', againInMs: 500 },
  });
  host.refuses = () => undefined;
  await clock.advance(60_000);
  assert.deepEqual(outcomes, ['ask answered'], 'the request has waited for it');
  // The delays start again after a connection.
  host.refuses = away;
  const before = host.logins.length;
  host.cut();
  await clock.advance(499);
  assert.equal(host.logins.length, before + 1);
  await clock.advance(1);
  assert.equal(host.logins.length, before + 2);
});

it('a host that rejects the user is tried again after half a minute at first, and after at most ten minutes', async () => {
  for (const fault of ['AuthenticationFailed', 'HostKeyUnknown', 'InvalidSecret'] as const) {
    const { host, clock, asks, states } = begin();
    host.refuses = () => new ConnectionError(fault, 'no');
    asks('ask');
    await clock.advance(29_999);
    assert.equal(host.logins.length, 1, fault);
    await clock.advance(1);
    assert.equal(host.logins.length, 2, fault);
    await clock.advance(60_000 + 120_000 + 240_000 + 480_000);
    assert.equal(host.logins.length, 6, fault);
    await clock.advance(599_999);
    assert.equal(host.logins.length, 6, fault);
    await clock.advance(1);
    assert.equal(host.logins.length, 7, fault);
    assert.equal(last(states).reason, fault);
  }
});

it('an unknown error is a fault of the host, which is tried again soon', async () => {
  const { host, clock, asks, states } = begin();
  host.refuses = () => new Error('odd');
  asks('ask');
  await clock.advance(500);
  assert.deepEqual(last(states), { connected: false, reason: 'HostFailed', message: 'odd' });
  assert.equal(host.logins.length, 2);
});

it('an unusable Secret is reported without a connection, and a changed Secret is tried at once', async () => {
  const { host, clock, asks, states, connection, outcomes } = begin('the Secret has no key host');
  asks('ask');
  await clock.advance(20_000);
  assert.equal(host.logins.length, 0);
  assert.deepEqual(last(states), {
    ...{ connected: false, reason: 'InvalidSecret', message: 'the Secret has no key host' },
  });
  connection.replace(settings);
  await clock.advance(0);
  assert.deepEqual([outcomes, host.logins.length], [['ask answered'], 1]);
});

it('a connection of a Secret that has changed is closed, and the next one has the new settings', async () => {
  const { host, clock, asks, connection, states } = begin();
  asks('ask');
  await clock.advance(0);
  connection.replace({ ...settings, user: 'other' });
  await clock.advance(0);
  assert.deepEqual(
    host.logins.map(({ user }) => user),
    ['me', 'other'],
  );
  assert.equal(host.connections, 1);
  assert.deepEqual(
    states.map(({ message }) => message),
    ['connected to h as me', 'the connection was closed', 'connected to h as other'],
  );
  // Pauses of the old Secret do not hold for the new one.
  host.refuses = () => new ConnectionError('AuthenticationFailed', 'no');
  connection.replace({ ...settings, user: 'wrong' });
  await clock.advance(10_000);
  assert.equal(host.logins.length, 3);
  connection.replace({ ...settings, user: 'wrong too' });
  await clock.advance(29_999);
  assert.equal(host.logins.length, 4);
  await clock.advance(1);
  assert.equal(host.logins.length, 5, 'half a minute again, not a whole one');
});

it('an attempt with a Secret that changes in the meantime is abandoned, and retried with the new one', async () => {
  const { host, clock, asks, connection, outcomes, states } = begin();
  const held = Promise.withResolvers<void>();
  const open = host.open;
  let isFirst = true;
  const login = new LoginHost({
    ...{ connection, clock, signal: new AbortController().signal, random: random as never },
    log: new RecordingLogger(),
    onState: (state) => states.push(state),
    open: async (wanted) => {
      const opened = await open(wanted);
      if (isFirst) await held.promise;
      isFirst = false;
      return opened;
    },
  });
  void login.run('ask', quick).then(() => outcomes.push('answered'));
  await clock.advance(0);
  connection.replace({ ...settings, user: 'other' });
  held.resolve();
  await clock.advance(0);
  assert.deepEqual([outcomes, host.connections], [['answered'], 1]);
  assert.deepEqual(
    states.map(({ message }) => message),
    ['connected to h as other'],
  );
  asks('ask');
  await clock.advance(0);
});

it('a lost connection is opened again without a request, and requests over it report the loss', async () => {
  const { host, clock, asks, outcomes, states, log } = begin();
  host.answers = () => new Promise(() => undefined);
  asks('build');
  await clock.advance(0);
  host.cut();
  await clock.advance(0);
  assert.deepEqual(outcomes, ['build: the connection was lost']);
  assert.deepEqual([host.logins.length, host.connections], [2, 1]);
  assert.deepEqual(
    states.map(({ connected, message }) => [connected, message]),
    [
      [true, 'connected to h as me'],
      [false, 'the connection was lost'],
      [true, 'connected to h as me'],
    ],
  );
  assert.deepEqual(log.of('info')[0]?.fields, { why: 'the connection was lost' });
});

it('a query without an answer is aborted after two minutes, a submission after five, and a build never', async () => {
  const { host, clock, asks, outcomes } = begin();
  host.answers = () => new Promise(() => undefined);
  for (const lane of ['ask', 'submit', 'build'] as const) asks(lane);
  await clock.advance(119_999);
  assert.deepEqual(outcomes, []);
  await clock.advance(1);
  assert.deepEqual(outcomes, ['ask: the host did not answer within 120 s']);
  await clock.advance(179_999);
  assert.equal(outcomes.length, 1);
  await clock.advance(1);
  assert.equal(outcomes[1], 'submit: the host did not answer within 300 s');
  await clock.advance(86_400_000);
  assert.equal(outcomes.length, 2);
});

it('a request that was answered leaves no timer, and the time of waiting for a host is not counted', async () => {
  const { host, clock, asks, outcomes } = begin();
  asks('ask');
  await clock.advance(0);
  assert.equal(clock.pending, 0);
  host.cut();
  host.refuses = away;
  await clock.advance(0);
  asks('ask');
  await clock.advance(400_000);
  host.refuses = () => undefined;
  await clock.advance(60_000);
  assert.deepEqual(outcomes, ['ask answered', 'ask answered']);
});

it('at most three queries, two submissions, two builds and four files are processed at the same time', async () => {
  const { host, clock, asks, login } = begin();
  const names: string[] = [];
  host.answers = () => {
    names.push('script');
    return new Promise(() => undefined);
  };
  for (const [lane, most] of [
    ['ask', 3],
    ['submit', 2],
    ['build', 2],
  ] as const) {
    names.length = 0;
    for (let index = 0; index < 5; index++) asks(lane);
    await clock.advance(0);
    assert.equal(names.length, most, lane);
  }
  let files = 0;
  host.meets = (request) => {
    if (request === 'read' || request === 'write') files++;
    return undefined;
  };
  host.folders.set('/w/one', new Map([['a', Buffer.from('text')]]));
  const answers = Array.from({ length: 6 }, () => login.read('/w/one/a', 1, 2));
  assert.deepEqual(String(await answers[0]), 'ex');
  await Promise.all(answers);
  await login.write('/w/one/b', Buffer.from('new'), 0o600);
  assert.equal(String(host.folders.get('/w/one')?.get('b')), 'new');
  assert.equal(files, 7);
});

it('four files are read and written at once, with the mode, offset and length of each', async () => {
  const { clock, stop } = begin();
  const calls: unknown[] = [];
  const gates: (() => void)[] = [];
  const held = <T>(value: T, ...call: readonly unknown[]) => {
    calls.push(call);
    return new Promise<T>((resolve) => gates.push(() => resolve(value)));
  };
  const login = new LoginHost({
    ...{ connection: replaceable<ConnectionSettings | string>(settings), clock, random: random as never },
    ...{ log: new RecordingLogger(), signal: stop.signal, onState: () => undefined },
    open: async () => ({
      over: new Promise<never>(() => undefined),
      close: () => undefined,
      run: () => assert.fail('no script is run'),
      write: (path, data, mode) => held(undefined, path, String(data), mode),
      read: (path, offset, length) => held(Buffer.from('read'), path, offset, length),
    }),
  });
  const written = login.write('/w/a', Buffer.from('text'), 0o700);
  const read = login.read('/w/b', 3, 9);
  const others = [1, 2, 3].map((offset) => login.read('/w/c', offset, 1));
  await clock.advance(0);
  assert.deepEqual(calls, [
    ['/w/a', 'text', 0o700],
    ['/w/b', 3, 9],
    ['/w/c', 1, 1],
    ['/w/c', 2, 1],
  ]);
  gates[0]?.();
  await clock.advance(0);
  assert.deepEqual(calls.at(-1), ['/w/c', 3, 1]);
  for (const open of gates) open();
  assert.deepEqual(
    [await written, String(await read), (await Promise.all(others)).length],
    [undefined, 'read', 3],
  );
});

it('the end of the client closes the connection, ends its requests and opens no other', async () => {
  const { host, clock, asks, outcomes, stop, connection, states } = begin();
  host.answers = () => new Promise(() => undefined);
  asks('build');
  await clock.advance(0);
  const told = states.length;
  stop.abort(new Error('the client ends'));
  await clock.advance(0);
  assert.deepEqual([outcomes.length, host.connections], [1, 0]);
  asks('ask', 'late');
  connection.replace({ ...settings, user: 'other' });
  await clock.advance(600_000);
  assert.deepEqual([host.logins.length, states.length], [1, told]);
  assert.equal(outcomes[1], 'late: the client ends');
  assert.equal(clock.pending, 0);
});

it('a client that ends while its host is unreachable waits no longer', async () => {
  const { host, clock, asks, outcomes, stop } = begin();
  host.refuses = away;
  asks('ask');
  await clock.advance(1000);
  stop.abort(new Error('the client ends'));
  await clock.advance(0);
  assert.deepEqual([outcomes, clock.pending], [['ask: the client ends'], 0]);
});

it('a request ends with the client, even if its connection does not detect the close', async () => {
  const { clock, stop, outcomes } = begin();
  const never = new Promise<never>(() => undefined);
  let closed = 0;
  const login = new LoginHost({
    ...{ connection: replaceable<ConnectionSettings | string>(settings), clock, random: random as never },
    ...{ log: new RecordingLogger(), signal: stop.signal, onState: () => undefined },
    open: async () => ({
      ...{ over: never, write: () => never, read: () => never, close: () => void closed++ },
      run: (_, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        ),
    }),
  });
  login.run('build', quick).catch((error: Error) => outcomes.push(error.message));
  await clock.advance(0);
  stop.abort(new Error('the client ends'));
  await clock.advance(0);
  assert.deepEqual([outcomes, closed], [['the client ends'], 1]);
});

it('an attempt that is under way when the client ends is closed, and its failure is not reported', async () => {
  for (const isRefused of [false, true]) {
    const { host, clock, log, stop, connection, states, outcomes } = begin();
    const held = Promise.withResolvers<void>();
    const own = new LoginHost({
      ...{ connection, clock, log, signal: stop.signal, random: random as never },
      onState: (state) => states.push(state),
      open: async (wanted) => {
        await held.promise;
        if (isRefused) throw away();
        return host.open(wanted);
      },
    });
    own.run('ask', quick).catch((error: Error) => outcomes.push(error.message));
    await clock.advance(0);
    stop.abort(isRefused ? new Error('the client ends') : undefined);
    held.resolve();
    await clock.advance(60_000);
    assert.deepEqual([host.connections, states, log.lines, clock.pending], [0, [], [], 0]);
    assert.deepEqual(outcomes, [isRefused ? 'it cannot be reached' : 'This operation was aborted']);
  }
});
