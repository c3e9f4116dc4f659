/** Whoever creates what nothing acts on yet is told so, once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registry } from '../../../src/api/registry.ts';

test('PriorityClass says that its pods take the place of no others, where they should', () => {
  const strategy = registry.find(({ kind }) => kind === 'PriorityClass')?.strategy;
  const told = (now: string, before?: string) =>
    strategy?.warnings?.(
      { kind: 'PriorityClass', preemptionPolicy: now } as never,
      before === undefined ? undefined : ({ preemptionPolicy: before } as never),
    );
  const warning =
    'PriorityClass is enforced in part: its pods are given nodes before others, and take the place of none yet';
  assert.deepEqual(told('PreemptLowerPriority'), [warning]);
  assert.deepEqual(told('PreemptLowerPriority', 'PreemptLowerPriority'), []);
  assert.deepEqual(told('Never'), []);
});

const expected: Readonly<Record<string, string>> = {
  DaemonSet: 'no pods are made',
  StatefulSet: 'no pods are made',
  ReplicationController: 'no pods are made',
  Job: 'no pods are made',
  CronJob: 'nothing runs by it',
  HorizontalPodAutoscaler: 'nothing is scaled by it',
  Ingress: 'nothing is routed by it',
  PersistentVolumeClaim: 'no volume is bound to it',
};

for (const [kind, so] of Object.entries(expected))
  test(`${kind} says that ${so}`, () => {
    const found = registry.filter((one) => one.kind === kind);
    assert.ok(found.length > 0);
    for (const { strategy } of found) {
      const object = { kind, metadata: { name: 'a' }, spec: { resources: {} } } as never;
      assert.deepEqual(strategy.warnings?.(object, undefined), [
        `${kind} is stored and not acted on yet: ${so}`,
      ]);
      assert.deepEqual(strategy.warnings?.(object, object), []);
    }
  });
