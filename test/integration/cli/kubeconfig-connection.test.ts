/** The connection of a kubeconfig: its proxy, the impersonated user, and the credential plugin. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

interface Entry {
  clusters: [{ cluster: Record<string, unknown> }];
  users: [{ user: Record<string, unknown> }];
}

describe('the connection of a kubeconfig', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let proxy: Server;
  let tunnels: string[] = [];
  const proxyUrl = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  before(async () => {
    server = await startHttpsTestServer();
    proxy = createServer((_request, answer) => answer.writeHead(405).end());
    proxy.on('connect', ({ url = '' }, client) => {
      tunnels.push(url);
      const [host = '', port] = url.split(':');
      const outgoing = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      outgoing.on('error', () => client.destroy());
      client.on('error', () => outgoing.destroy());
      client.pipe(outgoing).pipe(client);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    proxy.close();
    proxy.closeAllConnections();
    await server.stop();
  });

  /** Returns a kubeconfig of the administrator with other fields. */
  async function changed(cluster: Record<string, unknown>, user: Record<string, unknown> = {}) {
    const text = await readFile(await server.kubeconfigFor('kubernetes-admin', ['system:masters']), 'utf8');
    const config = JSON.parse(text) as Entry;
    Object.assign(config.clusters[0].cluster, cluster);
    Object.assign(config.users[0].user, user);
    const path = join(server.directory, 'changed.conf');
    await writeFile(path, JSON.stringify(config));
    return path;
  }

  it('goes through the proxy that the cluster names', async () => {
    tunnels = [];
    const ctl = ctlFor(await changed({ 'proxy-url': proxyUrl() }));
    const { status, err } = await ctl(['get', 'namespaces', '-o', 'name']);
    assert.deepEqual([status, err], [0, '']);
    assert.deepEqual(new Set(tunnels), new Set([`127.0.0.1:${server.port}`]));
  });

  it('goes through the proxy for a WebSocket', async () => {
    tunnels = [];
    const ctl = ctlFor(await changed({ 'proxy-url': proxyUrl() }));
    await server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'web' },
      spec: { nodeName: 'none', containers: [{ name: 'web', image: 'x' }] },
    });
    const { status } = await ctl(['exec', 'web', '--', 'ls']);
    assert.equal(status, 1);
    assert.ok(tunnels.length >= 2, tunnels.join());
  });

  it('names the proxy that cannot be reached', async () => {
    const ctl = ctlFor(await changed({ 'proxy-url': 'http://127.0.0.1:1' }));
    const { status, err } = await ctl(['get', 'namespaces']);
    assert.equal(status, 1);
    assert.match(err, /connection refused.*\(through the proxy 127\.0\.0\.1:1\)/);
  });

  describe('beside kubectl', { skip: unlessKubectl('1.32') }, () => {
    it('sends the impersonated user of the kubeconfig, unless --as names another user', async () => {
      const as = { as: 'jane', 'as-groups': ['dev', 'ops'], 'as-user-extra': { 'a.test/x': ['1', '2'] } };
      const path = await changed({}, as);
      for (const more of [[], ['--as=joe'], ['--as=joe', '--as-group=web'], ['--as-uid=7']]) {
        const args = ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo}', ...more];
        const [ours, theirs] = [await ctlFor(path)(args), await kubectlFor(path)(args)];
        assert.deepEqual(ours, theirs);
        assert.ok(theirs.out.includes('a.test/x'), theirs.err);
      }
    });
  });

  describe('with a credential plugin', () => {
    const apiVersion = 'client.authentication.k8s.io/v1';
    /** Returns ctl with a plugin beside the kubeconfig that runs this script. */
    async function withPlugin(script: string, more: Record<string, unknown> = {}) {
      await writeFile(join(server.directory, 'plugin'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const own = JSON.parse(await readFile(await changed({}), 'utf8')) as Entry;
      const { 'client-certificate-data': cert = '', 'client-key-data': key = '' } = own.users[0].user;
      const pem = (data: unknown) => Buffer.from(String(data), 'base64').toString();
      const status = { clientCertificateData: pem(cert), clientKeyData: pem(key) };
      await writeFile(
        join(server.directory, 'credential.json'),
        JSON.stringify({ kind: 'ExecCredential', apiVersion, status }),
      );
      const exec = { command: './plugin', apiVersion, interactiveMode: 'Never', ...more };
      const none = { 'client-certificate-data': undefined, 'client-key-data': undefined };
      return await changed({}, { ...none, exec });
    }
    const get = ['get', 'namespaces', '-o', 'name'];

    it('uses the certificate that the plugin prints', async () => {
      const path = await withPlugin('cat "$(dirname "$0")/credential.json"');
      const { status, out, err } = await ctlFor(path)(get);
      assert.deepEqual([status, err], [0, '']);
      assert.match(out, /^namespace\/default$/m);
    });

    it('runs the plugin once for a command of several requests, also one that opens a WebSocket', async () => {
      const runs = join(server.directory, 'runs');
      const path = await withPlugin(`echo >> ${runs}; cat "$(dirname "$0")/credential.json"`);
      await server.call('POST', '/api/v1/namespaces/default/pods', {
        metadata: { name: 'bound' },
        spec: { nodeName: 'none', containers: [{ name: 'web', image: 'x' }] },
      });
      for (const args of [
        ['get', 'pods,cm,ns,nodes'],
        ['exec', 'bound', '--', 'ls'],
      ]) {
        await writeFile(runs, '');
        await ctlFor(path)(args);
        assert.equal(await readFile(runs, 'utf8'), '\n', args.join(' '));
      }
    });

    it('passes the extension of the cluster to a plugin that asks for the cluster', async () => {
      const info = join(server.directory, 'info');
      const script = `echo "$KUBERNETES_EXEC_INFO" > ${info}; cat "$(dirname "$0")/credential.json"`;
      const path = await withPlugin(script, { provideClusterInfo: true });
      const config = JSON.parse(await readFile(path, 'utf8')) as Entry;
      const extension = { audience: 'a', list: [1] };
      config.clusters[0].cluster.extensions = [
        { name: 'other', extension: { x: 1 } },
        { name: 'client.authentication.k8s.io/exec', extension },
      ];
      await writeFile(path, JSON.stringify(config));
      assert.equal((await ctlFor(path)(get)).status, 0);
      assert.deepEqual(JSON.parse(await readFile(info, 'utf8')).spec.cluster.config, extension);
    });

    it('ends a plugin that waits when the command is interrupted', async () => {
      const stop = new AbortController();
      const ready = join(server.directory, 'waits');
      const ended = ctlFor(await withPlugin(`: > ${ready}; exec sleep 1000`))(get, {
        signal: stop.signal,
        env: { PATH: '/usr/bin:/bin' },
      });
      while (!existsSync(ready)) await setImmediate();
      stop.abort(new DOMException('stopped', 'AbortError'));
      assert.deepEqual(await ended, { status: 130, out: '', err: '' });
    });

    for (const [what, script, more, error] of [
      [
        'fails',
        'exit 3',
        {},
        /^error: getting credentials: exec: executable \S+\/plugin failed with exit code 3\n$/,
      ],
      ['is killed', 'kill -9 $$', {}, /plugin was ended by SIGKILL\n$/],
      [
        'prints garbage',
        'echo secret',
        {},
        /plugin printed something else than an ExecCredential in JSON\n$/,
      ],
      ['prints too much', 'yes 2>/dev/null', {}, /plugin printed more than 1 MiB\n$/],
      [
        'is missing',
        '',
        { command: 'no-such-plugin', installHint: 'apt install it' },
        /executable no-such-plugin not found; to install it: apt install it\n$/,
      ],
    ] as const)
      it(`is reported when the plugin ${what}`, async () => {
        const { status, out, err } = await ctlFor(await withPlugin(script, more))(get, {
          env: { PATH: '/usr/bin:/bin' },
        });
        assert.deepEqual([status, out], [1, '']);
        assert.match(err, error);
        assert.ok(!err.includes('secret'));
      });

    it('does not run a plugin that the kuberc of the user does not allow', async () => {
      const home = await mkdtemp(join(tmpdir(), 'minik8s-policy-'));
      const [kuberc, mark] = [join(home, '.kube', 'kuberc'), join(home, 'mark')];
      await mkdir(dirname(kuberc));
      const ctl = ctlFor(await withPlugin(`touch ${mark}; exit 3`, {}), { homeDirectory: home });
      const env = { PATH: '/usr/bin:/bin' };
      const head = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n';
      const deny = `${head}credentialPluginPolicy: DenyAll\n`;
      for (const [text, error] of [
        [deny, /plugin ".*" not allowed: policy set to "DenyAll"/],
        [`${deny}nosuch: 1\n`, /plugin ".*" not allowed: policy set to "DenyAll"/],
        [`${head}credentialPluginPolicy: Deny\n`, /unknown plugin policy "Deny"/],
        [
          `${head}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{command: aws}]\n`,
          /is not permitted by the credential plugin allowlist/,
        ],
      ] as const) {
        await writeFile(kuberc, text);
        const { status, err } = await ctl(get, { env });
        assert.equal(status, 1);
        assert.match(err, error);
        assert.equal(existsSync(mark), false, text);
      }
      await writeFile(kuberc, `${head}credentialPluginPolicy: AllowAll\n`);
      assert.match((await ctl(get, { env })).err, /failed with exit code 3/);
      assert.equal(existsSync(mark), true);
      await rm(home, { recursive: true });
    });
  });

  it('is rejected for groups without a user, and for groups that are no texts', async () => {
    for (const user of [
      { 'as-groups': ['dev'] },
      { as: 'jane', 'as-groups': 'dev' },
      { as: 'j', 'as-user-extra': { a: 1 } },
    ]) {
      const { status, err } = await ctlFor(await changed({}, user))(['get', 'pods']);
      assert.equal(status, 1);
      assert.match(err, /^error: kubeconfig: as-/);
    }
  });
});
