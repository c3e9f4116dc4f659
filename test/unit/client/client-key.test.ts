/** Certificates and keys of clients that do not belong together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpsTransport } from '../../../src/client/https-transport.ts';
import { createAuthority } from '../../../src/pki/x509.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const options = { server: 'https://192.0.2.1:6443', clock: new FakeClock() };

test('a key of another certificate, and a damaged certificate, are rejected before a request is sent', async () => {
  const [one, two] = [await createAuthority('one', 0, 2 ** 41), await createAuthority('two', 0, 2 ** 41)];
  createHttpsTransport({ ...options, cert: one.certificate, key: one.key }).close();
  for (const cert of [two.certificate, 'x\n'])
    assert.throws(
      () => createHttpsTransport({ ...options, cert, key: one.key }),
      /^Error: the client key does not belong to the client certificate, or one of the two is damaged; /,
    );
});
