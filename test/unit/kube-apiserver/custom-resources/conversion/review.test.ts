import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import {
  type ConversionRequest,
  conversionReview,
  readConversion,
  reviewVersionIn,
} from '../../../../../src/kube-apiserver/custom-resources/conversion/review.ts';

const object = {
  apiVersion: 'example.com/v1',
  kind: 'Host',
  metadata: {
    name: 'a',
    namespace: 'b',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { a: 'b' },
    finalizers: ['example.com/f'],
  },
} as unknown as KubeObject;
const converted = { ...object, apiVersion: 'example.com/v2' };
const named = (name: string) => ({ ...object, metadata: { ...object.metadata, name } });

const request: ConversionRequest = {
  uid: 'r',
  version: 'v1',
  desired: 'example.com/v2',
  objects: [object],
};
const answer = (response: unknown, head: object = {}) =>
  JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response, ...head });
const success = (...convertedObjects: unknown[]) => ({
  ...{ uid: 'r', result: { status: 'Success' }, convertedObjects },
});
const read = (response: unknown, of: Partial<Parameters<typeof readConversion>[1]> = {}) =>
  readConversion(answer(response), { ...request, ...of });
const whole = (metadata: object) => success({ ...converted, metadata: { ...object.metadata, ...metadata } });

describe('a ConversionReview', () => {
  it('has the first version of the list that the server supports', () => {
    assert.equal(reviewVersionIn(['v2', 'v1beta1', 'v1']), 'v1beta1');
    assert.equal(reviewVersionIn(['v2']), undefined);
  });

  it('has the objects and the wanted version', () => {
    assert.deepEqual(JSON.parse(conversionReview({ ...request, version: 'v1beta1' })), {
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      request: { uid: 'r', desiredAPIVersion: 'example.com/v2', objects: [object] },
    });
  });
});

describe('the answer to a ConversionReview', () => {
  it('may change labels and annotations, and no other metadata', () => {
    const [made] = read(
      whole({
        ...{ resourceVersion: '9', creationTimestamp: null, finalizers: [], ownerReferences: [] },
        ...{ labels: null, annotations: { note: 'x' } },
      }),
    );
    const { labels: _, ...kept } = object.metadata;
    assert.deepEqual(made, { ...converted, metadata: { ...kept, annotations: { note: 'x' } } });
  });

  it('requires neither kind nor uid in version v1beta1', () => {
    const text = JSON.stringify({ response: { ...success(converted), uid: '' } });
    assert.deepEqual(readConversion(text, { ...request, version: 'v1beta1' }), [converted]);
    assert.throws(() => readConversion(text, request), /expected webhook response of/);
  });

  const head = 'conversion webhook for example.com/v1, Kind=Host';
  const wrong: [problem: string, response: unknown, message: string][] = [
    ['has no response', undefined, `${head} failed: no response provided`],
    [
      'belongs to another request',
      { ...success(converted), uid: 'x' },
      `${head} failed: expected response.uid="r", got "x"`,
    ],
    [
      'failed with a message',
      { uid: 'r', result: { status: 'Failure', message: 'no port' } },
      `${head} failed: no port`,
    ],
    [
      'failed without a message',
      { uid: 'r' },
      `${head} failed: response.result.status was '', not 'Success'`,
    ],
    ['has too few objects', success(), `${head} returned 0 objects, expected 1`],
    ['has too many objects', success(converted, converted), `${head} returned 2 objects, expected 1`],
    [
      'has an object in another version',
      success(object),
      `${head} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
    ],
    [
      'has an object of another kind',
      success({ ...converted, kind: 'Guest' }),
      `${head} returned invalid object at index 0: invalid kind (expected Host, received Guest)`,
    ],
    [
      'has null as object',
      success(null),
      `${head} returned invalid object at index 0: an object was expected`,
    ],
    [
      'has an object of another name',
      whole({ name: 'c' }),
      `${head} returned invalid object: must have the same name: a != c`,
    ],
    [
      'has an object of another namespace',
      whole({ namespace: '' }),
      `${head} returned invalid object: must have the same namespace: b != `,
    ],
    [
      'has an object of another UID',
      whole({ uid: 'v' }),
      `${head} returned invalid object: must have the same UID: u != v`,
    ],
    [
      'has labels that are not texts',
      whole({ labels: { a: 1 } }),
      `${head} returned invalid metadata: metadata.labels[a] must be a string, but is number in converted object`,
    ],
  ];
  for (const [problem, response, message] of wrong)
    it(`is rejected if it ${problem}`, () => assert.throws(() => read(response), { message }));

  it('is rejected if it is not JSON, or has invalid labels', () => {
    assert.throws(() => readConversion('<html>', request), /failed: couldn't get version\/kind; json parse/);
    assert.throws(() => readConversion('[]', request), /json parse error: not an object/);
    assert.throws(
      () => read(whole({ labels: { 'a b': 'c' } })),
      /returned invalid metadata: metadata\.labels/,
    );
  });

  it('names the index of a wrong object among several, which are in the order of the request', () => {
    const objects = [named('a'), named('b')];
    const [first, second] = objects.map((one) => ({ ...one, apiVersion: 'example.com/v2' }));
    assert.throws(() => read(success(second, first), { objects }), {
      message: `${head} returned invalid converted object at index 0: must have the same name: a != b`,
    });
    assert.deepEqual(
      read(success(first, second), { objects }).map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
  });
});
