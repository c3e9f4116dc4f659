import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { UsageError } from '../../../../src/base/usage-error.ts';
import { clusterRanges } from '../../../../src/roles/preflight.ts';
import { settingRows } from '../../../../src/roles/settings/setting-table.ts';
import { readSettings } from '../../../../src/roles/settings/settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'minik8s-settings-'));
after(() => rmSync(directory, { recursive: true }));

const rows = settingRows('control plane');

function read(sources: { flags?: object; environment?: object; file?: string }) {
  const configFile = join(directory, 'config.yaml');
  writeFileSync(configFile, sources.file ?? '');
  return readSettings(rows, {
    command: 'minik8s master',
    flags: { ...sources.flags },
    environment: { ...sources.environment },
    configFile,
  });
}

describe('settings', () => {
  test('have their defaults if no source sets them', () => {
    const settings = read({});
    assert.equal(settings.port, 6443);
    assert.deepEqual(settings['node-ports'], [30000, 32767]);
    assert.equal(settings['node-ip'], undefined);
    assert.equal(read({ flags: { 'bind-address': '::' } })['bind-address'], '::');
  });

  test('are taken from the flag, then from the variable, then from the file', () => {
    const file = 'port: 1111';
    const environment = { MINIK8S_PORT: '2222' };
    assert.equal(read({ file }).port, 1111);
    assert.equal(read({ file, environment }).port, 2222);
    assert.equal(read({ file, environment, flags: { port: '3333' } }).port, 3333);
  });

  test('that are lists may be written as YAML or with commas', () => {
    const expected = ['https://a:2379', 'https://b:2379'];
    assert.deepEqual(read({ file: `etcd-endpoints: [${expected.join(', ')}]` })['etcd-endpoints'], expected);
    assert.deepEqual(read({ flags: { 'etcd-endpoints': expected.join(',') } })['etcd-endpoints'], expected);
  });

  test('may list former issuers of tokens after the present one', () => {
    const expected = ['https://new.example.com', 'https://old.example.com/a'];
    const flags = { 'service-account-issuer': expected.join(',') };
    assert.deepEqual(read({ flags })['service-account-issuer'], expected);
    const year = 365 * 24 * 3_600_000;
    assert.equal(read({})['service-account-key-age'], year);
    assert.equal(read({})['service-account-extend-token-expiration'], 'true');
  });

  test('may name a range of IPv6 after that of IPv4, which is kept in its canonical form', () => {
    const settings = read({
      flags: {
        'service-cidr': '10.96.0.0/16,FD00:10:96:0::/112',
        'cluster-cidr': '10.244.0.0/16,fd00:0010:0244::/56',
      },
    });
    assert.equal(settings['service-cidr'], '10.96.0.0/16,fd00:10:96::/112');
    assert.equal(settings['cluster-cidr'], '10.244.0.0/16,fd00:10:244::/56');
    assert.throws(() => clusterRanges({ ...settings, 'service-cidr': '10.96.0.0/16' }), {
      name: 'UsageError',
      message: /only one of the two has a range of IPv6; give it to both, or to none$/,
    });
    assert.deepEqual(clusterRanges(settings), [
      ['cluster-cidr', '10.244.0.0/16'],
      ['cluster-cidr', 'fd00:10:244::/56'],
      ['service-cidr', '10.96.0.0/16'],
      ['service-cidr', 'fd00:10:96::/112'],
    ]);
  });

  const refused: readonly [string, Parameters<typeof read>[0], RegExp][] = [
    ...['http://a.example', 'kubernetes', 'https://', 'https://a?b', 'https://a#b', 'https://a b'].flatMap(
      (url): [string, Parameters<typeof read>[0], RegExp][] => [
        [
          `the issuer ${url}`,
          { flags: { 'service-account-issuer': url } },
          /^--service-account-issuer: .*: expected a URL/,
        ],
        [
          `the key URL ${url}`,
          { flags: { 'service-account-jwks-uri': url } },
          /^--service-account-jwks-uri: .*: expected/,
        ],
      ],
    ),
    ['an empty list of issuers', { flags: { 'service-account-issuer': ',' } }, /expected a URL/],
    ['a key age of an hour', { flags: { 'service-account-key-age': '1h' } }, /from 2h to 87600h/],
    [
      'an invalid boolean for the extension of tokens',
      { flags: { 'service-account-extend-token-expiration': 'yes' } },
      /expected one of true, false/,
    ],
    ['a port that is a word', { flags: { port: 'http' } }, /^--port: "http": expected a whole number/],
    ['a port out of range', { environment: { MINIK8S_PORT: '70000' } }, /^MINIK8S_PORT: .* from 1 to 65535/],
    [
      'a range that does not begin at its network address',
      { flags: { 'service-cidr': '10.96.0.1/16' } },
      /first address/,
    ],
    ...[
      ['service-cidr', '10.96.0.0/16,fd00::/107'],
      ['service-cidr', '10.96.0.0/16,fd00::1/112'],
      ['service-cidr', '10.96.0.0/16,10.97.0.0/16'],
      ['service-cidr', '10.96.0.0/16,'],
      ['service-cidr', '10.96.0.0/16,::ffff:10.97.0.0/112'],
      ['service-cidr', '10.96.0.0/16,fd00:1::/112,fd00:2::/112'],
      ['cluster-cidr', '10.244.0.0/16,fd00::/47'],
      ['cluster-cidr', '10.244.0.0/16,fd00::/65'],
    ].map(([name = '', value]): [string, Parameters<typeof read>[0], RegExp] => [
      `a second range ${value} of ${name}`,
      { flags: { [name]: value } },
      /expected after the comma one IPv6 range by its first address, with (48 to 64|108 to 124) bits/,
    ]),
    [
      'a single IPv6 address to listen on',
      { flags: { 'bind-address': '2001:db8::1' } },
      /expected an IPv4 address/,
    ],
    ['a range of IPv6 alone', { flags: { 'cluster-cidr': 'fd00::/56' } }, /expected an IPv4 range/],
    ['a descending range of ports', { flags: { 'node-ports': '32767-30000' } }, /expected ports such as/],
    ['an unknown policy', { flags: { 'scheduling-policy': 'best' } }, /expected one of Default, RoundRobin/],
    [
      'a scoring strategy without a shape',
      { flags: { 'scoring-strategy': 'RequestedToCapacityRatio' } },
      /expected LeastAllocated, MostAllocated or RequestedToCapacityRatio=/,
    ],
    [
      'a shape with descending utilizations',
      { flags: { 'scoring-strategy': 'RequestedToCapacityRatio=50:1,20:3' } },
      /expected LeastAllocated/,
    ],
    ['a name instead of an address', { flags: { 'node-ip': 'localhost' } }, /expected an IPv4 address/],
    [
      'an etcd endpoint without a port',
      { flags: { 'etcd-endpoints': 'http://etcd' } },
      /expected addresses such as/,
    ],
    [
      'one of two etcd endpoints without TLS',
      { flags: { 'etcd-endpoints': 'http://a:2379,https://b:2379' } },
      /expected http or https for all/,
    ],
    [
      'a misspelt key',
      { file: 'prot: 1' },
      /config\.yaml: line 1: prot: no such setting \(did you mean port\?\)$/,
    ],
    [
      'several unknown keys',
      { file: 'prot: 1\nnonsense: 2\nconstructor: 3\n' },
      /config\.yaml: line 1: prot: no such setting \(did you mean port\?\), line 2: nonsense: no such setting, line 3: constructor: no such setting; see minik8s master --help$/,
    ],
    [
      'a wrong value behind a comment',
      { file: '# our port\n\nport: viele\n' },
      /config\.yaml: line 3: port: "viele": expected a whole number/,
    ],
    ['a file that is not YAML', { file: 'a: [' }, /config\.yaml: not YAML: [^:]* at line 1, column \d+$/],
    ['a file that is a list', { file: '- port' }, /expected lines such as/],
    [
      'a file that does not exist',
      { flags: { config: '/nowhere/minik8s.yaml' } },
      /cannot read the configuration file \/nowhere\/minik8s\.yaml: there is no such file$/,
    ],
    [
      'a file that is a directory',
      { flags: { config: '/' } },
      /cannot read the configuration file \/: it is a directory$/,
    ],
    ['a relative data directory', { flags: { 'data-dir': 'data' } }, /expected a path from the root/],
  ];
  for (const [what, sources, message] of refused) {
    test(`with ${what} are refused in one line`, () => {
      assert.throws(
        () => read(sources),
        (error) =>
          error instanceof UsageError && message.test(error.message) && !error.message.includes('\n'),
      );
    });
  }
});
