import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { ObjectType } from '../../../src/apimachinery/field-types.ts';
import { applyPatch, patchTypes, readPatch } from '../../../src/apimachinery/patch.ts';
import { applyJsonPatch, readJsonPatch } from '../../../src/apimachinery/patch-json.ts';
import { applyMergePatch, createMergePatch } from '../../../src/apimachinery/patch-merge.ts';
import { applyStrategicPatch } from '../../../src/apimachinery/patch-strategic.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';
import { maxGrownValues } from '../../../src/apimachinery/value-limit.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const typeOf = (name: string): ObjectType => {
  const type = kubernetesFields.typeOf(name);
  assert.ok(type);
  return type;
};
const hasCode = (code: number) => (error: unknown) =>
  error instanceof StatusError && error.status.code === code;

for (const [target, patch, result] of [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
] as const) {
  test(`merge patch ${JSON.stringify(patch)} on ${JSON.stringify(target)}`, () => {
    assert.deepEqual(applyMergePatch(target, patch), result);
  });
}

/** Returns a random object without nulls: a merge patch cannot write them. */
function randomObject(random: SeededRandom, depth: number): JsonObject {
  const object: JsonObject = {};
  for (const key of ['a', 'b', 'c', '__proto__'])
    if (random.next() < 0.6)
      Object.defineProperty(object, key, {
        value: depth > 0 && random.next() < 0.5 ? randomObject(random, depth - 1) : randomLeaf(random),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  return object;
}

const randomLeaf = (random: SeededRandom) =>
  [1, 'x', true, [], [1, { y: 2 }], {}][Math.floor(random.next() * 6)];

test('the merge patch between two objects turns one into the other', () => {
  const random = new SeededRandom(1);
  for (let i = 0; i < 500; i++) {
    const from = randomObject(random, 3);
    const to = randomObject(random, 3);
    const patch = createMergePatch(from, to);
    assert.deepEqual(patch ? applyMergePatch(from, patch) : from, to);
    assert.equal(createMergePatch(to, to), undefined);
  }
});

const c = (name: string, more: object = {}) => ({ name, ...more });

for (const [what, type, target, patch, result] of [
  [
    'fields merge, null deletes',
    'apps.v1.DeploymentSpec',
    { replicas: 1, paused: true },
    { replicas: 2, paused: null },
    { replicas: 2 },
  ],
  [
    'lists merge by key',
    'core.v1.PodSpec',
    { containers: [c('a', { image: 'x', stdin: true }), c('b', { image: 'y' })] },
    { containers: [c('b', { image: 'z' }), c('d', { image: 'w', stdin: null })] },
    { containers: [c('a', { image: 'x', stdin: true }), c('b', { image: 'z' }), c('d', { image: 'w' })] },
  ],
  [
    'nested lists',
    'core.v1.PodSpec',
    {
      containers: [
        c('a', {
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
        }),
      ],
    },
    {
      containers: [
        c('a', {
          env: [
            { name: 'B', $patch: 'delete' },
            { name: 'A', value: '3' },
          ],
        }),
      ],
    },
    { containers: [c('a', { env: [{ name: 'A', value: '3' }] })] },
  ],
  [
    'an item is deleted by directive',
    'core.v1.PodSpec',
    { containers: [c('a'), c('b')] },
    { containers: [{ $patch: 'delete', name: 'a' }] },
    { containers: [c('b')] },
  ],
  [
    'deleting a missing item',
    'core.v1.PodSpec',
    { nodeName: 'n' },
    { containers: [{ $patch: 'delete', name: 'a' }, c('b')] },
    { nodeName: 'n', containers: [c('b')] },
  ],
  [
    'a list is replaced by directive',
    'core.v1.PodSpec',
    { containers: [c('a'), c('b')] },
    { containers: [{ $patch: 'replace' }, c('z', { image: null })] },
    { containers: [c('z')] },
  ],
  [
    'a map is replaced by directive',
    'core.v1.PodSpec',
    { nodeSelector: { a: '1', b: '2' } },
    { nodeSelector: { $patch: 'replace', c: '3' } },
    { nodeSelector: { c: '3' } },
  ],
  [
    'a map is emptied by directive',
    'core.v1.PodSpec',
    { securityContext: { runAsUser: 1 } },
    { securityContext: { $patch: 'delete' } },
    { securityContext: {} },
  ],
  [
    'tolerations and args are replaced',
    'core.v1.PodSpec',
    { tolerations: [{ key: 'a' }], containers: [c('a', { args: ['1', '2'] })] },
    { tolerations: [{ key: 'b' }], containers: [c('a', { args: ['3'] })] },
    { tolerations: [{ key: 'b' }], containers: [c('a', { args: ['3'] })] },
  ],
  [
    'sets of scalars are united',
    'meta.v1.ObjectMeta',
    { finalizers: ['a', 'b'] },
    { finalizers: ['b', 'c'] },
    { finalizers: ['a', 'b', 'c'] },
  ],
  [
    'scalars are deleted from a set',
    'meta.v1.ObjectMeta',
    { finalizers: ['a', 'b', 'c'] },
    { '$deleteFromPrimitiveList/finalizers': ['a', 'x'], '$setElementOrder/finalizers': ['c', 'b'] },
    { finalizers: ['c', 'b'] },
  ],
  [
    'retained keys remove the others',
    'apps.v1.DeploymentSpec',
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
    { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    { strategy: { type: 'Recreate' } },
  ],
  [
    'retained keys in a list item',
    'core.v1.PodSpec',
    {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'w', emptyDir: {} },
      ],
    },
    { volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' }, emptyDir: null }] },
    {
      volumes: [
        { name: 'v', hostPath: { path: '/x' } },
        { name: 'w', emptyDir: {} },
      ],
    },
  ],
  [
    'element order puts a new item in its place',
    'core.v1.PodSpec',
    { containers: [c('a'), c('server'), c('b')] },
    { '$setElementOrder/containers': [c('b'), c('new'), c('a')], containers: [c('new', { image: 'i' })] },
    { containers: [c('server'), c('b'), c('new', { image: 'i' }), c('a')] },
  ],
  [
    'element order keeps the place of an item it does not name',
    'core.v1.PodSpec',
    { containers: [c('a'), c('server'), c('b')] },
    { '$setElementOrder/containers': [c('a'), c('b')], containers: [c('b', { image: 'i' })] },
    { containers: [c('a'), c('server'), c('b', { image: 'i' })] },
  ],
  [
    'service ports merge by port',
    'core.v1.ServiceSpec',
    { ports: [{ port: 80, targetPort: 80 }, { port: 443 }] },
    { ports: [{ port: 80, targetPort: 'http' }] },
    { ports: [{ port: 80, targetPort: 'http' }, { port: 443 }] },
  ],
  [
    'an unknown field merges as JSON',
    'core.v1.PodSpec',
    { x: { a: [1], b: 1 } },
    { x: { a: [2], b: null } },
    { x: { a: [2] } },
  ],
  [
    'labels',
    'meta.v1.ObjectMeta',
    { labels: { a: '1', b: '2' } },
    { labels: { a: null, c: '3' } },
    { labels: { b: '2', c: '3' } },
  ],
  [
    'an object replaces a string',
    'core.v1.PodSpec',
    { x: 'text' },
    { x: { a: 1, b: null } },
    { x: { a: 1 } },
  ],
] as const) {
  test(`a strategic merge patch is applied: ${what}`, () => {
    const before = JSON.stringify(target);
    assert.deepEqual(applyStrategicPatch(target as JsonObject, patch as JsonObject, typeOf(type)), result);
    assert.equal(JSON.stringify(target), before);
  });
}

for (const [what, patch] of [
  ['an item without its key', { containers: [{ image: 'x' }] }],
  ['a scalar in a list of objects', { containers: ['x'] }],
  ['an unknown directive', { securityContext: { $patch: 'frob' } }],
  [
    'retained keys without a key that is set',
    { volumes: [{ name: 'v', $retainKeys: ['name'], emptyDir: {} }] },
  ],
  [
    'an order that contradicts the list',
    { '$setElementOrder/containers': [c('a'), c('b')], containers: [c('b'), c('a')] },
  ],
  ['an order without an item of the list', { '$setElementOrder/containers': [c('a')], containers: [c('b')] }],
  ['an order that is not a list', { '$setElementOrder/containers': 'a' }],
  ['a deletion that is not a list', { '$deleteFromPrimitiveList/x': 'a' }],
] as const) {
  test(`a strategic merge patch with ${what} is a bad request`, () => {
    assert.throws(
      () => applyStrategicPatch({ containers: [c('a')] }, patch as JsonObject, typeOf('core.v1.PodSpec')),
      hasCode(400),
    );
  });
}

test('patches are read by content type', () => {
  const all = Object.values(patchTypes);
  const type = typeOf('apps.v1.Deployment');
  const run = (body: string, contentType: string | undefined, accepted: readonly string[] = all) =>
    applyPatch({ spec: { replicas: 1 } }, readPatch(body, contentType, accepted), type);
  const scaled = { spec: { replicas: 4 } };
  assert.deepEqual(run('{"spec":{"replicas":4}}', patchTypes.merge), scaled);
  assert.deepEqual(run('{"spec":{"replicas":4}}', `${patchTypes.strategic}; charset=utf-8`), scaled);
  assert.deepEqual(run('[{"op":"replace","path":"/spec/replicas","value":4}]', patchTypes.json), scaled);
  assert.throws(() => run('{', patchTypes.merge), /error decoding patch: invalid JSON at line 1/);
  assert.throws(() => run('[]', patchTypes.merge), hasCode(400));
  assert.throws(() => run('{}', patchTypes.json), hasCode(400));
  assert.throws(() => run('[{"op":"remove","path":""}]', patchTypes.json), hasCode(422));
  assert.throws(() => run('{}', 'application/json'), hasCode(415));
  assert.throws(() => run('{}', undefined), hasCode(415));
  assert.throws(() => run('{}', patchTypes.strategic, [patchTypes.merge]), hasCode(415));
});

test('a patch may shrink an object that is too large, but not enlarge it', () => {
  const type = typeOf('core.v1.ConfigMap');
  const data = Object.fromEntries(Array.from({ length: maxGrownValues }, (_, i) => [`k${i}`, '']));
  const run = (change: object) =>
    applyPatch(
      { data },
      readPatch(JSON.stringify({ data: change }), patchTypes.merge, [patchTypes.merge]),
      type,
    );
  assert.ok(run({ k0: null }));
  assert.ok(run({ k0: 'other' }));
  assert.throws(() => run({ other: '' }), hasCode(413));
});

test('insertions into long lists, and copies, are limited', () => {
  const list = Array.from({ length: 20_000 }, (_, i) => i);
  const patch = (count: number, operation: object) => readJsonPatch(Array(count).fill(operation));
  const first = { op: 'add', path: '/l/0', value: 0 };
  assert.ok(applyJsonPatch({ l: list }, patch(400, first)));
  assert.throws(
    () => applyJsonPatch({ l: list }, patch(600, first)),
    /more than 10000000 items of lists would move/,
  );
  const copy = { op: 'copy', from: '/l', path: '/m' };
  assert.throws(() => applyJsonPatch({ l: list }, patch(2, copy)), /copies exceed 30000 values/);
  const deep = (depth: number) => `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`;
  const [path, json] = ['/a'.repeat(400), patchTypes.json];
  const deeper = `[{"op":"add","path":"/a","value":${deep(400)}},{"op":"add","path":"${path}","value":${deep(400)}}]`;
  assert.throws(() => applyPatch({}, readPatch(deeper, json, [json]), typeOf('core.v1.Pod')), hasCode(400));
  const missing = [{ op: 'test', path: '/a'.repeat(100_000), value: 0 }];
  assert.throws(() => applyJsonPatch({ a: {} }, readJsonPatch(missing)), hasCode(422));
});

test('a second application of a strategic merge patch without directives changes nothing', () => {
  const random = new SeededRandom(3);
  const type = typeOf('core.v1.PodSpec');
  const container = () => ({
    name: 'abc'[random.below(3)],
    ...(random.next() < 0.5 && { image: random.next() < 0.3 ? null : `i${random.below(3)}` }),
    ...(random.next() < 0.5 && { args: Array(random.below(3)).fill('x') }),
    ...(random.next() < 0.5 && { env: [{ name: 'E', value: String(random.below(3)) }] }),
  });
  const spec = () => ({
    containers: Array.from({ length: random.below(3) }, container),
    ...(random.next() < 0.5 && { nodeSelector: { a: random.next() < 0.5 ? null : 'b' } }),
  });
  for (let i = 0; i < 300; i++) {
    const target = applyStrategicPatch({}, spec(), type);
    const patch = spec();
    const once = applyStrategicPatch(target, patch, type);
    assert.deepEqual(applyStrategicPatch(once, patch, type), once);
    assert.ok(!JSON.stringify(once).includes('null'));
  }
});
