/**
 * Runs a whole client once for each request to the host or the cluster, and lets that request fail in each of
 * several ways. In every run, the job must be submitted once and end, and its results must be complete.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { replaceable } from '../../../../../src/base/current.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import type { ConnectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { runSlurmClient } from '../../../../../src/features/slurm/client/slurm-client.ts';
import { isFinished } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { ConnectionError } from '../../../../../src/features/slurm/client/ssh.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { FakeHost } from '../../../../fixtures/slurm/fake-host.ts';
import { MemoryStore } from '../../../../fixtures/slurm/memory-store.ts';

/**
 * Ways in which a request fails. `refused`: it is not carried out, and the connection stays open. `cut`: it
 * is not carried out, and the connection ends. `lost`: it is carried out, and its answer is lost. `last`: it
 * is answered, and then the connection ends. `killed`: as `lost`, and the client restarts.
 */
const manners = ['refused', 'cut', 'lost', 'last', 'killed'] as const;
type Manner = (typeof manners)[number];

const settings: ConnectionSettings = { host: 'h', port: 22, user: 'me', password: 'p', knownHosts: 'k' };
/** Virtual milliseconds of one turn, and the maximum for a whole job. */
const turnMs = 250;
const maxMs = 600_000;

async function scenario(of: 'host' | 'cluster', manner?: Manner, at = -1) {
  const [host, store, clock] = [new FakeHost(), new MemoryStore(), new FakeClock()];
  const connection = replaceable<ConnectionSettings | string>(settings);
  let [count, met, mayEnd] = [0, 0, false];
  const next = (): Manner | undefined => {
    if (count++ !== at) return undefined;
    met++;
    mayEnd = manner === 'killed';
    return manner;
  };
  let isAway = false;
  // The first attempt to reconnect fails.
  host.refuses = () => {
    const refused = isAway ? new ConnectionError('HostAway', 'it cannot be reached') : undefined;
    isAway = false;
    return refused;
  };
  if (of === 'host')
    host.meets = () => {
      const own = next();
      isAway ||= own !== undefined && own !== 'refused';
      return own === 'killed' ? 'lost' : own;
    };
  else
    for (const name of ['writeStatus', 'appendFile', 'storedFiles', 'readFiles'] as const) {
      const carryOut = store[name].bind(store) as (...given: unknown[]) => Promise<unknown>;
      const unruly = async (...given: unknown[]) => {
        const own = next();
        if (own === 'refused' || own === 'cut') throw new Error('the cluster is away');
        const answer = await carryOut(...given);
        if (own && own !== 'last') throw new Error('the connection broke');
        return answer;
      };
      Object.assign(store, { [name]: unruly });
    }
  const begin = () => {
    const stop = new AbortController();
    const options = { store, connection, clock, log: silentLogger, signal: stop.signal, open: host.open };
    const running = runSlurmClient({ ...options, random: new SeededRandom(1) });
    return async () => {
      stop.abort();
      await running;
    };
  };
  let end = begin();
  const spec = { build: ['make'], run: ['cat made', 'echo no >&2'], results: ['made'] };
  const uid = store.add('one', spec, { 'in/source': 'text\n' });
  for (const from = clock.now(); !isFinished(store.status(uid)); ) {
    assert.ok(clock.now() - from < maxMs, `it does not end: ${JSON.stringify(store.status(uid))}`);
    await clock.advance(turnMs);
    if (!mayEnd) continue;
    mayEnd = false;
    await end();
    end = begin();
  }
  const status = store.status(uid);
  assert.deepEqual(
    [status?.phase, status?.jobID, status?.exitCode, status?.files, status?.droppedFiles],
    ['Succeeded', '101', 0, [{ path: 'made', size: 5 }], undefined],
  );
  assert.deepEqual(host.submitted, [uid], 'it is submitted once');
  assert.deepEqual(
    ['stdout', 'stderr', 'made'].map((path) => store.text(uid, path)),
    ['text\n', 'no\n', 'text\n'],
  );
  assert.deepEqual(
    // If the host is unreachable when a job ends, the condition Connected stays False: an ended job gets no
    // update.
    status?.conditions?.filter(
      (one) => one.status !== 'True' && !(manner === 'last' && one.type === 'Connected'),
    ),
    [],
  );
  assert.equal(host.folders.size, 0, 'its folder is gone');
  const asked = host.asked.length;
  await clock.advance(60_000);
  assert.equal(host.asked.length, asked, 'nothing is asked for a job that has ended');
  await end();
  assert.equal(host.connections, 0);
  assert.equal(clock.pending, 0, 'no timer is left');
  return { count, met };
}

for (const side of ['host', 'cluster'] as const)
  it(`a job is submitted once and its results are complete if any request to the ${side} fails`, async () => {
    const { count } = await scenario(side);
    assert.ok(count > 8, `${count} requests`);
    for (const manner of manners)
      for (let at = 0; at < count; at++)
        try {
          const { met } = await scenario(side, manner, at);
          assert.equal(met, 1);
        } catch (error) {
          throw new Error(`request ${at} of ${count}: ${manner}`, { cause: error });
        }
  });
