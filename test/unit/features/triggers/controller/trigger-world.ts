/** Triggers, their events, and a trigger controller whose function calls the test answers. */
import assert from 'node:assert/strict';
import { serviceAccountResource } from '../../../../../src/api/core/v1/service-account/service-account.ts';
import type { ServiceAccount } from '../../../../../src/api/core/v1/types.gen.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import { type Trigger, triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import type { TriggerEvent } from '../../../../../src/features/triggers/api/trigger-event.ts';
import type { FunctionCall } from '../../../../../src/features/triggers/controller/targets.ts';
import { triggerController, triggerRights } from '../../../../../src/features/triggers/controller/trigger.ts';
import { meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

export const key = 'default/t';
const spec = {
  ...{ target: { kind: 'Function', name: 'f' }, retry: { maxAttempts: 3, minSeconds: 1, maxSeconds: 2 } },
  ...{ deadLetters: { limit: 2 }, serviceAccountName: 'default', suspend: false },
};
export const trigger = (more: object, over: object = {}, name = 't'): Trigger =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Trigger', metadata: meta(name, over) },
    spec: { ...spec, ...more },
  }) as unknown as Trigger;
export const event = (name: string, owner = 'uid-t'): TriggerEvent =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'TriggerEvent' },
    metadata: meta(name, { ownerReferences: [{ uid: owner, controller: true } as never] }),
    spec: { trigger: 't', id: name, depth: 0, replays: 0 },
  }) as unknown as TriggerEvent;

/** `watches`: the open watches of objects, as ACCOUNT from VERSION. */
export function world() {
  const calls: FunctionCall[] = [];
  const watches = new Set<string>();
  const clientOf = (_: string, account: string) => {
    async function* watch({ resourceVersion, signal }: { resourceVersion: string; signal: AbortSignal }) {
      const name = `${account} from ${resourceVersion}`;
      watches.add(name);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      watches.delete(name);
      yield* [];
    }
    return { resource: () => ({ watch }) } as unknown as Client;
  };
  const answer = { status: 200, text: '' };
  const server = new ScriptedWorld(
    triggerController({
      callFunction: async (call) => {
        calls.push(call);
        return answer;
      },
      clientOf,
    }),
    0,
    [triggerRights],
  );
  server.put(functionResource, { kind: 'Function', metadata: meta('f'), spec: {} } as unknown as Fn);
  for (const name of ['default', 'other'])
    server.put(serviceAccountResource, { kind: 'ServiceAccount', metadata: meta(name) } as ServiceAccount);
  const look = async () => {
    const result = await server.reconcile(key);
    await server.clock.settle();
    return result;
  };
  const put = async (one: Trigger) => {
    server.put(triggerResource, one);
    await look();
    server.sync(triggerResource);
    return server.stored(triggerResource, key) ?? assert.fail();
  };
  return { server, calls, watches, look, put, answer };
}
