import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeconfigDocuments } from '../../../../src/cli/kubeconfig/documents.ts';
import { viewedDocument } from '../../../../src/cli/kubeconfig/view-plan.ts';

const secret = 'aHVudGVyMg==';
const user = {
  password: secret,
  token: secret,
  'client-key-data': secret,
  'client-certificate-data': secret,
};
const documents: KubeconfigDocuments = {
  files: [
    { path: 'one', exists: true, document: { users: [{ name: 'a', user: { ...user, username: 'ann' } }] } },
  ],
  target: 'one',
  explicit: false,
};

test('no secret of a kubeconfig is shown unless it is requested', () => {
  const view = (raw: boolean) =>
    JSON.stringify(viewedDocument(documents, { minify: false, flatten: false, raw }, () => ''));
  assert.doesNotMatch(view(false), new RegExp(secret));
  assert.match(view(false), /"username":"ann"/);
  assert.equal(view(true).split(secret).length, 5);
});
