import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newInvalid, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { warningTexts } from '../../../../src/cli/connection/cluster.ts';
import { errorText, inContext } from '../../../../src/cli/errors.ts';
import { dryRunOf, Flags, type FlagTable } from '../../../../src/cli/flags/flags.ts';

const table = {
  output: { type: 'string', short: 'o', about: '' },
  'all-namespaces': { type: 'boolean', short: 'A', about: '' },
  wait: { type: 'boolean', on: true, about: '' },
  since: { type: 'string', about: '' },
  tail: { type: 'string', about: '' },
  'dry-run': { type: 'string', about: '' },
} as const satisfies FlagTable;
const parse = (...argv: string[]) => new Flags(table, argv);

test('flags may be anywhere, may be repeated, and take their values in every form', () => {
  const flags = parse('get', '-o', 'json', 'pods', '-oyaml', '-A', '-o=wide', '--', '-x');
  assert.deepEqual(flags.words, ['get', 'pods', '-x']);
  assert.deepEqual(flags.behindDashes, ['-x']);
  assert.deepEqual(parse('a', '--').behindDashes, []);
  assert.deepEqual(parse('a', '--', 'b', '--', '-c').behindDashes, ['b', '--', '-c']);
  assert.equal(parse('a', '-o', 'json').behindDashes, undefined);
  assert.deepEqual(flags.texts('output'), ['json', 'yaml', 'wide']);
  assert.equal(flags.text('output'), 'wide');
  assert.equal(flags.on('all-namespaces'), true);
  assert.equal(parse('-Ao', 'name').text('output'), 'name');
  assert.equal(parse('-Ao=name').text('output'), 'name');
  // An equals sign belongs to the value, except after the letter of a flag.
  assert.deepEqual(parse('-o', '=', '--output==', '-o==').texts('output'), ['=', '=', '=']);
});

test('a flag that is on by default can be turned off; of a repeated flag the last value is used', () => {
  assert.equal(
    new Flags({ 'no-headers': { type: 'boolean', about: '' } }, ['--no-headers']).on('no-headers'),
    true,
  );
  assert.equal(parse().on('wait'), true);
  assert.equal(parse('--no-wait').on('wait'), false);
  assert.equal(parse('--no-wait', '--wait').on('wait'), true);
  assert.equal(parse().on('all-namespaces'), false);
  assert.equal(parse().given('wait'), false);
});

const durations: [text: string, ms: number][] = [
  ['30', 30_000],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['250ms', 250],
  ['1.5m', 90_000],
];
for (const [text, ms] of durations) {
  test(`--since ${text} is read as ${ms} ms`, () =>
    assert.equal(parse('--since', text).duration('since'), ms));
}

const refused: [argv: string[], read: (flags: Flags) => unknown, message: RegExp][] = [
  [['--since', '5x'], (flags) => flags.duration('since'), /--since: expected a duration such as 30s/],
  [['--since', '5s!'], (flags) => flags.duration('since'), /--since/],
  [['--tail=ten'], (flags) => flags.whole('tail'), /--tail: expected a whole number, got "ten"/],
  [['--dry-run=maybe'], dryRunOf, /--dry-run: expected none, client, server, got "maybe"/],
];
for (const [argv, read, message] of refused) {
  test(`${argv.join(' ')} is rejected`, () => {
    assert.throws(() => read(parse(...argv)), { name: 'UsageError', message });
  });
}

test('errors of the server keep their reason and get the context of the request', () => {
  const error = newNotFound({ group: '', plural: 'pods' }, 'x');
  assert.equal(errorText(error), 'Error from server (NotFound): pods "x" not found');
  assert.equal(
    errorText(inContext(error, 'error when creating "f"')),
    'Error from server (NotFound): error when creating "f": pods "x" not found',
  );
  assert.equal(errorText(inContext(new Error('no\nway'), 'doing')), 'error: doing: no way');
});

test('warnings are parsed from their header', () => {
  assert.deepEqual(warningTexts(String.raw`299 - "one", 299 minik8s "two \"x\", three"`), [
    'one',
    'two "x", three',
  ]);
  assert.deepEqual(warningTexts(''), []);
});

const invalid = (...causes: { field: string; message: string }[]) =>
  newInvalid(
    { group: '', kind: 'Pod' },
    'x',
    causes.map((cause) => ({ reason: 'FieldValueInvalid', ...cause })),
  );

test('several faults of an object are printed as a list without duplicates, a single one in one line', () => {
  const [a, b] = [
    { field: 'spec.a', message: 'Required value' },
    { field: 'spec.b', message: 'Invalid value: "1"' },
  ];
  assert.equal(errorText(invalid(a)), 'The Pod "x" is invalid: spec.a: Required value');
  const list = 'The Pod "x" is invalid: \n* spec.a: Required value\n* spec.b: Invalid value: "1"';
  assert.equal(errorText(invalid(a, b, a)), list);
  assert.equal(errorText(inContext(invalid(a, b), 'error when creating "f"')), list);
});

test('on a terminal an error is wrapped between words, with continuation lines indented', () => {
  const text = errorText(new Error('one two three four five six seven'), 24);
  assert.equal(text, 'error: one two three\n  four five six seven');
  const faults = invalid({ field: 'spec.a', message: 'must be this or that' }, { field: 'b', message: 'no' });
  assert.equal(
    errorText(faults, 24),
    'The Pod "x" is\n  invalid: \n* spec.a: must be this\n  or that\n* b: no',
  );
});
