/** `ctl proxy` beside kubectl 1.32: what is accepted and what is refused. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { type Asked, answerOf, type StartedProxy, startCtl, startKubectl } from './proxy-rig.ts';

const pods = '/api/v1/namespaces/default/pods';
const cases: readonly (readonly [path: string, asked?: Asked])[] = [
  ['/version'],
  ['/api/v1/namespaces/default'],
  ['/api/v1/namespaces?limit=1&fieldSelector=metadata.name%3Ddefault'],
  ['/api/v1/namespaces/default/configmaps', { method: 'POST', body: '{"metadata":{"name":"made"}}' }],
  ['/nosuch'],
  ['/version', { headers: { host: 'localhost' } }],
  ['/version', { headers: { host: 'localhost:1' } }],
  ['/version', { headers: { host: 'evil.example' } }],
  ['/version', { headers: { host: 'localhost.evil.example:8001' } }],
  ['/version', { headers: { host: '127.0.0.1.evil.example' } }],
  ['http://evil.example/version', { headers: { host: 'localhost' } }],
  [`${pods}/x/exec?command=sh`],
  [`${pods}/x/attach`, { method: 'POST' }],
  [`${pods}/x%2Fexec`],
  [`${pods}/x/%65xec`],
  [`${pods}/x/exec%20`],
  [`${pods}/x/%2565xec`],
  [`/api/v1/namespaces/default/configmaps/a%2fb`],
  [`/api/v1/namespaces/default/configmaps/a:b@c;d=e`],
];

const filtered: readonly (readonly [path: string, asked?: Asked])[] = [
  ['/k8s/api/v1/namespaces/default'],
  ['/k8s/api/v1/namespaces/kube-system'],
  ['/k8s/version'],
  ['/k8s'],
  ['/api/v1/namespaces/default'],
  ['/k8s/api/v1/namespaces/default', { method: 'DELETE' }],
  ['/k8s/api/v1/namespaces/default', { headers: { host: 'my.example' } }],
  ['/k8s/api/v1/namespaces/default/../kube-system'],
  ['/files/a.txt'],
  ['/files/below/'],
  ['/files/nosuch'],
];

describe('ctl proxy beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubeconfig: string;
  let directory: string;

  before(async () => {
    ({ server, ctl, kubeconfig } = await startBesideKubectl());
    directory = await mkdtemp(join(tmpdir(), 'proxy-'));
    await mkdir(join(directory, 'below'));
    await writeFile(join(directory, 'a.txt'), 'text of a\n');
    await writeFile(join(directory, 'below', 'index.html'), '<p>index</p>');
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  /** Returns what both proxies answer; a redirection by its status and its target. */
  const compare = async (args: readonly string[], asked: typeof cases) => {
    const [ours, theirs] = await Promise.all([startCtl(ctl, args), startKubectl(kubeconfig, args)]);
    const shownOf = async ({ port }: StartedProxy, [path, more]: (typeof cases)[number]) => {
      const { status, body, headers } = await answerOf(port, path, more);
      const stable = body.replaceAll(/"(?:uid|creationTimestamp|resourceVersion|time)": ?"[^"]*"/g, '');
      return status === 301 ? [path, more, status, headers.location] : [path, more, status, stable];
    };
    try {
      for (const each of asked) {
        const shown = await shownOf(theirs, each);
        if (each[1]?.method === 'POST') await server.call('DELETE', `${each[0]}/made`);
        assert.deepEqual(await shownOf(ours, each), shown);
      }
    } finally {
      await Promise.all([ours.stop(), theirs.stop()]);
    }
  };

  it('answers the same with the default filter', () => compare(['--port=0'], cases));

  it('answers the same with own patterns, a prefix and files', () =>
    compare(
      [
        '--port=0',
        '--api-prefix=/k8s',
        '--accept-paths=^/api/v1/namespaces/default',
        '--accept-hosts=^my\\.example$,^127',
        '--reject-methods=^DELETE$',
        `--www=${directory}`,
        '--www-prefix=/files',
      ],
      filtered,
    ));

  it('refuses the flags that kubectl refuses, and says which', async () => {
    for (const [args, message] of [
      [['--unix-socket=/x/y', '--port=1'], /cannot set --unix-socket and --port at the same time/],
      [['--accept-hosts=('], /--accept-hosts: "\(" is no regular expression/],
      [['--port=70000'], /--port: expected a port/],
      [['--api-prefix=x'], /--api-prefix: expected a path/],
      [['--www-prefix=/a/../', '--www=.'], /--www-prefix: expected a path/],
      [['--unix-socket=/proc/none/socket'], /cannot listen on \/proc\/none\/socket/],
      [['pods'], /unexpected argument 'pods'/],
    ] as const) {
      const { status, out, err } = await ctl(['proxy', ...args]);
      assert.deepEqual([status, out], [1, ''], err);
      assert.match(err, message);
    }
  });

  it('forwards a watch event by event, and ends it when the client leaves', async () => {
    const proxy = await startCtl(ctl, ['--port=0']);
    const path = '/api/v1/namespaces/default/configmaps?watch=1';
    const outgoing = request({ host: '127.0.0.1', port: proxy.port, path, agent: false }).end();
    // The head of the answer arrives before there is any event.
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    let got = '';
    incoming.on('data', (chunk) => (got += chunk));
    await server.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'watched' } });
    while (!got.includes('"watched"')) await once(incoming, 'data');
    outgoing.destroy();
    const { status } = (await proxy.stop()) ?? {};
    assert.equal(status, 130);
  });

  it('serves on a unix socket that only its user may open, and replaces one that was left', async () => {
    const path = join(directory, 'api.sock');
    for (let count = 0; count < 2; count++) {
      const proxy = await startCtl(ctl, [`--unix-socket=${path}`]);
      assert.equal(proxy.place, path);
      assert.equal((await stat(path)).mode & 0o777, 0o700);
      const outgoing = request({ socketPath: path, path: '/version', headers: { host: 'localhost' } }).end();
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      assert.match(await text(incoming), /gitVersion/);
      await proxy.stop();
      // The socket exists already, as after a proxy that was killed.
      if (count === 0) {
        const left = createServer().listen(path);
        await once(left, 'listening');
        after(() => left.close());
      }
    }
    await writeFile(join(directory, 'plain'), 'kept');
    const { status } = await ctl(['proxy', `--unix-socket=${join(directory, 'plain')}`]);
    assert.equal(status, 1);
    assert.equal((await stat(join(directory, 'plain'))).size, 4);
  });
});
