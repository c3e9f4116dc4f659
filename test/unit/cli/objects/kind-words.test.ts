import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as exported from '../../../../src/api/kinds.ts';
import { isKindWord } from '../../../../src/cli/objects/kind-words.ts';
import { otherForm } from '../../../../src/cli/other-forms.ts';

interface Named {
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
}

const isNamed = (value: unknown): value is Named =>
  typeof value === 'object' && value !== null && 'plural' in value && 'shortNames' in value;

/** Kinds of metrics have a singular that no other kind has, and are not deleted. */
const isOfMetrics = ({ singular }: Named) => singular.endsWith('metrics');

test('the words of every kind of the server are known', () => {
  const named = Object.values<unknown>(exported).filter(isNamed);
  assert.ok(named.length > 50);
  const words = named
    .filter((kind) => !isOfMetrics(kind))
    .flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]);
  assert.deepEqual(
    words.filter((word) => !isKindWord(word)),
    [],
  );
  for (const word of ['web', 'nginx', 'po-1', 's', '']) assert.equal(isKindWord(word), false, word);
});

test('a kind without a name is not taken for the name of a pod', () => {
  for (const word of ['netpol', 'serviceaccounts', 'PDB', 'ingressclass', 'all'])
    assert.equal(otherForm(['delete', word]), undefined, word);
  assert.equal(otherForm(['delete', 'web']), 'minik8s ctl delete pod web');
});
