import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFields, noFindings } from '../../../src/apimachinery/decode-fields.ts';
import { TypeMismatch } from '../../../src/apimachinery/scalars.ts';
import { completedFields, type RulesByType } from '../../../src/apimachinery/type-rules.ts';
import { createTypeTable } from '../../../src/apimachinery/type-table.ts';

const lines = {
  'a.v1.Thing':
    '1=name!:string 2=count!:int32 3=mode?:Mode 4=modes?:[]Mode 5=inner!:Inner 6=list?:[]Inner 7=byName?:{}Inner 8=free?:any ' +
    '9=other?:Inner 10=number?:int32 11=flag?:bool 12=text?:string 13=texts?:[]string 14=map?:{}string 15=anys?:[]any ' +
    '16=lists?:{}[]string 17=bare?:Bare 18=must!:[]string 19=plain!:Plain 20=label?:{}Mode',
  'a.v1.Inner': '1=key!:string 2=value?:string',
  'a.v1.Bare': '1=key!:string 2=mode?:Mode',
  'a.v1.Plain': '1=a?:string',
};
const choices = { 'a.v1.Mode': 'Fast,Slow' };

/** Returns the decoded value and the problems that were found with these rules. */
function decode(value: unknown, rules: RulesByType = {}, type = 'a.v1.Thing') {
  const found = createTypeTable(lines, choices, rules).typeOf(type);
  assert.ok(found);
  const findings = noFindings();
  const object = decodeFields(value, found, findings);
  const { unknown, ignored, causes } = findings;
  return {
    object,
    unknown,
    ignored,
    causes: causes.map(({ field, message }) => `${field}: ${message}`),
    found: findings.found,
  };
}

const none = { unknown: [], ignored: [], causes: [], found: 0 };

test('without rules, only the types of a value are set', () => {
  const value = { name: 'n', mode: 'Other', text: '', inner: {}, free: { a: [null] }, count: null };
  const { count, ...kept } = value;
  assert.deepEqual(decode(value), { ...none, object: kept });
  assert.equal(count, null);
});

test('null is absent in an object, and the zero value in a list and in a map', () => {
  const value = {
    text: null,
    texts: [null, 'a'],
    map: { a: null },
    list: [null],
    byName: { a: null },
    anys: [null],
    lists: { a: null },
  };
  assert.deepEqual(decode(value).object, {
    texts: ['', 'a'],
    map: { a: '' },
    list: [{}],
    byName: { a: {} },
    anys: [null],
    lists: { a: [] },
  });
});

test('an unknown field is removed and reported with its path', () => {
  const value = {
    list: [{ x: 1 }],
    byName: { a: { y: {} } },
    zzz: null,
    map: JSON.parse('{"__proto__":"a"}'),
  };
  assert.deepEqual(decode(value), {
    ...none,
    object: { list: [{}], byName: { a: {} }, map: {} },
    unknown: ['list[0].x', 'byName.a.y', 'zzz', 'map.__proto__'],
  });
});

test('a map has any key', () => {
  const map = { constructor: 'a', prototype: 'b', toString: 'c', '': 'd' };
  assert.deepEqual(decode({ map }), { ...none, object: { map } });
});

test('a value of a wrong type ends the decoding with an error', () => {
  for (const [value, message] of [
    [{ list: {} }, /object into Go struct field Thing.list of type \[\]v1.Inner/],
    [{ byName: [] }, /array into Go struct field Thing.byName of type map\[string\]v1.Inner/],
    [{ inner: 1 }, /number into Go struct field Thing.inner of type v1.Inner/],
    [{ list: [{ key: 1 }] }, /number into Go struct field Inner.list\[0\].key of type string/],
    ['x', /string into Go value of type v1.Thing/],
  ] as const)
    assert.throws(
      () => decode(value),
      (error) => error instanceof TypeMismatch && message.test(error.message),
    );
});

test('a missing required field has its zero value, and a cause', () => {
  const rules = { 'a.v1.Thing': { requires: 'number' }, 'a.v1.Inner': {}, 'a.v1.Plain': {} };
  assert.deepEqual(decode({}, rules), {
    ...none,
    object: { name: '', count: 0, inner: { key: '' }, number: 0, must: [], plain: {} },
    causes: [
      'name: Required value',
      'count: Required value',
      // A missing struct is an empty one: its required fields are named.
      'inner.key: Required value',
      'number: Required value',
      'must: Required value',
      'plain: Required value',
    ],
    found: 6,
  });
});

test('optional fields and fields without an effect are not required', () => {
  const rules = { 'a.v1.Thing': { acts: 'name count', mayLack: 'count' } };
  assert.deepEqual(decode({}, rules).causes, ['name: Required value']);
});

test('missing fields get defaults, whose own fields get defaults, too', () => {
  const rules = {
    'a.v1.Thing': { acts: 'mode inner', defaults: { mode: 'Fast', inner: { key: 'k' }, text: 'shown' } },
    'a.v1.Inner': { defaults: { value: 'v' } },
  };
  const full = { mode: 'Fast', inner: { key: 'k', value: 'v' }, text: 'shown' };
  assert.deepEqual(decode({}, rules), { ...none, object: full });
  assert.deepEqual(decode({ mode: null, inner: null }, rules).object, full);
  assert.deepEqual(decode({ mode: 'Slow', inner: { key: 'x', value: 'y' } }, rules).object, {
    mode: 'Slow',
    inner: { key: 'x', value: 'y' },
    text: 'shown',
  });
  // Objects do not share the value of a default.
  const first = decode({}, rules).object.inner as { key: string };
  first.key = 'changed';
  assert.deepEqual(decode({}, rules).object.inner, { key: 'k', value: 'v' });
});

