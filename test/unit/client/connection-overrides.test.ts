/** Settings of the command line override those of the kubeconfig. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { empty, parseKubeconfig } from '../../../src/client/kubeconfig.ts';
import {
  type ConnectionOverrides,
  type ResolvedContext,
  resolveContext,
} from '../../../src/client/kubeconfig-connection.ts';

const folder = mkdtempSync(join(tmpdir(), 'minik8s-overrides-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const data = (text: string) => Buffer.from(text).toString('base64');
const config = parseKubeconfig(
  JSON.stringify({
    clusters: [
      {
        name: 'one',
        cluster: {
          server: 'https://one:6443',
          'certificate-authority-data': data('CA'),
          'tls-server-name': 'one.test',
        },
      },
      { name: 'two', cluster: { server: 'https://two:6443', 'insecure-skip-tls-verify': true } },
      { name: 'none', cluster: {} },
    ],
    users: [
      {
        name: 'certificate',
        user: { 'client-certificate-data': data('CERT'), 'client-key-data': data('KEY') },
      },
      { name: 'token', user: { token: 'secret' } },
      { name: 'plugin', user: { exec: {} } },
    ],
    contexts: [
      { name: 'a', context: { cluster: 'one', user: 'certificate', namespace: 'web' } },
      { name: 'b', context: { cluster: 'one', user: 'plugin' } },
      { name: 'c', context: { cluster: 'none', user: 'token' } },
    ],
    'current-context': 'a',
  }),
  'f',
);

const [ca, cert, key] = [file('ca', 'CA2'), file('cert', 'CERT2'), file('key', 'KEY2')];
const plain: ResolvedContext = {
  context: 'a',
  server: 'https://one:6443',
  namespace: 'web',
  ca: 'CA',
  cert: 'CERT',
  key: 'KEY',
  tlsServerName: 'one.test',
};
const { tlsServerName: _, ...unnamed } = plain;
const { ca: _ca, ...unverified } = plain;
const { cert: _cert, key: _key, ...nobody } = plain;

const cases: [what: string, overrides: ConnectionOverrides, expected: ResolvedContext, context?: string][] = [
  ['no overrides', {}, plain],
  ['another server, which has another name', { server: 'https://x' }, { ...unnamed, server: 'https://x' }],
  [
    'another server, with its name',
    { server: 'https://x', tlsServerName: 'y' },
    { ...plain, server: 'https://x', tlsServerName: 'y' },
  ],
  ['a proxy', { proxyUrl: 'http://p:3128' }, { ...plain, proxyUrl: 'http://p:3128' }],
  ['a TLS server name', { tlsServerName: 'y' }, { ...plain, tlsServerName: 'y' }],
  ['a certificate authority', { certificateAuthority: ca }, { ...plain, ca: 'CA2' }],
  ['no verification', { insecureSkipTlsVerify: true }, { ...unverified, insecureSkipTlsVerify: true }],
  [
    'an authority for a cluster that is not verified',
    { cluster: 'two', certificateAuthority: ca },
    { ...unnamed, server: 'https://two:6443', ca: 'CA2' },
  ],
  ['a token instead of the certificate', { token: 't' }, { ...nobody, token: 't' }],
  ['a certificate', { clientCertificate: cert, clientKey: key }, { ...plain, cert: 'CERT2', key: 'KEY2' }],
  [
    'a certificate and a token',
    { clientCertificate: cert, clientKey: key, token: 't' },
    { ...plain, cert: 'CERT2', key: 'KEY2', token: 't' },
  ],
  ['a certificate of the same key', { clientCertificate: cert }, { ...plain, cert: 'CERT2' }],
  ['another user', { user: 'token' }, { ...nobody, token: 'secret' }],
  [
    'a certificate instead of the token',
    { user: 'token', clientCertificate: cert, clientKey: key },
    { ...plain, cert: 'CERT2', key: 'KEY2' },
  ],
  [
    'another cluster and user',
    { cluster: 'two', user: 'token' },
    {
      context: 'a',
      server: 'https://two:6443',
      namespace: 'web',
      token: 'secret',
      insecureSkipTlsVerify: true,
    },
  ],
  [
    'a server for a cluster that has none',
    { server: 'https://x' },
    { context: 'c', server: 'https://x', namespace: 'default', token: 'secret' },
    'c',
  ],
  [
    'a token instead of a plugin',
    { user: 'token' },
    { ...nobody, context: 'b', namespace: 'default', token: 'secret' },
    'b',
  ],
];

describe('a connection', () => {
  for (const [what, overrides, expected, context] of cases)
    it(`is resolved with ${what}`, () =>
      assert.deepEqual(resolveContext(config, context, overrides), expected));

  it('needs no kubeconfig if the command line names a server', () => {
    assert.deepEqual(resolveContext(empty, undefined, { server: 'https://x', token: 't' }), {
      ...{ context: '', server: 'https://x', namespace: 'default', token: 't' },
    });
  });

  const wrong: [overrides: ConnectionOverrides, message: RegExp][] = [
    [{ cluster: 'nine' }, /^kubeconfig: there is no cluster "nine"; clusters: \w+, /],
    [
      { cluster: 'none' },
      /^kubeconfig: cluster "none" has no server; set it with minik8s ctl config set-cluster none --server=/,
    ],
    [{ user: 'nine' }, /^kubeconfig: there is no user "nine"; users: \w+, /],
    [{ user: 'plugin' }, /plugin/],
    [{ certificateAuthority: ca, insecureSkipTlsVerify: true }, /verifies nothing/],
    [{ certificateAuthority: join(folder, 'gone') }, /gone does not exist$/],
    [{ clientCertificate: file('empty', '\n') }, /empty is empty$/],
  ];
  for (const [overrides, message] of wrong)
    it(`is rejected with the overrides ${JSON.stringify(overrides)}: ${message.source}`, () =>
      assert.throws(() => resolveContext(config, 'a', overrides), { name: 'UsageError', message }));
});
