/**
 * A job where each request to the host, and each write to the cluster, in turn fails, loses its answer, or is
 * the last of its client: the job is submitted once, ends, and comes back whole.
 */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { isFinished } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { clientWorld } from '../../../../fixtures/slurm/client-world.ts';

/** `cut`: the request is not carried out; `lost`: it is; `killed`: it is, and its client has ended. */
const manners = ['cut', 'lost', 'killed'] as const;
type Manner = (typeof manners)[number];

/** Runs a job repeatedly in one world: each time another of its requests meets something. */
async function atEachRequest(context: TestContext, of: 'host' | 'cluster'): Promise<void> {
  const { store, server, model, lines, folders, sees, start, end } = await clientWorld(context);
  model('runs');
  let [count, at, isDead]: [number, number, boolean] = [0, -1, false];
  let manner: Manner | undefined;
  const next = (): Manner | undefined => {
    if (count++ !== at) return undefined;
    isDead = manner === 'killed';
    return manner;
  };
  if (of === 'host')
    server.meets = (request) => {
      // A change of a mode is part of a write.
      const met = request === 'FSETSTAT' ? undefined : next();
      return met === 'killed' ? 'lost' : met;
    };
  else
    for (const name of ['writeStatus', 'appendFile', 'storedFiles', 'readFiles'] as const) {
      const carryOut = store[name].bind(store) as (...given: unknown[]) => Promise<unknown>;
      const unruly = async (...given: unknown[]) => {
        const met = next();
        if (met === 'cut') throw new Error('the cluster is away');
        const answer = await carryOut(...given);
        if (met) throw new Error('the connection broke');
        return answer;
      };
      Object.assign(store, { [name]: unruly });
    }
  const one = async () => {
    const submitted = lines('submitted').length;
    count = 0;
    const spec = { build: ['cat source >made'], run: ['cat made', 'echo no >&2'], results: ['made'] };
    const uid = store.add('one', spec, { source: 'text\n' });
    await sees('the job ends', async () => {
      if (isDead) {
        isDead = false;
        await end();
        start();
      }
      return isFinished(store.status(uid));
    });
    const { phase, jobID, exitCode, files, droppedFiles, conditions = [] } = store.status(uid) ?? {};
    assert.equal(phase, 'Succeeded', JSON.stringify(store.status(uid)));
    assert.equal(lines('submitted').length, submitted + 1, 'it is submitted once');
    assert.deepEqual([jobID, exitCode], [String(submitted + 101), 0]);
    assert.deepEqual([store.text(uid, 'stdout'), store.text(uid, 'stderr')], ['text\n', 'no\n']);
    assert.equal(store.text(uid, 'made'), 'text\n');
    assert.deepEqual([files, droppedFiles], [[{ path: 'made', size: 5 }], undefined]);
    assert.deepEqual(
      conditions.filter(({ status }) => status !== 'True'),
      [],
    );
    assert.deepEqual(folders(), []);
    return count;
  };
  const requests = await one();
  assert.ok(requests > 8, `${requests} requests`);
  for (manner of manners)
    for (at = 0; at < requests; at++)
      try {
        await one();
      } catch (error) {
        throw new Error(`request ${at} of ${requests} to the ${of}: ${manner}`, { cause: error });
      }
}

it('is submitted once and comes back whole, whatever becomes of a request to the host', (context) =>
  atEachRequest(context, 'host'));

it('is submitted once and comes back whole, whatever becomes of a request to the cluster', (context) =>
  atEachRequest(context, 'cluster'));
