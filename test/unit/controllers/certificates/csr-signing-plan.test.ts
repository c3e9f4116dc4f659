/** Certificates that are signed, their terms, and the time that requests are kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deletableAt } from '../../../../src/controllers/certificates/csr-cleaner-plan.ts';
import {
  awaitsSigning,
  signerRefusal,
  signingTerms,
} from '../../../../src/controllers/certificates/csr-signing-plan.ts';
import { at, start } from '../objects.ts';
import { client, content, joining, request } from './csr-requests.ts';

test('only an approved request without a certificate awaits its signature', () => {
  const approved = { type: 'Approved', status: 'True' } as const;
  assert.equal(awaitsSigning(request({}, [approved])), true);
  assert.equal(awaitsSigning(request()), false);
  assert.equal(awaitsSigning(request({}, [approved, { type: 'Failed', status: 'True' }])), false);
  assert.equal(awaitsSigning(request({}, [{ type: 'Denied', status: 'True' }, approved])), false);
  assert.equal(awaitsSigning(request({ signerName: 'example.com/other' }, [approved])), false);
  const signed = { ...request({}, [approved]), status: { conditions: [approved], certificate: 'eA==' } };
  assert.equal(awaitsSigning(signed), false);
});

test('a signer refuses a request that should not have been approved', () => {
  const clientOf = (usages: string[]) =>
    request({ signerName: 'kubernetes.io/kube-apiserver-client', usages });
  const anyone = content({ commonName: 'alice', organizations: ['developers'] });
  assert.equal(signerRefusal(clientOf(client), anyone), undefined);
  assert.match(
    signerRefusal(clientOf(['client auth', 'cert sign']), anyone) ?? '',
    /^usage cert sign is not allowed/,
  );
  assert.equal(signerRefusal(clientOf(['digital signature']), anyone), 'usage client auth is required');
  assert.equal(signerRefusal(joining(), anyone), 'subject organization is not system:nodes');
  assert.equal(signerRefusal(joining(), undefined), 'the certificate request cannot be read');
});

test('a certificate is valid for a year, or for the shorter requested duration', () => {
  const year = 365 * 24 * 3600 * 1000;
  const terms = signingTerms(request(), start);
  assert.equal(terms.notAfter, start + year);
  assert.equal(terms.notBefore, start - 5 * 60_000, 'for clocks that are behind');
  assert.deepEqual(terms.usages, client);
  assert.equal(signingTerms(request({ expirationSeconds: 600 }), start).notAfter, start + 600_000);
  assert.equal(signingTerms(request({ expirationSeconds: 2_000_000_000 }), start).notAfter, start + year);
});

test('requests are kept for a day undecided, and for an hour after the decision', () => {
  const hour = 3600 * 1000;
  assert.equal(deletableAt(request()), start + 24 * hour);
  for (const type of ['Approved', 'Denied', 'Failed'])
    assert.equal(
      deletableAt(request({}, [{ type, status: 'True', lastUpdateTime: at(60) }])),
      start + hour + 60_000,
    );
  const both = request({}, [
    { type: 'Failed', status: 'True', lastUpdateTime: at(120) },
    { type: 'Approved', status: 'True', lastUpdateTime: at(60) },
  ]);
  assert.equal(deletableAt(both), start + hour + 60_000, 'since the first decision');
  const unreadable = request({}, [{ type: 'Denied', status: 'True', lastUpdateTime: 'then' }]);
  assert.equal(deletableAt(unreadable), start + hour);
  assert.equal(deletableAt(request({}, [{ type: 'Denied', status: 'True' }])), start + hour);
  const other = request({}, [{ type: 'Seen', status: 'True', lastUpdateTime: at(60) }]);
  assert.equal(deletableAt(other), start + 24 * hour);
});
