import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { withSettings } from '../../../../src/roles/settings/config-text.ts';

const path = '/etc/minik8s/node.yaml';

test('settings are added and replaced; comments, order and all other keys stay', () => {
  const text = '# of this machine\nport: 6443 # the API server\nlabels:\n  - a=b\n';
  const changed = withSettings(text, { port: '7443', 'node-name': 'vm1' }, path);
  assert.equal(changed, '# of this machine\nport: 7443 # the API server\nlabels:\n  - a=b\nnode-name: vm1\n');
});

test('settings are added to a file that has only comments, and the mark of a document', () => {
  for (const text of ['# mine\n', '---\n', '---\n# mine\n', '# mine\n---\n']) {
    const changed = withSettings(text, { port: '7443' }, path);
    assert.deepEqual(parse(changed), { port: 7443 }, text);
    assert.equal(changed.includes('# mine'), text.includes('# mine'), changed);
  }
});

test('a configuration that already has the settings stays unchanged', () => {
  const text = 'port:   6443\nfeatures: "none"\n';
  assert.equal(withSettings(text, { port: '6443', features: 'none' }, path), text);
  assert.equal(withSettings('', {}, path), '');
});

test('values are quoted so that YAML parses them as the given texts', () => {
  const values = {
    token: 'abcdef.0123456789abcdef',
    'max-pods': '250',
    'write-etc-hosts': 'true',
    labels: 'zone=a,disk=0755',
    'node-name': '0x10',
    'log-level': 'null',
    taints: 'a: b # c',
    server: 'https://192.0.2.10:6443,https://192.0.2.11:6443',
    'node-ip': 'no',
    'ca-cert-hash': `sha256:${'1'.repeat(64)}`,
  };
  const read: Record<string, unknown> = parse(withSettings('', values, path));
  assert.deepEqual(
    Object.fromEntries(Object.entries(read).map(([name, value]) => [name, String(value)])),
    values,
  );
});

test('a text that is not a configuration is refused with the name of its file', () => {
  assert.throws(
    () => withSettings('a: [', { port: '1' }, path),
    /^UsageError: \/etc\/minik8s\/node.yaml: not YAML/,
  );
  assert.throws(
    () => withSettings('- a\n', { port: '1' }, path),
    /node.yaml: expected lines such as "port: 6443"/,
  );
});
