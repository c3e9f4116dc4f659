/** Jobs that run on a host: their changes and failures between two queries of the queue. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countOf, hostWorld, runsForEver } from '../../../../fixtures/slurm/host-world.ts';

it('a running job is canceled at its deadline, without a wait for the next query of the queue', async () => {
  const { host, store, clock, says, end } = hostWorld();
  runsForEver(host);
  const uid = store.add('one', { run: ['sleep 1d'], activeDeadlineSeconds: 25 });
  await clock.advance(20_000);
  const queries = countOf(host, 'queue');
  assert.equal(store.phase(uid), 'Running');
  await clock.advance(4999);
  assert.equal(countOf(host, 'cancel'), 0);
  await clock.advance(100);
  assert.deepEqual([countOf(host, 'cancel'), countOf(host, 'queue')], [1, queries]);
  await clock.advance(60_000);
  assert.deepEqual([store.phase(uid), says(uid, 'Failed')], ['Failed', 'True DeadlineExceeded']);
  await end();
});

it('a job that is canceled while its output is copied is canceled as soon as the copy is done', async () => {
  const { host, store, clock, change, end } = hostWorld();
  runsForEver(host);
  const uid = store.add('one', { run: ['sleep 1d'] });
  await clock.advance(1000);
  const copying = Promise.withResolvers<void>();
  const append = store.appendFile.bind(store);
  store.appendFile = async (...given) => {
    await copying.promise;
    return append(...given);
  };
  host.folders.get(`/w/${uid}`)?.set('.minik8s/stdout', Buffer.from('text\nmore\n'));
  await clock.advance(2500);
  const queries = countOf(host, 'queue');
  change(uid, { cancel: true });
  await clock.advance(1000);
  assert.equal(countOf(host, 'cancel'), 0, 'the copy is still under way');
  copying.resolve();
  await clock.advance(1000);
  assert.deepEqual([countOf(host, 'cancel'), countOf(host, 'queue')], [1, queries]);
  assert.equal(store.text(uid, 'stdout'), 'text\nmore\n');
  await end();
});

it('a job that is canceled during a step other than a build is canceled once, after the step', async () => {
  const { host, store, clock, change, end } = hostWorld();
  const prepared = Promise.withResolvers<undefined>();
  let isHeld = true;
  host.answers = (name) => {
    if (name !== 'prepare' || !isHeld) return undefined;
    isHeld = false;
    return prepared.promise.then(() => ({ code: 0, stdout: '/w/late\n', stderr: '' }));
  };
  const uid = store.add('one', { run: ['true'] });
  await clock.advance(1000);
  change(uid, { cancel: true });
  await clock.advance(1000);
  assert.deepEqual([countOf(host, 'prepare'), countOf(host, 'cancel')], [1, 0]);
  prepared.resolve(undefined);
  await clock.advance(60_000);
  assert.deepEqual([store.phase(uid), countOf(host, 'cancel')], ['Canceled', 1]);
  assert.deepEqual(host.submitted, []);
  await end();
});

it('a build is interrupted once, even if its job changes again before the host has answered', async () => {
  const { host, store, clock, change, end } = hostWorld();
  host.answers = (name) => (name === 'build' || name === 'cancel' ? new Promise(() => undefined) : undefined);
  const uid = store.add('one', { build: ['make'], run: ['true'] });
  await clock.advance(1000);
  change(uid, { cancel: true });
  await clock.advance(1000);
  change(uid, { cancel: true, keepFiles: true });
  await clock.advance(1000);
  assert.equal(countOf(host, 'cancel'), 1);
  await end();
});

it('output that could not be stored is stored a second later, also after failures that are long over', async () => {
  const { host, store, clock, end } = hostWorld();
  runsForEver(host);
  const uid = store.add('one', { run: ['sleep 1d'] });
  await clock.advance(20_000);
  const grows = (text: string) => host.folders.get(`/w/${uid}`)?.set('.minik8s/stdout', Buffer.from(text));
  const times: number[] = [];
  let refusals = 3;
  store.onAppend = () => {
    times.push(clock.monotonic());
    if (refusals-- > 0) throw new Error('the store is away');
  };
  grows('text\nmore\n');
  await clock.advance(120_000);
  assert.equal(store.text(uid, 'stdout'), 'text\nmore\n');
  refusals = 1;
  times.length = 0;
  grows('text\nmore\nlast\n');
  await clock.advance(10_000);
  assert.equal((times[1] ?? 0) - (times[0] ?? 0), 1000);
  assert.equal(store.text(uid, 'stdout'), 'text\nmore\nlast\n');
  await end();
});
