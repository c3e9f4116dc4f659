import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agreeOnSettings, settingsKey } from '../../../../src/roles/master/shared-settings.ts';
import type { SharedSettings } from '../../../../src/roles/settings/setting-table.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';

const settings = (over: Partial<SharedSettings> = {}): SharedSettings => ({
  'service-cidr': '10.96.0.0/16',
  'cluster-cidr': '10.244.0.0/16',
  'node-ports': [30_000, 32_767],
  'cluster-dns': undefined,
  'cluster-domain': 'cluster.local',
  'service-external-ip-ranges': undefined,
  'dns-domains': undefined,
  features: undefined,
  ...over,
});

test('masters with equal settings start in any order', async () => {
  const store = createMemoryStore();
  await Promise.all([1, 2, 3].map(() => agreeOnSettings(store, settings())));
  await agreeOnSettings(store, settings());
  assert.equal((await store.list('/cluster/')).items.length, 1);
});

test('a master with other settings fails with one line that names them, and changes nothing', async () => {
  const store = createMemoryStore();
  await agreeOnSettings(store, settings());
  const other = settings({ 'service-cidr': '10.97.0.0/16', 'node-ports': [31_000, 32_000] });
  await assert.rejects(agreeOnSettings(store, other), {
    message: `the masters on this etcd run with --service-cidr 10.96.0.0/16 (here 10.97.0.0/16), --node-ports 30000-32767 (here 31000-32000): use the same flags; to change them for the cluster, stop all masters and delete ${settingsKey} from etcd`,
  });
  await assert.rejects(
    agreeOnSettings(store, settings({ 'cluster-dns': '10.96.0.53' })),
    /--cluster-dns unset \(here 10/,
  );
  await agreeOnSettings(store, settings());
});

test('masters must have the same external ranges and domains of Dns objects; their order does not matter', async () => {
  const store = createMemoryStore();
  const ranges = ['203.0.113.0/28', '198.51.100.0/24'];
  const open = settings({ 'service-external-ip-ranges': ranges, 'dns-domains': ['test', 'corp.com'] });
  await agreeOnSettings(store, open);
  await agreeOnSettings(store, { ...open, 'service-external-ip-ranges': ranges.toReversed() });
  const wider = { ...open, 'service-external-ip-ranges': ['0.0.0.0/0'] };
  await assert.rejects(
    agreeOnSettings(store, wider),
    /--service-external-ip-ranges 203\.0\.113\.0\/28,198\.51\.100\.0\/24 \(here 0\.0\.0\.0\/0\)/,
  );
  await assert.rejects(
    agreeOnSettings(store, settings({ ...open, 'dns-domains': ['com'] })),
    /--dns-domains/,
  );
});

test('masters must have the same features, and the error names the flag', async () => {
  const store = createMemoryStore();
  await agreeOnSettings(store, settings({ features: [] }));
  await assert.rejects(
    agreeOnSettings(store, settings({ features: ['functions'] })),
    /--features none \(here functions\)/,
  );
});

test('settings of a feature that is off need not be the same', async () => {
  const store = createMemoryStore();
  const before = settings({ features: ['functions'], 'dns-domains': ['corp.com'] });
  await store.create(settingsKey, Buffer.from(JSON.stringify(before)));
  await agreeOnSettings(store, settings({ features: ['functions'] }));
  await assert.rejects(
    agreeOnSettings(store, settings({ features: ['functions'], 'cluster-cidr': '10.9.0.0/16' })),
    /--cluster-cidr/,
  );
  const [on, other] = [createMemoryStore(), settings({ features: ['host-names'] })];
  await agreeOnSettings(on, { ...other, 'dns-domains': ['corp.com'] });
  await assert.rejects(agreeOnSettings(on, other), /--dns-domains corp\.com/);
});

test('a setting that masters of earlier versions did not share is set by the first master that shares it', async () => {
  const store = createMemoryStore();
  const { 'dns-domains': _, 'service-external-ip-ranges': __, ...before } = settings();
  await store.create(settingsKey, Buffer.from(JSON.stringify({ ...before, 'cluster-dns': null })));
  const first = settings({ 'dns-domains': ['corp.com'] });
  const answers = await Promise.allSettled([
    agreeOnSettings(store, first),
    agreeOnSettings(store, settings({ 'dns-domains': ['com'] })),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  await assert.rejects(agreeOnSettings(store, settings({ 'cluster-cidr': '10.9.0.0/16' })), /--cluster-cidr/);
});

test('unreadable settings in etcd are an error that names their key', async () => {
  const store = createMemoryStore();
  await store.create(settingsKey, Buffer.from('{'));
  await assert.rejects(
    agreeOnSettings(store, settings()),
    /\/cluster\/settings in etcd cannot be read: delete the key/,
  );
});
