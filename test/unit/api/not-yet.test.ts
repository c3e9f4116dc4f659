/** A client that creates an object of a kind without effect gets one warning. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registry } from '../../../src/features/kinds.ts';

const expected: Readonly<Record<string, string>> = {
  Ingress: 'nothing is routed by it',
};

for (const [kind, so] of Object.entries(expected))
  test(`${kind} reports that ${so}`, () => {
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
