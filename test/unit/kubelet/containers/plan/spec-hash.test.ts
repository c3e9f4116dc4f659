/** Hash that shows whether a container was made from the definition that its pod has. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { specHash } from '../../../../../src/kubelet/containers/plan/spec-hash.ts';

it('the hash of a container is stable, since a changed hash would restart all containers after an update', () => {
  assert.equal(specHash({ name: 'main', image: 'app:1' }), '77065d2e');
  assert.equal(specHash({ name: 'side', image: 'app:1' }), 'a081ca48');
  assert.equal(specHash({ name: 'ü', image: '' }), '0575307e');
  assert.equal(specHash({ name: 'main', image: 'app:305' }), '00099fa7');
});

it('the hash covers the name and the image', () => {
  assert.notEqual(specHash({ name: 'ab', image: 'c' }), specHash({ name: 'a', image: 'bc' }));
});
