/** Answers as bytes: their headers and their bodies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newNotFound, newStatusError } from '../../../src/apimachinery/status-error.ts';
import { respondJson, respondStatus, respondText, warningHeader } from '../../../src/apiserver/respond.ts';

for (const [title, value, body] of [
  ['an object', { a: 'ü' }, '{"a":"ü"}'],
  ['a text that is JSON already', '{"a":1}', '{"a":1}'],
  ['bytes', Buffer.from('{"a":1}'), '{"a":1}'],
] as const)
  test(`${title} is sent as JSON`, async () => {
    const answer = respondJson(201, value, { 'audit-id': '7', 'content-type': 'text/html' });
    assert.deepEqual([answer.status, await answer.text()], [201, body]);
    assert.deepEqual(
      [...answer.headers],
      [
        ['audit-id', '7'],
        ['content-type', 'application/json'],
      ],
    );
  });

test('text is sent as text', async () => {
  const answer = respondText(403, 'no', { 'audit-id': '7' });
  assert.deepEqual([answer.status, await answer.text()], [403, 'no']);
  assert.deepEqual(
    [...answer.headers],
    [
      ['audit-id', '7'],
      ['content-type', 'text/plain; charset=utf-8'],
    ],
  );
});

test('a Status has its code, and a Retry-After if one is given', () => {
  const { status } = newNotFound({ group: '', plural: 'pods' }, 'x');
  const answer = respondStatus(status, { 'audit-id': '7' });
  assert.deepEqual(
    [answer.status, answer.headers.get('audit-id'), answer.headers.get('retry-after')],
    [404, '7', null],
  );
  const { status: now } = newStatusError('Timeout', 'x', { retryAfterSeconds: 0 });
  assert.equal(respondStatus(now).headers.get('retry-after'), '0');
});

test('warnings are complete up to 4,096 characters, and are truncated beyond', () => {
  const sent = (warnings: string[]) => warningHeader(warnings).warning?.split(', ') ?? [];
  assert.deepEqual(sent(['x'.repeat(4096)]), [`299 - "${'x'.repeat(4096)}"`]);
  assert.deepEqual(sent(['x'.repeat(4097)]), [`299 - "${'x'.repeat(256)}"`]);
  assert.equal(sent(Array.from({ length: 5000 }, () => 'x')).length, 4096);
});
