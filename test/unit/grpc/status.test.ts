import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureIn } from '../../../src/grpc/status.ts';

test('an answer is a good one only when it says so', () => {
  assert.equal(failureIn({ 'grpc-status': '0' }), undefined);
  assert.equal(failureIn({ ':status': 503, 'grpc-status': '0' }), undefined);
});

for (const [headers, message] of [
  [{ 'grpc-status': '14', 'grpc-message': 'no leader' }, '14 UNAVAILABLE: no leader'],
  [{ 'grpc-status': '5' }, '5 NOT_FOUND: '],
  [{ 'grpc-status': '16', 'grpc-message': 'caf%C3%A9 %25' }, '16 UNAUTHENTICATED: café %'],
  [{ 'grpc-status': '13', 'grpc-message': '50 % gone' }, '13 INTERNAL: 50 % gone'],
  [{ 'grpc-status': '99', 'grpc-message': 'what' }, '2 UNKNOWN: what'],
  [{ 'grpc-status': '-1', 'grpc-message': 'what' }, '2 UNKNOWN: what'],
  [{ 'grpc-status': 'x' }, '2 UNKNOWN: '],
  [{ ':status': 200 }, '2 UNKNOWN: the answer has no status'],
  [{}, '2 UNKNOWN: the answer has no status'],
  [{ ':status': 503 }, '14 UNAVAILABLE: answered with HTTP status 503'],
  [{ ':status': 401 }, '16 UNAUTHENTICATED: answered with HTTP status 401'],
  [{ ':status': 418 }, '2 UNKNOWN: answered with HTTP status 418'],
] as const) {
  test(`${JSON.stringify(headers)} is ${message}`, () => {
    const failure = failureIn(headers);
    assert.equal(failure?.message, message);
    assert.equal(failure?.status, message.split(/[ :]/)[1]);
  });
}
