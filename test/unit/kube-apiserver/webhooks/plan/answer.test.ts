import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import {
  type Expected,
  InvalidAnswer,
  readAnswer,
} from '../../../../../src/kube-apiserver/webhooks/plan/answer.ts';

const warnings: string[] = [];
const expected: Expected = {
  webhook: 'a.example.com',
  version: 'v1',
  uid: '1',
  mutates: true,
  warn: (text) => void warnings.push(text),
};
const review = (response: unknown, more: object = {}) =>
  JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response, ...more });
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const operations = [{ op: 'add', path: '/a', value: 1 }];

describe('the answer of a webhook', () => {
  it('has a patch', () => {
    const response = { uid: '1', allowed: true, patchType: 'JSONPatch', patch: base64(operations) };
    assert.deepEqual(readAnswer(review(response), expected), { kind: 'json', operations });
  });

  it('without operations changes nothing', () => {
    const response = { uid: '1', allowed: true, patchType: 'JSONPatch', patch: base64([]) };
    assert.equal(readAnswer(review(response), expected), undefined);
    assert.equal(readAnswer(review({ uid: '1', allowed: true }), expected), undefined);
  });

  it('in v1beta1 may lack its uid and the type of its patch', () => {
    const response = { allowed: true, patch: base64(operations) };
    const of = { ...expected, version: 'v1beta1' } as const;
    assert.deepEqual(readAnswer(review(response), of), { kind: 'json', operations });
    assert.equal(readAnswer(review(response), { ...of, mutates: false }), undefined);
  });

  it('has warnings, also if it rejects the request', () => {
    warnings.length = 0;
    const response = { uid: '1', allowed: false, warnings: ['careful', 1] };
    assert.throws(() => readAnswer(review(response), expected), StatusError);
    assert.deepEqual(warnings, ['careful']);
  });

  const invalid: readonly [string, string, string, Partial<Expected>?][] = [
    ['without a response', review(undefined), 'webhook response was absent'],
    ['for another request', review({ uid: '2' }), 'expected response.uid="1", got "2"'],
    [
      'of another kind',
      review({ uid: '1' }, { kind: 'Other' }),
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=Other',
    ],
    [
      'with a patch without its type',
      review({ uid: '1', patch: 'e30=' }),
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'with the type of a patch without it',
      review({ uid: '1', patchType: 'JSONPatch' }),
      'webhook returned response.patchType but not response.patch',
    ],
    [
      'with a patch of a validating webhook',
      review({ uid: '1', patch: 'e30=' }),
      'validating webhook may not return response.patch',
      { mutates: false },
    ],
    [
      'with the type of a patch of a validating webhook',
      review({ uid: '1', patchType: '' }),
      'validating webhook may not return response.patchType',
      { mutates: false },
    ],
  ];
  for (const [title, text, why, more] of invalid)
    it(`${title} is invalid`, () => {
      assert.throws(
        () => readAnswer(text, { ...expected, ...more }),
        (error) =>
          error instanceof InvalidAnswer && error.message === `received invalid webhook response: ${why}`,
      );
    });

  const denials: readonly [string, unknown, number, string][] = [
    ['its message', { code: 422, message: 'no' }, 422, 'denied the request: no'],
    ['its reason', { reason: 'Forbidden' }, 400, 'denied the request: Forbidden'],
    ['nothing', undefined, 400, 'denied the request without explanation'],
    ['a code of success', { code: 200 }, 400, 'denied the request without explanation'],
    ['a code that HTTP does not have', { code: 1e9 }, 400, 'denied the request without explanation'],
  ];
  for (const [title, status, code, words] of denials)
    it(`that rejects the request with ${title} is an error of the client`, () => {
      assert.throws(
        () => readAnswer(review({ uid: '1', allowed: false, status }), expected),
        (error) => {
          assert.ok(error instanceof StatusError);
          assert.equal(error.status.code, code);
          assert.equal(error.status.message, `admission webhook "a.example.com" ${words}`);
          return true;
        },
      );
    });

  it('with an invalid patch fails the request', () => {
    const response = { uid: '1', allowed: true, patchType: 'JSONPatch', patch: base64({ a: 1 }) };
    assert.throws(() => readAnswer(review(response), expected), /Internal error occurred: /);
  });
});
