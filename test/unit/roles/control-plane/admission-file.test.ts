import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { UsageError } from '../../../../src/base/usage-error.ts';
import { readAdmissionFile } from '../../../../src/roles/control-plane/admission-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'minik8s-admission-'));
after(() => rmSync(directory, { recursive: true }));

const file = (name: string, content: unknown) => {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const apiVersion = 'apiserver.config.k8s.io/v1';
const head = { apiVersion, kind: 'AdmissionConfiguration' };
const quotas = (...limitedResources: object[]) => ({
  apiVersion,
  kind: 'ResourceQuotaConfiguration',
  limitedResources,
});
const told = (configuration: unknown) => ({ ...head, plugins: [{ name: 'ResourceQuota', configuration }] });

describe('the file of admission', () => {
  test('says of what nothing may be used without a quota', async () => {
    const path = file(
      'full.yaml',
      `apiVersion: ${apiVersion}
kind: AdmissionConfiguration
plugins:
- name: ResourceQuota
  configuration:
    apiVersion: ${apiVersion}
    kind: ResourceQuotaConfiguration
    limitedResources:
    - resource: pods
      matchScopes:
      - {scopeName: PriorityClass, operator: In, values: [high]}
      - {scopeName: CrossNamespacePodAffinity, operator: Exists}
    - apiGroup: apps
      resource: deployments
      matchContains: [count/]
`,
    );
    assert.deepEqual(await readAdmissionFile(path), [
      {
        ...{ apiGroup: '', resource: 'pods', matchContains: [] },
        matchScopes: [
          { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
          { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists', values: [] },
        ],
      },
      { apiGroup: 'apps', resource: 'deployments', matchContains: ['count/'], matchScopes: [] },
    ]);
  });

  test('may name another file beside it, and may say nothing', async () => {
    file('quotas.yaml', quotas({ resource: 'pods', matchContains: ['cpu'] }));
    const path = file('named.yaml', { ...head, plugins: [{ name: 'ResourceQuota', path: 'quotas.yaml' }] });
    const rule = { apiGroup: '', resource: 'pods', matchContains: ['cpu'], matchScopes: [] };
    assert.deepEqual(await readAdmissionFile(path), [rule]);
    assert.deepEqual(await readAdmissionFile(file('head.yaml', head)), []);
    assert.deepEqual(await readAdmissionFile(file('bare.yaml', told(null))), []);
    assert.deepEqual(await readAdmissionFile(file('none.yaml', told(quotas()))), []);
  });

  const wrong: [what: string, content: unknown, message: RegExp][] = [
    ['no YAML', 'a: [', /wrong0/],
    ['another kind', { ...head, kind: 'Pod' }, /kind: /],
    ['another version', { ...head, apiVersion: 'v1' }, /apiVersion: /],
    ['an unknown field', { ...head, plugin: [] }, /plugin: /],
    [
      'another plugin',
      { ...head, plugins: [{ name: 'PodNodeSelector' }] },
      /plugins\.0\.name: .*ResourceQuota/,
    ],
    ['two of it', { ...head, plugins: [{ name: 'ResourceQuota' }, { name: 'ResourceQuota' }] }, /twice/],
    [
      'a rule without a resource',
      told(quotas({ matchContains: ['a'] })),
      /configuration: limitedResources\.0\.resource: /,
    ],
    [
      'an unknown scope',
      told(quotas({ resource: 'pods', matchScopes: [{ scopeName: 'Best', operator: 'Exists' }] })),
      /limitedResources\.0\.matchScopes\.0\.scopeName: /,
    ],
    [
      'a file that is not there',
      { ...head, plugins: [{ name: 'ResourceQuota', path: 'gone.yaml' }] },
      /cannot read .*gone\.yaml/,
    ],
  ];
  for (const [index, [what, content, message]] of wrong.entries())
    test(`${what} is refused`, async () => {
      await assert.rejects(readAdmissionFile(file(`wrong${index}`, content)), (error) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, /^--admission-control-config-file: /);
        assert.match(error.message, message);
        return true;
      });
    });

  test('must be there', async () => {
    await assert.rejects(readAdmissionFile(join(directory, 'gone')), /cannot read/);
  });
});
