import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeconfigDocuments } from '../../../../src/cli/kubeconfig/documents.ts';
import { propertySet, propertyUnset } from '../../../../src/cli/kubeconfig/properties.ts';

const documents: KubeconfigDocuments = {
  files: [
    { path: 'one', exists: true, document: { clusters: [{ name: 'a', cluster: { server: 's' } }] } },
    {
      path: 'two',
      exists: true,
      document: {
        clusters: [
          { name: 'a', cluster: { server: 'hidden' } },
          { name: '10.0.0.9', extra: 1, cluster: { server: 't', unknown: { kept: true } } },
        ],
        'current-context': 'c',
      },
    },
  ],
  target: 'one',
  explicit: false,
};

const changed = (changes: ReturnType<typeof propertySet>) =>
  changes.list().map(({ path, document }) => [path, document]);

describe('propertySet', () => {
  it('changes the entry in the file that has it, and keeps unknown fields', () => {
    const after = changed(propertySet(documents, 'clusters.10.0.0.9.proxy-url', 'p', false));
    const clusters = [
      { name: 'a', cluster: { server: 'hidden' } },
      { name: '10.0.0.9', extra: 1, cluster: { server: 't', unknown: { kept: true }, 'proxy-url': 'p' } },
    ];
    assert.deepEqual(after, [['two', { clusters, 'current-context': 'c' }]]);
  });

  it('changes no file if the value is set already', () => {
    assert.deepEqual(changed(propertySet(documents, 'clusters.a.server', 's', false)), []);
  });

  it('takes the word after the list as a name, even if a field has this name', () => {
    const [[, after] = []] = changed(propertySet(documents, 'clusters.server.server', 'x', false));
    const clusters = [{ name: 'a', cluster: { server: 's' } }];
    assert.deepEqual(after, { clusters: [...clusters, { name: 'server', cluster: { server: 'x' } }] });
  });

  it('clears the current context of the file that --kubeconfig names', () => {
    const only = { files: documents.files.slice(0, 1), target: 'one', explicit: true };
    assert.equal(changed(propertyUnset(only, 'current-context')).length, 0);
    const two = { files: documents.files.slice(1), target: 'two', explicit: true };
    const [[path, after] = []] = changed(propertyUnset(two, 'current-context'));
    assert.deepEqual([path, (after as { 'current-context'?: string })['current-context']], ['two', '']);
  });

  it('writes the current context to the target', () => {
    assert.equal(changed(propertySet(documents, 'current-context', 'new', false))[0]?.[0], 'one');
  });

  it('rejects an unknown field and a value of the wrong type', () => {
    for (const [path, value] of [
      ['clusters', 'x'],
      ['clusters.a', 'x'],
      ['clusters.a.server.more', 'x'],
      ['clusters.a.nosuch', 'x'],
      ['constructor.a.server', 'x'],
      ['users.a.exec', 'x'],
      ['clusters.a.server', ''],
      ['clusters.a.disable-compression', 'yes'],
      ['clusters.a.certificate-authority-data', 'a b'],
      ['', 'x'],
    ] as const)
      assert.throws(() => propertySet(documents, path, value, false), { name: 'UsageError' }, path);
  });
});

describe('propertyUnset', () => {
  it('clears the current context in the file that sets it', () => {
    assert.equal(changed(propertyUnset(documents, 'current-context'))[0]?.[0], 'two');
  });

  it('removes an entry from the first file that has it only', () => {
    assert.deepEqual(changed(propertyUnset(documents, 'clusters.a')), [['one', { clusters: [] }]]);
  });

  it('keeps a required field, as empty text', () => {
    const [change] = changed(propertyUnset(documents, 'clusters.a.server'));
    assert.deepEqual(change, ['one', { clusters: [{ name: 'a', cluster: { server: '' } }] }]);
  });
});
