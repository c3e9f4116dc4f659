/** Output of `auth can-i --list`; compared with kubectl in test/integration/cli/access.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ruleHeaders, ruleRows } from '../../../../src/cli/access/rule-rows.ts';

test('rules that differ in their verbs only are one row; rows are sorted as Go prints them', () => {
  const rows = ruleRows({
    resourceRules: [
      { verbs: ['watch', 'get'], apiGroups: [''], resources: ['pods', 'pods/log'] },
      { verbs: ['list', 'get'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['get'], apiGroups: ['apps', ''], resources: ['deployments/scale'] },
      { verbs: ['create'], apiGroups: [''], resources: ['secrets'], resourceNames: ['b', 'a'] },
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    ],
    nonResourceRules: [
      { verbs: ['get'], nonResourceURLs: ['/version', '/healthz'] },
      { verbs: ['get'], nonResourceURLs: ['/version'] },
    ],
  });
  assert.deepEqual(rows, [
    ['*.*', '[]', '[]', '[*]'],
    ['secrets', '[]', '[a]', '[create]'],
    ['secrets', '[]', '[b]', '[create]'],
    ['', '[/healthz]', '[]', '[get]'],
    ['', '[/version]', '[]', '[get]'],
    ['', '[/version]', '[]', '[get]'],
    ['deployments/scale', '[]', '[]', '[get]'],
    ['deployments.apps/scale', '[]', '[]', '[get]'],
    ['pods', '[]', '[]', '[watch get list]'],
    ['pods/log', '[]', '[]', '[watch get]'],
  ]);
  assert.deepEqual(ruleRows({}), []);
  assert.deepEqual(ruleHeaders, ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']);
});
