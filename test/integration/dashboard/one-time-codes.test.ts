/** One-time codes: which requests get one, and that each begins one session, at any master. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import { codesPrefix } from '../../../src/dashboard/server/one-time-codes.ts';
import type { Store } from '../../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { type AccountWorld, startAccountWorld } from '../apiserver/account-world.ts';
import { ask, keep, login, messageOf, noFiles } from './browser.ts';

const cli = { 'sec-fetch-site': undefined, origin: undefined };
const env = { peer: { commonName: 'alice', organizations: ['system:masters'] } };
const log = new RecordingLogger();
const options = { sessions: noFiles(), authenticate: clientCertificateAuthenticator, log };

describe('a one-time code', () => {
  let world: AccountWorld;
  let one: TestServer;
  /** Another master on the same store. */
  let other: TestServer;
  beforeEach(async () => {
    world = await startAccountWorld(options);
    one = world.server;
    const wrapStore = (): Store => one.store;
    other = await startTestServer({ ...options, clock: one.clock, wrapStore, bare: true });
  });
  afterEach(async () => {
    await other.stop();
    await one.stop();
  });

  const make = (more: Parameters<typeof ask>[2] = { env }) =>
    ask(one, '/dashboard/code', { method: 'POST', ...more, headers: { ...cli, ...more.headers } });
  const codeOf = async (answer: Response) => {
    assert.equal(answer.status, 201);
    return ((await answer.json()) as { code: string }).code;
  };
  const userOf = async (server: TestServer, code: string) => {
    const answer = await login(server, { code });
    return answer.status === 200 ? ((await answer.json()) as { user: string }).user : answer.status;
  };
  const stored = async () => (await one.store.list(codesPrefix)).items;

  it('begins one session, of the user who requested it', async () => {
    const code = await codeOf(await make());
    assert.match(code, /^[\w-]{43}$/);
    assert.equal(await userOf(one, code), 'alice');
    assert.equal(await userOf(one, code), 401);
    assert.equal((await stored()).length, 0);
  });

  it('begins its session at any master, and each master accepts the session', async () => {
    const kept = await keep(await login(other, { code: await codeOf(await make()) }));
    for (const server of [one, other]) {
      const answer = await ask(server, '/dashboard/session', { kept });
      assert.equal(((await answer.json()) as { user: string }).user, 'alice');
      assert.equal((await ask(server, '/api', { kept })).status, 200);
    }
  });

  it('begins one session if several requests send it at once to several masters', async () => {
    const code = await codeOf(await make());
    const racing = [one, other, one, other, one, other].map((server) => userOf(server, code));
    const users = await Promise.all(racing);
    assert.deepEqual(
      users.filter((user) => user === 'alice'),
      ['alice'],
    );
    assert.equal(users.filter((user) => user === 401).length, 5);
  });

  it('expires after a minute', async () => {
    const [early, late] = [await codeOf(await make()), await codeOf(await make())];
    await one.clock.advance(59_999);
    assert.equal(await userOf(one, early), 'alice');
    await one.clock.advance(1);
    assert.equal(await userOf(one, late), 401);
  });

  it('begins a session with the rights of its token, which ends with the token', async () => {
    const authorization = `Bearer ${await world.token({ expirationSeconds: 600 })}`;
    const answer = await login(one, { code: await codeOf(await make({ headers: { authorization } })) });
    const kept = await keep(answer);
    assert.equal((await ask(one, '/api/v1/nodes', { kept })).status, 403);
    await one.clock.advance(661_000);
    assert.equal((await ask(one, '/api/v1/nodes', { kept })).status, 401);
  });

  it('begins no session if its token has been revoked in the meantime', async () => {
    const authorization = `Bearer ${await world.token()}`;
    const code = await codeOf(await make({ headers: { authorization } }));
    await one.call('DELETE', '/api/v1/namespaces/default/serviceaccounts/app');
    assert.equal(await userOf(one, code), 401);
  });

  it('is created only for a request with its own credentials', async () => {
    const session = await keep(await login(one, { code: await codeOf(await make()) }));
    for (const [what, more, status] of [
      ['nobody', {}, 401],
      ['a wrong token', { headers: { authorization: 'Bearer wrong' } }, 401],
      [
        'a session, which would extend itself',
        { kept: session, headers: { 'sec-fetch-site': 'same-origin' } },
        401,
      ],
      ['a session with the certificate of its browser', { kept: session, env }, 401],
      ['a page of another origin', { env, headers: { origin: 'https://evil.example' } }, 403],
      [
        'an impersonated user',
        { env: { ...env, impersonation: [['impersonate-user', 'bob']] as const } },
        400,
      ],
    ] as const)
      assert.equal((await make(more)).status, status, what);
    assert.equal((await ask(one, '/dashboard/code', { env, headers: cli })).status, 405);
  });

  it('is neither stored nor logged in clear text, and neither is its token', async () => {
    log.lines.length = 0;
    const token = await world.token();
    const code = await codeOf(await make({ headers: { authorization: `Bearer ${token}` } }));
    const [item] = await stored();
    const texts = [`${item?.key} ${item?.value}`, JSON.stringify(log.lines)];
    for (const text of texts) {
      assert.ok(!text.includes(code));
      assert.ok(!text.includes(token.slice(-40)));
      assert.match(text, /system:serviceaccount:default:app/);
    }
  });

  it('replaces the oldest code of a user who has eight, and expired codes are removed', async () => {
    const codes: string[] = [];
    for (let i = 0; i < 10; i++) codes.push(await codeOf(await make()));
    assert.equal((await stored()).length, 8);
    assert.equal(await userOf(one, codes[0] ?? ''), 401);
    assert.equal(await userOf(one, codes[9] ?? ''), 'alice');
    await one.clock.advance(60_000);
    await codeOf(await make());
    assert.equal((await stored()).length, 1);
  });

  it('is rejected with a message that names the remedy', async () => {
    const message = await messageOf(await login(one, { code: 'B'.repeat(43) }));
    assert.match(message, /has been used, or is older than a minute; run minik8s ctl dashboard again/);
  });
});
