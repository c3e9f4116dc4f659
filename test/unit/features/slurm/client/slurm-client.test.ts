/** Jobs that come, change, are late or go while a client runs, on a host without a shell. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { replaceable } from '../../../../../src/base/current.ts';
import type { ConnectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { conditionOf } from '../../../../../src/features/slurm/client/job-plan.ts';
import { runSlurmClient } from '../../../../../src/features/slurm/client/slurm-client.ts';
import type { SlurmJobSpec } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { ConnectionError, type Ran } from '../../../../../src/features/slurm/client/ssh.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { FakeHost } from '../../../../fixtures/slurm/fake-host.ts';
import { MemoryStore } from '../../../../fixtures/slurm/memory-store.ts';

const settings: ConnectionSettings = { host: 'h', port: 22, user: 'me', password: 'p', knownHosts: 'k' };
/** A random source without effect, so that delays are exact. */
const random = { next: () => 0 };

function begin() {
  const [host, store, clock, log, stop] = [
    ...([new FakeHost(), new MemoryStore(), new FakeClock()] as const),
    ...([new RecordingLogger(), new AbortController()] as const),
  ];
  const connection = replaceable<ConnectionSettings | string>(settings);
  const options = { store, connection, clock, log, signal: stop.signal, open: host.open };
  const running = runSlurmClient({ ...options, random: random as never });
  const says = (uid: string, type: Parameters<typeof conditionOf>[1]) => {
    const { status, reason } = conditionOf(store.status(uid) ?? {}, type) ?? {};
    return status === undefined ? 'nothing' : `${status} ${reason}`;
  };
  const change = (uid: string, spec: Partial<SlurmJobSpec>) =>
    store.change(uid, { spec: { ...store.get(uid).spec, ...spec } });
  const end = async () => {
    stop.abort();
    await running;
  };
  return { host, store, clock, log, says, change, end };
}

/** Lets a build go on until it is canceled, as the host's script does. */
function buildsForEver(host: FakeHost): void {
  const canceled = Promise.withResolvers<Ran>();
  host.answers = (name) => {
    if (name === 'build') return canceled.promise;
    if (name === 'cancel') canceled.resolve({ code: 75, stdout: 'canceled\n', stderr: '' });
    return undefined;
  };
}
const count = (host: FakeHost, name: string) => host.asked.filter((one) => one === name).length;

it('a job that is late while it is built is ended there, at its deadline and not before', async () => {
  const { host, store, clock, says, end } = begin();
  buildsForEver(host);
  const uid = store.add('late', { build: ['make'], run: ['true'], activeDeadlineSeconds: 60 });
  await clock.advance(59_999);
  assert.deepEqual([count(host, 'build'), count(host, 'cancel')], [1, 0]);
  await clock.advance(60_000);
  assert.deepEqual([store.phase(uid), says(uid, 'Failed')], ['Failed', 'True DeadlineExceeded']);
  assert.deepEqual([host.submitted, host.folders.size], [[], 0]);
  await end();
  assert.equal(clock.pending, 0);
});

it('a build is interrupted once for a job that is canceled or deleted, and for no other change', async () => {
  for (const isDeleted of [false, true]) {
    const { host, store, clock, change, end } = begin();
    buildsForEver(host);
    const uid = store.add('one', { build: ['make'], run: ['true'] });
    await clock.advance(1000);
    change(uid, { keepFiles: false });
    await clock.advance(1000);
    assert.equal(count(host, 'cancel'), 0);
    if (isDeleted) store.change(uid, { deleting: true });
    else change(uid, { cancel: true });
    await clock.advance(60_000);
    if (isDeleted) assert.equal(store.has(uid), false);
    else assert.equal(store.phase(uid), 'Canceled');
    assert.equal(host.folders.size, 0);
    await end();
    assert.equal(clock.pending, 0);
  }
});

it('an interruption that failed is tried again with the next change', async () => {
  const { host, store, clock, change, log, end } = begin();
  buildsForEver(host);
  const uid = store.add('one', { build: ['make'], run: ['true'] });
  await clock.advance(1000);
  let refusals = 1;
  host.meets = (request) => (request === 'cancel' && refusals-- > 0 ? 'refused' : undefined);
  change(uid, { cancel: true });
  await clock.advance(1000);
  assert.deepEqual(log.of('warn')[0]?.fields, { job: 'one', why: 'the host refuses it' });
  assert.notEqual(store.phase(uid), 'Canceled');
  change(uid, { cancel: true, keepFiles: true });
  await clock.advance(60_000);
  assert.equal(store.phase(uid), 'Canceled');
  await end();
});

