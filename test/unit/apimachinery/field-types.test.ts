import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { typeLines } from '../../../src/api/kubernetes-types.gen.ts';
import { shortTypeName } from '../../../src/apimachinery/field-types.ts';
import { createTypeTable } from '../../../src/apimachinery/type-table.ts';

test('every type in the table can be read', () => {
  for (const name of Object.keys(typeLines)) {
    assert.ok((kubernetesFields.typeOf(name)?.fields.size ?? -1) >= 0, name);
  }
  for (const name of ['core.v1.Podd', 'constructor'])
    assert.equal(kubernetesFields.typeOf(name), undefined, name);
});

test('every merge rule fits the type of its field', () => {
  let rules = 0;
  for (const name of Object.keys(typeLines))
    for (const { name: field, type, merge = {} } of kubernetesFields.typeOf(name)?.fields.values() ?? []) {
      const path = `${name}.${field}`;
      if (merge.listType) assert.equal(type.kind, 'list', path);
      for (const key of [...(merge.listKeys ?? []), ...(merge.patchKey ? [merge.patchKey] : [])]) {
        rules++;
        assert.ok(type.kind === 'list' && type.items.kind === 'object', path);
        assert.ok(type.items.object.fields.has(key), `${path} by ${key}`);
      }
    }
  assert.ok(rules > 150, `${rules} rules`);
});

test('a line of the table defines numbers, parts, flags, choices and merge rules', () => {
  const table = createTypeTable(
    {
      'a.v1.A':
        '=:b.v1.Meta 1=list!:[]Item;merge=name;retain;map=name+port 2=:Part 3=mode?:*Mode 4=modes:{}Mode',
      'a.v1.Item': '1=name!:string 2=port?:int32',
      'a.v1.Part': '{} 1=inner:*a.v1.A 2=names:[]string;merge;set',
      'b.v1.Meta': '=kind?:string',
      'a.v1.Broken': '1=x:Gone',
    },
    { 'a.v1.Mode': 'One,Two' },
  );
  const type = table.typeOf('a.v1.A');
  assert.deepEqual([...(type?.fields.keys() ?? [])], ['kind', 'list', 'inner', 'names', 'mode', 'modes']);
  assert.deepEqual(
    [...(type?.members ?? [])].map(([number, member]) => [
      number,
      'part' in member ? member.part.name : member.field.name,
    ]),
    [
      [1, 'list'],
      [2, 'a.v1.Part'],
      [3, 'mode'],
      [4, 'modes'],
    ],
  );
  assert.deepEqual(type?.fields.get('list')?.merge, {
    patchMerge: true,
    patchKey: 'name',
    retainKeys: true,
    listType: 'map',
    listKeys: ['name', 'port'],
  });
  assert.deepEqual(type?.fields.get('names')?.merge, { patchMerge: true, listType: 'set' });
  assert.deepEqual(type?.fields.get('mode'), {
    name: 'mode',
    type: { kind: 'scalar', scalar: 'string' },
    required: false,
    pointer: true,
    omitsZero: true,
    choices: ['One', 'Two'],
  });
  assert.deepEqual(type?.fields.get('modes')?.type, {
    kind: 'map',
    values: { kind: 'scalar', scalar: 'string' },
  });
  assert.equal(type?.fields.get('modes')?.choices, undefined);
  assert.equal(type?.atomic, false);
  assert.equal(table.typeOf('a.v1.Part')?.atomic, true);
  const inner = type?.fields.get('inner')?.type;
  assert.ok(inner?.kind === 'object' && inner.object === type);
  assert.throws(() => table.typeOf('a.v1.Broken')?.fields, /no a\.v1\.Gone/);
});

test('fields have the types and required marks of Kubernetes', () => {
  const spec = kubernetesFields.typeOf('apps.v1.DeploymentSpec');
  assert.equal(spec?.fields.get('selector')?.required, true);
  assert.equal(spec?.fields.get('replicas')?.required, false);
  assert.deepEqual(spec?.fields.get('replicas')?.type, { kind: 'scalar', scalar: 'int32' });
  const limits = kubernetesFields.typeOf('core.v1.ResourceRequirements')?.fields.get('limits');
  assert.deepEqual(limits?.type, { kind: 'map', values: { kind: 'scalar', scalar: 'quantity' } });
});

for (const [name, short] of [
  ['core.v1.PodSpec', 'PodSpec'],
  ['autoscaling.v2.HorizontalPodAutoscaler', 'HorizontalPodAutoscaler'],
  ['core.v1.Event', 'Event'],
  ['discovery.v1.EndpointPort', 'EndpointPort'],
  ['Function', 'Function'],
] as const) {
  test(`${name} is ${short} in Go`, () => {
    const type = kubernetesFields.typeOf(name) ?? { name, atomic: false, fields: new Map() };
    assert.equal(shortTypeName(type), short);
  });
}
