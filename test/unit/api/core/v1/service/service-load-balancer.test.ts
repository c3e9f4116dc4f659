import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Service, serviceResource } from '../../../../../../src/api/core/v1/service/service.ts';
import { created, merge, testCreate, testUpdate, updated } from '../../../../../fixtures/kinds.ts';

const spec = (fields: object) => ({ spec: fields });
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};
const balancer = merge(service, spec({ type: 'LoadBalancer' })) as typeof service;
const local = merge(balancer, spec({ externalTrafficPolicy: 'Local' })) as typeof service;

const rangesKey = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const annotation = (value: string) => ({ metadata: { annotations: { [rangesKey]: value } } });
const onlyForLoadBalancer = "Forbidden: may only be used when `type` is 'LoadBalancer'";
const onlyForLocal = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
const notARange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

describe('a Service of type ClusterIP', () => {
  testCreate(serviceResource, service, [
    [
      'source ranges',
      spec({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
      `spec.LoadBalancerSourceRanges: ${onlyForLoadBalancer}`,
    ],
    [
      'source ranges in an annotation',
      annotation('10.0.0.0/8'),
      `metadata.annotations[${rangesKey}]: ${onlyForLoadBalancer}`,
    ],
    ['class', spec({ loadBalancerClass: 'a/b' }), `spec.loadBalancerClass: ${onlyForLoadBalancer}`],
    [
      'allocation of node ports',
      spec({ allocateLoadBalancerNodePorts: true }),
      `spec.allocateLoadBalancerNodePorts: ${onlyForLoadBalancer}`,
    ],
    [
      'health check port',
      spec({ healthCheckNodePort: 30100 }),
      `spec.healthCheckNodePort: Invalid value: 30100: ${onlyForLocal}`,
    ],
    ['health check port 0', spec({ healthCheckNodePort: 0 })],
    ['traffic distribution', spec({ trafficDistribution: 'PreferClose' })],
    [
      'unknown traffic distribution',
      spec({ trafficDistribution: 'X' }),
      'spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose"',
    ],
    [
      'empty traffic distribution',
      spec({ trafficDistribution: '' }),
      'spec.trafficDistribution: Unsupported value: "": supported values: "PreferClose"',
    ],
  ]);
});

describe('a Service of type LoadBalancer', () => {
  testCreate(serviceResource, balancer, [
    ['source ranges', spec({ loadBalancerSourceRanges: ['10.0.0.0/8', ' fd00::/8 '] })],
    [
      'invalid source ranges',
      spec({ loadBalancerSourceRanges: ['abc', '10.0.0.0/8', '10.0.0.1'] }),
      `spec.LoadBalancerSourceRanges[0]: Invalid value: "abc": ${notARange}`,
      `spec.LoadBalancerSourceRanges[2]: Invalid value: "10.0.0.1": ${notARange}`,
    ],
    ['source ranges in an annotation', annotation(' 10.0.0.0/8, fd00::/8')],
    ['empty annotation', annotation(' ')],
    [
      'bad annotation',
      annotation('10.0.0.0/8,abc'),
      `metadata.annotations[${rangesKey}]: Invalid value: "abc": ${notARange}`,
    ],
    [
      'an invalid annotation beside a list, which takes precedence',
      { ...annotation('abc'), ...spec({ loadBalancerSourceRanges: ['10.0.0.0/8'] }) },
    ],
    ['class', spec({ loadBalancerClass: 'example.com/internal' })],
    [
      'an invalid class name',
      spec({ loadBalancerClass: 'a b' }),
      'spec.loadBalancerClass: Invalid value: "a b": name part',
    ],
    [
      'empty class',
      spec({ loadBalancerClass: '' }),
      'spec.loadBalancerClass: Invalid value: "": name part must be non-empty',
      'spec.loadBalancerClass: Invalid value: "": name part',
    ],
    [
      'health check port without the policy Local',
      spec({ healthCheckNodePort: 30100 }),
      `spec.healthCheckNodePort: Invalid value: 30100: ${onlyForLocal}`,
    ],
  ]);
});

describe('a Service of type LoadBalancer with the policy Local', () => {
  testCreate(serviceResource, local, [
    ['health check port', spec({ healthCheckNodePort: 30100 })],
    ...[-1, 65536].map(
      (port) =>
        [
          `health check port ${port}`,
          spec({ healthCheckNodePort: port }),
          `spec.healthCheckNodePort: Invalid value: ${port}: must be between 1 and 65535, inclusive`,
        ] as const,
    ),
  ]);
});

describe('annotations of topology', () => {
  const [mode, hints] = ['service.kubernetes.io/topology-mode', 'service.kubernetes.io/topology-aware-hints'];
  const both = (a: string, b: string) => ({ metadata: { annotations: { [mode]: a, [hints]: b } } });
  testCreate(serviceResource, service, [
    ['both', both('Auto', 'Auto')],
    [
      'both annotations with different values',
      both('Auto', 'Disabled'),
      `metadata.annotations[${mode}]: Invalid value: "Auto": must match annotations[${hints}] when both`,
    ],
  ]);
});

describe('an update of a Service of type LoadBalancer', () => {
  const classed = merge(local, spec({ loadBalancerClass: 'a/b', healthCheckNodePort: 30100 }));
  const once = 'may not change once set';
  testUpdate(serviceResource, classed as typeof service, [
    ['selector', spec({ selector: { app: 'other' } })],
    ['class', spec({ loadBalancerClass: 'a/c' }), `spec.loadBalancerClass: Invalid value: "a/c": ${once}`],
    [
      'a removed class',
      spec({ loadBalancerClass: null }),
      `spec.loadBalancerClass: Invalid value: null: ${once}`,
    ],
    ['a removed health check port', spec({ healthCheckNodePort: null })],
    [
      'health check port',
      spec({ healthCheckNodePort: 30101 }),
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    ],
    ['policy', spec({ externalTrafficPolicy: 'Cluster' })],
    ['type', spec({ type: 'ClusterIP' })],
    ['type to NodePort', spec({ type: 'NodePort' })],
    ['type NodePort with the class removed', spec({ type: 'ClusterIP', loadBalancerClass: null })],
    [
      'type and class',
      spec({ type: 'ClusterIP', loadBalancerClass: 'a/c' }),
      `spec.loadBalancerClass: ${onlyForLoadBalancer}`,
    ],
    [
      'type and health check port',
      spec({ type: 'ClusterIP', healthCheckNodePort: 30101 }),
      `spec.healthCheckNodePort: Invalid value: 30101: ${onlyForLocal}`,
    ],
    [
      'type and allocation of node ports',
      spec({ type: 'ClusterIP', allocateLoadBalancerNodePorts: false }),
      `spec.allocateLoadBalancerNodePorts: ${onlyForLoadBalancer}`,
    ],
  ]);
  testUpdate(serviceResource, balancer, [
    [
      'first class',
      spec({ loadBalancerClass: 'a/b' }),
      `spec.loadBalancerClass: Invalid value: "a/b": ${once}`,
    ],
    [
      'policy Local with a health check port',
      spec({ externalTrafficPolicy: 'Local', healthCheckNodePort: 30100 }),
    ],
  ]);
  testUpdate(serviceResource, service, [
    ['type with a class', spec({ type: 'LoadBalancer', loadBalancerClass: 'a/b' })],
  ]);
  testUpdate(
    serviceResource,
    merge(balancer, spec({ loadBalancerSourceRanges: ['10.0.0.0/8'] })) as typeof service,
    [
      [
        'type, with source ranges',
        spec({ type: 'ClusterIP' }),
        `spec.LoadBalancerSourceRanges: ${onlyForLoadBalancer}`,
      ],
      ['type, without source ranges', spec({ type: 'ClusterIP', loadBalancerSourceRanges: null })],
    ],
  );
});

describe('a Service that leaves the type LoadBalancer', () => {
  const stored = () => {
    const old = created(
      serviceResource,
      merge(
        local,
        spec({
          loadBalancerClass: 'a/b',
          healthCheckNodePort: 30100,
          ports: [{ port: 80, nodePort: 30080 }],
        }),
      ),
    );
    old.status = { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } };
    return old;
  };
  const change = (fields: object): Service => {
    const old = stored();
    const { object, problems } = updated(serviceResource, old, merge(old, spec(fields)));
    assert.deepEqual(problems, []);
    return object;
  };

  it('loses the fields of that type and its status', () => {
    const { spec: now, status } = change({ type: 'ClusterIP' });
    for (const field of [
      'allocateLoadBalancerNodePorts',
      'externalTrafficPolicy',
      'healthCheckNodePort',
      'loadBalancerClass',
    ] as const)
      assert.equal(now[field], undefined, field);
    assert.equal(now.ports?.[0]?.nodePort, undefined);
    assert.deepEqual(status, { loadBalancer: {} });
  });

  it('loses its node ports also when a port is added or omitted', () => {
    const ports = (list: object[]) => change({ type: 'ClusterIP', ports: list }).spec.ports;
    const more = ports([
      { name: 'a', port: 80, nodePort: 30080 },
      { name: 'b', port: 81 },
    ]);
    assert.deepEqual(
      more?.map(({ port, nodePort }) => [port, nodePort]),
      [
        [80, undefined],
        [81, undefined],
      ],
    );
    assert.deepEqual(
      ports([{ port: 82 }])?.map(({ nodePort }) => nodePort),
      [undefined],
    );
  });

  it('keeps its status and health check port as long as it is a load balancer', () => {
    const { spec: now, status } = change({ selector: { app: 'other' }, healthCheckNodePort: null });
    assert.equal(now.healthCheckNodePort, 30100);
    assert.equal(status?.loadBalancer.ingress?.[0]?.ip, '192.0.2.1');
  });

  it('loses its health check port with the policy Local', () => {
    assert.equal(change({ externalTrafficPolicy: 'Cluster' }).spec.healthCheckNodePort, undefined);
  });
});
