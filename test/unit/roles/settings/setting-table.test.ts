/** Selection of settings by the parts of the program, and everything that follows from one row. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { featureOf } from '../../../../src/features/settings.ts';
import { settingRows, settingTable, sharedNames } from '../../../../src/roles/settings/setting-table.ts';
import { readSettings, settingArgs } from '../../../../src/roles/settings/settings.ts';
import { define, type SettingRows } from '../../../../src/settings/definition.ts';
import { duration } from '../../../../src/settings/duration.ts';
import { settingSubjects } from '../../../../src/settings/subjects.ts';

const sources = { command: 'minik8s toy', environment: {}, configFile: '/no/such/file.yaml' };

describe('the table of settings', () => {
  const names = (rows: object) => Object.keys(rows);
  const master = names(settingRows('control plane'));
  const node = names(settingRows('node'));

  test('has the settings of the control plane and of the node for minik8s up, without duplicates', () => {
    const up = names(settingRows('control plane', 'node'));
    assert.deepEqual(up.toSorted(), [...new Set([...master, ...node])].toSorted());
    assert.ok(master.includes('etcd-endpoints') && !node.includes('etcd-endpoints'));
    assert.ok(node.includes('max-pods') && !master.includes('max-pods'));
    assert.ok(!up.includes('server'), 'only a machine that joins has a server');
  });

  test('is sorted by heading, with the settings of features last below each heading', () => {
    const rows = Object.entries<SettingRows[string]>(settingRows('control plane', 'node', 'join'));
    const places = rows.map(([, { subject }]) => settingSubjects.indexOf(subject));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.deepEqual(rows.map(([name]) => name).slice(-4), [
      'serve-ingress',
      'http-port',
      'https-port',
      'watch-folder',
    ]);
  });

  test('names for each setting the parts of the program that have it', () => {
    const rows = Object.values<SettingRows[string]>(settingTable);
    assert.ok(rows.length > 70);
    for (const { about, parts } of rows) assert.ok(parts.length > 0, about);
  });

  test('has eight settings that must be the same for all masters of one etcd', () => {
    assert.deepEqual(sharedNames.toSorted(), [
      'cluster-cidr',
      'cluster-dns',
      'cluster-domain',
      'dns-domains',
      'features',
      'node-ports',
      'service-cidr',
      'service-external-ip-ranges',
    ]);
  });
});

test('one row makes a flag, a variable, a key of the file, a default and a line of --help', () => {
  const rows = define({
    'toy-interval': {
      about: 'interval of the toy',
      hint: 'DURATION',
      default: '10s',
      read: duration('1s', '1h'),
      subject: 'Node agent',
      parts: ['node'],
    },
  });
  assert.deepEqual(settingArgs(rows, 'toy.yaml')['toy-interval'], {
    type: 'string',
    description: 'interval of the toy',
    valueHint: 'DURATION',
    usual: '10s',
    group: 'Node agent',
  });
  const read = (flags: object, environment = {}, file = {}): number =>
    readSettings(rows, { ...sources, flags: { ...flags }, environment, translate: () => file })[
      'toy-interval'
    ];
  assert.equal(read({}), 10_000);
  assert.equal(read({}, {}, { 'toy-interval': '20s' }), 20_000);
  assert.equal(read({}, { MINIK8S_TOY_INTERVAL: '30s' }, { 'toy-interval': '20s' }), 30_000);
  assert.equal(read({ 'toy-interval': '1m' }, { MINIK8S_TOY_INTERVAL: '30s' }), 60_000);
  assert.throws(
    () => read({ 'toy-interval': '2h' }),
    /^UsageError: --toy-interval: "2h": expected a duration/,
  );
  assert.throws(() => read({}, {}, { 'toy-intervall': '1s' }), /did you mean toy-interval\?/);
});

describe('a setting of a feature', () => {
  const rows = settingRows('control plane', 'node');
  const read = (flags: Record<string, string>, environment: Record<string, string> = {}, file = {}) =>
    readSettings(rows, { ...sources, flags, environment, translate: () => file });

  test('has the feature of its folder', () => {
    assert.deepEqual(['warm-pool', 'dns-domains', 'watch-folder', 'port'].map(featureOf), [
      'functions',
      'host-names',
      'triggers',
      undefined,
    ]);
  });

  test('is rejected from any source if --features disables the feature', () => {
    assert.throws(() => read({ features: 'slurm', 'warm-pool': '2' }), {
      name: 'UsageError',
      message:
        '--warm-pool belongs to the feature functions, which --features switches off: leave it out, or add functions to --features',
    });
    assert.throws(
      () => read({ features: 'none' }, { MINIK8S_DNS_DOMAINS: 'test' }),
      /^UsageError: MINIK8S_DNS_DOMAINS belongs to the feature host-names, which/,
    );
    assert.throws(
      () => read({}, {}, { features: ['functions'], 'watch-folder': ['/srv'] }),
      /^UsageError: \/no\/such\/file\.yaml: watch-folder belongs to the feature triggers, which/,
    );
  });

  test('is accepted if the feature runs, and its default is never refused', () => {
    assert.equal(read({ features: 'functions', 'warm-pool': '2' })['warm-pool'], 2);
    assert.equal(read({ 'warm-pool': '2' })['warm-pool'], 2);
    assert.equal(read({ features: 'none' })['warm-pool'], 0);
  });
});
