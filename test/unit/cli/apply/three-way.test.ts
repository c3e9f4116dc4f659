import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { deepCopy, type JsonObject } from '../../../../src/apimachinery/equality.ts';
import { openApiV3Document } from '../../../../src/apimachinery/openapi.ts';
import { applyMergePatch } from '../../../../src/apimachinery/patch-merge.ts';
import { applyStrategicPatch } from '../../../../src/apimachinery/patch-strategic.ts';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import { type MergeSchema, mergeSchemaOf, plainSchema } from '../../../../src/cli/apply/merge-schema.ts';
import { threeWayPatch } from '../../../../src/cli/apply/three-way.ts';
import { registry } from '../../../../src/features/kinds.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const source = { definitions: registry, fields: kubernetesFields, docs: {}, version: 'v1.32.0' };
const document = (path: string): JsonObject =>
  JSON.parse(JSON.stringify(inOneGo(openApiV3Document(source, path))));

const podRef = { group: '', version: 'v1', kind: 'Pod' };
function podSchema(): MergeSchema {
  const schema = mergeSchemaOf(document('api/v1'), podRef);
  assert.ok(schema);
  return schema;
}
const podType = () => {
  const type = kubernetesFields.typeOf('core.v1.Pod');
  assert.ok(type);
  return type;
};

/** Returns the object on the server after an apply; asserts that the patch is empty when nothing differs. */
function applied(original: JsonObject, modified: JsonObject, current: JsonObject): JsonObject {
  const patch = threeWayPatch({ original, modified, current }, podSchema());
  return patch ? applyStrategicPatch(current, patch, podType()) : current;
}

const pod = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({ metadata, spec });
const container = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  image: `${name}:1`,
  ...more,
});

const cases: [
  what: string,
  original: JsonObject,
  modified: JsonObject,
  current: JsonObject,
  after: JsonObject,
][] = [
  [
    'what the server filled in stays',
    pod({ containers: [container('a')] }),
    pod({ containers: [container('a', { image: 'a:2' })] }),
    pod({ containers: [container('a', { imagePullPolicy: 'Always' })], dnsPolicy: 'ClusterFirst' }),
    pod({
      containers: [container('a', { image: 'a:2', imagePullPolicy: 'Always' })],
      dnsPolicy: 'ClusterFirst',
    }),
  ],
  [
    'what left the manifest leaves the object; what others added stays',
    pod({ containers: [] }, { labels: { gone: '1', kept: '1' }, annotations: { old: 'x' } }),
    pod({ containers: [] }, { labels: { kept: '2' } }),
    pod(
      { containers: [] },
      { labels: { gone: '1', kept: '1', theirs: 'y' }, annotations: { old: 'x', b: 'c' } },
    ),
    pod({ containers: [] }, { labels: { kept: '2', theirs: 'y' } }),
  ],
  [
    'a container goes, another comes, an injected one stays',
    pod({ containers: [container('a'), container('b')] }),
    pod({ containers: [container('a'), container('c')] }),
    pod({ containers: [container('a', { tty: true }), container('b'), container('injected')] }),
    pod({ containers: [container('a', { tty: true }), container('c'), container('injected')] }),
  ],
  [
    'lists within lists merge by their own keys',
    pod({
      containers: [
        container('a', {
          env: [
            { name: 'X', value: '1' },
            { name: 'Y', value: '2' },
          ],
        }),
      ],
    }),
    pod({ containers: [container('a', { env: [{ name: 'X', value: '3' }] })] }),
    pod({
      containers: [
        container('a', {
          env: [
            { name: 'X', value: '1' },
            { name: 'Y', value: '2' },
            { name: 'Z', value: '9' },
          ],
        }),
      ],
    }),
    pod({
      containers: [
        container('a', {
          env: [
            { name: 'X', value: '3' },
            { name: 'Z', value: '9' },
          ],
        }),
      ],
    }),
  ],
  [
    'a list without a merge key is replaced',
    pod({ containers: [container('a', { command: ['x'] })] }),
    pod({ containers: [container('a', { command: ['y', 'z'] })] }),
    pod({ containers: [container('a', { command: ['x'] })] }),
    pod({ containers: [container('a', { command: ['y', 'z'] })] }),
  ],
  [
    'a volume of another kind drops the old one’s source',
    pod({ volumes: [{ name: 'v', configMap: { name: 'c' } }] }),
    pod({ volumes: [{ name: 'v', emptyDir: {} }] }),
    pod({ volumes: [{ name: 'v', configMap: { name: 'c', defaultMode: 420 } }] }),
    pod({ volumes: [{ name: 'v', emptyDir: {} }] }),
  ],
  [
    'finalizers of others stay',
    { metadata: { finalizers: ['a', 'b'] } },
    { metadata: { finalizers: ['a', 'd'] } },
    { metadata: { finalizers: ['a', 'b', 'theirs'] } },
    { metadata: { finalizers: ['a', 'd', 'theirs'] } },
  ],
  [
    'the order of the manifest becomes the order of the object',
    pod({ containers: [container('a'), container('b')] }),
    pod({ containers: [container('b'), container('a')] }),
    pod({ containers: [container('a', { tty: true }), container('b')] }),
    pod({ containers: [container('b'), container('a', { tty: true })] }),
  ],
  [
    'an object becomes a plain value and the other way round',
    { metadata: { x: { y: 1 }, z: 1 } },
    { metadata: { x: 'text', z: { y: 1 } } },
    { metadata: { x: { y: 1 }, z: 1 } },
    { metadata: { x: 'text', z: { y: 1 } } },
  ],
];
for (const [what, original, modified, current, after] of cases) {
  test(`a patch of apply has the expected result: ${what}`, () => {
    const before = deepCopy(current);
    const result = applied(original, modified, current);
    assert.deepEqual(result, after);
    assert.deepEqual(current, before, 'the object itself was changed');
    assert.equal(threeWayPatch({ original: modified, modified, current: result }, podSchema()), undefined);
  });
}

