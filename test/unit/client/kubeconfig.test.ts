import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  type Kubeconfig,
  loadKubeconfig,
  mergeKubeconfigs,
  parseKubeconfig,
} from '../../../src/client/kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
after(() => rmSync(folder, { recursive: true }));

for (const [text, error] of [
  ['a: [', /^kubeconfig f is not YAML: .*[^:]$/],
  ['- a', /^kubeconfig f is not a mapping$/],
  ['kind: Pod', /^f is not a kubeconfig: its kind is Pod$/],
  ['clusters: 3', /^kubeconfig f: clusters is not a list$/],
  ['users: [{user: {}}]', /^kubeconfig f: users\[0\] has no name$/],
  ['users: [{name: u, user: x}]', /^kubeconfig f: users\[0\].user is not a mapping$/],
  ['users: [{name: u, user: {token: 123}}]', /^kubeconfig f: users\[0\].user.token is not text: quote it$/],
] as const) {
  test(`the kubeconfig ${JSON.stringify(text)} is rejected: ${error.source}`, () => {
    assert.throws(() => parseKubeconfig(text, 'f'), { name: 'UsageError', message: error });
  });
}

test('an entry has the fields of its YAML anchors and merge keys, as in kubectl', () => {
  const text = `
shared: &shared {server: https://a, certificate-authority: ca.crt}
clusters:
- {name: one, cluster: *shared}
- {name: two, cluster: {<<: *shared, server: https://b}}
`;
  const ca = { 'certificate-authority': '/k/ca.crt' };
  assert.deepEqual(parseKubeconfig(text, '/k/config').clusters, {
    one: { server: 'https://a', ...ca },
    two: { server: 'https://b', ...ca },
  });
});

test('a cluster, user, context or current context is read from the first file that has it', () => {
  const one: Kubeconfig = { ...parseKubeconfig('', 'f'), contexts: { a: { namespace: '1' } } };
  const two: Kubeconfig = {
    clusters: { c: { server: 's' } },
    users: {},
    contexts: { a: { namespace: '2' }, b: {} },
    currentContext: 'b',
  };
  assert.deepEqual(mergeKubeconfigs([one, two]), {
    clusters: { c: { server: 's' } },
    users: {},
    contexts: { a: { namespace: '1' }, b: {} },
    currentContext: 'b',
  });
});

test('missing files are skipped, and other files that cannot be read are rejected', () => {
  const file = join(folder, 'some');
  writeFileSync(file, 'current-context: prod');
  assert.equal(loadKubeconfig([join(folder, 'none')]), undefined);
  assert.equal(loadKubeconfig([join(folder, 'none'), file])?.currentContext, 'prod');
  assert.throws(() => loadKubeconfig([folder]), {
    name: 'UsageError',
    message: `cannot read ${folder}: is a directory`,
  });
});
