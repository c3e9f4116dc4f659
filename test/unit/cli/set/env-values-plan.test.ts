import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldValue, resourceValue } from '../../../../src/cli/set/env-values-plan.ts';

const object = {
  metadata: { name: 'web', namespace: 'shop', labels: { b: 'two', a: 'o"ne' }, annotations: { 'x/y': '1' } },
};

describe('the value of a field', () => {
  for (const [path, value] of [
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', ''],
    ['metadata.labels', 'a="o\\"ne"\nb="two"'],
    ["metadata.labels['b']", 'two'],
    ["metadata.labels['none']", ''],
    ["metadata.annotations['x/y']", '1'],
  ] as const)
    it(`${path} is that of the metadata`, () => {
      assert.equal(fieldValue(object, path), value);
    });

  it('is unknown for fields that only a running pod has', () => {
    assert.throws(() => fieldValue(object, 'status.podIP'), /unsupported fieldPath: status\.podIP/);
    assert.throws(() => fieldValue(object, "spec['x']"), /"spec\['x'\]" does not support subscript/);
  });
});

describe('the value of a resource', () => {
  const container = {
    resources: { limits: { cpu: '250m', memory: '1Gi' }, requests: { 'hugepages-2Mi': '4Mi' } },
  };
  for (const [resource, divisor, value] of [
    ['limits.cpu', undefined, '1'],
    ['limits.cpu', '1m', '250'],
    ['limits.memory', '1Mi', '1024'],
    ['limits.memory', '0', '1073741824'],
    ['requests.memory', '1Mi', '0'],
    ['requests.hugepages-2Mi', '1Mi', '4'],
  ] as const)
    it(`${resource} is in units of ${divisor ?? 'one'}, rounded up`, () => {
      assert.equal(resourceValue({ resource, divisor }, container), value);
    });

  it('is unknown for other resources', () => {
    assert.throws(() => resourceValue({ resource: 'limits.x' }, container), /Unsupported container resource/);
  });
});
