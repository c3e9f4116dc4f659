import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUpgradeOrder, parseUpgradeResult } from '../../../../../../src/api/core/v1/node/upgrade.ts';

const order = { id: '1', version: '1.1.0', sha256: 'a'.repeat(64), timeoutSeconds: 60 };

test('an order is read back as written', () => {
  assert.deepEqual(parseUpgradeOrder(JSON.stringify({ ...order, more: true })), order);
});

test('any other value is rejected as an order', () => {
  const wrong: readonly unknown[] = [
    null,
    [],
    'text',
    { ...order, id: '' },
    { ...order, version: 1 },
    { ...order, sha256: 'A'.repeat(64) },
    { ...order, sha256: `${'a'.repeat(64)}\n` },
    { ...order, timeoutSeconds: 0 },
    { ...order, timeoutSeconds: 3601 },
    { ...order, timeoutSeconds: '60' },
  ];
  for (const value of wrong) assert.equal(parseUpgradeOrder(JSON.stringify(value)), undefined);
  assert.equal(parseUpgradeOrder('{'), undefined);
  assert.equal(parseUpgradeOrder(undefined), undefined);
});

test('a result contains the order and the error', () => {
  assert.deepEqual(parseUpgradeResult('{"id":"1","error":"no disk","more":1}'), {
    id: '1',
    error: 'no disk',
  });
  for (const text of ['{"id":"1"}', '{"error":"no disk"}', 'null', '{'])
    assert.equal(parseUpgradeResult(text), undefined);
});