it('a step that fails is tried again after a second, then after twice as long each time, at most a minute', async () => {
  const { host, store, clock, says, log, end } = begin();
  host.meets = (request) => (request === 'prepare' ? 'refused' : undefined);
  const uid = store.add('one', { run: ['true'] });
  const times: number[] = [];
  for (let ms = 0; ms < 300_000; ms += 500) {
    const before = count(host, 'prepare');
    await clock.advance(500);
    if (count(host, 'prepare') > before) times.push(clock.monotonic() / 1000);
  }
  assert.deepEqual(times, [0.5, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  assert.equal(says(uid, 'Uploaded'), 'False TryingAgain');
  assert.deepEqual(log.of('warn')[0]?.fields, {
    ...{ job: 'default/one', step: 'prepare', why: 'the host refuses it', againInMs: 1000 },
  });
  // A change of the job is no reason to wait, and the pauses begin anew after a step that was done.
  host.meets = (request) => (request === 'folders' ? 'refused' : undefined);
  store.change(uid, { spec: { ...store.get(uid).spec } });
  await clock.advance(500);
  assert.equal(count(host, 'folders'), 1);
  await clock.advance(500);
  assert.equal(count(host, 'folders'), 2);
  await end();
  assert.equal(clock.pending, 0);
});

it('a step that loses its connection is taken again as soon as there is another', async () => {
  const { host, store, clock, end } = begin();
  let losses = 1;
  host.meets = (request) => (request === 'prepare' && losses-- > 0 ? 'lost' : undefined);
  const uid = store.add('one', { run: ['true'] });
  await clock.advance(100);
  assert.equal(count(host, 'prepare'), 2);
  assert.notEqual(store.status(uid)?.workDir, undefined);
  await end();
});

it('each job that has not ended is told how the host is, also one that comes later', async () => {
  const { host, store, clock, says, end } = begin();
  const over = store.add('over', { run: ['true'] });
  await clock.advance(60_000);
  assert.deepEqual([store.phase(over), says(over, 'Connected')], ['Succeeded', 'True Connected']);
  const written = store.history.get(over)?.length;
  buildsForEver(host);
  const one = store.add('one', { build: ['make'], run: ['true'] });
  await clock.advance(1000);
  assert.equal(says(one, 'Connected'), 'True Connected');
  host.refuses = () => new ConnectionError('HostAway', 'it cannot be reached');
  host.cut();
  await clock.advance(1000);
  const late = store.add('late', { run: ['true'] });
  await clock.advance(1000);
  assert.deepEqual([says(one, 'Connected'), says(late, 'Connected')], ['False HostAway', 'False HostAway']);
  host.refuses = () => undefined;
  await clock.advance(60_000);
  assert.deepEqual([says(one, 'Connected'), says(late, 'Connected')], ['True Connected', 'True Connected']);
  assert.equal(store.history.get(over)?.length, written, 'one that has ended is not written');
  await end();
});

it('a job that has gone from the cluster is not worked for, and leaves no timer', async () => {
  const { host, store, clock, end } = begin();
  host.meets = (request) => (request === 'prepare' ? 'refused' : undefined);
  const uid = store.add('one', { run: ['true'], activeDeadlineSeconds: 3600 });
  await clock.advance(10_000);
  assert.ok(clock.pending > 0);
  await store.release(store.get(uid));
  const asked = host.asked.length;
  await clock.advance(7_200_000);
  assert.deepEqual([host.asked.length, clock.pending], [asked, 0]);
  await end();
});

it('a deadline that is over when the client begins ends the job, and one of a job that has ended waits no more', async () => {
  const { host, store, clock, says, end } = begin();
  const uid = store.add('one', { run: ['true'], activeDeadlineSeconds: 3600 });
  await clock.advance(60_000);
  assert.equal(store.phase(uid), 'Succeeded');
  assert.equal(clock.pending, 0);
  await clock.advance(3_600_000);
  assert.equal(store.phase(uid), 'Succeeded');
  const late = store.add('late', { run: ['true'], activeDeadlineSeconds: 0 });
  await clock.advance(60_000);
  assert.deepEqual([store.phase(late), says(late, 'Failed')], ['Failed', 'True DeadlineExceeded']);
  assert.deepEqual(host.submitted, [uid]);
  await end();
});
