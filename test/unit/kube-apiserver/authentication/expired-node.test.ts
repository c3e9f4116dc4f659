import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { unionAuthenticator } from '../../../../src/apiserver/authentication/authenticator.ts';
import { isPartOfCluster } from '../../../../src/apiserver/request/user.ts';
import { readExpired } from '../../../../src/apiserver/transport/expired-certificate.ts';
import { expiredNodeAuthenticator } from '../../../../src/kube-apiserver/authentication/expired-node.ts';
import { createAuthority, issueCertificate } from '../../../../src/pki/x509.ts';

const day = 24 * 3600 * 1000;
const now = Date.parse('2026-06-01T00:00:00Z');
const shown = {
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  fingerprint: 'AB:CD',
  notAfter: now - day,
  authorityEnds: now + day,
};

describe('a node with an expired certificate', () => {
  const authenticate = expiredNodeAuthenticator(() => now);
  const userOf = (expired: typeof shown | undefined) =>
    authenticate({ authorization: undefined, peer: undefined, expired });

  test('identifies a separate user, with the fingerprint, who is not part of the cluster', async () => {
    const user = await unionAuthenticator([authenticate])({
      ...{ authorization: undefined, peer: undefined, expired: shown },
    });
    assert.deepEqual(user, {
      name: 'system:expired-node:a',
      groups: ['system:expired-nodes'],
      extra: { 'minik8s.io/expired-certificate': ['AB:CD'] },
    });
    assert.equal(isPartOfCluster(user), false);
  });

  const edges: [what: string, change: Partial<typeof shown>, accepted: boolean][] = [
    ['has just expired', { notAfter: now }, true],
    ['expired 365 days ago', { notAfter: now - 365 * day }, true],
    ['expired a moment more than 365 days ago', { notAfter: now - 365 * day - 1 }, false],
    ['has not expired by the clock of the master', { notAfter: now + 1 }, false],
    ['is of an expired authority', { authorityEnds: now }, false],
    ['has no group', { organizations: [] }, false],
    ['has another group as well', { organizations: ['system:nodes', 'system:masters'] }, false],
    ['is of a user', { commonName: 'anna' }, false],
    ['names no node', { commonName: 'system:node:' }, false],
  ];
  for (const [what, change, accepted] of edges)
    test(`${accepted ? 'is accepted' : 'is refused'} if its certificate ${what}`, async () => {
      assert.equal((await userOf({ ...shown, ...change })) !== undefined, accepted);
    });

  test('is not recognized without an expired certificate', async () => {
    assert.equal(await userOf(undefined), undefined);
  });
});

describe('the user of an expired certificate', () => {
  const validity = { notBefore: now - 2 * day, notAfter: now - day };
  const subject = { commonName: 'system:node:a', organizations: ['system:nodes'], ...validity };
  const read = async (usages: readonly ('client' | 'server')[], bundle: (own: string) => Promise<string>) => {
    const authority = await createAuthority('minik8s', now - 3 * day, now + day);
    const { certificate } = await issueCertificate(authority, { ...subject, usages });
    return readExpired(new X509Certificate(certificate), await bundle(authority.certificate));
  };
  const other = async () => (await createAuthority('minik8s', now - 3 * day, now + 9 * day)).certificate;

  test('its holder, fingerprint and ends, by the authority of the bundle that has signed it', async () => {
    const found = await read(['client'], async (own) => `${await other()}\n${own}`);
    assert.match(found?.fingerprint ?? '', /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    assert.deepEqual({ ...found, fingerprint: 'AB:CD' }, shown);
  });

  test('nothing, if it is for servers, or of another authority of the same name', async () => {
    assert.equal(await read(['server'], async (own) => own), undefined);
    assert.equal(await read(['client'], other), undefined);
    assert.equal(await read(['client'], async () => ''), undefined);
  });

  test('is rejected for the authority itself', async () => {
    const { certificate } = await createAuthority('minik8s', now - 3 * day, now - day);
    assert.equal(readExpired(new X509Certificate(certificate), certificate), undefined);
  });
});
