/**
 * The end of a client: it is complete when none of its operations is in progress, and leaves nothing behind.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ConnectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { ConnectionError } from '../../../../../src/features/slurm/client/ssh.ts';
import type { FakeHost, ScriptName } from '../../../../fixtures/slurm/fake-host.ts';
import { countOf, hostWorld, runsForEver } from '../../../../fixtures/slurm/host-world.ts';

/**
 * Returns a function that opens connections whose answer to one script arrives after `held`, even if the
 * client has ended meanwhile.
 */
const deafFor = (name: ScriptName, held: Promise<void>) => (host: FakeHost) => {
  return async (settings: ConnectionSettings) => {
    const connection = await host.open(settings);
    const run: typeof connection.run = (script, signal) => {
      const answer = connection.run(script, signal);
      answer.catch(() => undefined);
      return host.asked.at(-1) === name ? held.then(() => answer) : answer;
    };
    return { ...connection, run };
  };
};

const isOver = async (promise: Promise<void>): Promise<boolean> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([
    promise.then(() => true),
    new Promise<false>((resolve) => setImmediate(resolve, false)),
  ]);
};

for (const name of ['prepare', 'look', 'cancel'] as const)
  it(`a client ends only after the answer to its script ${name}, and logs no failure of it`, async () => {
    const held = Promise.withResolvers<void>();
    const { host, store, clock, change, log, end } = hostWorld(deafFor(name, held.promise));
    if (name === 'look') runsForEver(host);
    if (name === 'cancel')
      host.answers = (script) => (script === 'build' ? new Promise(() => undefined) : undefined);
    const uid = store.add('one', { ...(name === 'cancel' ? { build: ['make'] } : {}), run: ['true'] });
    await clock.advance(1000);
    if (name === 'cancel') change(uid, { cancel: true });
    await clock.advance(1000);
    assert.equal(countOf(host, name), 1);
    const ended = end();
    assert.equal(await isOver(ended), false);
    held.resolve();
    await ended;
    assert.deepEqual([clock.pending, host.connections, log.of('warn')], [0, 0, []]);
  });

it('a client has ended only after the state of its host is written', async () => {
  const { host, store, clock, end } = hostWorld();
  host.answers = (script) => (script === 'build' ? new Promise(() => undefined) : undefined);
  store.add('one', { build: ['make'], run: ['true'] });
  await clock.advance(1000);
  const held = Promise.withResolvers<void>();
  const write = store.writeStatus.bind(store);
  let writes = 0;
  store.writeStatus = async (...given) => {
    writes++;
    await held.promise;
    return write(...given);
  };
  host.refuses = () => new ConnectionError('HostAway', 'it cannot be reached');
  host.cut();
  await clock.advance(100);
  assert.ok(writes > 0);
  const ended = end();
  assert.equal(await isOver(ended), false);
  held.resolve();
  await ended;
  assert.equal(clock.pending, 0);
});

it('a client that has ended has no timer, and starts no later job', async () => {
  const { host, store, clock, end } = hostWorld();
  runsForEver(host);
  store.add('one', { run: ['sleep 1d'], activeDeadlineSeconds: 3600 });
  await clock.advance(5000);
  await end();
  assert.equal(clock.pending, 0);
  const asked = host.asked.length;
  store.add('late', { run: ['true'], activeDeadlineSeconds: 3600 });
  await clock.advance(60_000);
  assert.deepEqual([clock.pending, host.asked.length], [0, asked]);
});
