/** Connections of browsers, which load several files before they have a session. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { bearerTokenAuthenticator } from '../../../src/apiserver/authentication/bearer-token.ts';
import { writePack } from '../../../src/dashboard/server/asset-pack.ts';
import { dashboardSessions } from '../../../src/dashboard/server/dashboard.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const names = ['index.html', 'assets/a.js', 'assets/b.js', 'assets/c.css', 'assets/d.css', 'assets/e.svg'];
const pack = () =>
  writePack(names.map((path) => ({ path, digest: path, compressed: brotliCompressSync(path) })));
const entries = [{ token: 'of-bob', user: { name: 'bob', groups: ['system:masters'] } }];

describe('a browser that uses HTTP/2', () => {
  let server: HttpsTestServer;
  before(async () => {
    const authenticate = bearerTokenAuthenticator(
      () => entries,
      () => 0,
    );
    server = await startHttpsTestServer({ sessions: dashboardSessions(pack), authenticate });
  });
  after(() => server.stop());

  const get = async (session: ClientHttp2Session, path: string, headers = {}, body?: string) => {
    const stream = session.request({ ':path': path, ...headers }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const [answer] = (await once(stream, 'response')) as [Record<string, string> & { ':status': number }];
    return { status: answer[':status'], headers: answer, text: await text(stream) };
  };

  it('loads all files at once, logs in and continues over one connection', async () => {
    const session = connect(`https://127.0.0.1:${server.port}`, { ca: server.authority.certificate });
    try {
      const files = await Promise.all(names.map((name) => get(session, `/dashboard/${name}`)));
      assert.deepEqual(
        files.map(({ text: content }) => content),
        names,
      );
      const body = JSON.stringify({ token: 'of-bob' });
      const page = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
      const login = { ...page, ':method': 'POST', 'content-length': Buffer.byteLength(body) };
      const begun = await get(session, '/dashboard/session', login, body);
      assert.equal(begun.status, 200, begun.text);
      const [cookie = ''] = String(begun.headers['set-cookie']).split(';');
      const own = { ...page, cookie, 'minik8s-session': JSON.parse(begun.text).proof };
      const paths = ['/api', '/apis', '/api/v1', '/version', '/dashboard/session'];
      for (const { status } of await Promise.all(paths.map((path) => get(session, path, own))))
        assert.equal(status, 200);
      assert.equal(session.closed, false);
    } finally {
      session.destroy();
    }
  });

  it('is disconnected after its first request to the API without a session', async () => {
    const session = connect(`https://127.0.0.1:${server.port}`, { ca: server.authority.certificate });
    const closed = once(session, 'close');
    assert.equal((await get(session, '/dashboard/')).status, 200);
    assert.equal((await get(session, '/dashboard/session')).status, 401);
    await closed;
  });
});
