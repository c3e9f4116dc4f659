/** Peers of etcd that answer, that answer with an error, and that other programs answer for. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock as clock } from '../../../src/base/clock.ts';
import { answers } from '../../../src/masters/members.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';

const hour = 3600 * 1000;
const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };

test('a peer counts only if it serves its version with a certificate of the authority of the members', async (context) => {
  const authority = await createAuthority('etcd', validity.notBefore, validity.notAfter);
  const other = await createAuthority('other', validity.notBefore, validity.notAfter);
  const leaf = {
    ...{ commonName: 'etcd:a', hosts: ['127.0.0.1'], usages: ['client', 'server'] as const },
    ...validity,
  };
  const own = await issueCertificate(authority, leaf);
  let status = 200;
  const asked: string[] = [];
  const server = createServer({ cert: own.certificate, key: own.key }, (request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(status).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tls = { authority: authority.certificate, own, clock };
  assert.equal(await answers(url, tls), true);
  for (status of [404, 503]) assert.equal(await answers(url, tls), false, String(status));
  assert.deepEqual(asked, ['/version', '/version', '/version']);
  status = 200;
  assert.equal(await answers(url, { ...tls, authority: other.certificate }), false, 'another authority');
  assert.equal(await answers(url.replace('https:', 'http:'), tls), false, 'without TLS');
  assert.equal(asked.length, 3);
});
