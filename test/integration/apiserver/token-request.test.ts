/** TokenRequests for service accounts: the claims of the tokens, and the requests that are rejected. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TokenRequest } from '../../../src/api/authentication/v1/token-request.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { type AccountWorld, claimsOf, inDefault, podOf, startAccountWorld } from './account-world.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';
const node = (name: string): UserInfo => ({
  name: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
});

describe('a TokenRequest', () => {
  let world: AccountWorld;
  let [app, pod, n1, secret]: KubeObject[] = [];
  const get = async (path: string) => (await world.server.call('GET', path)).json();
  before(async () => {
    world = await startAccountWorld();
    app = await get(`${inDefault}/serviceaccounts/app`);
    pod = await get(`${inDefault}/pods/p1`);
    n1 = await get('/api/v1/nodes/n1');
    secret = await world.make(`${inDefault}/secrets`, { metadata: { name: 's1' } });
  });
  after(() => world.server.stop());
  const seconds = () => Math.floor(world.server.clock.now() / 1000);
  const ref = (object: KubeObject | undefined) => ({
    name: object?.metadata.name,
    uid: object?.metadata.uid,
  });
  const bindTo = (kind: string, name: string, more: object = {}) => ({
    boundObjectRef: { apiVersion: 'v1', kind, name, ...more },
  });

  it('is answered with a token for this server, valid for an hour', async () => {
    const answer = await world.request({});
    assert.equal(answer.status, 201, answer.text);
    const { kind, apiVersion, metadata, spec, status } = answer.json<TokenRequest>();
    const now = new Date(seconds() * 1000).toISOString().replace('.000', '');
    const end = new Date((seconds() + 3600) * 1000).toISOString().replace('.000', '');
    assert.deepEqual(
      { kind, apiVersion, metadata, spec },
      {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { name: 'app', namespace: 'default', creationTimestamp: now },
        spec: { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null },
      },
    );
    assert.equal(status?.expirationTimestamp, end);
    const { jti, ...claims } = claimsOf(status?.token ?? '');
    assert.match(String(jti), /^[0-9a-f-]{36}$/);
    assert.deepEqual(claims, {
      aud: [issuer],
      exp: seconds() + 3600,
      iat: seconds(),
      iss: issuer,
      'kubernetes.io': { namespace: 'default', serviceaccount: ref(app) },
      nbf: seconds(),
      sub: 'system:serviceaccount:default:app',
    });
  });

  it('is answered with a token that names the object to which it is bound', async () => {
    const own = async (spec: object) => claimsOf(await world.token(spec))['kubernetes.io'];
    const base = { namespace: 'default', serviceaccount: ref(app) };
    assert.deepEqual(await own(bindTo('Pod', 'p1')), { ...base, pod: ref(pod), node: ref(n1) });
    assert.deepEqual(await own(bindTo('Secret', 's1')), { ...base, secret: ref(secret) });
    assert.deepEqual(await own(bindTo('Node', 'n1')), { ...base, node: ref(n1) });
    await world.make(`${inDefault}/pods`, podOf('waits'));
    await world.make(`${inDefault}/pods`, podOf('lost', 'n9'));
    assert.equal('node' in ((await own(bindTo('Pod', 'waits'))) as object), false);
    assert.deepEqual(((await own(bindTo('Pod', 'lost'))) as { node: object }).node, { name: 'n9' });
  });

  it('of an agent for an injected volume has a longer validity, for programs that read the token once', async () => {
    const asked = { expirationSeconds: 3607 };
    const answer = await world.request({ ...asked, ...bindTo('Pod', 'p1') });
    const { status } = answer.json<TokenRequest>();
    const claims = claimsOf(status?.token ?? '');
    assert.equal(claims.exp, seconds() + 365 * 24 * 3600);
    assert.equal((claims['kubernetes.io'] as { warnafter: number }).warnafter, seconds() + 3607);
    assert.equal(
      Date.parse(status?.expirationTimestamp ?? ''),
      (seconds() + 3607) * 1000,
      'the time of renewal is the requested one',
    );
    const short = async (spec: object) => claimsOf(await world.token(spec)).exp;
    assert.equal(await short(asked), seconds() + 3607, 'of no pod');
    assert.equal(await short({ ...asked, ...bindTo('Pod', 'p1'), audiences: ['vault'] }), seconds() + 3607);
    assert.equal(await short({ expirationSeconds: 3608, ...bindTo('Pod', 'p1') }), seconds() + 3608);
  });

  it('of a cluster that extends no tokens has the requested lifetime', async () => {
    const strict = await startAccountWorld({ issuer: { extendsTokens: false } });
    const token = await strict.token({ expirationSeconds: 3607, ...bindTo('Pod', 'p1') });
    const { exp, iat } = claimsOf(token) as { exp: number; iat: number };
    assert.equal(exp - iat, 3607);
    await strict.server.stop();
  });

  const refused: readonly [string, object, number, RegExp][] = [
    [
      'too short a validity',
      { expirationSeconds: 599 },
      422,
      /may not specify a duration less than 10 minutes/,
    ],
    ['too long a validity', { expirationSeconds: 2 ** 32 + 1 }, 422, /larger than 2\^32 seconds/],
    ['an invalid validity', { expirationSeconds: 'soon' }, 400, /expirationSeconds/],
    ['audiences that are not a list', { audiences: 'a' }, 400, /audiences/],
    ['a pod that does not exist', bindTo('Pod', 'none'), 404, /pods "none" not found/],
    [
      'a pod with another uid',
      bindTo('Pod', 'p1', { uid: 'other' }),
      409,
      /the UID in the bound object reference/,
    ],
    ['a Secret with another uid', bindTo('Secret', 's1', { uid: 'other' }), 409, /the UID/],
    ['a node with another uid', bindTo('Node', 'n1', { uid: 'other' }), 409, /the UID/],
    ['another kind', bindTo('ConfigMap', 'a'), 400, /cannot bind token to object of type/],
    [
      'another group',
      { boundObjectRef: { apiVersion: 'apps/v1', kind: 'Pod', name: 'p1' } },
      400,
      /cannot bind/,
    ],
  ];
  for (const [what, spec, code, why] of refused)
    it(`refuses ${what}`, async () => {
      const answer = await world.request(spec);
      assert.equal(answer.status, code, answer.text);
      assert.match(answer.json<Status>().message ?? '', why);
    });

  it('needs an existing account and its name, and has no other verb than create', async () => {
    const at = (account: string) => `${inDefault}/serviceaccounts/${account}/token`;
    const ask = (account: string, body: object) => world.server.call('POST', at(account), body);
    assert.equal((await ask('none', {})).status, 404);
    await world.make(`${inDefault}/serviceaccounts`, { metadata: { name: 'other' } });
    assert.equal(
      (await ask('other', { spec: bindTo('Pod', 'p1') })).status,
      400,
      'the pod of another account',
    );
    assert.equal((await ask('app', { metadata: { name: 'other' } })).status, 422);
    assert.equal((await ask('app', { metadata: { namespace: 'kube-system' } })).status, 422);
    assert.equal((await ask('app', { kind: 'Pod', apiVersion: 'v1' })).status, 400);
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.equal((await world.server.call(method, at('app'))).status, 405, method);
  });

  it('is answered in protobuf too', async () => {
    const headers = { accept: 'application/vnd.kubernetes.protobuf' };
    const answer = await world.request({}, 'app', { headers });
    assert.equal(answer.status, 201);
    assert.match(answer.headers.get('content-type') ?? '', /protobuf/);
    assert.match(answer.text, /^k8s.*TokenRequest.*eyJ[\w-]+\.[\w-]+\.[\w-]+/s);
  });

  it('of a node must name a pod that the node runs', async () => {
    await world.make('/api/v1/nodes', { metadata: { name: 'n2' } });
    const p1 = ref(pod);
    const ask = async (who: string, spec: object, account = 'app') => {
      const answer = await world.request(spec, account, { user: node(who) });
      return [answer.status, answer.status === 201 ? '' : (answer.json<Status>().message ?? '')] as const;
    };
    assert.deepEqual(await ask('n1', bindTo('Pod', 'p1', p1)), [201, '']);
    for (const [who, spec, why] of [
      ['n1', {}, /not bound to a pod/],
      ['n1', bindTo('Pod', 'p1'), /without a uid/],
      ['n1', bindTo('Node', 'n1', ref(n1)), /not bound to a pod/],
      ['n1', bindTo('Pod', 'p1', { uid: 'other' }), /does not match the UID in record/],
      ['n1', bindTo('Pod', 'waits', { uid: 'x' }), /does not match the UID in record/],
      ['n2', bindTo('Pod', 'p1', p1), /cannot create resource "serviceaccounts\/token"/],
    ] as const) {
      const [code, message] = await ask(who, spec);
      assert.equal(code, 403, message);
      assert.match(message, why);
    }
    const [code] = await ask('n1', {}, 'default');
    assert.equal(code, 403, 'an account of which it runs no pod');
    await world.make(`${inDefault}/pods`, podOf('p2', 'n2'));
    const p2 = ref(await get(`${inDefault}/pods/p2`));
    const [foreign, why] = await ask('n1', bindTo('Pod', 'p2', p2));
    assert.equal(foreign, 403, why);
    assert.match(why, /scheduled on a different node/);
  });
});
