import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { UsageError } from '../../../../src/base/usage-error.ts';
import { usualConfiguration } from '../../../../src/kube-apiserver/pod-security/configuration.ts';
import { readAdmissionFile } from '../../../../src/roles/master/admission-file.ts';

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
const security = (fields: object, version = 'v1beta1') => ({
  ...head,
  plugins: [
    {
      name: 'PodSecurity',
      configuration: {
        apiVersion: `pod-security.admission.config.k8s.io/${version}`,
        kind: 'PodSecurityConfiguration',
        ...fields,
      },
    },
  ],
});
const withQuotas = (configuration: unknown) => ({
  ...head,
  plugins: [{ name: 'ResourceQuota', configuration }],
});

describe('the admission configuration file', () => {
  test('lists the resources that need a quota', async () => {
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
    assert.deepEqual(await readAdmissionFile(path), {
      limitedResources: [
        {
          ...{ apiGroup: '', resource: 'pods', matchContains: [] },
          matchScopes: [
            { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
            { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists', values: [] },
          ],
        },
        { apiGroup: 'apps', resource: 'deployments', matchContains: ['count/'], matchScopes: [] },
      ],
    });
  });

  test('may name another file by a relative path, and may have no plugins', async () => {
    file('quotas.yaml', quotas({ resource: 'pods', matchContains: ['cpu'] }));
    const path = file('named.yaml', { ...head, plugins: [{ name: 'ResourceQuota', path: 'quotas.yaml' }] });
    const rule = { apiGroup: '', resource: 'pods', matchContains: ['cpu'], matchScopes: [] };
    assert.deepEqual(await readAdmissionFile(path), { limitedResources: [rule] });
    assert.deepEqual(await readAdmissionFile(file('head.yaml', head)), {});
    assert.deepEqual(await readAdmissionFile(file('bare.yaml', withQuotas(null))), {});
    assert.deepEqual(await readAdmissionFile(file('none.yaml', withQuotas(quotas()))), {
      limitedResources: [],
    });
  });

  test('sets the defaults and exemptions of pod security, in addition to quotas', async () => {
    const path = file(
      'security.yaml',
      `apiVersion: ${apiVersion}
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults:
      enforce: baseline
      enforce-version: v1.30
      warn: restricted
      audit: ""
      audit-version: ""
    exemptions:
      usernames: [ann]
      namespaces: [kube-system]
      runtimeClasses: [gvisor]
- name: ResourceQuota
`,
    );
    assert.deepEqual(await readAdmissionFile(path), {
      podSecurity: {
        defaults: {
          enforce: { level: 'baseline', version: 30 },
          audit: { level: 'privileged', version: 'latest' },
          warn: { level: 'restricted', version: 'latest' },
        },
        exemptions: { usernames: ['ann'], namespaces: ['kube-system'], runtimeClasses: ['gvisor'] },
      },
    });
    assert.deepEqual(await readAdmissionFile(file('usual.yaml', security({}))), {
      podSecurity: usualConfiguration,
    });
  });

  const wrong: [what: string, content: unknown, message: RegExp][] = [
    ['text that is not YAML', 'a: [', /wrong0/],
    ['a kind other than AdmissionConfiguration', { ...head, kind: 'Pod' }, /kind: /],
    ['an unknown apiVersion', { ...head, apiVersion: 'v1' }, /apiVersion: /],
    ['an unknown field', { ...head, plugin: [] }, /plugin: /],
    [
      'an unknown plugin',
      { ...head, plugins: [{ name: 'PodNodeSelector' }] },
      /plugins\.0\.name: .*ResourceQuota.*PodSecurity/,
    ],
    [
      'two configurations of one plugin',
      { ...head, plugins: [{ name: 'ResourceQuota' }, { name: 'ResourceQuota' }] },
      /twice/,
    ],
    [
      'a rule without a resource',
      withQuotas(quotas({ matchContains: ['a'] })),
      /configuration: limitedResources\.0\.resource: /,
    ],
    [
      'an unknown scope',
      withQuotas(quotas({ resource: 'pods', matchScopes: [{ scopeName: 'Best', operator: 'Exists' }] })),
      /limitedResources\.0\.matchScopes\.0\.scopeName: /,
    ],
    [
      'an unknown level',
      security({ defaults: { enforce: 'strict' } }),
      /plugins\[0\]\.configuration: defaults\.enforce: must be one of privileged, baseline, restricted/,
    ],
    [
      'an invalid version',
      security({ defaults: { 'warn-version': '1.25' } }),
      /defaults\.warn-version: must be "latest" or "v1\.x"/,
    ],
    ['a default for an unknown mode', security({ defaults: { deny: 'baseline' } }), /defaults\.deny: /],
    [
      'an invalid exempt namespace',
      security({ exemptions: { namespaces: ['a', 'B'] } }),
      /exemptions\.namespaces\.1: .*lowercase/,
    ],
    [
      'an invalid exempt runtime class',
      security({ exemptions: { runtimeClasses: [''] } }),
      /exemptions\.runtimeClasses\.0: /,
    ],
    [
      'an exempt user without a name',
      security({ exemptions: { usernames: [''] } }),
      /usernames\.0: must not be empty/,
    ],
    [
      'an exempt user who is listed twice',
      security({ exemptions: { usernames: ['a', 'a'] } }),
      /usernames: a name is listed twice/,
    ],
    [
      'an unknown version of the PodSecurity configuration',
      security({}, 'v2'),
      /configuration: apiVersion: /,
    ],
    [
      'the path of a file that does not exist',
      { ...head, plugins: [{ name: 'ResourceQuota', path: 'gone.yaml' }] },
      /cannot read .*gone\.yaml/,
    ],
  ];
  for (const [index, [what, content, message]] of wrong.entries())
    test(`is refused with ${what}`, async () => {
      await assert.rejects(readAdmissionFile(file(`wrong${index}`, content)), (error) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, /^--admission-control-config-file: /);
        assert.match(error.message, message);
        return true;
      });
    });

  test('must exist', async () => {
    await assert.rejects(readAdmissionFile(join(directory, 'gone')), /cannot read/);
  });
});
