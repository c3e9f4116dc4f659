/** `ctl create token` beside kubectl 1.32, and the use of the token with `--token`. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { claimsOf, podOf } from '../apiserver/account-world.ts';

describe('tokens of service accounts', () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    const inDefault = '/api/v1/namespaces/default';
    await server.call('POST', `${inDefault}/serviceaccounts`, { metadata: { name: 'app' } });
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    assert.equal((await server.call('POST', `${inDefault}/pods`, podOf('p1', 'n1'))).status, 201);
  });
  after(() => server.stop());

  /** Returns the claims without those that differ between any two tokens. */
  const said = (token: string) => {
    const { exp, iat, nbf, jti, ...claims } = claimsOf(token);
    assert.ok(nbf === iat && jti);
    return { ...claims, life: Number(exp) - Number(iat) };
  };

  const lines = [
    'app',
    'app --duration 10m',
    'app --duration=36000s --audience vault --audience other',
    'app --bound-object-kind Pod --bound-object-name p1',
    'app --bound-object-kind=Node --bound-object-name=n1',
    '-n kube-system default',
  ];
  for (const line of lines)
    it(`create token ${line} prints a token with the same claims`, {
      skip: unlessKubectl('1.32'),
    }, async () => {
      const args = ['create', 'token', ...line.split(' ')];
      const [own, theirs] = await Promise.all([ctl(args), kubectl(args)]);
      assert.deepEqual([own.status, own.err], [0, ''], own.err);
      assert.equal(theirs.status, 0, theirs.err);
      assert.match(own.out, /^[\w-]+\.[\w-]+\.[\w-]+$/, 'nothing but the token');
      assert.deepEqual(said(own.out), said(theirs.out));
    });

  for (const line of [
    '',
    'app other',
    'none',
    'app --duration 1ms',
    'app --duration 5m',
    'app --audience=',
    'app --bound-object-kind Service --bound-object-name x',
    'app --bound-object-kind Pod',
    'app --bound-object-name p1',
    'app --bound-object-uid u',
    'app --bound-object-kind Pod --bound-object-name p1 --bound-object-uid other',
  ])
    it(`refuses create token ${line}`, { skip: unlessKubectl('1.32') }, async () => {
      const args = ['create', 'token', ...line.split(' ').filter((word) => word !== '')];
      const [own, theirs] = await Promise.all([ctl(args), kubectl(args)]);
      assert.deepEqual([own.status, theirs.status], [1, 1], own.out + theirs.out);
      assert.equal(own.out, '');
      assert.notEqual(own.err, '');
    });

  it('prints the whole answer if requested', async () => {
    const { status, out } = await ctl(['create', 'token', 'app', '-o', 'json']);
    assert.equal(status, 0);
    const { kind, status: answer } = JSON.parse(out);
    assert.equal(kind, 'TokenRequest');
    assert.equal(claimsOf(answer.token).sub, 'system:serviceaccount:default:app');
  });

  it('authenticate the caller, even if the kubeconfig has a certificate', async () => {
    const { out: token } = await ctl(['create', 'token', 'app']);
    assert.equal((await ctl(['get', 'nodes'])).status, 0);
    const { status, err } = await ctl(['get', 'nodes', '--token', token]);
    assert.equal(status, 1);
    assert.match(err, /User "system:serviceaccount:default:app" cannot list resource "nodes"/);
    const wrong = await ctl(['get', 'nodes', '--token', `${token}x`]);
    assert.equal(wrong.status, 1);
    assert.match(wrong.err, /Unauthorized|logged in/);
  });
});
