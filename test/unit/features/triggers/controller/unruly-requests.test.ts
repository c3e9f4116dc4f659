/** Triggers while each request in turn is rejected, loses its answer, or is the last one of its process. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { serviceAccountResource } from '../../../../../src/api/core/v1/service-account/service-account.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import { folderWatchResource } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { type Trigger, triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import {
  type TriggerEvent,
  triggerEventResource,
} from '../../../../../src/features/triggers/api/trigger-event.ts';
import { triggerController } from '../../../../../src/features/triggers/controller/trigger.ts';
import { type Workflow, workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import {
  atEachRequest,
  type ScenarioOptions,
  type UnrulyWorld,
} from '../../../controllers/at-each-request.ts';
import { meta } from '../../../controllers/objects.ts';

const key = 'default/t';
const kinds = [
  ...[functionResource, workflowResource, serviceAccountResource, folderWatchResource],
  ...[triggerResource, triggerEventResource],
];
const trigger = (more: object, target: object = { kind: 'Function', name: 'f' }): Trigger =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Trigger', metadata: meta('t') },
    spec: {
      ...{ target, retry: { maxAttempts: 3, minSeconds: 1, maxSeconds: 2 }, deadLetters: { limit: 2 } },
      ...{ serviceAccountName: 'default', suspend: false, ...more },
    },
  }) as unknown as Trigger;
const event = (name: string): TriggerEvent =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'TriggerEvent' },
    metadata: meta(name, { ownerReferences: [{ uid: 'uid-t', controller: true } as never] }),
    spec: { trigger: 't', id: name, depth: 0, replays: 0 },
  }) as unknown as TriggerEvent;

/** A function that answers each call, and the calls of the current scenario. */
function scenario() {
  const calls: string[] = [];
  let status: (id: string) => number = () => 200;
  const options: ScenarioOptions = {
    ...{ keys: [key], kinds },
    factory: triggerController({
      callFunction: async ({ headers }) => {
        const id = headers['function-call-id'] ?? '';
        calls.push(id);
        return { status: status(id), text: '' };
      },
      clientOf: () => assert.fail('nothing is watched'),
    }),
  };
  const begin = ({ server }: UnrulyWorld, one: Trigger, answer: (id: string) => number = () => 200) => {
    calls.length = 0;
    status = answer;
    server.put(functionResource, { kind: 'Function', metadata: meta('f'), spec: {} } as unknown as Fn);
    server.put(workflowResource, { kind: 'Workflow', metadata: meta('w'), spec: {} } as unknown as Workflow);
    server.put(triggerResource, one);
  };
  return { calls, options, begin };
}

it('each event is delivered if any request fails, and only once if the master does not end', async () => {
  const { calls, options, begin } = scenario();
  await atEachRequest(options, async (world) => {
    const before = new Map<string, number>();
    begin(world, trigger({ http: { path: '/x' } }), (id) => {
      before.set(id, (before.get(id) ?? 0) + 1);
      return id === 'dead' || (id === 'late' && before.get(id) === 1) ? 503 : 200;
    });
    for (const name of ['quick', 'late', 'dead']) world.server.put(triggerEventResource, event(name));
    await world.settle();
    const left = world.server.all(triggerEventResource);
    assert.deepEqual(
      left.map(({ metadata, status }) => [metadata.name, status?.phase, status?.attempts]),
      [['dead', 'Failed', 3]],
    );
    const times = (name: string) => calls.filter((one) => one === name).length;
    const wanted = [1, 2, 3];
    const made = ['quick', 'late', 'dead'].map(times);
    if (!world.wasKilled) assert.deepEqual(made, wanted);
    // A process that ends between an answer and the write of its result calls again.
    assert.ok(made.every((count, i) => count >= (wanted[i] ?? 0) && count <= (wanted[i] ?? 0) + 1));
    const { delivered = 0, failed = 0 } = world.server.stored(triggerResource, key)?.status ?? {};
    if (!world.hasLost) assert.deepEqual([delivered, failed], [2, 1]);
  });
});

it('each scheduled time is reported and delivered once if any request fails', async () => {
  const { calls, options, begin } = scenario();
  await atEachRequest(options, async (world) => {
    begin(world, trigger({ cron: { schedule: '0 * * * *', concurrencyPolicy: 'Allow' } }));
    await world.settle();
    for (const hours of [1, 2]) {
      await world.pass(3_600_000);
      await world.settle();
      const { position } = world.server.stored(triggerResource, key)?.status ?? {};
      assert.equal(position?.lastScheduleTime, `2026-01-01T0${hours}:00:00Z`);
      assert.deepEqual(world.server.names(triggerEventResource), []);
      assert.equal(new Set(calls).size, hours);
      if (!world.wasKilled) assert.equal(calls.length, hours);
    }
  });
});

it('each event starts one run of a workflow if any request fails', async () => {
  const { options, begin } = scenario();
  await atEachRequest({ ...options, kinds: [...kinds, workflowRunResource] }, async (world) => {
    begin(world, trigger({ http: { path: '/x' } }, { kind: 'Workflow', name: 'w' }));
    for (const name of ['e1', 'e2']) world.server.put(triggerEventResource, event(name));
    await world.settle();
    assert.deepEqual(world.server.names(workflowRunResource), ['e1', 'e2']);
    assert.deepEqual(world.server.names(triggerEventResource), []);
  });
});
