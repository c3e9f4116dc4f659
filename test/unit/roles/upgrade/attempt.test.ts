import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpgradeOrder } from '../../../../src/api/core/v1/node/upgrade.ts';
import { attemptIn } from '../../../../src/roles/upgrade/attempt.ts';

const order: UpgradeOrder = { id: '7', version: '1.1.0', sha256: 'a'.repeat(64), timeoutSeconds: 60 };

test('the attempt of an upgrade is read as it was written', () => {
  const attempt = { id: '6', sha256: 'b', isOver: true };
  assert.deepEqual(attemptIn(`${JSON.stringify(attempt)}\n`, order), attempt);
  assert.deepEqual(attemptIn('{"id":"6","sha256":"b"}', order), { ...attempt, isOver: false });
});

test('a file of an earlier version, which has only the id of the order, is read', () => {
  assert.deepEqual(attemptIn('7\n', order), { id: '7', sha256: order.sha256, isOver: false });
  assert.equal(attemptIn('6\n', order), undefined);
  assert.equal(attemptIn('7\n', undefined), undefined);
});

test('a missing or truncated file counts as no attempt', () => {
  for (const text of ['', '\n', '{"id": "7", "sha', '{"id":"7"}', '{"id":7,"sha256":"b"}'])
    assert.equal(attemptIn(text, order), undefined, text);
});
