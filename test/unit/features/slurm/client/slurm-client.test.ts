/** Jobs that are added, changed, late or deleted while a client runs, on a host without a shell. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConnectionError } from '../../../../../src/features/slurm/client/ssh.ts';
import { buildsForEver, countOf, hostWorld } from '../../../../fixtures/slurm/host-world.ts';

it('a job that exceeds its deadline during the build is ended exactly at the deadline', async () => {
  const { host, store, clock, says, end } = hostWorld();
  buildsForEver(host);
  const uid = store.add('late', { build: ['make'], run: ['true'], activeDeadlineSeconds: 60 });
  await clock.advance(59_999);
  assert.deepEqual([countOf(host, 'build'), countOf(host, 'cancel')], [1, 0]);
  await clock.advance(51);
  assert.equal(countOf(host, 'cancel'), 2, 'the clock may reach its time slightly after the timer');
  await clock.advance(60_000);
  assert.deepEqual([store.phase(uid), says(uid, 'Failed')], ['Failed', 'True DeadlineExceeded']);
  assert.deepEqual([host.submitted, host.folders.size], [[], 0]);
  await end();
  assert.equal(clock.pending, 0);
});

it('a build is interrupted once for a job that is canceled or deleted, and for no other change', async () => {
  for (const isDeleted of [false, true]) {
    const { host, store, clock, change, end } = hostWorld();
    buildsForEver(host);
    const uid = store.add('one', { build: ['make'], run: ['true'] });
    await clock.advance(1000);
    change(uid, { keepFiles: false });
    await clock.advance(1000);
    assert.equal(countOf(host, 'cancel'), 0);
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
  const { host, store, clock, change, log, end } = hostWorld();
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
  const { host, store, clock, says, log, end } = hostWorld();
  host.meets = (request) => (request === 'prepare' ? 'refused' : undefined);
  const uid = store.add('one', { run: ['true'] });
  const times: number[] = [];
  for (let ms = 0; ms < 300_000; ms += 500) {
    const before = countOf(host, 'prepare');
    await clock.advance(500);
    if (countOf(host, 'prepare') > before) times.push(clock.monotonic() / 1000);
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
  assert.equal(countOf(host, 'folders'), 1);
  await clock.advance(500);
  assert.equal(countOf(host, 'folders'), 2);
  await end();
  assert.equal(clock.pending, 0);
});

it('a step that loses its connection is repeated when there is another connection', async () => {
  const { host, store, clock, end } = hostWorld();
  let losses = 1;
  host.meets = (request) => (request === 'prepare' && losses-- > 0 ? 'lost' : undefined);
  const uid = store.add('one', { run: ['true'] });
  await clock.advance(100);
  assert.equal(countOf(host, 'prepare'), 2);
  assert.notEqual(store.status(uid)?.workDir, undefined);
  await end();
});

it('each unfinished job has the state of the connection, also a job that is added later', async () => {
  const { host, store, clock, says, end } = hostWorld();
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

it('a job that was deleted from the cluster is not continued, and leaves no timer', async () => {
  const { host, store, clock, end } = hostWorld();
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

it('a deadline that has passed before the client starts ends the job; the deadline of an ended job is ignored', async () => {
  const { host, store, clock, says, end } = hostWorld();
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
