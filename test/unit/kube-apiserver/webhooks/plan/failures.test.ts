import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  connectionFailure,
  statusFailure,
} from '../../../../../src/kube-apiserver/webhooks/plan/failures.ts';

test('failed connections have the words of Go', () => {
  const of = (code: string, message: string, more: object = {}) =>
    connectionFailure(Object.assign(new Error(message), { code, ...more }));
  assert.equal(
    of('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'),
    'dial tcp 127.0.0.1:1: connect: connection refused',
  );
  assert.equal(
    of('ENOTFOUND', 'getaddrinfo ENOTFOUND a.example'),
    'dial tcp: lookup a.example: no such host',
  );
  assert.equal(of('ECONNRESET', 'socket hang up'), 'EOF');
  assert.equal(of('EOTHER', 'something'), 'something');
  assert.equal(connectionFailure(new Error('no endpoints')), 'no endpoints');
  const cert = { subjectaltname: 'DNS:b.example, IP Address:127.0.0.1' };
  const reason = "Host: a.example. is not in the cert's altnames: DNS:b.example";
  assert.equal(
    of('ERR_TLS_CERT_ALTNAME_INVALID', 'x', { cert, reason }),
    'tls: failed to verify certificate: x509: certificate is valid for b.example, 127.0.0.1, not a.example',
  );
});

test('answers with an error have the words of the REST client', () => {
  assert.equal(statusFailure(404, '', ''), 'the server could not find the requested resource');
  assert.equal(
    statusFailure(500, 'text/plain', ' oh\n'),
    'an error on the server ("oh") has prevented the request from succeeding',
  );
  assert.equal(
    statusFailure(502, 'application/json', '{}'),
    'an error on the server ("unknown") has prevented the request from succeeding',
  );
  assert.equal(
    statusFailure(301, '', ''),
    'the server responded with the status code 301 but did not return more information',
  );
  const status = JSON.stringify({ kind: 'Status', message: 'too busy' });
  assert.equal(statusFailure(429, 'application/json', status), 'too busy');
});
