import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatKubeconfig, loadKubeconfig, parseKubeconfig } from '../../../src/client/kubeconfig.ts';
import { resolveContext, singleKubeconfig } from '../../../src/client/kubeconfig-connection.ts';
import { readToken } from '../../../src/client/kubeconfig-user.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
after(() => rmSync(folder, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

const full = `
apiVersion: v1
kind: Config
preferences: {}
clusters:
- name: prod
  cluster: {server: 'https://prod:6443', certificate-authority: ca.pem, tls-server-name: kubernetes}
- name: dev
  cluster: {server: 'http://dev:8080', insecure-skip-tls-verify: true, certificate-authority-data: ${base64('CA')}}
users:
- name: cert
  user: {client-certificate: cert.pem, client-key-data: ${base64('KEY')}}
- name: file
  user: {tokenFile: token}
- name: plugin
  user: {exec: {command: gke}}
contexts:
- name: prod
  context: {cluster: prod, user: cert, namespace: web}
- name: dev
  context: {cluster: dev, user: file}
- name: anonymous
  context: {cluster: dev}
- name: plugin
  context: {cluster: dev, user: plugin}
- name: broken
  context: {cluster: nothing}
- name: clusterless
  context: {user: cert}
- name: stranger
  context: {cluster: dev, user: nobody}
current-context: prod
`;

test('a context is read as a connection with the contents of the files that the kubeconfig names', () => {
  writeFileSync(join(folder, 'ca.pem'), 'CA-FILE');
  writeFileSync(join(folder, 'cert.pem'), 'CERT-FILE');
  writeFileSync(join(folder, 'token'), 'secret\n');
  const config = parseKubeconfig(full, join(folder, 'config'));
  assert.deepEqual(resolveContext(config), {
    context: 'prod',
    server: 'https://prod:6443',
    namespace: 'web',
    ca: 'CA-FILE',
    cert: 'CERT-FILE',
    key: 'KEY',
    tlsServerName: 'kubernetes',
  });
  assert.deepEqual(resolveContext(config, 'dev'), {
    context: 'dev',
    server: 'http://dev:8080',
    namespace: 'default',
    ca: 'CA',
    token: 'secret',
    tokenFile: join(folder, 'token'),
    insecureSkipTlsVerify: true,
  });
  assert.equal(resolveContext(config, 'anonymous').token, undefined);
});

test('the file of a token has precedence over the token, which is used while the file cannot be read', () => {
  const user = (entry: object) =>
    resolveContext(
      parseKubeconfig(
        JSON.stringify({
          clusters: [{ name: 'c', cluster: { server: 'https://c' } }],
          users: [{ name: 'u', user: entry }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
        join(folder, 'config'),
      ),
    );
  writeFileSync(join(folder, 'token'), 'from-file\n');
  assert.equal(user({ token: 'own', tokenFile: 'token' }).token, 'from-file');
  assert.equal(user({ token: 'own', tokenFile: 'missing' }).token, 'own');
  assert.throws(() => user({ tokenFile: 'missing' }), /missing does not exist$/);
  assert.equal(readToken(join(folder, 'token'), 'before'), 'from-file');
  writeFileSync(join(folder, 'token'), '');
  assert.equal(readToken(join(folder, 'token'), 'before'), 'before');
  assert.equal(readToken(folder, 'before'), 'before');
});

const all = 'prod, dev, anonymous, plugin, broken and 2 more';
for (const [context, error] of [
  ['nothing', `kubeconfig: there is no context "nothing"; contexts: ${all}`],
  ['constructor', `kubeconfig: there is no context "constructor"; contexts: ${all}`],
  ['broken', 'kubeconfig: context "broken" names an unknown cluster nothing; clusters: prod, dev'],
  ['clusterless', 'kubeconfig: context "clusterless" names no cluster; clusters: prod, dev'],
  ['stranger', 'kubeconfig: context "stranger" names an unknown user nobody; users: cert, file, plugin'],
  ['plugin', 'kubeconfig: user plugin needs a plugin; only tokens and certificates are supported'],
] as const) {
  test(`context ${context} is rejected: ${error}`, () => {
    const config = parseKubeconfig(full, join(folder, 'config'));
    assert.throws(() => resolveContext(config, context), { name: 'UsageError', message: error });
  });
}

test('a kubeconfig without contexts, or without a current one, is rejected with the remedy', () => {
  const nothing = join(folder, 'nothing');
  writeFileSync(nothing, '');
  assert.throws(() => resolveContext(loadKubeconfig([nothing]) ?? assert.fail()), {
    message: `kubeconfig ${nothing}: no contexts are defined; name another file with --kubeconfig or $KUBECONFIG`,
  });
  writeFileSync(nothing, 'contexts: [{name: a, context: {cluster: c}}]\n');
  assert.throws(() => resolveContext(loadKubeconfig([nothing]) ?? assert.fail()), {
    message: `kubeconfig ${nothing}: no context is current; choose one of a with --context`,
  });
});

test('a written kubeconfig is read back as the same connection', () => {
  const to = { server: 'https://h:1', ca: 'CA', cert: 'CERT', key: 'KEY', token: '123' };
  const text = formatKubeconfig(singleKubeconfig('minik8s', to));
  assert.deepEqual(resolveContext(parseKubeconfig(text, 'f')), {
    context: 'minik8s',
    namespace: 'default',
    ...to,
  });
});
