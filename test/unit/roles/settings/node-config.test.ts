import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { UsageError } from '../../../../src/base/usage-error.ts';
import { nodeRows, readNodeConfig } from '../../../../src/roles/settings/node-config.ts';
import { settingArgs } from '../../../../src/roles/settings/settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'minik8s-node-config-'));
after(() => rmSync(directory, { recursive: true }));

const secret = 'abcdef.0123456789abcdef';

interface Sources {
  readonly file?: string;
  readonly mode?: number;
  readonly flags?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

function read({ file = '', mode = 0o600, flags = {}, environment = {} }: Sources) {
  const configFile = join(directory, 'node.yaml');
  writeFileSync(configFile, file);
  chmodSync(configFile, mode);
  const warnings: string[] = [];
  const settings = readNodeConfig({
    flags,
    environment,
    configFile,
    warn: (message) => warnings.push(message.replaceAll(`${directory}/`, '')),
  });
  return { settings, warnings };
}

describe('the setting server', () => {
  const serversOf = (server: string) => read({ flags: { server } }).settings.server;
  for (const server of [
    '192.0.2.10:6443',
    'https://master.example:6443',
    '[2001:db8::1]:6443',
    'https://[::1]:443/',
  ])
    test(`accepts ${server}`, () => assert.equal(serversOf(server)?.length, 1));
  for (const server of ['010.1.1.1:6443', '127.1:6443', 'https://0x7f.1:6443', '2130706433:6443', '1.2:6443'])
    test(`rejects ${server}, which a URL parser would turn into an IPv4 address`, () => {
      assert.throws(() => serversOf(server), /expected addresses such as https:\/\/192\.0\.2\.10:6443/);
    });
});

test('other spellings of a master’s address are the same address', () => {
  const serversOf = (server: string) => read({ flags: { server } }).settings.server;
  for (const [given, expected] of [
    ['HTTPS://M1.Example:6443', 'https://m1.example:6443'],
    ['https://m1:6443/', 'https://m1:6443'],
    [' m1:6443 , m1:6443/,', 'https://m1:6443'],
    ['[2001:DB8:0::1]:6443', 'https://[2001:db8::1]:6443'],
  ] as const)
    assert.deepEqual(serversOf(given), [expected], given);
  for (const wrong of [
    'admin@m1:6443',
    'https://admin:secret@m1:6443',
    '2001:db8::1',
    '[2001:db8::1]',
    'm1:65536',
    'm1:6443#x',
    'm1:6443?x',
    'm1 :6443',
    'm1:6443 m2:6443',
    'ftp://m1:6443',
    ',',
  ])
    assert.throws(() => serversOf(wrong), /^UsageError: --server: .* expected addresses such as/, wrong);
});

test('blanks and line breaks around a token and a hash are ignored, and those inside are refused', () => {
  const hash = `sha256:${'ab'.repeat(32)}`;
  const environment = { MINIK8S_TOKEN: `\t${secret}\r\n`, MINIK8S_CA_CERT_HASH: ` ${hash}\n` };
  const { settings } = read({ environment });
  assert.deepEqual([settings.token, settings['ca-cert-hash']], [secret, hash]);
  for (const wrong of [secret.replace('.', '. '), secret.replace('.', '\n.'), secret.toUpperCase()])
    assert.throws(
      () => read({ environment: { MINIK8S_TOKEN: wrong } }),
      (error: Error) => /expected a token as/.test(error.message) && !error.message.includes(wrong),
      wrong,
    );
});

test('a container may have 16,384 processes unless the node has another limit, or none', () => {
  const limitOf = (value?: string) =>
    read({ environment: { ...(value !== undefined && { MINIK8S_POD_MAX_PIDS: value }) } }).settings[
      'pod-max-pids'
    ];
  assert.deepEqual([undefined, '64', '0', '-1'].map(limitOf), [16_384, 64, 0, 0]);
  for (const wrong of ['63', '4194305', '-2', '1e3', ''])
    assert.throws(
      () => limitOf(wrong),
      /expected a whole number from 64 to 4194304, or 0 for no limit/,
      wrong,
    );
});

describe('the configuration of a node', () => {
  test('may contain every setting, with lists and maps', () => {
    const { settings, warnings } = read({
      file: `
        name: worker-1
        server: [https://192.0.2.10:6443, '192.0.2.11:6443']
        token: ${secret}
        ca-cert-hash: sha256:${'AB'.repeat(32)}
        labels: { disk: ssd, zone: 1, node.kubernetes.io/pool: a, empty: '' }
        taints:
          - gpu=yes:NoSchedule
          - { key: old, effect: NoExecute }
        system-reserved: { cpu: 500m, memory: 1Gi }
        pod-cidr: 10.244.7.0/24
        max-pods: 20`,
    });
    assert.deepEqual(warnings, []);
    assert.equal(settings['node-name'], 'worker-1');
    assert.deepEqual(settings.server, ['https://192.0.2.10:6443', 'https://192.0.2.11:6443']);
    assert.equal(settings.token, secret);
    assert.equal(settings['ca-cert-hash'], `sha256:${'ab'.repeat(32)}`);
    assert.deepEqual(settings.labels, { disk: 'ssd', zone: '1', 'node.kubernetes.io/pool': 'a', empty: '' });
    assert.deepEqual(settings.taints, [
      { key: 'gpu', value: 'yes', effect: 'NoSchedule' },
      { key: 'old', effect: 'NoExecute' },
    ]);
    assert.deepEqual(settings['system-reserved'], { cpu: '500m', memory: '1Gi' });
    assert.equal(settings['pod-cidr'], '10.244.7.0/24');
    assert.equal(settings['max-pods'], 20);
  });

  test('has the same settings as flags and variables; a key without a value is unset', () => {
    const { settings } = read({
      file: 'labels:\ntaints:\n',
      flags: { server: 'm1:6443,m2:6443', labels: 'a=b,c=', 'system-reserved': 'ephemeral-storage=1Gi' },
      environment: { MINIK8S_TOKEN: secret, MINIK8S_TAINTS: 'a:NoSchedule,a:NoExecute' },
    });
    assert.deepEqual(settings.server, ['https://m1:6443', 'https://m2:6443']);
    assert.deepEqual(settings.labels, { a: 'b', c: '' });
    assert.deepEqual(settings['system-reserved'], { 'ephemeral-storage': '1Gi' });
    assert.equal(settings.token, secret);
    assert.deepEqual(
      settings.taints?.map(({ effect }) => effect),
      ['NoSchedule', 'NoExecute'],
    );
  });

  test('may have its older form, with warnings that name the new keys', () => {
    const { settings, warnings } = read({
      file: 'Name: master\nLabels :\n  hostName: master\n  os: linux\n',
    });
    assert.equal(settings['node-name'], 'master');
    assert.deepEqual(settings.labels, { hostName: 'master', os: 'linux' });
    assert.deepEqual(warnings, [
      'node.yaml: Name: is an older spelling; write node-name:',
      'node.yaml: Labels: is an older spelling; write labels:',
    ]);
  });

  test('causes a warning if it holds a token and other users may read it', () => {
    const { warnings } = read({ file: `token: ${secret}`, mode: 0o644 });
    assert.deepEqual(
      warnings.map((line) => line.replaceAll(`${directory}/`, '')),
      ['node.yaml holds a token, but users other than its owner may read it; run chmod 600 node.yaml'],
    );
    assert.deepEqual(read({ file: 'name: a', mode: 0o644 }).warnings, []);
  });

  test('accepts no token as a flag, because all users of the machine would see it', () => {
    const args = settingArgs(nodeRows, '/etc/minik8s/node.yaml');
    assert.equal(Object.hasOwn(args, 'token'), false);
    assert.equal(Object.hasOwn(args, 'ca-cert-hash'), true);
    assert.equal(read({ flags: { token: secret } }).settings.token, undefined);
  });

  const refused: readonly [string, Sources, RegExp][] = [
    ['a server without TLS', { flags: { server: 'http://m:6443' } }, /^--server: .* expected addresses such/],
    [
      'a server without a port',
      { file: 'server: https://m' },
      /node\.yaml: line 1: server: .* expected addresses/,
    ],
    ['a server with a path', { file: 'server: https://m:1/x' }, /server: .* expected addresses/],
    ['an empty list of servers', { file: 'server: []' }, /server: "": expected addresses/],
    [
      'a truncated token',
      { file: 'token: abcdef.0123' },
      /node\.yaml: line \d: token: expected a token as `minik8s token create` prints it/,
    ],
    ['a truncated hash', { file: 'ca-cert-hash: sha256:ab' }, /ca-cert-hash: .* 64 hexadecimal digits/],
    [
      'a label without a value',
      { flags: { labels: 'a' } },
      /--labels: "a": a is not a label; expected labels/,
    ],
    ['a label with an invalid name', { flags: { labels: '-a=b' } }, /-a=b is not a label/],
    ['a map as the value of a label', { file: 'labels: {a: {b: c}}' }, /labels: .* is not a label/],
    [
      'a label that a node may not give itself',
      { flags: { labels: 'node-role.kubernetes.io/master=' } },
      /a node may not give itself node-role\.kubernetes\.io\/master; run minik8s ctl label node NAME/,
    ],
    ['a taint without effect', { flags: { taints: 'a=b' } }, /--taints: .* expected taints such as/],
    ['an unknown effect of a taint', { file: 'taints: [a:Never]' }, /taints: .* a:Never is not a taint/],
    [
      'two taints of the same key and effect',
      { flags: { taints: 'a=1:NoSchedule,a=2:NoSchedule' } },
      /a:NoSchedule is given twice/,
    ],
    [
      'an unknown reserved resource',
      { flags: { 'system-reserved': 'gpu=1' } },
      /gpu=1 is not a reserved resource; expected cpu/,
    ],
    [
      'a negative reserved amount',
      { flags: { 'system-reserved': 'cpu=-1' } },
      /cpu=-1 is not a reserved resource/,
    ],
    [
      'a reserved amount that is no quantity',
      { file: 'system-reserved: {memory: lots}' },
      /memory=lots is not a reserved resource/,
    ],
    [
      'a pod range that is too wide',
      { flags: { 'pod-cidr': '10.0.0.0/23' } },
      /--pod-cidr: .* with 24 to 28 bits/,
    ],
    [
      'a pod range that does not begin at its network address',
      { flags: { 'pod-cidr': '10.0.0.1/24' } },
      /such as 10\.244\.7\.0\/24/,
    ],
    [
      'two spellings of the name',
      { file: 'Name: a\nnode-name: b\n' },
      /node\.yaml: Name: is another spelling of node-name:, which is also there; keep one/,
    ],
    [
      'two older spellings of the name',
      { file: 'Name: a\nname: b\n' },
      /node\.yaml: Name: is another spelling of node-name:, which is also there; keep one/,
    ],
    [
      'a misspelt key',
      { file: 'lables: {}' },
      /node\.yaml: line 1: lables: no such setting \(did you mean labels\?\)/,
    ],
    ['a setting of masters', { file: 'etcd-endpoints: http://a:1' }, /etcd-endpoints: no such setting/],
  ];
  for (const [what, sources, message] of refused) {
    test(`with ${what} is refused in one line`, () => {
      assert.throws(
        () => read(sources),
        (error) => {
          assert.ok(error instanceof UsageError, String(error));
          assert.match(error.message, message);
          assert.doesNotMatch(error.message, /\n/);
          return true;
        },
      );
    });
  }

  test('is refused without a message that repeats a possible token', () => {
    assert.throws(
      () => read({ file: 'token: abcdef.0123456789abcdeF' }),
      (error: Error) => !error.message.includes('abcdef.0'),
    );
  });
});
