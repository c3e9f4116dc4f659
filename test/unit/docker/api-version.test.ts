import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtLeast, requestVersion } from '../../../src/docker/api-version.ts';

for (const [engine, ApiVersion, MinAPIVersion, expected] of [
  ['Docker 20.10', '1.41', '1.12', '1.41'],
  ['Docker 26.1', '1.45', '1.24', '1.45'],
  ['Docker 28.5', '1.51', '1.24', '1.51'],
  ['Docker 29', '1.52', '1.44', '1.51'],
  ['an engine that serves only newer versions', '1.70', '1.60', '1.60'],
  ['an engine with another major version', '2.0', undefined, '1.51'],
  ['an engine without an oldest version', '1.43', undefined, '1.43'],
  ['an engine without a version', undefined, undefined, undefined],
  ['an engine with an invalid version', '../1.45', '1.24', undefined],
  ['an engine with an invalid oldest version', '1.45', 'x', '1.45'],
] as const) {
  test(`requests to ${engine} name ${expected === undefined ? 'no version' : `version ${expected}`}`, () =>
    assert.equal(requestVersion({ ApiVersion, MinAPIVersion }), expected));
}

for (const [version, oldest, expected] of [
  ['1.41', '1.41', true],
  ['1.9', '1.41', false],
  ['1.100', '1.41', true],
  ['2.0', '1.41', true],
  ['0.99', '1.41', false],
] as const) {
  test(`${version} is ${expected ? '' : 'not '}at least ${oldest}`, () =>
    assert.equal(isAtLeast(version, oldest), expected));
}
