import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluginCall, pluginCredentials } from '../../../src/client/exec-credential.ts';

const v1 = 'client.authentication.k8s.io/v1';
const beta = 'client.authentication.k8s.io/v1beta1';
const cluster = { server: 'https://c:6443', 'certificate-authority-data': 'Q0E=' };
const call = (exec: unknown, hasTerminal = false) => pluginCall(exec, 'jane', cluster, hasTerminal);
const plain = { command: 'get-token', apiVersion: v1, interactiveMode: 'Never' };

describe('the call of a credential plugin', () => {
  it('has its arguments, its variables and an ExecCredential in the environment', () => {
    const made = call({
      ...plain,
      args: ['-c', 'x'],
      env: [{ name: 'A', value: '1' }],
      installHint: ' apt \n',
    });
    const { KUBERNETES_EXEC_INFO: info = '', ...env } = made.env;
    assert.deepEqual(
      [made.command, made.args, env, made.installHint],
      ['get-token', ['-c', 'x'], { A: '1' }, 'apt'],
    );
    assert.deepEqual(JSON.parse(info), {
      kind: 'ExecCredential',
      apiVersion: v1,
      spec: { interactive: false },
    });
  });

  it('describes the cluster only to a plugin that asks for it', () => {
    const info = call({ ...plain, provideClusterInfo: true }).env.KUBERNETES_EXEC_INFO ?? '';
    assert.deepEqual(JSON.parse(info).spec.cluster, cluster);
  });

  it('is interactive as its mode and the terminal allow', () => {
    const isInteractive = (interactiveMode: unknown, hasTerminal: boolean, apiVersion = v1) =>
      call({ ...plain, apiVersion, interactiveMode }, hasTerminal).interactive;
    assert.equal(isInteractive('IfAvailable', true), true);
    assert.equal(isInteractive('IfAvailable', false), false);
    assert.equal(isInteractive('Always', true), true);
    assert.equal(isInteractive('Never', true), false);
    assert.equal(isInteractive(undefined, true, beta), true);
    assert.throws(() => isInteractive('Always', false), /jane: exec: the plugin asks questions/);
    assert.throws(() => isInteractive(undefined, true), /exec.interactiveMode must be Never/);
    assert.throws(() => isInteractive('Sometimes', true), /exec.interactiveMode must be Never/);
  });

  for (const [exec, message] of [
    ['x', 'exec is not a mapping'],
    [{ ...plain, command: '' }, 'exec.command must be specified'],
    [{ ...plain, command: 7 }, 'exec.command must be specified'],
    [{ ...plain, apiVersion: undefined }, `exec.apiVersion must be ${v1} or ${beta}`],
    [{ ...plain, apiVersion: `${v1}alpha1` }, `exec.apiVersion must be ${v1} or ${beta}`],
    [{ ...plain, args: 'x' }, 'exec.args must be a list of texts'],
    [{ ...plain, args: [1] }, 'exec.args must be a list of texts'],
    [
      { ...plain, env: [{ name: 'A' }] },
      'exec.env must be a list of variables, each with a name and a value',
    ],
  ] as const)
    it(`is rejected: ${message} (${JSON.stringify(exec)})`, () => {
      assert.throws(() => call(exec), { name: 'UsageError', message: `kubeconfig: user jane: ${message}` });
    });
});

describe('the output of a credential plugin', () => {
  const credentials = (printed: unknown) =>
    pluginCredentials(typeof printed === 'string' ? printed : JSON.stringify(printed), call(plain));
  const credential = (status: unknown) => ({ kind: 'ExecCredential', apiVersion: v1, status });

  it('is a token, a certificate with its key, or both', () => {
    assert.deepEqual(credentials(credential({ token: 'secret' })), { token: 'secret' });
    const pair = { clientCertificateData: 'CERT', clientKeyData: 'KEY' };
    assert.deepEqual(credentials(credential(pair)), { cert: 'CERT', key: 'KEY' });
    assert.deepEqual(credentials(credential({ ...pair, token: 't' })), {
      cert: 'CERT',
      key: 'KEY',
      token: 't',
    });
  });

  it('is valid until its expiration', () => {
    const expirationTimestamp = '2026-11-30T12:00:00Z';
    assert.deepEqual(credentials(credential({ token: 't', expirationTimestamp })), {
      token: 't',
      expires: Date.UTC(2026, 10, 30, 12),
    });
  });

  for (const [printed, message] of [
    [
      credential({ token: 't', expirationTimestamp: 'soon' }),
      'returned an expirationTimestamp that is not a time',
    ],
    ['secret garbage', 'printed something else than an ExecCredential in JSON'],
    ['', 'printed something else than an ExecCredential in JSON'],
    ['null', 'printed something else than an ExecCredential in JSON'],
    [{ kind: 'Pod', apiVersion: v1 }, 'printed something else than an ExecCredential in JSON'],
    [
      { ...credential({}), apiVersion: beta },
      `is configured to use the API version ${v1}, and printed another one`,
    ],
    [credential(undefined), 'did not return a token or a certificate with its key'],
    [credential({ token: 7 }), 'did not return a token or a certificate with its key'],
    [credential({ clientKeyData: 'secret' }), 'returned only one of a certificate and its key'],
  ] as const)
    it(`is rejected: ${message} (${JSON.stringify(printed)})`, () => {
      const expected = `getting credentials: exec plugin get-token ${message}`;
      assert.throws(() => credentials(printed), { message: expected });
    });
});