test('a port for TCP and for UDP: both survive, and an unchanged manifest causes no patch', () => {
  const schema = mergeSchemaOf(document('api/v1'), { group: '', version: 'v1', kind: 'Service' });
  const type = kubernetesFields.typeOf('core.v1.Service');
  assert.ok(schema && type);
  const ports = (tcp: string) => [
    { name: tcp, port: 53, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ];
  const modified = { spec: { ports: ports('dns-tcp') } };
  const filled = { spec: { ports: ports('dns-tcp').map((port) => ({ ...port, targetPort: 53 })) } };
  assert.equal(threeWayPatch({ original: modified, modified, current: filled }, schema), undefined);
  const renamed = { spec: { ports: ports('tcp-dns') } };
  const patch = threeWayPatch({ original: modified, modified: renamed, current: filled }, schema);
  assert.ok(patch);
  assert.deepEqual(applyStrategicPatch(filled, patch, type).spec, renamed.spec);
});

test('a field that is missing in both the manifest and the object causes no patch', () => {
  const original = pod({ containers: [container('a'), container('gone')] }, { finalizers: ['x/gone'] });
  const modified = pod({ containers: [container('a')] }, { finalizers: [] });
  const current = deepCopy(modified);
  assert.equal(threeWayPatch({ original, modified, current }, podSchema()), undefined);
});

test('a strategy is patched with $retainKeys', () => {
  const schema = mergeSchemaOf(document('apis/apps/v1'), {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
  });
  assert.ok(schema);
  const original = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } } };
  const modified = { spec: { strategy: { type: 'Recreate' } } };
  assert.deepEqual(threeWayPatch({ original, modified, current: original }, schema), {
    spec: { strategy: { type: 'Recreate', rollingUpdate: null, $retainKeys: ['type'] } },
  });
  // A field that only the server has is removed too, although no field of the manifest differs.
  const defaulted = { spec: { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } } };
  assert.deepEqual(threeWayPatch({ original: {}, modified, current: defaulted }, schema), {
    spec: { strategy: { $retainKeys: ['type'] } },
  });
});

test('a null in a manifest removes the field, and causes no patch if it does not exist', () => {
  const modified = { spec: { replicas: null } };
  const current = { spec: { replicas: 3, paused: true } };
  assert.deepEqual(threeWayPatch({ original: {}, modified, current }, plainSchema), {
    spec: { replicas: null },
  });
  assert.equal(threeWayPatch({ original: {}, modified, current: { spec: {} } }, plainSchema), undefined);
});

test('custom kinds have no strategic merge', () => {
  assert.equal(mergeSchemaOf(document('api/v1'), { ...podRef, kind: 'Widget' }), undefined);
  assert.equal(mergeSchemaOf({}, podRef), undefined);
});

/** Returns a random manifest with few names, so that two of them overlap. */
function randomPod(random: SeededRandom): JsonObject {
  const some = <T>(items: readonly T[]): T[] => items.filter(() => random.next() < 0.6);
  const value = () => String(Math.floor(random.next() * 3));
  const map = (keys: readonly string[]) => Object.fromEntries(some(keys).map((key) => [key, value()]));
  const containers = some(['a', 'b', 'c']).map((name) =>
    container(name, {
      image: value(),
      env: some(['X', 'Y', 'Z']).map((key) => ({ name: key, value: value() })),
      ...(random.next() < 0.5 && { args: [value()] }),
    }),
  );
  if (random.next() < 0.3) containers.reverse();
  return {
    metadata: { labels: map(['l', 'm', 'n']) },
    spec: { containers, ...map(['nodeName', 'hostname']) },
  };
}

for (const seed of [1, 2, 3, 4, 5]) {
  test(`random manifests converge from any existing objects (seed ${seed})`, () => {
    const random = new SeededRandom(seed);
    const schema = podSchema();
    for (let round = 0; round < 200; round++) {
      const [original, modified, current] = [randomPod(random), randomPod(random), randomPod(random)];
      const result = applied(original, modified, current);
      const again = threeWayPatch({ original: modified, modified, current: result }, schema);
      assert.equal(again, undefined, JSON.stringify({ original, modified, current, result }));
      const merge = threeWayPatch({ original, modified, current }, plainSchema);
      const merged = merge ? (applyMergePatch(current, merge) as JsonObject) : current;
      assert.equal(threeWayPatch({ original: modified, modified, current: merged }, plainSchema), undefined);
    }
  });
}
