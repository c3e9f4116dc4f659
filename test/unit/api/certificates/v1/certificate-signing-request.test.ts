import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateSpec } from '../../../../../src/api/certificates/v1/validation.ts';
import { maxCauses } from '../../../../../src/apimachinery/status-error.ts';

const spec = (usages: string[]) => ({ request: '', signerName: 'example.com/signer', usages });

test('unknown and repeated usages of a certificate signing request are rejected', () => {
  const causes = validateSpec(spec(['client auth', 'fun', 'client auth']));
  assert.deepEqual(
    causes.map(({ field, reason }) => [field, reason]),
    [
      ['spec.usages[1]', 'FieldValueNotSupported'],
      ['spec.usages[2]', 'FieldValueDuplicate'],
    ],
  );
});

test('the validation of usages stops when there are more causes than are reported', () => {
  const unknown = Array.from({ length: 10 * maxCauses }, (_, index) => `a${index}`);
  assert.equal(validateSpec(spec(unknown)).length, maxCauses + 1);
});
