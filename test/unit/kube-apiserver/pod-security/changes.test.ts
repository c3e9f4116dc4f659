import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { changesSignificantly } from '../../../../src/kube-apiserver/pod-security/changes.ts';
import { podWith } from './pods.ts';

const c = (name: string, image: string, more: object = {}) => ({ name, image, ...more });
const base = {
  containers: [c('a', 'x'), c('b', 'y')],
  initContainers: [c('i', 'z')],
  ephemeralContainers: [c('e', 'e')],
};

const cases: [what: string, over: object, expected: boolean][] = [
  ['nothing', {}, false],
  ['a toleration', { tolerations: [{ operator: 'Exists' }] }, false],
  [
    'the resources of a container',
    { containers: [c('a', 'x', { resources: { limits: { cpu: '1' } } }), c('b', 'y')] },
    false,
  ],
  ['an image', { containers: [c('a', 'x'), c('b', 'other')] }, true],
  ['the image of an init container', { initContainers: [c('i', 'other')] }, true],
  ['an added init container', { initContainers: [c('i', 'z'), c('j', 'z')] }, true],
  ['a removed container', { containers: [c('a', 'x')] }, true],
  ['an added ephemeral container', { ephemeralContainers: [c('e', 'e'), c('f', 'e')] }, true],
  ['a removed ephemeral container', { ephemeralContainers: [c('e', 'e')] }, false],
  ['the image of an ephemeral container', { ephemeralContainers: [c('e', 'f')] }, true],
];
for (const [what, over, expected] of cases)
  test(`a change of ${what} ${expected ? 'is checked again' : 'is not checked'}`, () =>
    assert.equal(changesSignificantly(podWith({ ...base, ...over }) as Pod, podWith(base) as Pod), expected));

test('two ephemeral containers in another order are the same', () => {
  const two = (...names: string[]) =>
    podWith({ ephemeralContainers: names.map((name) => c(name, name)) }) as Pod;
  assert.equal(changesSignificantly(two('f', 'e'), two('e', 'f')), false);
});
