/**
 * Events of triggers on a real control plane: delivered at least once, retried, dead-lettered, and replayed.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import { triggerEventResource } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { World } from './world.ts';

const invoke = (name: string) => `/apis/minik8s.io/v1/namespaces/default/triggers/${name}/invoke`;

describe('an event of a trigger', () => {
  const world = new World('127.0.30');
  before(() => world.start());
  after(() => world.end());

  it('is delivered to the function with an id, its cause and the input, and is then deleted', async () => {
    const seen = await world.noting('taker');
    await world.trigger('t-http', { target: { name: 'taker' }, http: { path: '/orders' }, input: { a: 1 } });
    const answer = await world.call('POST', `${invoke('t-http')}?x=1`, { n: 2 });
    assert.equal(answer.status, 202, answer.text);
    const { id } = JSON.parse(answer.text);
    const event = await world.eventually('it is delivered', () => seen[0]);
    assert.equal(event.id, id);
    assert.equal(event.headers['function-call-id'], id);
    assert.deepEqual(
      [event.type, event.source, event.trigger, event.input],
      ['minik8s.io/http.request', '/namespaces/default/triggers/t-http', 't-http', { a: 1 }],
    );
    const { method, query, body } = event.data as Record<string, unknown>;
    assert.deepEqual([method, query, body], ['POST', { x: '1' }, { n: 2 }]);
    await world.eventually('the event is gone', async () => (await world.events()).length === 0);
    await world.eventually('it is counted', async () => (await world.status('t-http'))?.delivered === 1);
    assert.equal((await world.condition('t-http', 'Ready'))?.status, 'True');
    assert.equal(seen.length, 1);
  });

  it('is tried again after failures, with the same id', async () => {
    const seen = await world.noting('second', (count) => (count === 1 ? 500 : 200));
    await world.trigger('t-second', { target: { name: 'second' }, http: { path: '/second' } });
    await world.call('POST', invoke('t-second'), {});
    await world.eventually(
      'it is delivered',
      async () => seen.length === 2 && (await world.events()).length === 0,
    );
    assert.equal(seen[0]?.id, seen[1]?.id);
  });

  it('becomes a dead letter after its last attempt, and is delivered when it is replayed by a patch', async () => {
    let status = 503;
    const seen = await world.noting('broken', () => status);
    await world.trigger('t-dead', {
      target: { name: 'broken' },
      http: { path: '/dead' },
      retry: { maxAttempts: 2, minSeconds: 1, maxSeconds: 1 },
    });
    await world.call('POST', invoke('t-dead'), { n: 1 });
    const dead = await world.eventually('it is given up', async () =>
      (await world.events('t-dead')).find((event) => event.status?.phase === 'Failed'),
    );
    assert.deepEqual([dead.status?.attempts, dead.status?.lastStatus, seen.length], [2, 503, 2]);
    assert.match(dead.status?.lastError ?? '', /answered 503/);
    await world.eventually('it is counted', async () => {
      const now = await world.status('t-dead');
      return now?.failed === 1 && now.deadLetters === 1;
    });
    status = 200;
    await world.client
      .resource(triggerEventResource)
      .patch(dead.metadata.name, 'default', 'merge', { spec: { replays: 1 } });
    await world.eventually('it is delivered', async () => (await world.events('t-dead')).length === 0);
    assert.deepEqual([seen.length, seen[2]?.id], [3, dead.spec.id]);
  });

  it('becomes a dead letter at once if its function does not exist, and the trigger reports that', async () => {
    await world.trigger('t-none', { target: { name: 'nobody' }, http: { path: '/none' } });
    await world.call('POST', invoke('t-none'), {});
    const dead = await world.eventually('it is given up', async () =>
      (await world.events('t-none')).find((event) => event.status?.phase === 'Failed'),
    );
    assert.deepEqual([dead.status?.attempts, dead.status?.lastStatus], [1, 404]);
    const ready = await world.eventually('it is said', async () => {
      const condition = await world.condition('t-none', 'Ready');
      return condition?.status === 'False' && condition;
    });
    assert.equal(ready.reason, 'TargetMissing');
    assert.match(ready.message ?? '', /no function "nobody"/);
  });

  it('is removed and counted if it is the oldest dead letter beyond the limit', async () => {
    await world.noting('never', () => 500);
    await world.trigger('t-limit', {
      target: { name: 'never' },
      http: { path: '/limit' },
      retry: { maxAttempts: 1 },
      deadLetters: { limit: 2 },
    });
    for (let n = 0; n < 4; n++) await world.call('POST', invoke('t-limit'), { n });
    await world.eventually('two are kept', async () => {
      const [events, status] = [await world.events('t-limit'), await world.status('t-limit')];
      return (
        events.length === 2 && status?.failed === 4 && status.discarded === 2 && status.deadLetters === 2
      );
    });
  });

  it('becomes a run of a workflow, named like the event', async () => {
    const metadata = { name: 'flow', namespace: 'default' };
    const spec = { definition: { StartAt: 'A', States: { A: { Type: 'Pass', End: true } } } };
    await world.trigger('t-flow', {
      target: { kind: 'Workflow', name: 'flow' },
      http: { path: '/flow' },
      input: 7,
    });
    await world.eventually('the missing object is reported', async () => {
      const ready = await world.condition('t-flow', 'Ready');
      return ready?.reason === 'TargetMissing' && /no workflow "flow"/.test(ready.message ?? '');
    });
    const made = await world.call('POST', '/apis/minik8s.io/v1/namespaces/default/workflows', {
      metadata,
      spec,
    });
    assert.equal(made.status, 201, made.text);
    await world.eventually(
      'the run exists',
      async () => (await world.condition('t-flow', 'Ready'))?.status === 'True',
    );
    const { id, event } = JSON.parse((await world.call('POST', invoke('t-flow'), { n: 1 })).text);
    const run = await world.eventually('it is run', async () => {
      const { items } = await world.client.resource(workflowRunResource).list({ namespace: 'default' });
      return items[0];
    });
    assert.deepEqual([run.metadata.name, run.spec.workflow], [event, 'flow']);
    const input = run.spec.input as { id: string; input: number; data: { body: unknown } };
    assert.deepEqual([input.id, input.input, input.data.body], [id, 7, { n: 1 }]);
    await world.eventually('the event is gone', async () => (await world.events('t-flow')).length === 0);
  });

  it('is not accepted by a trigger that is being deleted', async () => {
    await world.trigger('t-leaving', { target: { name: 'nobody' }, http: { path: '/leaving' } });
    const triggers = world.client.resource(triggerResource);
    await triggers.patch('t-leaving', 'default', 'merge', { metadata: { finalizers: ['test.io/held'] } });
    await triggers.delete('t-leaving', 'default');
    assert.equal((await world.call('POST', invoke('t-leaving'), {})).status, 404);
    await triggers.patch('t-leaving', 'default', 'merge', { metadata: { finalizers: [] } });
  });

  it('is deleted with its trigger', async () => {
    await world.noting('failing', () => 500);
    await world.trigger('t-gone', { target: { name: 'failing' }, http: { path: '/gone' } });
    await world.call('POST', invoke('t-gone'), {});
    await world.eventually('it is stored', async () => (await world.events('t-gone')).length === 1);
    await world.call('DELETE', '/apis/minik8s.io/v1/namespaces/default/triggers/t-gone');
    await world.eventually('it is gone', async () => (await world.events('t-gone')).length === 0);
  });

  it('is delivered after a restart of the master, with the id that the sender got', async () => {
    let isUp = false;
    const seen = await world.noting('later', () => (isUp ? 200 : 500));
    await world.trigger('t-restart', {
      target: { name: 'later' },
      http: { path: '/restart' },
      retry: { maxAttempts: 50, minSeconds: 1, maxSeconds: 1 },
    });
    const { id } = JSON.parse((await world.call('POST', invoke('t-restart'), {})).text);
    await world.eventually('it was tried', () => seen.length > 0);
    await world.halt();
    isUp = true;
    const before = seen.length;
    await world.start();
    await world.eventually('it is delivered', async () => (await world.events('t-restart')).length === 0);
    assert.deepEqual(
      seen.slice(before).map((event) => event.id),
      [id],
    );
  });
});
