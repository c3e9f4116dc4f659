/** `ctl workflow`: dry runs, the end of a run, and its history. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Verb } from '../../../../../src/cli/verb.ts';
import { workflows } from '../../../../../src/features/workflows/ctl/workflow.ts';
import { startVerbWorld, type VerbWorld } from '../../../../fixtures/verb-world.ts';

const group = '/apis/minik8s.io/v1/namespaces/default';
const merge = 'application/merge-patch+json';
const verb = (name: string): Verb => workflows.verbs[name] ?? assert.fail(`there is no verb ${name}`);
const definition = { StartAt: 'A', States: { A: { Type: 'Pass', End: true } } };

describe('ctl workflow', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    await world.send('POST', `${group}/workflows`, {
      ...{ apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata: { name: 'order' } },
      spec: { definition, serviceAccountName: 'robot' },
    });
  });
  after(() => world.stop());

  const runNamed = async (name: string, status: object) => {
    const made = await world.send('POST', `${group}/workflowruns`, {
      ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata: { name } },
      spec: { workflow: 'order', input: {} },
    });
    await world.send('PATCH', `${group}/workflowruns/${name}/status`, { status }, merge);
    return (made.metadata as { uid: string }).uid;
  };

  it('update prints in a dry run by the client the object with the fields that stay', async () => {
    const changed = JSON.stringify({ ...definition, Comment: 'changed' });
    const { status, out } = await world.run(
      verb('update'),
      ['order', '--definition=-', '--dry-run=client', '-o', 'json'],
      { stdin: changed },
    );
    assert.equal(status, 0);
    const { spec } = JSON.parse(out) as { spec: { definition: object; serviceAccountName: string } };
    assert.deepEqual([spec.definition, spec.serviceAccountName], [JSON.parse(changed), 'robot']);
    const stored = await world.send('GET', `${group}/workflows/order`);
    assert.deepEqual((stored.spec as { definition: object }).definition, definition);
  });

  it('wait prints the output of a run that has succeeded, and fails for any other end', async () => {
    await runNamed('good', { phase: 'Succeeded', output: { a: 1 } });
    await runNamed('bad', { phase: 'Failed', error: 'Pay.Refused', cause: 'no money' });
    const good = await world.run(verb('wait'), ['good']);
    assert.deepEqual([good.status, JSON.parse(good.out)], [0, { a: 1 }]);
    const bad = await world.run(verb('wait'), ['bad']);
    assert.deepEqual(
      [bad.status, bad.out, bad.err],
      [1, '', 'error: workflowrun/bad has failed: Pay.Refused: no money\n'],
    );
  });

  it('wait fails once --wait-timeout is over, and stop refuses a run that has ended', async () => {
    await runNamed('slow', { phase: 'Running' });
    const late = await world.run(verb('wait'), ['slow', '--wait-timeout=5s']);
    assert.equal(late.status, 1);
    assert.match(late.err, /has not ended within the timeout; it continues/);
    const ended = await world.run(verb('stop'), ['good']);
    assert.deepEqual([ended.status, ended.requests.filter((one) => one.startsWith('PATCH'))], [1, []]);
  });

  it('history prints the entries of this run alone, the moved ones first, in order', async () => {
    const entry = (id: number, type: string) => ({ id, type, time: '2026-01-01T00:00:00Z' });
    const uid = await runNamed('told', {
      ...{ phase: 'Running', startTime: '2026-01-01T00:00:00Z', historyCount: 4 },
      history: [entry(4, 'RunSucceeded'), entry(3, 'StateExited')],
    });
    const chunk = (name: string, owner: string, entries: object[]) =>
      world.send('POST', `${group}/workflowhistories`, {
        ...{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowHistory' },
        metadata: {
          name,
          ownerReferences: [{ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', name: 'told', uid: owner }],
        },
        spec: { run: 'told', entries },
      });
    await chunk('told-1', uid, [entry(1, 'RunStarted'), entry(2, 'StateEntered')]);
    // A run of the same name that was deleted has left entries.
    await chunk('told-0', '00000000-0000-0000-0000-000000000000', [entry(9, 'RunFailed')]);
    const { status, out } = await world.run(verb('history'), ['told', '-o', 'json']);
    assert.equal(status, 0);
    const { entries } = JSON.parse(out) as { entries: { id: number }[] };
    assert.deepEqual(
      entries.map(({ id }) => id),
      [1, 2, 3, 4],
    );
  });
});
