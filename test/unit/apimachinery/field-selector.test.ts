import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkFieldSelector,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredFieldValue,
} from '../../../src/apimachinery/field-selector.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';

const fields: Record<string, string> = { 'metadata.name': 'p', 'status.phase': 'Running', odd: 'a,b=c\\' };
const read = (field: string) => fields[field];

for (const [text, expected] of [
  ['', true],
  ['metadata.name=p', true],
  ['metadata.name==p', true],
  ['metadata.name=q', false],
  ['status.phase!=Succeeded,status.phase!=Failed', true],
  ['status.phase!=Running', false],
  ['absent=', true],
  ['absent=x', false],
  ['odd=a\\,b\\=c\\\\', true],
] as const) {
  test(`the selector ${JSON.stringify(text)} ${expected ? 'matches' : 'does not match'} the fields`, () => {
    assert.equal(matchesFields(parseFieldSelector(text), read), expected);
  });
}

for (const text of ['metadata.name', 'a=b=c', 'a=b\\c', 'a=b\\']) {
  test(`field selector ${text} is a bad request`, () => {
    assert.throws(
      () => parseFieldSelector(text),
      (error) => error instanceof StatusError && error.status.code === 400,
    );
  });
}

test('the error names a field that the kind does not offer', () => {
  assert.throws(() => checkFieldSelector(parseFieldSelector('spec.x=1'), (f) => f === 'metadata.name'), {
    message: 'field label not supported: spec.x',
  });
  checkFieldSelector(parseFieldSelector('metadata.name=p'), (f) => f === 'metadata.name');
});

test('the required value is returned, and the text form is parsed to the same selector', () => {
  const selector = parseFieldSelector('status.phase!=Failed,metadata.name=p');
  assert.equal(requiredFieldValue(selector, 'metadata.name'), 'p');
  assert.equal(requiredFieldValue(selector, 'status.phase'), undefined);
  const odd = parseFieldSelector('odd=a\\,b\\=c\\\\');
  assert.deepEqual(parseFieldSelector(formatFieldSelector(odd)), odd);
});
