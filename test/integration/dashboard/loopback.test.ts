/**
 * `ctl dashboard` against a real HTTPS server: the address that it prints, the proxy on loopback, and the
 * answers of the proxy to other users of the machine.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { systemClock } from '../../../src/base/clock.ts';
import { writePack } from '../../../src/dashboard/server/asset-pack.ts';
import { dashboardSessions } from '../../../src/dashboard/server/dashboard.ts';
import { ctlFor, type Result } from '../../fixtures/ctl.ts';
import { eventually, until } from '../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const page = '<!doctype html><title>minik8s</title>';
const pack = () => writePack([{ path: 'index.html', digest: 'd', compressed: brotliCompressSync(page) }]);

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request to loopback as a browser does. */
async function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  const outgoing = httpRequest(url, {
    method,
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    agent: false,
  });
  outgoing.end(body);
  const [incoming] = (await Promise.race([once(outgoing, 'response'), once(outgoing, 'upgrade')])) as [
    IncomingMessage,
  ];
  if (incoming.statusCode === 101) incoming.destroy();
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: incoming.statusCode === 101 ? '' : await text(incoming),
  };
}

describe('ctl dashboard', () => {
  let server: HttpsTestServer;
  let kubeconfig: string;
  before(async () => {
    server = await startHttpsTestServer({ sessions: dashboardSessions(pack) });
    kubeconfig = await server.kubeconfigFor('alice', ['system:masters']);
  });
  after(() => server.stop());

  /** Runs the command until `work`, which gets the printed address, has ended. */
  async function running(
    args: readonly string[],
    work: (url: URL) => Promise<void>,
    env: Record<string, string> = {},
  ): Promise<Result> {
    const stop = new AbortController();
    let printed = '';
    const command = ctlFor(kubeconfig)(['dashboard', ...args], {
      signal: stop.signal,
      env,
      onOut: (out) => {
        printed = out;
      },
    });
    try {
      await Promise.race([until(() => printed.includes('\n')), command]);
      await work(new URL(printed.trim()));
    } finally {
      stop.abort();
    }
    return command;
  }

  const login = async (url: URL) => {
    const body = JSON.stringify({ code: new URLSearchParams(url.hash.slice(1)).get('code') });
    const headers = {
      origin: url.origin,
      'content-type': 'application/json',
      'content-length': `${body.length}`,
    };
    const answer = await send(`${url.origin}/dashboard/session`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, answer.body);
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    return { cookie, proof: (JSON.parse(answer.body) as { proof: string }).proof };
  };
  const keptBy = ({ cookie, proof }: { cookie: string; proof: string }) => ({
    cookie: cookie.split(';')[0] ?? '',
    'minik8s-session': proof,
  });

  it('opens a session at a port of this machine, with a code that browsers do not send in the address', async () => {
    const { status } = await running(['--url'], async (url) => {
      assert.match(url.href, /^http:\/\/127\.0\.0\.1:\d+\/dashboard\/#code=[\w-]{43}$/);
      assert.equal((await send(url.href)).body, page);
      const session = await login(url);
      const name = `minik8s-session-${url.port}`;
      assert.match(
        session.cookie,
        new RegExp(`^${name}=[\\w-]+; Path=/; Max-Age=\\d+; HttpOnly; SameSite=Strict$`),
      );
      const shown = await send(`${url.origin}/dashboard/session`, { headers: keptBy(session) });
      assert.equal((JSON.parse(shown.body) as { user: string }).user, 'alice');
      const listed = await send(`${url.origin}/api/v1/namespaces`, { headers: keptBy(session) });
      assert.equal(listed.status, 200);
      const changed = await send(`${url.origin}/api/v1/namespaces`, {
        method: 'POST',
        headers: { ...keptBy(session), origin: url.origin, 'content-type': 'application/json' },
        body: JSON.stringify({ metadata: { name: 'made-by-the-dashboard' } }),
      });
      assert.equal(changed.status, 201, changed.body);
    });
    assert.equal(status, 130);
  });

  it('serves other users of the machine only the page', async () => {
    await running(['--url'], async (url) => {
      const session = await login(url);
      const { cookie } = keptBy(session);
      for (const [what, headers] of [
        ['nothing', {}],
        ['the cookie, which a browser sends to every port of the host', { cookie }],
        [
          'a cookie of another proxy',
          { cookie: cookie.replace(/-\d+=/, '-1='), 'minik8s-session': session.proof },
        ],
        [
          'the cookie by its name at the server',
          {
            cookie: cookie.replace(/^[^=]*/, '__Host-minik8s-session'),
            'minik8s-session': session.proof,
          },
        ],
      ] as const) {
        for (const path of ['/api/v1/secrets', '/dashboard/session'])
          assert.equal((await send(`${url.origin}${path}`, { headers })).status, 401, `${what}: ${path}`);
        assert.equal(
          (await send(`${url.origin}/dashboard/code`, { method: 'POST', headers })).status,
          401,
          what,
        );
      }
      const again = await send(`${url.origin}/dashboard/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: url.hash.slice(6) }),
      });
      assert.equal(again.status, 401, 'the code a second time');
    });
  });

  it('rejects requests under another host name and requests of other origins', async () => {
    await running(['--url'], async (url) => {
      const headers = keptBy(await login(url));
      const statusOf = async (more: Record<string, string>, path = '/api/v1/namespaces') =>
        (await send(`${url.origin}${path}`, { headers: { ...headers, ...more } })).status;
      assert.equal(await statusOf({}), 200);
      assert.equal(await statusOf({ host: `evil.example:${url.port}` }), 403);
      assert.equal(await statusOf({ host: `localhost:${url.port}` }), 403);
      assert.equal(await statusOf({ origin: 'https://evil.example' }), 403);
      assert.equal(await statusOf({ origin: 'http://127.0.0.1:1' }), 403);
      assert.equal(await statusOf({ origin: `https://127.0.0.1:${server.port}` }), 403);
      assert.equal(await statusOf({ 'sec-fetch-site': 'same-site' }), 401, 'a page of another port');
    });
  });

  it('forwards only WebSockets of its own page, with the proof among their subprotocols', async () => {
    await running(['--url'], async (url) => {
      const { cookie, proof } = await login(url);
      const own = { cookie: cookie.split(';')[0] ?? '', origin: url.origin };
      const protocol = `v5.channel.k8s.io, minik8s.session.${proof}`;
      const open = async (headers: Record<string, string>) =>
        (
          await send(`${url.origin}/api/v1/namespaces/default/pods/absent/exec?command=id&stdout=true`, {
            headers: {
              connection: 'Upgrade',
              upgrade: 'websocket',
              'sec-websocket-version': '13',
              'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
              ...headers,
            },
          })
        ).status;
      assert.equal(await open({ ...own, 'sec-websocket-protocol': protocol }), 404, 'the pod does not exist');
      assert.equal(await open({ ...own, 'sec-websocket-protocol': 'v5.channel.k8s.io' }), 401);
      assert.equal(await open({ origin: url.origin, 'sec-websocket-protocol': protocol }), 401);
      assert.equal(
        await open({ ...own, origin: 'https://evil.example', 'sec-websocket-protocol': protocol }),
        403,
      );
      assert.equal(
        await open({ ...own, 'sec-websocket-protocol': `${protocol}, minik8s.session.${proof}` }),
        401,
        'two proofs',
      );
    });
  });

  it('hides the code from other users: the browser gets the path of a page that only its user can read', async () => {
    const seen = join(server.directory, 'seen');
    const program = join(server.directory, 'browser');
    writeFileSync(program, `#!/bin/sh\nprintf '%s' "$*" > ${seen}.new && mv ${seen}.new ${seen}\n`, {
      mode: 0o755,
    });
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('minik8s-dashboard-'));
    const before = left();
    await running(
      [],
      async (url) => {
        const path = await eventually(systemClock, 'the browser', () => {
          try {
            return readFileSync(seen, 'utf8');
          } catch {
            return undefined;
          }
        });
        assert.doesNotMatch(path, /code|#/);
        assert.equal(statSync(path).mode & 0o777, 0o600);
        assert.ok(readFileSync(path, 'utf8').includes(`content="0;url=${url.href}"`));
      },
      { BROWSER: program },
    );
    assert.deepEqual(left(), before);
  });

  it("prints the server's own address with --direct, and exits", async () => {
    const result = await ctlFor(kubeconfig)(['dashboard', '--direct', '--url']);
    assert.equal(result.status, 0, result.err);
    const url = new URL(result.out.trim());
    assert.equal(url.origin, `https://127.0.0.1:${server.port}`);
    assert.match(url.hash, /^#code=[\w-]{43}$/);
  });

  it('reports an impersonated user, a port in use, and a server without a dashboard', async () => {
    const as = await ctlFor(kubeconfig)(['dashboard', '--url', '--as', 'bob']);
    assert.match(as.err, /no sessions of impersonated users/);
    const taken = await ctlFor(kubeconfig)(['dashboard', '--url', `--port=${server.port}`]);
    assert.match(taken.err, new RegExp(`cannot listen on 127.0.0.1:${server.port}: .*choose another --port`));
    const other = await startHttpsTestServer();
    try {
      const absent = await ctlFor(await other.kubeconfigFor('alice', ['system:masters']))([
        'dashboard',
        '--url',
      ]);
      assert.match(
        absent.err,
        /the server has no dashboard: it is not minik8s, or runs with --dashboard=false/,
      );
      assert.equal(absent.status, 1);
    } finally {
      await other.stop();
    }
  });
});
