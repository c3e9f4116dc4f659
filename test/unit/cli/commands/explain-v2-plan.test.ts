import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainV2 } from '../../../../src/cli/commands/explain-v2-plan.ts';
import { wrapParagraphs } from '../../../../src/cli/commands/explain-v2-wrap.ts';

const kind = { group: 'example.com', version: 'v1', kind: 'Thing' };
const definitions = {
  'com.example.v1.Thing': {
    type: 'object',
    description: 'A thing.',
    'x-kubernetes-group-version-kind': [kind],
    required: ['spec'],
    properties: {
      spec: { $ref: '#/definitions/com.example.v1.Spec', description: 'What is wanted.' },
      any: { description: 'Any value.' },
      open: { type: 'object', description: 'Any values.' },
    },
  },
  'com.example.v1.Spec': {
    type: 'object',
    description: 'Spec of it.',
    properties: {
      parts: { type: 'array', items: { $ref: '#/definitions/com.example.v1.Spec' } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
};
const say = (path: readonly string[], recursive = false) =>
  explainV2({ definitions, kind, path, levels: recursive ? Number.POSITIVE_INFINITY : undefined });
const head = 'KIND:     Thing\nVERSION:  example.com/v1\n\n';

test('a kind has its fields with types and descriptions', () => {
  assert.equal(
    say([]),
    `${head}DESCRIPTION:\n     A thing.\n\nFIELDS:\n   any\t<>\n     Any value.\n\n` +
      '   open\t<map[string]>\n     Any values.\n\n   spec\t<Object> -required-\n     What is wanted.\n\n',
  );
});

test('a field has its own description and that of its type', () => {
  assert.equal(
    say(['spec', 'parts']),
    `${head}RESOURCE: parts <[]Object>\n\nDESCRIPTION:\n\n     Spec of it.\n\nFIELDS:\n` +
      '   labels\t<map[string]string>\n\n   parts\t<[]Object>\n\n'.replace('\n\n   parts', '\n\n   parts'),
  );
});

test('a plain field has no fields, and the rest of the path is ignored', () => {
  const text = `${head}FIELD:    labels <map[string]string>\n\nDESCRIPTION:\n     <empty>\n`;
  assert.equal(say(['spec', 'labels']), text);
  assert.equal(say(['any', 'more']), `${head}DESCRIPTION:\n     Any value.\n`);
});

test('--recursive lists all fields, and a recursive type once', () => {
  assert.equal(
    say(['spec'], true),
    `${head}RESOURCE: spec <Object>\n\nDESCRIPTION:\n     What is wanted.\n\n     Spec of it.\n\nFIELDS:\n` +
      '   labels\t<map[string]string>\n   parts\t<[]Object>\n      labels\t<map[string]string>\n' +
      '      parts\t<[]Object>\n',
  );
});

test('unknown kinds and fields are errors', () => {
  assert.throws(() => say(['spec', 'none']), /field "none" does not exist/);
  assert.throws(
    () => explainV2({ definitions, kind: { ...kind, group: '', kind: 'X' }, path: [], levels: undefined }),
    /couldn't find resource for "\/v1, Kind=X"/,
  );
});

test('lines of a paragraph are joined; lists, code and lines after a colon are kept', () => {
  assert.deepEqual(wrapParagraphs('one\ntwo three\n\n- four\n* five\nsix:\nseven\n    code  here', 9), [
    'one two',
    'three',
    '',
    '- four',
    '* five',
    'six:',
    'seven',
    '    code  here',
  ]);
});
