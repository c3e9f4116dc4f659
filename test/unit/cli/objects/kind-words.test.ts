import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKindWord } from '../../../../src/cli/objects/kind-words.ts';
import { otherForm } from '../../../../src/cli/other-forms.ts';

test('words of kinds of Kubernetes and of features are known, in upper or lower case; other words are not', () => {
  for (const word of ['pods', 'pod', 'po', 'NetPol', 'ingressclass', 'dns', 'workflowrun', 'all'])
    assert.equal(isKindWord(word), true, word);
  for (const word of ['web', 'nginx', 'po-1', 's', '', 'podmetrics'])
    assert.equal(isKindWord(word), false, word);
});

test('a kind without a name is not taken for the name of a pod', () => {
  for (const word of ['netpol', 'serviceaccounts', 'PDB', 'ingressclass', 'all'])
    assert.equal(otherForm(['delete', word]), undefined, word);
  assert.equal(otherForm(['delete', 'web']), 'minik8s ctl delete pod web');
});
