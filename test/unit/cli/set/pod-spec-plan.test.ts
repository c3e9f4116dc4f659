/** Changes of `ctl set` to a pod, or to the pod template of a workload. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import {
  isMeant,
  podSpecOf,
  sourceOf,
  withContainers,
  withEnv,
  withImages,
  withPodSpec,
  withResources,
} from '../../../../src/cli/set/pod-spec-plan.ts';

const spec = (...containers: JsonObject[]): JsonObject => ({ hostNetwork: true, containers });
const one = spec({ name: 'a', image: 'i:1' });

describe('the pod spec of an object', () => {
  const pod = { kind: 'Pod', metadata: { name: 'p' }, spec: one };
  const deployment = { kind: 'Deployment', spec: { replicas: 2, template: { metadata: {}, spec: one } } };
  const cronJob = {
    kind: 'CronJob',
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: one } } } },
  };

  for (const object of [pod, deployment, cronJob])
    it(`is found in a ${object.kind}, and only the pod template is changed`, () => {
      assert.equal(podSpecOf(object), one);
      const other = spec({ name: 'b' });
      const changed = withPodSpec(object, other);
      assert.equal(podSpecOf(changed), other);
      assert.deepEqual(withPodSpec(changed, one), object);
      assert.equal(podSpecOf(object), one, 'what was given stays as it is');
    });

  it('is missing in kinds that create no pods', () => {
    assert.throws(
      () => podSpecOf({ kind: 'Service', spec: { selector: {} } }),
      /^Error: the object is not a pod or does not have a pod template: Service$/,
    );
  });

  it('has containers and init containers; values that are not objects are unchanged', () => {
    const both = { containers: [{ name: 'a' }, 7], initContainers: [{ name: 'b' }] } as unknown as JsonObject;
    assert.deepEqual(
      withContainers(both, (container) => ({ ...container, seen: true })),
      { containers: [{ name: 'a', seen: true }, 7], initContainers: [{ name: 'b', seen: true }] },
    );
    assert.deepEqual(
      withContainers({ containers: [] }, () => assert.fail()),
      { containers: [] },
    );
  });
});

describe('a container is selected', () => {
  it('by its name, and by a name in which * is any text', () => {
    for (const pattern of ['app-1', '*', 'app*', '*1', 'a*-*1', '**'])
      assert.ok(isMeant({ name: 'app-1' }, pattern), pattern);
    for (const pattern of ['app', 'pp-1', '*2', 'b*', 'app.1', '', 'app-1*x'])
      assert.ok(!isMeant({ name: 'app-1' }, pattern), pattern);
  });
});

describe('images', () => {
  const images = (entries: Record<string, string>) => new Map(Object.entries(entries));
  const two = {
    containers: [
      { name: 'a', image: 'i:1' },
      { name: 'b', image: 'i:1' },
    ],
    initContainers: [{ name: 'c', image: 'i:1' }],
  };

  it('are changed in the named containers, or in all with *', () => {
    const [a, b] = two.containers;
    assert.deepEqual(withImages(two, images({ b: 'i:2', c: 'i:3' })), {
      containers: [a, { ...b, image: 'i:2' }],
      initContainers: [{ name: 'c', image: 'i:3' }],
    });
    const all = withImages(two, images({ '*': 'i:9' })) as typeof two;
    assert.deepEqual(
      [...all.containers, ...all.initContainers].map(({ image }) => image),
      ['i:9', 'i:9', 'i:9'],
    );
  });

  it('of a missing container are rejected', () => {
    assert.throws(() => withImages(two, images({ a: 'x', d: 'y' })), /unable to find container named "d"/);
  });
});

describe('variables', () => {
  const change = { set: [] as JsonObject[], remove: new Set<string>(), containers: '*', overwrite: true };
  const having = (...env: JsonObject[]) => spec({ name: 'a', env });
  const envOf = (changed: JsonObject) => (changed.containers as JsonObject[])[0]?.env;
  const X = { name: 'X', value: '1' };
  const Y = { name: 'Y', value: '2' };

  it('are replaced in place, appended if new, and removed by name', () => {
    const set = [
      { name: 'Z', value: '9' },
      { name: 'X', value: '8' },
    ];
    assert.deepEqual(envOf(withEnv(having(X, Y), { ...change, set })), [set[1], Y, set[0]]);
    assert.deepEqual(envOf(withEnv(having(X, Y), { ...change, remove: new Set(['X']) })), [Y]);
    assert.deepEqual(envOf(withEnv(having(X), { ...change, remove: new Set(['X']) })), []);
    assert.deepEqual(envOf(withEnv(having(X, Y, X), { ...change, set: [{ name: 'X' }] })), [
      { name: 'X' },
      Y,
    ]);
  });

  it('are added to a container without any; an empty list is not written', () => {
    assert.deepEqual(envOf(withEnv(one, { ...change, set: [X] })), [X]);
    assert.deepEqual(withEnv(one, { ...change, remove: new Set(['X']) }), one);
  });

  it('are changed in the selected containers only', () => {
    const two = spec({ name: 'a' }, { name: 'b' });
    assert.deepEqual(withEnv(two, { ...change, set: [X], containers: 'b' }).containers, [
      { name: 'a' },
      { name: 'b', env: [X] },
    ]);
  });

  it('with a value are rejected without overwrite', () => {
    const kept = { ...change, overwrite: false };
    assert.throws(
      () => withEnv(having(X), { ...kept, set: [{ name: 'X', value: '2' }] }),
      /^Error: 'X' already has a value \(1\), and --overwrite is false$/,
    );
    assert.deepEqual(envOf(withEnv(having(X), { ...kept, set: [Y] })), [X, Y]);
  });

  it('are kept without overwrite if they have the value already', () => {
    assert.deepEqual(envOf(withEnv(having(X), { ...change, overwrite: false, set: [X] })), [X]);
  });

  it('have sources in words', () => {
    const words = [
      { configMapKeyRef: { name: 'm', key: 'k' } },
      { secretKeyRef: { name: 's', key: 'k' } },
      { fieldRef: { fieldPath: 'spec.nodeName' } },
      { resourceFieldRef: { containerName: 'a', resource: 'limits.cpu' } },
      { resourceFieldRef: { resource: 'limits.cpu' } },
      {},
    ].map(sourceOf);
    assert.deepEqual(words, [
      'configmap m, key k',
      'secret s, key k',
      'field path spec.nodeName',
      'resource field a/limits.cpu',
      'resource field limits.cpu',
      'invalid valueFrom',
    ]);
  });
});

describe('resources', () => {
  const change = { limits: {}, requests: {}, containers: '*' };
  const having = { limits: { cpu: '1' }, requests: { cpu: '1' }, claims: [] };

  it('are changed by name; the others are kept', () => {
    const limits = { memory: '1Gi' };
    const changed = withResources(spec({ name: 'a', resources: having }), { ...change, limits });
    assert.deepEqual(changed.containers, [
      { name: 'a', resources: { ...having, limits: { cpu: '1', memory: '1Gi' } } },
    ]);
    const requests = { cpu: '2' };
    const second = withResources(spec({ name: 'a', resources: having }), { ...change, requests });
    assert.deepEqual(second.containers, [{ name: 'a', resources: { ...having, requests } }]);
    const bare = withResources(spec({ name: 'a' }), { ...change, requests });
    assert.deepEqual(bare.containers, [{ name: 'a', resources: { requests } }]);
  });

  it('are changed in the selected containers; selecting none is an error', () => {
    const two = spec({ name: 'a' }, { name: 'b' });
    const requests = { cpu: '2' };
    assert.deepEqual(withResources(two, { ...change, requests, containers: 'a' }).containers, [
      { name: 'a', resources: { requests } },
      { name: 'b' },
    ]);
    assert.throws(
      () => withResources(two, { ...change, requests, containers: 'c' }),
      /unable to find container named c/,
    );
  });
});
