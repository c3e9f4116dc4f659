/** The files of the dashboard's app: anyone may read them, and headers restrict what browsers run. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { writePack } from '../../../src/dashboard/server/asset-pack.ts';
import { dashboardSessions } from '../../../src/dashboard/server/dashboard.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { ask } from './browser.ts';

const page = '<!doctype html><title>minik8s</title>';
const script = 'console.log(1)';
const pack = () =>
  writePack([
    { path: 'assets/main-1A2B.js', digest: 'd1', compressed: brotliCompressSync(script) },
    { path: 'index.html', digest: 'd2', compressed: brotliCompressSync(page) },
  ]);

describe('the app of the dashboard', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ sessions: dashboardSessions(pack) });
  });
  after(() => server.stop());
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(server, path, { method, headers: { 'sec-fetch-site': undefined, origin: undefined, ...headers } });

  it('can be read by anyone, with a policy that lets it run only its own files', async () => {
    const answer = await get('/dashboard/');
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), page);
    const header = (name: string) => answer.headers.get(name);
    assert.equal(header('content-type'), 'text/html; charset=utf-8');
    const policy = (header('content-security-policy') ?? '').split('; ');
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
      assert.ok(policy.includes(rule), rule);
    for (const rule of ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"])
      assert.ok(policy.includes(rule), rule);
    assert.doesNotMatch(policy.join(), /unsafe|https?:|\*/);
    assert.equal(header('x-frame-options'), 'DENY');
    assert.equal(header('x-content-type-options'), 'nosniff');
    assert.equal(header('referrer-policy'), 'no-referrer');
    assert.equal(header('cross-origin-opener-policy'), 'same-origin');
    assert.equal(header('cache-control'), 'no-cache');
  });

  it('is compressed for browsers, which may cache it', async () => {
    const answer = await get('/dashboard/assets/main-1A2B.js', {
      'accept-encoding': 'gzip, deflate, br, zstd',
    });
    assert.equal(answer.headers.get('content-encoding'), 'br');
    assert.equal(answer.headers.get('vary'), 'accept-encoding');
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(brotliDecompressSync(Buffer.from(await answer.arrayBuffer())).toString(), script);
    const plain = await get('/dashboard/assets/main-1A2B.js', { 'accept-encoding': 'gzip, br;q=0' });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(await plain.text(), script);
    const again = await get('/dashboard/', { 'if-none-match': answer.headers.get('etag') ?? '' });
    assert.equal(again.status, 200, 'the tag of another file');
    const known = await get('/dashboard/', { 'if-none-match': '"d2"' });
    assert.equal(known.status, 304);
    assert.equal(await known.text(), '');
  });

  it('has its page at each of its paths, and serves no other files', async () => {
    for (const path of [
      '/dashboard/pods',
      '/dashboard/objects/apps/deployments/default/web',
      '/dashboard/index.html',
    ])
      assert.equal(await (await get(path)).text(), page, path);
    for (const path of [
      '/dashboard/assets/main-0000.js',
      '/dashboard/assets/',
      '/dashboard/assets/..%2findex.html',
      '/dashboard/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd%00.js',
      '/dashboard/assets/main-1A2B.js%00',
      '/dashboard/assets/constructor',
      '/dashboard/assets//etc/passwd',
    ]) {
      const answer = await get(path);
      const text = await answer.text();
      assert.ok([401, 404].includes(answer.status) || text === page, `${path}: ${answer.status} ${text}`);
      assert.doesNotMatch(text, /root:|console/);
    }
    assert.equal((await get('/dashboard/__proto__')).status, 200);
    assert.equal((await get('/dashboardx')).status, 401);
  });

  it('is redirected to a path with a slash, and accepts only GET and HEAD', async () => {
    const moved = await get('/dashboard');
    assert.equal(moved.status, 308);
    assert.equal(moved.headers.get('location'), '/dashboard/');
    const head = await get('/dashboard/', {}, 'HEAD');
    assert.equal(head.status, 200);
    assert.equal(await head.text(), '');
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      assert.equal((await get('/dashboard/', {}, method)).status, 405, method);
  });
});

describe('a server without the dashboard', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('serves neither pages nor sessions of the dashboard', async () => {
    for (const path of ['/dashboard', '/dashboard/', '/dashboard/session'])
      assert.equal((await ask(server, path)).status, 401, path);
    assert.equal(
      (await ask(server, '/dashboard/session', { method: 'POST', body: { token: 'x' } })).status,
      401,
    );
    assert.equal((await server.call('GET', '/dashboard/')).status, 404);
  });
});
