import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fullImageName,
  heldTag,
  isHeldTag,
  objectNameOf,
  shortImageName,
} from '../../../../src/features/images/api/image-name.ts';
import { imageNameProblem } from '../../../../src/features/images/api/image-validation.ts';

for (const [name, full] of [
  ['busybox', 'docker.io/library/busybox:latest'],
  ['busybox:1', 'docker.io/library/busybox:1'],
  ['team/app', 'docker.io/team/app:latest'],
  ['docker.io/busybox', 'docker.io/library/busybox:latest'],
  ['index.docker.io/team/app:2', 'docker.io/team/app:2'],
  ['localhost/app:1', 'localhost/app:1'],
  ['localhost:5000/app', 'localhost:5000/app:latest'],
  ['registry.example:5000/a/b:c', 'registry.example:5000/a/b:c'],
  ['minik8s/python:3', 'docker.io/minik8s/python:3'],
] as const)
  test(`the full name of ${name} is ${full}`, () => {
    assert.equal(fullImageName(name), full);
    assert.equal(fullImageName(full), full);
    assert.equal(fullImageName(shortImageName(full)), full);
  });

test('a name with a digest has no full name with a tag', () => {
  assert.equal(fullImageName(`busybox@sha256:${'0'.repeat(64)}`), undefined);
});

test('names of objects are valid, and differ for images that only look alike', () => {
  const images = ['docker.io/library/a-b:1', 'docker.io/a/b:1', 'docker.io/a/B:1', 'docker.io/library/a:b-1'];
  const names = images.map(objectNameOf);
  assert.equal(new Set(names).size, images.length);
  for (const name of [...names, objectNameOf(`docker.io/${'x'.repeat(300)}:y`)])
    assert.match(name, /^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/);
});

test('the name in the engine follows from the digest alone', () => {
  assert.equal(heldTag('sha256:ab'), 'minik8s-held:sha256-ab');
  assert.ok(isHeldTag(heldTag('sha256:ab')));
  assert.ok(!isHeldTag('busybox:1'));
});

test('images that nodes make themselves cannot be loaded', () => {
  assert.match(imageNameProblem('minik8s.function/a/b:c') ?? '', /reserved/);
  assert.match(imageNameProblem('minik8s.own/minik8s:node') ?? '', /reserved/);
  assert.equal(imageNameProblem('minik8s/python:3'), undefined);
});
