/** Resources that a quota counts for each kind: their names, and the amount of one object. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countName, evaluatorOf } from '../../../../src/api/quota/evaluators.ts';
import type { Scope } from '../../../../src/api/quota/pod-scopes.ts';
import { writeAmounts } from '../../../../src/apimachinery/amounts.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

const evaluator = (plural: string, group = '') => {
  const found = evaluatorOf({ group, plural });
  assert.ok(found, plural);
  return found;
};
const usage = (plural: string, object: object) =>
  writeAmounts(evaluator(plural).usage({ metadata: {}, ...object } as unknown as KubeObject, now));

const container = (requests: object, limits: object = {}, over: object = {}) => ({
  name: 'c',
  resources: { requests, limits },
  ...over,
});
const sidecar = { restartPolicy: 'Always' };

describe('a pod uses', () => {
  const one = { 'count/pods': '1', pods: '1' };
  const cpu = (text: string) => ({ cpu: text, 'requests.cpu': text });
  const cases: [what: string, spec: object, expected: object][] = [
    ['itself', { containers: [{ name: 'c' }] }, one],
    [
      'the sum of the requests of its containers',
      {
        containers: [
          container({ cpu: '100m', memory: '1Gi', 'ephemeral-storage': '1Mi' }, { cpu: '1', memory: '2Gi' }),
          container({ cpu: '1900m' }, { 'ephemeral-storage': '2Mi' }),
        ],
      },
      {
        ...{ ...one, ...cpu('2'), memory: '1Gi', 'requests.memory': '1Gi' },
        ...{ 'ephemeral-storage': '1Mi', 'requests.ephemeral-storage': '1Mi' },
        ...{ 'limits.cpu': '1', 'limits.memory': '2Gi', 'limits.ephemeral-storage': '2Mi' },
      },
    ],
    [
      'huge pages and devices, by what is requested',
      {
        containers: [
          container(
            { 'hugepages-2Mi': '4Mi', 'nvidia.com/gpu': '2' },
            { 'hugepages-2Mi': '4Mi', 'nvidia.com/gpu': '2' },
          ),
        ],
      },
      { ...one, 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '4Mi', 'requests.nvidia.com/gpu': '2' },
    ],
    [
      'no other extended resources',
      { containers: [container({ 'kubernetes.io/storage': '1', 'example.kubernetes.io/x': '1' })] },
      one,
    ],
    [
      'the largest init container if that is more than the sum',
      {
        containers: [container({ cpu: '1' }, { cpu: '5' })],
        initContainers: [container({ cpu: '3' }, { cpu: '4' }), container({ cpu: '2' })],
      },
      { ...one, ...cpu('3'), 'limits.cpu': '5' },
    ],
    [
      'sidecars with the containers and with later init containers',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [
          container({ cpu: '4' }),
          container({ cpu: '2' }, {}, sidecar),
          container({ cpu: '3' }),
        ],
      },
      { ...one, ...cpu('5') },
    ],
    [
      'the overhead of its runtime, also in existing limits',
      {
        containers: [container({ cpu: '1' }, { cpu: '2' })],
        overhead: { cpu: '250m', memory: '10Mi' },
      },
      { ...one, ...cpu('1250m'), memory: '10Mi', 'requests.memory': '10Mi', 'limits.cpu': '2250m' },
    ],
  ];
  for (const [what, spec, expected] of cases)
    it(what, () => assert.deepEqual(usage('pods', { spec }), expected));

  const asking = { containers: [container({ cpu: '1' })] };
  for (const phase of ['Succeeded', 'Failed'])
    it(`only itself as an object when it has ${phase}`, () =>
      assert.deepEqual(usage('pods', { spec: asking, status: { phase } }), { 'count/pods': '1' }));

  it('is charged for its full use until its deadline has passed twice without an end', () => {
    const at = (deletionTimestamp: string) => ({
      metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30 },
      spec: asking,
    });
    assert.deepEqual(usage('pods', at('2025-12-31T23:59:30Z')), { ...one, ...cpu('1') });
    const ends = (time: string) => evaluator('pods').endsIn(at(time) as unknown as KubeObject, now);
    assert.equal(ends('2025-12-31T23:59:30Z'), 1);
    assert.equal(ends('2026-01-01T00:00:00Z'), 30_001);
    assert.deepEqual(usage('pods', at('2025-12-31T23:59:29Z')), { 'count/pods': '1' });
    assert.equal(ends('2025-12-31T23:59:29Z'), undefined);
    const endless = { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' }, spec: asking };
    assert.deepEqual(usage('pods', endless), { ...one, ...cpu('1') });
    assert.equal(evaluator('pods').endsIn({ metadata: {} } as unknown as KubeObject, now), undefined);
  });
});

describe('a Service uses', () => {
  const ports = [{ port: 1 }, { port: 2, nodePort: 30001 }];
  const cases: [spec: object, nodePorts: string, loadBalancers: string][] = [
    [{ type: 'ClusterIP', ports }, '0', '0'],
    [{ type: 'ExternalName' }, '0', '0'],
    [{ type: 'NodePort', ports }, '2', '0'],
    [{ type: 'NodePort', ports, allocateLoadBalancerNodePorts: false }, '2', '0'],
    [{ type: 'LoadBalancer', ports }, '2', '1'],
    [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: true }, '2', '1'],
    [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }, '1', '1'],
  ];
  for (const [spec, nodePorts, loadBalancers] of cases)
    it(JSON.stringify(spec), () =>
      assert.deepEqual(usage('services', { spec }), {
        ...{ 'count/services': '1', services: '1' },
        ...{ 'services.nodeports': nodePorts, 'services.loadbalancers': loadBalancers },
      }),
    );
});

describe('a claim uses', () => {
  const plural = 'persistentvolumeclaims';
  const one = { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1' };
  const asks = (storage: string, more: object = {}) => ({ resources: { requests: { storage } }, ...more });
  const cases: [what: string, claim: object, expected: object][] = [
    ['itself', { spec: { resources: {} } }, one],
    ['its storage, in whole bytes', { spec: asks('1500m') }, { ...one, 'requests.storage': '2' }],
    [
      'its storage of its class too',
      { spec: asks('1Gi', { storageClassName: 'gold' }) },
      {
        ...{ ...one, 'requests.storage': '1Gi' },
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
        'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
      },
    ],
    [
      'its storage of the class in the annotation',
      {
        metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
        spec: { resources: {}, storageClassName: 'gold' },
      },
      { ...one, 'old.storageclass.storage.k8s.io/persistentvolumeclaims': '1' },
    ],
    [
      'the allocated storage if that is more',
      { spec: asks('1Gi'), status: { allocatedResources: { storage: '2Gi' } } },
      { ...one, 'requests.storage': '2Gi' },
    ],
    [
      'the requested storage if that is more',
      { spec: asks('3Gi'), status: { allocatedResources: { storage: '2Gi' } } },
      { ...one, 'requests.storage': '3Gi' },
    ],
  ];
  for (const [what, claim, expected] of cases)
    it(what, () => assert.deepEqual(usage(plural, claim), expected));
});

describe('every other kind', () => {
  it('is counted by its name and group, and some by a short name', () => {
    assert.deepEqual(usage('secrets', {}), { 'count/secrets': '1', secrets: '1' });
    for (const name of ['configmaps', 'resourcequotas', 'replicationcontrollers'])
      assert.deepEqual(usage(name, {}), { [`count/${name}`]: '1', [name]: '1' });
    assert.deepEqual(usage('leases', {}), { 'count/leases': '1' });
    const deployments = evaluator('deployments', 'apps');
    assert.deepEqual([...deployments.usage({} as KubeObject, now).keys()], ['count/deployments.apps']);
    assert.equal(countName({ group: 'example.com', plural: 'widgets' }), 'count/widgets.example.com');
    assert.deepEqual(
      [
        ...evaluator('secrets', 'example.com')
          .usage({} as KubeObject, now)
          .keys(),
      ],
      ['count/secrets.example.com'],
    );
    assert.deepEqual(
      [
        ...evaluator('pods', 'example.com')
          .usage({} as KubeObject, now)
          .keys(),
      ],
      ['count/pods.example.com'],
    );
  });

  it('does not exist for events of Kubernetes’ own groups', () => {
    assert.equal(evaluatorOf({ group: '', plural: 'events' }), undefined);
    assert.equal(evaluatorOf({ group: 'events.k8s.io', plural: 'events' }), undefined);
    assert.ok(evaluatorOf({ group: 'example.com', plural: 'events' }));
  });
});

describe('the evaluator counts resources by their names', () => {
  const table: [plural: string, counted: string[], not: string[]][] = [
    [
      'pods',
      [
        ...['pods', 'count/pods', 'cpu', 'memory', 'ephemeral-storage', 'requests.cpu', 'limits.memory'],
        ...['limits.ephemeral-storage', 'hugepages-2Mi', 'requests.hugepages-2Mi', 'requests.nvidia.com/gpu'],
      ],
      [
        'services',
        'requests.storage',
        'nvidia.com/gpu',
        'limits.nvidia.com/gpu',
        'count/services',
        'limits.hugepages-2Mi',
      ],
    ],
    [
      'services',
      ['services', 'count/services', 'services.nodeports', 'services.loadbalancers'],
      ['pods', 'services.ports'],
    ],
    [
      'persistentvolumeclaims',
      [
        ...['persistentvolumeclaims', 'requests.storage', 'count/persistentvolumeclaims'],
        ...[
          'a.storageclass.storage.k8s.io/requests.storage',
          'a.storageclass.storage.k8s.io/persistentvolumeclaims',
        ],
      ],
      ['a.storageclass.storage.k8s.io/pods', 'storage', 'requests.cpu'],
    ],
    ['configmaps', ['configmaps', 'count/configmaps'], ['secrets', 'count/configmaps.example.com']],
  ];
  for (const [plural, counted, not] of table)
    it(`for ${plural}`, () => {
      const { counts } = evaluator(plural);
      assert.deepEqual(counted.filter(counts), counted);
      assert.deepEqual(not.filter(counts), []);
    });
});

describe('the evaluator handles writes that may increase the usage', () => {
  const table: [plural: string, create: boolean, update: boolean][] = [
    ['pods', true, false],
    ['services', true, true],
    ['persistentvolumeclaims', true, true],
    ['secrets', true, false],
  ];
  for (const [plural, create, update] of table)
    it(`for ${plural}`, () => {
      const { handles } = evaluator(plural);
      assert.deepEqual([handles('create', ''), handles('update', '')], [create, update]);
      assert.deepEqual([handles('create', 'binding'), handles('update', 'status')], [false, false]);
    });
});

describe('the resources that every container has to set', () => {
  const missing = (names: string[], spec: object) =>
    evaluator('pods').missing(names, { spec } as unknown as KubeObject);
  const full = container({ cpu: '1', memory: '1' }, { cpu: '1', memory: '1' });
  const all = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

  it('are cpu and memory, if a quota limits them', () => {
    assert.equal(missing(all, { containers: [full] }), undefined);
    assert.equal(
      missing(['pods', 'ephemeral-storage', 'requests.nvidia.com/gpu'], { containers: [{ name: 'a' }] }),
      undefined,
    );
  });

  it('are listed by resource with the containers that lack them', () => {
    const containers = [{ name: 'b' }, { ...container({ cpu: '1' }), name: 'a' }, full];
    const initContainers = [{ ...container({}, { cpu: '1' }), name: 'i' }];
    assert.equal(
      missing(['requests.cpu', 'limits.cpu', 'pods'], { containers, initContainers }),
      'must specify limits.cpu for: a,b; requests.cpu for: b,i',
    );
  });

  it('do not exist for other kinds', () => {
    assert.equal(evaluator('services').missing(['services'], {} as KubeObject), undefined);
  });
});

describe('the scopes of pods', () => {
  const nothing = { containers: [{ name: 'c' }] };
  const something = { containers: [container({ cpu: '1' })] };
  const initial = { containers: [{ name: 'c' }], initContainers: [container({ cpu: '1' })] };
  const ofClass = (priorityClassName: string) => ({ ...nothing, priorityClassName });
  const term = (over: object) => ({ topologyKey: 'a', labelSelector: {}, ...over });
  const near = (over: object) => ({
    ...nothing,
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(over)] } },
  });
  const apart = (over: object) => ({
    ...nothing,
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(over) }],
      },
    },
  });
  const scope = (scopeName: string, operator = 'Exists', ...values: string[]): Scope => ({
    scopeName,
    operator,
    ...(values.length > 0 && { values }),
  });
  const high = 'PriorityClass';
  const across = 'CrossNamespacePodAffinity';
  const cases: [scope: Scope, inside: object[], outside: object[]][] = [
    [
      scope('Terminating'),
      [
        { ...nothing, activeDeadlineSeconds: 0 },
        { ...nothing, activeDeadlineSeconds: 9 },
      ],
      [nothing],
    ],
    [scope('NotTerminating'), [nothing], [{ ...nothing, activeDeadlineSeconds: 1 }]],
    [scope('BestEffort'), [nothing], [something, initial]],
    [scope('NotBestEffort'), [something, initial], [nothing]],
    [scope(high), [ofClass('a')], [nothing]],
    [scope(high, 'DoesNotExist'), [nothing], [ofClass('a')]],
    [scope(high, 'In', 'a', 'b'), [ofClass('a'), ofClass('b')], [nothing, ofClass('c')]],
    [scope(high, 'NotIn', 'a', 'b'), [nothing, ofClass('c')], [ofClass('a'), ofClass('b')]],
    [
      scope(across),
      [near({ namespaces: ['x'] }), near({ namespaceSelector: {} }), apart({ namespaces: ['x'] })],
      [nothing, near({}), near({ namespaces: [] }), apart({})],
    ],
    [scope('Unknown'), [], [nothing]],
  ];
  for (const [each, inside, outside] of cases)
    it(JSON.stringify(each), () => {
      const isIn = (spec: object) =>
        evaluator('pods').isInScope(each, { metadata: {}, spec } as unknown as KubeObject);
      assert.deepEqual(
        inside.map(isIn),
        inside.map(() => true),
      );
      assert.deepEqual(
        outside.map(isIn),
        outside.map(() => false),
      );
    });

  it('select no objects of other kinds', () => {
    for (const plural of ['services', 'persistentvolumeclaims', 'configmaps'])
      assert.equal(evaluator(plural).isInScope(scope('NotTerminating'), {} as KubeObject), false);
  });
});
