import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayLabelItself } from '../../../../../../src/api/core/v1/node/labels.ts';
import type { Pod } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { podReferences } from '../../../../../../src/api/core/v1/pod/references.ts';

const uses = (name: string) => ({
  name: 'c',
  image: 'i',
  envFrom: [{ configMapRef: { name: `${name}-map` } }, { secretRef: { name: `${name}-secret` } }],
  env: [
    { name: 'A', value: 'plain' },
    { name: 'B', valueFrom: { configMapKeyRef: { name: `${name}-key-map`, key: 'k' } } },
    { name: 'C', valueFrom: { secretKeyRef: { name: `${name}-key-secret`, key: 'k' } } },
    { name: 'D', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ],
});

test('a pod refers to the objects named by its containers, volumes and image pull secrets', () => {
  const spec = {
    initContainers: [uses('init')],
    containers: [uses('main')],
    ephemeralContainers: [uses('debug')],
    imagePullSecrets: [{ name: 'pull' }, {}],
    volumes: [
      { name: 'a', secret: { secretName: 'volume-secret' } },
      { name: 'b', configMap: { name: 'volume-map' } },
      { name: 'c', emptyDir: {} },
      {
        name: 'd',
        projected: {
          sources: [
            { secret: { name: 'projected-secret' } },
            { configMap: { name: 'projected-map' } },
            { downwardAPI: {} },
          ],
        },
      },
    ],
  };
  const { configMaps, secrets } = podReferences({ spec } as unknown as Pod);
  const ofContainers = (kind: string) =>
    ['debug', 'init', 'main'].flatMap((name) => [`${name}-key-${kind}`, `${name}-${kind}`]);
  assert.deepEqual([...configMaps].sort(), [...ofContainers('map'), 'projected-map', 'volume-map'].sort());
  assert.deepEqual(
    [...secrets].sort(),
    [...ofContainers('secret'), 'projected-secret', 'pull', 'volume-secret'].sort(),
  );
});

test('a pod that names nothing refers to nothing', () => {
  const { configMaps, secrets } = podReferences({ spec: { containers: [] } } as unknown as Pod);
  assert.deepEqual([[...configMaps], [...secrets]], [[], []]);
});

for (const [label, may] of [
  ['disk', true],
  ['example.com/rack', true],
  ['notkubernetes.io/x', true],
  ['kubernetes.io/hostname', true],
  ['topology.kubernetes.io/zone', true],
  ['node.kubernetes.io/speed', true],
  ['x.kubelet.kubernetes.io/speed', true],
  ['kubernetes.io/role', false],
  ['node-role.kubernetes.io/control-plane', false],
  ['node-restriction.kubernetes.io/tenant', false],
  ['a.node-restriction.kubernetes.io/tenant', false],
  ['k8s.io/x', false],
  ['a.k8s.io/x', false],
] as const) {
  test(`a node ${may ? 'may' : 'may not'} label itself ${label}`, () => {
    assert.equal(mayLabelItself(label), may);
  });
}
