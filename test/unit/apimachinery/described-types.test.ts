import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { decodeFields, noFindings } from '../../../src/apimachinery/decode-fields.ts';
import {
  type DescribedTypes,
  describedFields,
  describedType,
} from '../../../src/apimachinery/described-types.ts';
import { hasStrategicPatch } from '../../../src/apimachinery/openapi.ts';

const types: DescribedTypes = {
  Thing: {
    '': 'Thing is of this test.',
    'metadata:meta.v1.ObjectMeta': '',
    'spec!:ThingSpec': 'What it does.',
    'steps:[]ThingStep': 'Its steps.',
  },
  ThingSpec: { 'mode:string': 'How.', 'count!:int32': 'How often.', 'free:any': 'Any JSON.' },
  ThingStep: { 'run!:string': 'A command.' },
};
const rules = { ThingSpec: { defaults: { mode: 'fast' }, choices: { mode: ['fast', 'slow'] } } };

const thing = describedType(types, 'Thing', rules, kubernetesFields);

function decode(value: object) {
  const findings = noFindings();
  const object = decodeFields(value, thing, findings);
  return { object, unknown: findings.unknown, causes: findings.causes.map(({ field }) => field) };
}

test('types and fields have their descriptions, and metadata has Kubernetes’ type', () => {
  assert.equal(thing.description, 'Thing is of this test.');
  assert.equal(thing.fields.get('spec')?.description, 'What it does.');
  const metadata = thing.fields.get('metadata');
  assert.equal(metadata?.description, undefined);
  assert.ok(metadata?.type.kind === 'object');
  assert.equal(metadata.type.object, kubernetesFields.typeOf('meta.v1.ObjectMeta'));
});

test('a described type is decoded with its rules, and also without rules', () => {
  const free = { a: [1, { b: null }] };
  assert.deepEqual(decode({ spec: { count: 1, free }, steps: [{ run: 'x' }], other: 1 }), {
    object: { spec: { count: 1, free, mode: 'fast' }, steps: [{ run: 'x' }] },
    unknown: ['other'],
    causes: [],
  });
  assert.deepEqual(decode({ spec: { mode: 'slower' }, steps: [{}] }).causes, [
    'spec.mode',
    'spec.count',
    'steps[0].run',
  ]);
  assert.deepEqual(decode({}).causes, ['spec.count']);
});

test('a described kind has no strategic merge patch, and no numbers of protobuf', () => {
  assert.equal(thing.members, undefined);
  assert.equal(hasStrategicPatch(thing, kubernetesFields), false);
});

test('a key that is not a field, and an undescribed type, are rejected', () => {
  for (const key of ['mode', 'mode:', ':string', 'mode: string'])
    assert.throws(() => describedFields({ [key]: '' }), /is not a field/, key);
  const broken: DescribedTypes = { Broken: { 'x:Gone': '' } };
  assert.throws(() => describedType(broken, 'Broken', {}, kubernetesFields).fields, /no Gone/);
});