test('an empty text is an unset field if it has a default or a choice', () => {
  const unset = (rules: RulesByType['']) =>
    decode({ mode: '', text: '' }, { 'a.v1.Thing': { acts: '', ...rules } });
  assert.deepEqual(unset({}), { ...none, object: { text: '' } });
  assert.deepEqual(unset({ defaults: { text: 'd', mode: 'Fast' } }).object, { text: 'd', mode: 'Fast' });
  assert.deepEqual(unset({ defaults: { text: '' } }).object, { text: '' });
  assert.deepEqual(unset({ choices: { text: ['', 'a'] } }).object, { text: '' });
  // A required field with an empty text counts as given.
  assert.deepEqual(unset({ acts: 'mode', requires: 'mode' }).causes, [
    'mode: Unsupported value: "": supported values: "Fast", "Slow"',
  ]);
});

test('choices are Kubernetes’ own or the rules’; empty choices accept any text; items are not checked', () => {
  const causes = (rules: RulesByType['']) =>
    decode({ mode: 'X', modes: ['X'], label: { a: 'X' } }, { 'a.v1.Thing': { acts: '', ...rules } }).causes;
  assert.deepEqual(causes({}), ['mode: Unsupported value: "X": supported values: "Fast", "Slow"']);
  assert.deepEqual(causes({ choices: { mode: ['X'] } }), []);
  assert.deepEqual(causes({ choices: { mode: ['Y', 'Z'] } }), [
    'mode: Unsupported value: "X": supported values: "Y", "Z"',
  ]);
  assert.deepEqual(causes({ choices: { mode: [] } }), []);
});

test('a number out of its limits is reported, and an absent number is not', () => {
  const rules = { 'a.v1.Thing': { acts: '', limits: { number: [0], count: [1, 9] } } } satisfies RulesByType;
  const causes = (value: unknown) => decode(value, rules).causes;
  for (const good of [{}, { number: 0, count: 1 }, { number: 2 ** 31 - 1, count: 9 }, { number: null }])
    assert.deepEqual(causes(good), []);
  assert.deepEqual(causes({ number: -1, count: 0 }), [
    'number: Invalid value: -1: must be greater than or equal to 0',
    'count: Invalid value: 0: must be between 1 and 9, inclusive',
  ]);
  assert.deepEqual(causes({ count: 10 }), ['count: Invalid value: 10: must be between 1 and 9, inclusive']);
});

test('a field without an effect is kept, and named if its value requests something', () => {
  const rules = {
    'a.v1.Thing': { acts: 'name', quiet: { number: [7, 8], other: 'any' as const } },
    'a.v1.Inner': { defaults: { value: 'v' } },
  };
  const quiet = { flag: false, number: 0, text: '', texts: [], map: {}, inner: {}, free: 0 };
  assert.deepEqual(decode({ name: 'n', ...quiet }, rules), { ...none, object: { name: 'n', ...quiet } });
  assert.deepEqual(decode({ name: 'n', number: 8, other: { key: 'k' } }, rules).ignored, []);
  const asking = {
    flag: true,
    number: 9,
    text: 'x',
    texts: [''],
    map: { a: '' },
    inner: { key: 'k' },
    free: 1,
  };
  const { object, ignored } = decode({ name: 'n', ...asking }, rules);
  assert.deepEqual(ignored, Object.keys(asking));
  // No rule holds inside the field: `value` has no default.
  assert.deepEqual(object, { name: 'n', ...asking });
});

test('a field of a type without rules is neither validated nor defaulted', () => {
  assert.deepEqual(decode({ bare: { mode: 'X' } }, { 'a.v1.Thing': { acts: 'bare' } }), {
    ...none,
    object: { bare: { mode: 'X' } },
  });
});

test('the version, the kind and the metadata of an object always have an effect', () => {
  const table = createTypeTable(
    { 'a.v1.Kind': '=kind?:string =apiVersion?:string 1=metadata?:any 2=spec?:any' },
    {},
    { 'a.v1.Kind': { acts: '' } },
  );
  const type = table.typeOf('a.v1.Kind');
  const acts = [...(type?.fields.values() ?? [])].filter(({ rule }) => rule?.acts).map(({ name }) => name);
  assert.deepEqual(acts, ['kind', 'apiVersion', 'metadata']);
});

test('a hundred causes of each type are listed, and all causes are counted', () => {
  const list = Array.from({ length: 150 }, () => ({ x: 1 }));
  const { unknown, causes, found } = decode({ list }, { 'a.v1.Thing': { acts: 'list' }, 'a.v1.Inner': {} });
  assert.deepEqual([unknown.length, causes.length, found], [100, 100, 150]);
  assert.equal(unknown[99], 'list[99].x');
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`k${i}`, { value: 'v' }]));
  const seen = decode({ byName: many }, { 'a.v1.Thing': { acts: 'byName' }, 'a.v1.Inner': { acts: '' } });
  assert.equal(seen.ignored.length, 100);
});

test('the fields that need defaults are determined once for each type', () => {
  const type = createTypeTable(lines, choices, { 'a.v1.Inner': { defaults: { value: 'v' } } }).typeOf(
    'a.v1.Inner',
  );
  assert.ok(type);
  assert.deepEqual(
    completedFields(type).map(({ name }) => name),
    ['key', 'value'],
  );
  assert.equal(completedFields(type), completedFields(type));
});
