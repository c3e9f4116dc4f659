/** Faults of objects against an OpenAPI schema, with the correction. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { manifestFaults, oneFieldOf, pathOf } from '../../../../src/cli/manifests/manifest-faults-plan.ts';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    port: { type: 'string', format: 'int-or-string' },
    replicas: { type: 'integer', format: 'int32' },
    paused: { type: 'boolean' },
    command: { type: 'array', items: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    free: {
      type: 'object',
      properties: { known: { type: 'string' } },
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
};
const messages = (object: JsonObject) => manifestFaults({}, schema, object).map(({ message }) => message);

describe('faults of a manifest', () => {
  for (const [object, message] of [
    [{ name: 1 }, 'name: expected a string, got the number 1; put it in quotes'],
    [{ name: [] }, 'name: expected a string, got a list'],
    [{ replicas: '2' }, 'replicas: expected a whole number, got "2"; leave the quotes out'],
    [
      { replicas: 2 ** 31 },
      'replicas: expected a whole number, got the number 2147483648; it is out of range',
    ],
    [{ replicas: 1.5 }, 'replicas: expected a whole number, got the number 1.5'],
    [{ paused: 'true' }, 'paused: expected true or false, got "true"; leave the quotes out'],
    [{ paused: 'yes' }, 'paused: expected true or false, got "yes"'],
    [{ command: 'ls -l' }, 'command: expected a list, got a string; write command: ["ls", "-l"]'],
    [{ command: {} }, 'command: expected a list, got a mapping; begin each item with "- "'],
    [{ command: ['a', 2] }, 'command[1]: expected a string, got the number 2; put it in quotes'],
    [{ labels: { a: true } }, 'labels.a: expected a string, got the boolean true; put it in quotes'],
    [{ replica: 1 }, 'unknown field "replica"; did you mean replicas?'],
    [{ quite: { other: 1 } }, 'unknown field "quite"'],
  ] as const)
    it(`reports ${JSON.stringify(object)}`, () => assert.deepEqual(messages(object), [message]));

  for (const object of [
    { name: 'x', port: 80, replicas: 2, paused: true, command: ['ls'], labels: { a: 'b' } },
    { port: 'http', name: null },
    { free: { known: 'a', more: 1 } },
  ])
    it(`accepts ${JSON.stringify(object)}`, () => assert.deepEqual(messages(object), []));

  it('are at most a hundred', () => {
    const command = Array.from({ length: 200 }, () => 1);
    assert.equal(messages({ command }).length, 100);
  });
});

describe('messages about one field', () => {
  it('are split into the field and the reason', () => {
    assert.deepEqual(
      oneFieldOf('Secret in version "v1" cannot be handled as a Secret: data.a: illegal base64'),
      { field: 'data.a', message: 'illegal base64' },
    );
  });
  it('are not recognized in other messages', () =>
    assert.equal(oneFieldOf('namespaces "x" not found'), undefined));
  it('have paths of keys and indexes', () => {
    assert.deepEqual(pathOf('spec.containers[0].command[12]'), ['spec', 'containers', 0, 'command', 12]);
  });
});
