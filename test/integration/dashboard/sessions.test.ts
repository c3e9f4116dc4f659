/** Sessions of browsers: how they begin and end, and which requests are not accepted as part of one. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { unionAuthenticator } from '../../../src/apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../../../src/apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { type AccountWorld, inDefault, startAccountWorld } from '../apiserver/account-world.ts';
import { ask, keep, login, messageOf, noFiles, origin } from './browser.ts';

const hour = 3_600_000;
const peer = { commonName: 'alice', organizations: ['team'] };

describe('a client certificate in a browser', () => {
  let world: AccountWorld;
  before(async () => {
    world = await startAccountWorld({ authenticate: clientCertificateAuthenticator });
  });
  after(() => world.server.stop());
  const env = { peer: { commonName: 'alice', organizations: ['system:masters'] } };
  const evil = 'https://evil.example';
  const mozilla = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
  const bare = { 'sec-fetch-site': undefined, origin: undefined };

  for (const [what, headers, status] of [
    ['a program', {}, 200],
    ['an address that the user has typed', { 'sec-fetch-site': 'none' }, 200],
    ['a page of this server', { 'sec-fetch-site': 'same-origin', origin }, 200],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 401],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }, 401],
    ['a form of another site in an old browser', { origin: evil, 'user-agent': mozilla }, 401],
    ['a WebSocket of another site in Chrome', { origin: evil, 'accept-language': 'en' }, 401],
    ['a WebSocket of Go', { origin: 'http://localhost', 'user-agent': 'e2e.test/v1.32.5' }, 200],
    ['a program that names another origin', { origin: evil }, 200],
    ['a WebSocket of Python', { origin: 'http://apiserver:6443' }, 200],
    ['a file or a frame in a sandbox', { origin: 'null', 'user-agent': mozilla }, 401],
    [
      'a page that kubectl proxy serves',
      { origin: 'http://localhost:8001', 'user-agent': mozilla, 'x-forwarded-for': '127.0.0.1' },
      200,
    ],
  ] as const)
    it(`${status === 200 ? 'authenticates' : 'does not authenticate'} a request of ${what}`, async () => {
      const answer = await ask(world.server, '/api/v1/nodes', { env, headers: { ...bare, ...headers } });
      assert.equal(answer.status, status);
    });
});

describe('a session', () => {
  let world: AccountWorld;
  let tokens: readonly { token: string; user: { name: string; groups: string[] } }[];
  const log = new RecordingLogger();
  beforeEach(async () => {
    tokens = [{ token: 'of-bob', user: { name: 'bob', groups: ['system:masters'] } }];
    world = await startAccountWorld({
      sessions: noFiles(),
      log,
      authenticate: unionAuthenticator([
        clientCertificateAuthenticator,
        bearerTokenAuthenticator(
          () => tokens,
          () => 0,
        ),
      ]),
    });
  });
  afterEach(() => world.server.stop());

  const begun = async (body: unknown = { token: 'of-bob' }) => keep(await login(world.server, body));
  const statusOf = async (more: Parameters<typeof ask>[2], path = '/api/v1/nodes') =>
    (await ask(world.server, path, more)).status;

  it('begins with a token, and its cookie is hidden from scripts and not sent by pages of other sites', async () => {
    const answer = await login(world.server, { token: 'of-bob' });
    assert.equal(answer.status, 200);
    const cookie = answer.headers.get('set-cookie') ?? '';
    assert.match(
      cookie,
      /^__Host-minik8s-session=[\w-]+; Path=\/; Max-Age=28800; Secure; HttpOnly; SameSite=Strict$/,
    );
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { proof, expires, ...user } = (await answer.json()) as Record<string, unknown>;
    assert.deepEqual(user, { user: 'bob', groups: ['system:masters', 'system:authenticated'] });
    assert.equal(expires, new Date(world.server.clock.now() + 8 * hour).toISOString());
    assert.match(String(proof), /^[\w-]{43}$/);
    assert.doesNotMatch(cookie, /of-bob|bob/);
  });

  it('authenticates requests to the API as its user', async () => {
    assert.equal(await statusOf({ kept: await begun() }), 200);
    const viewer = await begun({ token: await world.token() });
    const refused = await ask(world.server, '/api/v1/nodes', { kept: viewer });
    assert.equal(refused.status, 403);
    assert.match(await messageOf(refused), /User "system:serviceaccount:default:app" cannot list resource/);
  });

  it('reports its user and the time of its end', async () => {
    const answer = await ask(world.server, '/dashboard/session', { kept: await begun() });
    assert.equal(answer.status, 200);
    const expires = new Date(world.server.clock.now() + 8 * hour).toISOString();
    const groups = ['system:masters', 'system:authenticated'];
    assert.deepEqual(await answer.json(), { user: 'bob', groups, expires });
    assert.equal((await ask(world.server, '/dashboard/session')).status, 401);
  });

  it('requires the cookie and the proof of the same session', async () => {
    const [one, other] = [await begun(), await begun()];
    assert.equal(await statusOf({ kept: one }), 200);
    for (const [what, kept] of [
      ['the cookie alone', { cookie: one.cookie }],
      ['the proof alone', { proof: one.proof }],
      ['the proof of another session', { cookie: one.cookie, proof: other.proof }],
      ['an empty proof', { cookie: one.cookie, proof: '' }],
      ['two cookies', { ...one, cookie: `${one.cookie}; ${other.cookie}` }],
    ] as const)
      assert.equal(await statusOf({ kept }), 401, what);
  });

  it('authenticates only requests of its own origin', async () => {
    const kept = await begun();
    for (const [what, headers, status] of [
      ['another site', { 'sec-fetch-site': 'cross-site' }, 401],
      ['another port of the host', { 'sec-fetch-site': 'same-site', origin: 'https://apiserver:443' }, 401],
      ['a navigation', { 'sec-fetch-site': 'none' }, 401],
      ['no browser', { 'sec-fetch-site': undefined }, 401],
      ['another origin that claims to be the same', { origin: 'https://evil.example' }, 401],
      ['an opaque origin', { origin: 'null' }, 401],
      ['the same host without TLS', { origin: 'http://apiserver:6443' }, 401],
      ['an old browser that sends its origin', { 'sec-fetch-site': undefined, origin }, 200],
      ['an old browser of another origin', { 'sec-fetch-site': undefined, origin: 'https://apiserver' }, 401],
    ] as const)
      assert.equal(await statusOf({ kept, headers }), status, what);
  });

  it('is rejected if its cookie is forged, cut or very long', async () => {
    const { cookie, proof } = await begun();
    const value = cookie.slice(cookie.indexOf('=') + 1);
    const flipped = `${value.slice(0, 40)}${value[40] === 'A' ? 'B' : 'A'}${value.slice(41)}`;
    for (const [what, forged] of [
      ['changed', flipped],
      ['cut', value.slice(0, -10)],
      ['empty', ''],
      ['of another alphabet', '%00%ff'],
      ['with a second spelling of its last bits', `${value}=`],
      ['of a megabyte', 'A'.repeat(1_000_000)],
      ['of JSON', '{"user":{"name":"root","groups":["system:masters"]},"until":9e15}'],
    ] as const)
      assert.equal(
        await statusOf({ kept: { cookie: `__Host-minik8s-session=${forged}`, proof } }),
        401,
        what,
      );
    assert.equal(
      await statusOf({ kept: { cookie: `minik8s-session=${value}`, proof } }),
      401,
      'another name',
    );
  });

  it('ends after eight hours', async () => {
    const kept = await begun();
    await world.server.clock.advance(8 * hour - 1000);
    assert.equal(await statusOf({ kept }), 200);
    await world.server.clock.advance(1000);
    assert.equal(await statusOf({ kept }), 401);
  });

  it('ends with its token', async () => {
    const token = await world.token({ expirationSeconds: 600 });
    const answer = await login(world.server, { token });
    assert.match(answer.headers.get('set-cookie') ?? '', /Max-Age=600;/);
    const kept = await keep(answer);
    assert.equal(await statusOf({ kept }, '/dashboard/session'), 200);
    await world.server.clock.advance(601_000);
    assert.equal(await statusOf({ kept }, '/dashboard/session'), 401);
  });

  it('ends when its token is revoked or its account deleted', async () => {
    const [bob, app] = [await begun(), await begun({ token: await world.token() })];
    const review = '/dashboard/session';
    assert.deepEqual(
      [await statusOf({ kept: bob }, review), await statusOf({ kept: app }, review)],
      [200, 200],
    );
    tokens = [];
    assert.equal(await statusOf({ kept: bob }, review), 401);
    const deleted = await world.server.call('DELETE', `${inDefault}/serviceaccounts/app`);
    assert.equal(deleted.status, 200, deleted.text);
    assert.equal(await statusOf({ kept: app }, review), 401);
    assert.equal(await statusOf({ kept: app }), 401);
  });

  it('begins with a client certificate, and ends with that certificate', async () => {
    const notAfter = world.server.clock.now() + hour;
    const answer = await login(world.server, {}, { env: { peer: { ...peer, notAfter } } });
    assert.match(answer.headers.get('set-cookie') ?? '', /Max-Age=3600;/);
    const kept = await keep(answer);
    const shown = await ask(world.server, '/dashboard/session', { kept });
    assert.deepEqual(((await shown.json()) as { groups: string[] }).groups, ['team', 'system:authenticated']);
    await world.server.clock.advance(hour);
    assert.equal(await statusOf({ kept }, '/dashboard/session'), 401);
    assert.equal((await login(world.server, {})).status, 401, 'without a certificate');
  });

  it('ends with its token even if the browser has a client certificate', async () => {
    const kept = await begun({ token: await world.token({ expirationSeconds: 600 }) });
    const env = { peer };
    const userOf = async () => (await ask(world.server, '/dashboard/session', { kept, env })).json();
    assert.equal(((await userOf()) as { user: string }).user, 'system:serviceaccount:default:app');
    await world.server.clock.advance(700_000);
    assert.equal(await statusOf({ kept, env }, '/dashboard/session'), 401);
    assert.equal(await statusOf({ kept, env }), 401);
  });

  it('is removed from the browser by a logout', async () => {
    const kept = await begun();
    const answer = await ask(world.server, '/dashboard/session', { method: 'DELETE', kept });
    assert.equal(answer.status, 204);
    assert.match(
      answer.headers.get('set-cookie') ?? '',
      /^__Host-minik8s-session=; Path=\/; Max-Age=0; Secure/,
    );
  });

  it('can impersonate other users if its user may do so', async () => {
    const kept = await begun();
    const env = { impersonation: [['impersonate-user', 'carol']] as const };
    const answer = await ask(world.server, '/api/v1/nodes', { kept, env });
    assert.match(await messageOf(answer), /User "carol" cannot list/);
    const app = await begun({ token: await world.token() });
    const refused = await ask(world.server, '/api/v1/nodes', { kept: app, env });
    assert.match(await messageOf(refused), /cannot impersonate/);
  });

  it('is rejected with a reason that does not repeat the sent token or code', async () => {
    for (const [body, status, message] of [
      [{ token: 'wrong-secret' }, 401, /^the token is not valid, or has expired$/],
      [{ token: 'line\nbreak' }, 401, /^the token is not valid/],
      [{ code: 'wrong-secret' }, 401, /^the code is not valid: it has been used, or is older than a minute/],
      [{ code: 'A'.repeat(43) }, 401, /^the code is not valid/],
      [{ code: '../../registry/secrets/default/a' }, 401, /^the code is not valid/],
      [{ token: 7 }, 400, /^expected \{"token"/],
      [{ token: 'of-bob', code: 'x' }, 400, /^expected/],
      [{ user: 'bob' }, 400, /^expected/],
      [[], 400, /^expected/],
      [null, 400, /^expected/],
      ['{', 400, /^the body is not JSON$/],
    ] as const) {
      const answer = await login(world.server, body);
      assert.equal(answer.status, status, JSON.stringify(body));
      assert.equal(answer.headers.get('set-cookie'), null);
      assert.match(await messageOf(answer), message);
    }
  });

  it('cannot be begun by a page of another origin, or with a body that is not JSON or too large', async () => {
    const refused = async (headers: Record<string, string | undefined>) =>
      (await login(world.server, { token: 'of-bob' }, { headers })).status;
    assert.equal(await refused({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }), 403);
    assert.equal(await refused({ origin: 'https://evil.example' }), 403);
    assert.equal(await refused({ 'content-type': 'text/plain' }), 415);
    assert.equal(await refused({ 'content-length': undefined }), 413);
    assert.equal(await refused({ 'content-length': '16385' }), 413);
    assert.equal(await refused({ 'sec-fetch-site': undefined, origin: undefined }), 200, 'without a browser');
  });

  it('cannot be begun by a user who impersonates another', async () => {
    const env = { peer, impersonation: [['impersonate-user', 'carol']] as const };
    const answer = await login(world.server, {}, { env });
    assert.equal(answer.status, 400);
    assert.match(await messageOf(answer), /no sessions of impersonated users/);
  });

  it('is rejected if its token is too long for a cookie', async () => {
    tokens = [{ token: 'x'.repeat(4000), user: { name: 'long', groups: [] } }];
    const answer = await login(world.server, { token: 'x'.repeat(4000) });
    assert.equal(answer.status, 400);
    assert.match(await messageOf(answer), /too long for the cookie/);
  });

  it('is logged with its user, without its token, cookie or proof', async () => {
    log.lines.length = 0;
    const kept = await begun();
    await ask(world.server, '/dashboard/session', { method: 'DELETE', kept });
    const lines = log.lines.filter(({ fields }) => fields.user === 'bob');
    assert.deepEqual(
      lines.map(({ message }) => message),
      ['a session began', 'a session ended'],
    );
    const all = JSON.stringify(log.lines);
    for (const secret of ['of-bob', kept.proof, kept.cookie.slice(30)]) assert.ok(!all.includes(secret));
  });
});
