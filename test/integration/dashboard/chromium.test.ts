/**
 * The session in a real browser, Debian's Chromium: it is accepted at the server's own address and through
 * `ctl dashboard`, and a page of another port of the same host, which receives the cookie, cannot use it.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { unionAuthenticator } from '../../../src/apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../../../src/apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import { writePack } from '../../../src/dashboard/server/asset-pack.ts';
import { dashboardSessions } from '../../../src/dashboard/server/dashboard.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { ctlFor } from '../../fixtures/ctl.ts';
import { until } from '../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const program = '/usr/bin/chromium';
const scripts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const page = `<!doctype html><title>app</title>${scripts
  .map((name) => `<script type="module" src="/dashboard/assets/${name}.js"></script>`)
  .join('')}<script>window.inline = true</script>`;
const pack = () =>
  writePack([
    ...scripts.map((name) => ({
      path: `assets/${name}.js`,
      digest: name,
      compressed: brotliCompressSync(`window.${name} = true`),
    })),
    { path: 'index.html', digest: 'page', compressed: brotliCompressSync(page) },
  ]);
const entries = [{ token: 'of-bob', user: { name: 'bob', groups: ['system:masters'] } }];

/** Functions that run in a page; each returns its outcome. */
const inPage = {
  login: async (body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch('/dashboard/session', { method: 'POST', headers, body: JSON.stringify(body) });
    const { proof, user } = (await answer.json()) as { proof: string; user: string };
    return { proof, user };
  },
  list: async ({ origin, proof }: { origin: string; proof?: string }) => {
    const headers = proof === undefined ? {} : { 'minik8s-session': proof };
    try {
      return (await fetch(`${origin}/api/v1/namespaces`, { headers, credentials: 'include' })).status;
    } catch {
      return 'blocked';
    }
  },
  watch: ({ address, proof }: { address: string; proof: string }) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(address, ['watch.minik8s', `minik8s.session.${proof}`]);
      socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).type);
      socket.onerror = () => resolve('refused');
    }),
};

describe('a session in Chromium', () => {
  let server: HttpsTestServer;
  let browser: Browser;
  before(async () => {
    assert.ok(existsSync(program), `${program} is missing; run bin/setup --tests`);
    const tokens = bearerTokenAuthenticator(
      () => entries,
      () => 0,
    );
    const authenticate = unionAuthenticator([clientCertificateAuthenticator, tokens]);
    server = await startHttpsTestServer({ sessions: dashboardSessions(pack), authenticate });
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  const open = async (address: string): Promise<Page> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    context.setDefaultTimeout(60_000);
    const opened = await context.newPage();
    await opened.goto(address);
    return opened;
  };
  const address = (port: number) => `https://127.0.0.1:${port}`;

  it('is accepted at the address of the server, whose page runs its own files and no inline script', async () => {
    const own = await open(`${address(server.port)}/dashboard/pods`);
    const ran = await own.evaluate(
      (names) => names.filter((name) => Object.hasOwn(globalThis, name)),
      [...scripts, 'inline'],
    );
    assert.deepEqual(ran, scripts);
    const { proof, user } = await own.evaluate(inPage.login, { token: 'of-bob' });
    assert.equal(user, 'bob');
    const origin = address(server.port);
    assert.equal(await own.evaluate(inPage.list, { origin, proof }), 200);
    assert.equal(await own.evaluate(inPage.list, { origin }), 401);
    assert.equal(
      await own.evaluate(inPage.watch, {
        address: `wss://127.0.0.1:${server.port}/api/v1/namespaces?watch=1`,
        proof,
      }),
      'ADDED',
    );
    assert.equal(await own.evaluate<string>('document.cookie'), '', 'scripts cannot read the cookie');
    const typed = await (await own.context().newPage()).goto(`${origin}/api/v1/namespaces`);
    assert.equal(typed?.status(), 401, 'an address that is opened has no session');
    await own.context().close();
  });

  it('cannot be used by a page of another port of the same host, which receives the cookie', async () => {
    const seen: string[] = [];
    const other = await startOther(server, seen);
    const port = (other.address() as AddressInfo).port;
    try {
      const own = await open(`${address(server.port)}/dashboard/`);
      const { proof } = await own.evaluate(inPage.login, { token: 'of-bob' });
      const evil = await own.context().newPage();
      await evil.goto(address(port));
      assert.match(seen.join(), /__Host-minik8s-session=[\w-]{100}/, 'ports share cookies');
      const origin = address(server.port);
      assert.equal(await evil.evaluate(inPage.list, { origin }), 'blocked');
      assert.equal(await evil.evaluate(inPage.list, { origin, proof }), 'blocked', 'even with the proof');
      const watch = { address: `wss://127.0.0.1:${server.port}/api/v1/namespaces?watch=1`, proof };
      assert.equal(await evil.evaluate(inPage.watch, watch), 'refused');
      await evil.evaluate(
        `new Promise((resolve) => {
          const frame = document.createElement('iframe');
          frame.onload = resolve;
          frame.src = '${origin}/dashboard/';
          document.body.append(frame);
        })`,
      );
      const frame = evil.frames().find((one) => one !== evil.mainFrame());
      assert.ok(frame, 'the frame is there');
      assert.notEqual(await frame.title(), 'app', 'the dashboard is not in it');
      await own.context().close();
    } finally {
      other.close();
      other.closeAllConnections();
    }
  });

  it('begins at the address that ctl dashboard prints, and is accepted on loopback without TLS', async () => {
    const stop = new AbortController();
    let printed = '';
    const command = ctlFor(await server.kubeconfigFor('alice', ['system:masters']))(['dashboard', '--url'], {
      signal: stop.signal,
      onOut: (out) => {
        printed = out;
      },
    });
    try {
      await Promise.race([until(() => printed.includes('\n')), command]);
      const own = await open(printed.trim());
      const code = new URL(printed.trim()).hash.slice('#code='.length);
      const { proof, user } = await own.evaluate(inPage.login, { code });
      assert.equal(user, 'alice');
      const { origin, host } = new URL(printed);
      assert.equal(await own.evaluate(inPage.list, { origin, proof }), 200);
      assert.equal(
        await own.evaluate(inPage.watch, { address: `ws://${host}/api/v1/namespaces?watch=1`, proof }),
        'ADDED',
      );
      await own.context().close();
    } finally {
      stop.abort();
      await command;
    }
  });
});

/** Starts a web server on another port, as an Ingress has it; `seen` gets the cookies of its requests. */
async function startOther({ authority }: HttpsTestServer, seen: string[]): Promise<Server> {
  const now = Date.now();
  const { key, certificate } = await issueCertificate(authority, {
    commonName: 'ingress',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    notBefore: now - 3_600_000,
    notAfter: now + 3_600_000,
  });
  const other = createServer({ key, cert: certificate }, (request, answer) => {
    seen.push(request.headers.cookie ?? '');
    answer.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title><body></body>');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  return other;
}
