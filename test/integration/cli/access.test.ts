/** Identity and permissions: `ctl auth` and the connection flags, beside kubectl 1.32. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { unionAuthenticator } from '../../../src/apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../../../src/apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import { type Ctl, ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const authenticate = unionAuthenticator([
  clientCertificateAuthenticator,
  bearerTokenAuthenticator(
    () => [{ token: 'robots-token', user: { name: 'robot', groups: [] } }],
    () => 0,
  ),
]);

describe('ctl auth beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let tools: readonly [Ctl, Ctl];
  let asAlice: readonly [Ctl, Ctl];

  before(async () => {
    server = await startHttpsTestServer({ clock: new FakeClock(), authenticate });
    const admin = await server.kubeconfigFor('kubernetes-admin', ['system:masters', 'ops']);
    const alice = await server.kubeconfigFor('alice', ['dev']);
    tools = [ctlFor(admin), kubectlFor(admin)];
    asAlice = [ctlFor(alice), kubectlFor(alice)];
  });
  after(() => server.stop());

  const cases: string[][] = [
    ['whoami'],
    ['whoami', '-o', 'yaml'],
    ['whoami', '-o', 'jsonpath={.status.userInfo.username}'],
    ['can-i', 'get', 'pods'],
    ['can-i', 'get', 'po/web', '-n', 'kube-system'],
    ['can-i', 'create', 'deployments.apps', '-A'],
    ['can-i', '*', '*'],
    ['can-i', 'get', 'pods', '--subresource=log'],
    ['can-i', 'get', '/logs/'],
    ['can-i', 'list', '/logs/'],
    ['can-i', 'get', 'pods', '-q'],
    ['can-i', 'dance', 'pods'],
    ['can-i', 'get', 'nodes'],
    ['can-i', 'get', 'storageclasses'],
    ['can-i', 'get', 'nodes', '-A'],
    ['can-i', 'get', 'unicorns'],
    ['can-i', 'get', 'unicorns.example.com'],
    ['can-i', 'impersonate', 'users'],
    ['can-i', '--list'],
    ['can-i', '--list', '--no-headers'],
  ];
  for (const args of cases)
    for (const who of ['an administrator', 'alice'])
      it(`auth ${args.join(' ')} prints the same for ${who}`, async () => {
        const [ctl, kubectl] = who === 'alice' ? asAlice : tools;
        const [ours, theirs] = await Promise.all([ctl(['auth', ...args]), kubectl(['auth', ...args])]);
        assert.deepEqual(ours, theirs);
      });

  it('rejects what kubectl rejects', async () => {
    for (const args of [
      ['can-i', 'get'],
      ['can-i', 'get', 'pods', '--no-headers'],
      ['can-i', '--list', 'get'],
      ['can-i', '--list', '-q'],
      ['can-i', 'get', '/logs', '--subresource=a'],
    ]) {
      const [ours, theirs] = await Promise.all(tools.map((tool) => tool(['auth', ...args])));
      assert.deepEqual([ours?.status, ours?.out], [theirs?.status, theirs?.out], args.join(' '));
      assert.notEqual(ours?.err, '', args.join(' '));
    }
  });

  describe('reconcile', () => {
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const rule = (verbs: string, resources: string) => ({
      apiGroups: [''],
      resources: resources.split(' '),
      verbs: verbs.split(' '),
    });
    const role = (kind: string, rules: object[], over: object = {}) => ({
      ...{ apiVersion, kind, metadata: { name: 'r' }, rules },
      ...over,
    });
    const subject = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name });
    const binding = (of: string, ...names: string[]) => ({
      ...{ apiVersion, kind: 'RoleBinding', metadata: { name: 'b', labels: { of } } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: of },
      subjects: names.map(subject),
    });
    const opted = {
      metadata: { name: 'r', annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
    };
    const paths = { nonResourceURLs: ['/a', '/b'], verbs: ['get'] };
    const aggregated = (...labels: string[]) => ({
      aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { label } })) },
    });

    /** Steps that run in order; each tool has a namespace of its own. */
    const sequences: [
      what: string,
      steps: [manifest: Record<string, unknown> & { metadata: object }, ...args: string[]][],
    ][] = [
      [
        'rules are added, and removed on request',
        [
          [role('Role', [rule('get list', 'pods secrets')]), '--dry-run=client'],
          [role('Role', [rule('get list', 'pods secrets')])],
          [role('Role', [rule('get', 'pods')])],
          [role('Role', [rule('get watch', 'pods'), rule('create', 'services')])],
          [role('Role', [rule('get', 'pods')]), '--remove-extra-permissions', '--dry-run=client'],
          [role('Role', [rule('get', 'pods')]), '--remove-extra-permissions'],
          [role('Role', [rule('get', 'pods')], { metadata: { name: 'r', labels: { a: 'b' } } })],
        ],
      ],
      [
        'subjects are added, and removed on request',
        [
          [binding('r', 'alice', 'bob')],
          [binding('r', 'carol')],
          [binding('r', 'carol', 'alice')],
          [binding('r', 'dave'), '--remove-extra-subjects'],
          [binding('other', 'dave')],
        ],
      ],
      [
        'protected objects are unchanged',
        [[role('Role', [rule('get', 'pods')], opted)], [role('Role', [rule('list', 'pods')], opted)]],
      ],
      ['other objects are skipped', [[{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }]]],
    ];
    for (const [index, [what, steps]] of sequences.entries())
      it(what, async () => {
        const spaces = [`ours-${index}`, `theirs-${index}`];
        for (const [manifest, ...args] of steps) {
          const [ours, theirs] = await Promise.all(
            tools.map((tool, which) => {
              // kubectl takes the namespace from the manifest only.
              const metadata = { ...manifest.metadata, namespace: spaces[which] };
              const stdin = JSON.stringify({ ...manifest, metadata });
              return tool(['auth', 'reconcile', '-f', '-', ...args], { stdin });
            }),
          );
          assert.deepEqual(ours, theirs);
          const [own, other] = await Promise.all(
            spaces.map(async (space) => {
              const { out } = await tools[0](['get', 'roles,rolebindings', '-n', space, '-o', 'json']);
              const { items } = JSON.parse(out) as {
                items: { metadata: object; subjects?: object; rules?: object }[];
              };
              return items.map(({ rules, subjects, metadata }) => {
                const { name, labels } = metadata as { name: string; labels?: object };
                return { name, labels, rules, subjects };
              });
            }),
          );
          assert.deepEqual(own, other);
        }
      });

    it('reconciles a ClusterRole with paths, and an aggregated one, as kubectl does', async () => {
      const stored: string[] = [];
      for (const [which, tool] of tools.entries()) {
        const name = `sum-${which}`;
        const steps: [object, ...string[]][] = [
          [role('ClusterRole', [paths], { metadata: { name } })],
          [role('ClusterRole', [{ ...paths, nonResourceURLs: ['/a', '/c'] }], { metadata: { name } })],
          [role('ClusterRole', [], { metadata: { name }, ...aggregated('a', 'b') })],
          [role('ClusterRole', [], { metadata: { name }, ...aggregated('b', 'c') })],
          [role('ClusterRole', [], { metadata: { name }, ...aggregated('c') }), '--remove-extra-permissions'],
          [role('ClusterRole', [paths], { metadata: { name } })],
        ];
        const told: unknown[] = [];
        for (const [manifest, ...args] of steps) {
          const done = await tool(['auth', 'reconcile', '-f', '-', ...args], {
            stdin: JSON.stringify(manifest),
          });
          const { out } = await tools[0](['get', 'clusterrole', name, '-o', 'json']);
          const { aggregationRule, rules } = JSON.parse(out) as Record<string, unknown>;
          told.push([done, aggregationRule, rules]);
        }
        stored.push(JSON.stringify(told).replaceAll(name, 'sum'));
      }
      assert.equal(stored[0], stored[1]);
    });

    it('applies a manifest without a namespace to the one of --namespace, and creates that namespace', async () => {
      const stdin = JSON.stringify(role('Role', [rule('get', 'pods')]));
      const done = await tools[0](['auth', 'reconcile', '-n', 'new', '-f', '-'], { stdin });
      assert.deepEqual([done.status, done.out], [0, 'role.rbac.authorization.k8s.io/r reconciled\n']);
      assert.equal(
        (await server.call('GET', '/apis/rbac.authorization.k8s.io/v1/namespaces/new/roles/r')).status,
        200,
      );
      const unnamed = { kind: 'User', name: 'alice' };
      const once = { ...binding('r'), roleRef: { kind: 'Role', name: 'r' }, subjects: [unnamed] };
      for (const told of ['create', undefined]) {
        const { err } = await tools[0](['auth', 'reconcile', '-n', 'new', '-f', '-'], {
          stdin: JSON.stringify(once),
        });
        assert.equal(/required (\w+)/.exec(err)?.[1], told, err);
      }
    });

    it('rejects arguments and --dry-run=server, and requires files', async () => {
      for (const args of [[], ['x', '-f', '-'], ['-f', '-', '--dry-run=server']]) {
        const [ours, theirs] = await Promise.all(tools.map((tool) => tool(['auth', 'reconcile', ...args])));
        assert.deepEqual([ours?.status, ours?.out], [theirs?.status, theirs?.out]);
      }
    });
  });

  describe('the flags of the connection', () => {
    let files: Record<'ca' | 'cert' | 'key', string>;
    let url: string;

    before(async () => {
      const bob = await server.clientCertificate('bob', []);
      const write = async (name: string, text: string) => {
        const path = join(server.directory, name);
        await writeFile(path, text);
        return path;
      };
      files = {
        ca: await write('ca.pem', server.authority.certificate),
        cert: await write('bob.pem', bob.certificate),
        key: await write('bob-key.pem', bob.key),
      };
      url = `https://127.0.0.1:${server.port}`;
    });

    const both = (args: string[], [ctl, kubectl] = tools) =>
      Promise.all([ctl(['auth', 'whoami', ...args]), kubectl(['auth', 'whoami', ...args])]);
    const isUser = (name: string, out: string) => assert.match(out, new RegExp(`^Username +${name}$`, 'm'));

    it('name a server, an authority and a certificate, and need no kubeconfig', async () => {
      const nowhere = join(server.directory, 'nowhere');
      const none = [ctlFor(undefined, { homeDirectory: nowhere }), kubectlFor(nowhere)] as const;
      const { ca, cert, key } = files;
      const args = [
        '-s',
        url,
        '--certificate-authority',
        ca,
        '--client-certificate',
        cert,
        '--client-key',
        key,
      ];
      const [ours, theirs] = await both(args, none);
      assert.deepEqual(ours, theirs);
      isUser('bob', ours.out);
      const local = ['--server', url.replace('127.0.0.1', 'localhost'), '--tls-server-name', '127.0.0.1'];
      assert.deepEqual((await both([...args, ...local], none))[0], ours);
    });

    it('reject an http:// address, and the error names the https address', async () => {
      const [ctl] = tools;
      const plain = url.replace('https:', 'http:');
      const { status, err } = await ctl(['get', 'pods', '-s', plain]);
      assert.equal(status, 1);
      assert.match(err, /^[^\n]*\n$/);
      assert.ok(err.includes(`write ${url}`), err);
    });

    it('skip the verification of the server only with --insecure-skip-tls-verify', async () => {
      const { cert, key } = files;
      const args = ['-s', url, '--client-certificate', cert, '--client-key', key];
      const ctl = ctlFor(undefined, { homeDirectory: join(server.directory, 'nowhere') });
      const untrusted = await ctl(['auth', 'whoami', ...args]);
      assert.equal(untrusted.status, 1);
      assert.match(untrusted.err, /not signed by the given authority/);
      isUser('bob', (await ctl(['auth', 'whoami', ...args, '--insecure-skip-tls-verify'])).out);
    });

    it('select the cluster and the user of the kubeconfig', async () => {
      const [ours, theirs] = await both(['--cluster', 'test', '--user', 'kubernetes-admin']);
      assert.deepEqual(ours, theirs);
      isUser('kubernetes-admin', ours.out);
      for (const wrong of [
        ['--cluster', 'x'],
        ['--user', 'x'],
        ['--context', 'x'],
      ])
        assert.deepEqual(
          (await both(wrong)).map(({ status, out }) => [status, out]),
          [
            [1, ''],
            [1, ''],
          ],
        );
    });

    it('a token overrides the client certificate of the kubeconfig', async () => {
      const [ctl] = tools;
      isUser('robot', (await ctl(['auth', 'whoami', '--token', 'robots-token'])).out);
      const { status, err } = await ctl(['auth', 'whoami', '--token', 'nobodys-token']);
      assert.equal(status, 1);
      assert.match(err, /Unauthorized/i);
      assert.match(
        err,
        /the server does not accept the token of context \w+: it is not this cluster's, or was revoked/,
      );
      assert.doesNotMatch(err, /nobodys-token/);
    });

    it('impersonate a user', async () => {
      const args = ['--as', 'carol', '--as-group', 'a', '--as-group=b', '--as-uid', '7'];
      const [ours, theirs] = await both(args);
      assert.deepEqual([ours.status, ours.out], [theirs.status, theirs.out]);
      const [alone] = await both(['--as-group', 'a']);
      assert.equal(alone.status, 1);
    });

    it('end `get -w` at the timeout without an error, and `get --raw` with an error', async () => {
      const limit = ['--request-timeout', '1s'];
      for (const tool of tools) {
        const watched = await tool(['get', 'namespaces', '-w', ...limit]);
        assert.deepEqual([watched.status, watched.err], [0, '']);
        const raw = await tool(['get', '--raw', '/api/v1/namespaces?watch=true', ...limit]);
        assert.equal(raw.status, 1);
      }
      const { err } = await tools[0](['get', '--raw', '/api/v1/namespaces?watch=true', ...limit]);
      assert.match(err, /no whole answer within 1 s \(--request-timeout\)/);
    });
  });
});
