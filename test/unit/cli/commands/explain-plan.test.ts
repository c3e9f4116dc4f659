import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain } from '../../../../src/cli/commands/explain-plan.ts';

const long = 'https://example.com/'.padEnd(90, 'x');
const schemas = {
  'io.Spec': {
    type: 'object',
    description: 'Spec of it.',
    required: ['parts'],
    properties: {
      parts: { type: 'array', items: { $ref: '#/components/schemas/io.Part' } },
      mode: { type: 'string', description: 'How.', enum: ['', 'a', 'b', 'c', 'd'] },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  'io.Part': {
    type: 'object',
    description: `${'word '.repeat(16)}${long} end`,
    // The type may contain itself.
    properties: { size: { type: 'integer' }, more: { $ref: '#/components/schemas/io.Part' } },
  },
};
const schema = {
  description: 'A thing.',
  properties: { spec: { allOf: [{ $ref: '#/components/schemas/io.Spec' }] } },
};
const say = (path: readonly string[], recursive = false) =>
  explain({
    schema,
    schemas,
    kind: { group: 'example.com', version: 'v1', kind: 'Thing' },
    path,
    levels: recursive ? Number.POSITIVE_INFINITY : undefined,
  });
const head = 'GROUP:      example.com\nKIND:       Thing\nVERSION:    v1\n\n';

test('a kind is explained with its fields', () => {
  assert.equal(
    say([]),
    `${head}DESCRIPTION:\n    A thing.\n    \nFIELDS:\n  spec\t<Spec>\n    <no description>\n\n\n`,
  );
});

test('a field is explained with its required fields and its choices', () => {
  assert.equal(
    say(['spec']),
    `${head}FIELD: spec <Spec>\n\n\nDESCRIPTION:\n    Spec of it.\n    \nFIELDS:\n` +
      '  labels\t<map[string]string>\n    <no description>\n\n' +
      '  mode\t<string>\n  enum: "", a, b, c, ....\n    How.\n\n' +
      '  parts\t<[]Part> -required-\n    <no description>\n\n\n',
  );
  assert.match(
    say(['spec', 'mode']),
    /FIELD: mode <string>\nENUM:\n {4}""\n {4}a\n {4}b\n {4}c\n {4}d\n\nDESCRIPTION/,
  );
});

test('a path passes through lists; long lines are wrapped, and an overlong word has its own line', () => {
  const words = 'word '.repeat(15).trimEnd();
  const description = `DESCRIPTION:\n    ${words}\n    word\n    ${long}\n    end\n    \n`;
  assert.ok(say(['spec', 'parts']).includes(description), say(['spec', 'parts']));
  assert.match(say(['spec', 'parts', 'more', 'size']), /^FIELD: size <integer>$/m);
});

test('--recursive prints all fields below, and a recursive type once', () => {
  assert.match(
    say([], true),
    /FIELDS:\n {2}spec\t<Spec>\n {4}labels\t<map\[string\]string>\n {4}mode\t<string>\n {4}enum: .*\n {4}parts\t<\[\]Part> -required-\n {6}more\t<Part>\n {6}size\t<integer>\n\n$/,
  );
});

test('a field that does not exist is an error', () => {
  assert.throws(() => say(['spec', 'nosuch', 'x']), { message: 'field "nosuch" does not exist' });
});
