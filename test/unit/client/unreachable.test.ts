import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translate } from '../../../src/client/https-transport.ts';

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

test('a request to a server that closes plain HTTP connections is not repeated, and its error names https://', () => {
  const error = translate(new URL('http://192.0.2.1:6443'), reset, false);
  assert.equal(error.failure, 'tls');
  assert.match(
    error.message,
    /the connection was lost; if the server speaks TLS, .* write https:\/\/192\.0\.2\.1:6443$/,
  );
});

test('a request on a lost TLS connection may be retried', () => {
  const error = translate(new URL('https://192.0.2.1:6443'), reset, false);
  assert.equal(error.failure, 'reset');
  assert.match(error.message, /the connection was lost$/);
});
