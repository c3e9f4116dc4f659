import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureIn, statusNames } from '../../../src/grpc/status.ts';

test('an answer is a success only with grpc-status 0, for any HTTP status', () => {
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
  // None of these texts is the status 0, which means success.
  [{ 'grpc-status': '' }, '2 UNKNOWN: '],
  [{ 'grpc-status': '00' }, '2 UNKNOWN: '],
  [{ 'grpc-status': '0x5' }, '2 UNKNOWN: '],
  [{ 'grpc-status': ' 5' }, '2 UNKNOWN: '],
  [{ 'grpc-status': '5.0' }, '2 UNKNOWN: '],
  [{ 'grpc-status': ['0', '5'] }, '2 UNKNOWN: '],
  [{ 'grpc-status': '17' }, '2 UNKNOWN: '],
  [{ ':status': 200 }, '2 UNKNOWN: the answer has no status'],
  [{}, '2 UNKNOWN: the answer has no status'],
  [{ ':status': 503 }, '14 UNAVAILABLE: answered with HTTP status 503'],
  [{ ':status': 401 }, '16 UNAUTHENTICATED: answered with HTTP status 401'],
  [{ ':status': 400 }, '13 INTERNAL: answered with HTTP status 400'],
  [{ ':status': 403 }, '7 PERMISSION_DENIED: answered with HTTP status 403'],
  [{ ':status': 404 }, '12 UNIMPLEMENTED: answered with HTTP status 404'],
  [{ ':status': 429 }, '14 UNAVAILABLE: answered with HTTP status 429'],
  [{ ':status': 502 }, '14 UNAVAILABLE: answered with HTTP status 502'],
  [{ ':status': 504 }, '14 UNAVAILABLE: answered with HTTP status 504'],
  [{ ':status': 'no' }, '2 UNKNOWN: the answer has no status'],
  [{ ':status': 418 }, '2 UNKNOWN: answered with HTTP status 418'],
] as const) {
  test(`${JSON.stringify(headers)} is ${message}`, () => {
    const failure = failureIn(headers);
    assert.equal(failure?.message, message);
    assert.equal(failure?.status, message.split(/[ :]/)[1]);
  });
}

// https://github.com/grpc/grpc/blob/master/doc/statuscodes.md
test('every code from 1 to 16 has the name of the specification', () => {
  const names = statusNames.map((_, code) => failureIn({ 'grpc-status': `${code}` })?.status);
  const [, ...expected] = statusNames;
  assert.deepEqual(names, [undefined, ...expected]);
  assert.equal(statusNames.length, 17);
  for (const [code, name] of [
    [1, 'CANCELLED'],
    [4, 'DEADLINE_EXCEEDED'],
    [8, 'RESOURCE_EXHAUSTED'],
    [11, 'OUT_OF_RANGE'],
    [16, 'UNAUTHENTICATED'],
  ] as const)
    assert.equal(names[code], name);
});
