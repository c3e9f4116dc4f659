import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { serviceRules } from '../../../src/service-proxy/service-map.ts';

const meta = (name: string) => ({
  name,
  namespace: 'default',
  uid: '',
  resourceVersion: '',
  creationTimestamp: '',
});

const makeService = (spec: Partial<Service['spec']>): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta('web'),
  spec: {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    clusterIP: '10.96.0.7',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    ...spec,
  },
});

const endpoint = (ip: string, nodeName: string, conditions = {}) => ({
  addresses: [ip],
  conditions,
  nodeName,
});

const makeSlice = (endpoints: EndpointSlice['endpoints']): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: meta('web-abc'),
  addressType: 'IPv4',
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  endpoints,
});

const here = { nodeName: 'a', nodeIP: '192.0.2.10' };
const two = makeSlice([endpoint('10.244.0.3', 'b'), endpoint('10.244.0.2', 'a')]);
const ips = (list: readonly { ip: string }[] | undefined) => list?.map(({ ip }) => ip);

describe('the rules of a service', () => {
  test('have endpoints that are sorted, without repeats, and marked as local or not', () => {
    const [rule] = serviceRules(makeService({}), [two, two], here);
    assert.deepEqual(rule, {
      addresses: ['10.96.0.7'],
      protocol: 'tcp',
      port: 80,
      endpoints: [
        { ip: '10.244.0.2', port: 8080, local: true },
        { ip: '10.244.0.3', port: 8080, local: false },
      ],
      nodePort: undefined,
    });
  });

  for (const [what, spec] of [
    ['a headless service', { clusterIP: 'None' }],
    ['a service without an address', { clusterIP: undefined }],
    ['an external name', { type: 'ExternalName' as const, externalName: 'example.org' }],
  ] as const) {
    test(`are empty for ${what}`, () => assert.deepEqual(serviceRules(makeService(spec), [two], here), []));
  }

  const addresses = (spec: Partial<Service['spec']>, ingress: readonly object[]) => {
    const service: Service = { ...makeService(spec), status: { loadBalancer: { ingress: [...ingress] } } };
    return serviceRules(service, [two], here).map((rule) => [rule.addresses, ips(rule.endpoints)]);
  };
  const both = ['10.244.0.2', '10.244.0.3'];
  const given = [
    { ip: '192.0.2.5' },
    { ip: '192.0.2.6', ipMode: 'VIP' },
    { ip: '192.0.2.7', ipMode: 'Proxy' },
    { hostname: 'a.example' },
  ];
  test('include addresses of a load balancer, in addition to external IPs', () => {
    assert.deepEqual(addresses({ type: 'LoadBalancer', externalIPs: ['192.0.2.1'] }, given), [
      [['10.96.0.7'], both],
      [['192.0.2.1', '192.0.2.5', '192.0.2.6'], both],
    ]);
    assert.deepEqual(addresses({ type: 'NodePort' }, given), [[['10.96.0.7'], both]]);
  });
  test('contain each address once, and only IPv4: the kernel would reject the whole table with another address', () => {
    const externalIPs = ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1'];
    const wrong = [{ ip: '::ffff:c000:205' }, { ip: 'x; flush ruleset' }];
    assert.deepEqual(addresses({ type: 'LoadBalancer', externalIPs }, wrong)[1], [
      ['192.0.2.1', '192.0.2.5'],
      both,
    ]);
  });
  test('each policy applies to its own addresses', () => {
    const external = ['192.0.2.5', '192.0.2.6'];
    assert.deepEqual(addresses({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, given), [
      [['10.96.0.7'], both],
      [external, ['10.244.0.2']],
    ]);
    assert.deepEqual(addresses({ type: 'LoadBalancer', internalTrafficPolicy: 'Local' }, given), [
      [['10.96.0.7'], ['10.244.0.2']],
      [external, both],
    ]);
  });

  const balanced = (spec: Partial<Service['spec']>, ingress: readonly object[]) => {
    const status = { loadBalancer: { ingress: [...ingress] } };
    const service: Service = { ...makeService({ type: 'LoadBalancer', ...spec }), status };
    return serviceRules(service, [two], here)[0]?.balancerPort;
  };
  const proxied = { ip: '192.0.2.10', ipMode: 'Proxy' };
  test('have the port of this node if the status names its address as that of a proxy', () => {
    const endpoints = [
      { ip: '10.244.0.2', port: 8080, local: true },
      { ip: '10.244.0.3', port: 8080, local: false },
    ];
    assert.deepEqual(balanced({}, [proxied]), { port: 80, endpoints, masquerade: true });
    assert.deepEqual(balanced({ externalTrafficPolicy: 'Local' }, [proxied]), {
      ...{ port: 80, endpoints: endpoints.slice(0, 1), masquerade: false },
    });
    assert.equal(balanced({}, []), undefined);
    assert.equal(balanced({}, [{ ...proxied, ip: '192.0.2.11' }]), undefined, 'another node');
    assert.equal(balanced({}, [{ ip: '192.0.2.10' }]), undefined, 'an address of another controller');
    assert.equal(balanced({}, [proxied, { ip: '203.0.113.4' }]), undefined, 'another controller takes part');
    assert.equal(balanced({ loadBalancerClass: 'example.org/lb' }, [proxied]), undefined);
    assert.equal(balanced({ type: 'NodePort' }, [proxied]), undefined);
  });
  test('name the clients that a load balancer accepts, at all of its addresses', () => {
    const loadBalancerSourceRanges = [' 192.0.2.0/24', '10.0.0.0/8'];
    const clients = ['192.0.2.0/24', '10.0.0.0/8'];
    assert.deepEqual(balanced({ loadBalancerSourceRanges }, [proxied])?.clients, clients);
    const service = makeService({ type: 'LoadBalancer', loadBalancerSourceRanges });
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.4' }] } };
    const [inner, outer] = serviceRules({ ...service, status }, [two], here);
    assert.equal(inner?.clients, undefined, 'the cluster IP is for all');
    assert.deepEqual(outer?.clients, clients);
    const annotations = {
      'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8, 192.0.2.1/32',
    };
    const annotated = makeService({ type: 'LoadBalancer' });
    const metadata = { ...annotated.metadata, annotations };
    const [, other] = serviceRules({ ...annotated, metadata, status }, [two], here);
    assert.deepEqual(other?.clients, ['10.0.0.0/8', '192.0.2.1/32']);
  });

  test('use the endpoints for the zone of the node, if all have hints', () => {
    const hinted = (...zones: readonly (string | undefined)[]) =>
      makeSlice(
        zones.map((name, index) => ({
          ...endpoint(`10.244.0.${index + 2}`, index === 0 ? 'a' : 'b'),
          ...(name !== undefined && { hints: { forZones: [{ name }] } }),
        })),
      );
    const near = (slice: EndpointSlice, zone: string | undefined, spec: Partial<Service['spec']> = {}) =>
      ips(serviceRules(makeService(spec), [slice], { nodeName: 'a', zone })[0]?.endpoints);
    const all = ['10.244.0.2', '10.244.0.3', '10.244.0.4'];
    assert.deepEqual(near(hinted('x', 'y', 'y'), 'y'), all.slice(1));
    assert.deepEqual(near(hinted('x', 'y', 'y'), 'z'), all, 'no endpoint is for the zone');
    assert.deepEqual(near(hinted('x', 'y', 'y'), undefined), all, 'the node is in no zone');
    assert.deepEqual(near(hinted('x', 'y', undefined), 'y'), all, 'one endpoint has no hint');
    const local = { internalTrafficPolicy: 'Local' } as const;
    assert.deepEqual(near(hinted('x', 'y', 'y'), 'y', local), all.slice(0, 1), 'the policy comes first');
  });

  test('omit an endpoint that is not ready', () => {
    const slice = makeSlice([endpoint('10.244.0.2', 'a'), endpoint('10.244.0.3', 'a', { ready: false })]);
    assert.deepEqual(ips(serviceRules(makeService({}), [slice], here)[0]?.endpoints), ['10.244.0.2']);
  });

  test('use terminating endpoints while they serve and none is ready', () => {
    const ending = endpoint('10.244.0.3', 'a', { ready: false, serving: true, terminating: true });
    const gone = endpoint('10.244.0.4', 'a', { ready: false, serving: false, terminating: true });
    const rules = serviceRules(makeService({}), [makeSlice([ending, gone])], here);
    assert.deepEqual(ips(rules[0]?.endpoints), ['10.244.0.3']);
  });

  test('a port is matched by name and protocol', () => {
    const service = makeService({ ports: [{ name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 }] });
    assert.deepEqual(serviceRules(service, [two], here)[0]?.endpoints, []);
  });

  test("local policies use only endpoints of this node and keep the client's address", () => {
    const base = { type: 'NodePort' as const };
    const ports = [{ name: 'http', protocol: 'TCP' as const, port: 80, nodePort: 30080, targetPort: 8080 }];
    const cluster = serviceRules(makeService({ ...base, ports }), [two], here)[0];
    assert.deepEqual(ips(cluster?.nodePort?.endpoints), ['10.244.0.2', '10.244.0.3']);
    assert.equal(cluster?.nodePort?.masquerade, true);
    const local = serviceRules(
      makeService({ ...base, ports, externalTrafficPolicy: 'Local' }),
      [two],
      here,
    )[0];
    assert.deepEqual(ips(local?.nodePort?.endpoints), ['10.244.0.2']);
    assert.equal(local?.nodePort?.masquerade, false);
    assert.deepEqual(ips(local?.endpoints), ['10.244.0.2', '10.244.0.3']);
    const internal = serviceRules(makeService({ internalTrafficPolicy: 'Local' }), [two], {
      nodeName: 'b',
    })[0];
    assert.deepEqual(ips(internal?.endpoints), ['10.244.0.3']);
  });

  test('treat external addresses like the cluster IP, except for the policy', () => {
    const spec = { sessionAffinity: 'ClientIP' as const, externalIPs: ['192.0.2.1'] };
    const [internal, external] = serviceRules(makeService(spec), [two], here);
    assert.equal(internal?.affinitySeconds, 10_800, 'the default of the field');
    assert.deepEqual(external, { ...internal, addresses: ['192.0.2.1'] });
  });

  test('keep the endpoint of a client for the timeout that the Service has', () => {
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 90 } };
    const [kept] = serviceRules(
      makeService({ sessionAffinity: 'ClientIP', sessionAffinityConfig }),
      [two],
      here,
    );
    assert.equal(kept?.affinitySeconds, 90);
    const [random] = serviceRules(makeService({ sessionAffinityConfig }), [two], here);
    assert.equal(random?.affinitySeconds, undefined);
  });

  test('a load balancer without a status adds no address', () => {
    assert.equal(serviceRules(makeService({ type: 'LoadBalancer' }), [two], here).length, 1);
  });

  test('a service without ports has no rules', () => {
    assert.deepEqual(serviceRules(makeService({ ports: undefined }), [two], here), []);
  });

  for (const [type, nodePort, there] of [
    ['NodePort', 30080, true],
    ['LoadBalancer', 30080, true],
    ['NodePort', undefined, false],
    ['LoadBalancer', undefined, false],
    ['ClusterIP', 30080, false],
  ] as const) {
    test(`${there ? 'include' : 'exclude'} a node port for the type ${type} with nodePort ${nodePort}`, () => {
      const ports = [{ name: 'http', protocol: 'TCP' as const, port: 80, targetPort: 8080, nodePort }];
      const [rule] = serviceRules(makeService({ type, ports }), [two], here);
      assert.deepEqual(
        [rule?.nodePort !== undefined, rule?.nodePort?.port],
        [there, there ? nodePort : undefined],
      );
    });
  }
});

describe('the endpoints of a port', () => {
  const endpointsOf = (slices: readonly EndpointSlice[], port: object = {}) => {
    const ports = [{ name: 'http', protocol: 'TCP' as const, port: 80, targetPort: 8080, ...port }];
    return serviceRules(makeService({ ports }), slices, here)[0]?.endpoints.map(
      (one) => `${one.ip}:${one.port}`,
    );
  };
  const ofPorts = (...ports: EndpointSlice['ports']) => ({ ...two, ports });
  const http = { name: 'http', protocol: 'TCP', port: 8080 } as const;

  test('are in the same order for any order of the slices', () => {
    const slices = ['10.244.0.4', '10.244.0.2', '10.244.0.3'].map((ip) => makeSlice([endpoint(ip, 'a')]));
    const sorted = ['10.244.0.2:8080', '10.244.0.3:8080', '10.244.0.4:8080'];
    assert.deepEqual(endpointsOf(slices), sorted);
    assert.deepEqual(endpointsOf(slices.toReversed()), sorted);
  });

  test('are all that serve while they terminate, and none that is neither ready nor terminating', () => {
    const conditions = { ready: false, serving: true, terminating: true };
    const ending = ['10.244.0.3', '10.244.0.4'].map((ip) => endpoint(ip, 'a', conditions));
    const broken = endpoint('10.244.0.5', 'a', { ready: false, serving: true, terminating: false });
    assert.deepEqual(endpointsOf([makeSlice([...ending, broken])]), ['10.244.0.3:8080', '10.244.0.4:8080']);
  });

  test('are of IPv4, and have an address', () => {
    assert.deepEqual(
      endpointsOf([
        { ...two, addressType: 'IPv6' },
        { ...two, addressType: 'FQDN' },
      ]),
      [],
    );
    assert.deepEqual(endpointsOf([makeSlice([{ ...endpoint('', 'a'), addresses: [] }])]), []);
  });

  test('have the number of the port with that name and protocol', () => {
    const all = ofPorts({ ...http, protocol: 'UDP', port: 1 }, { ...http, name: 'metrics', port: 2 }, http);
    assert.deepEqual(endpointsOf([all]), ['10.244.0.2:8080', '10.244.0.3:8080']);
    assert.deepEqual(endpointsOf([ofPorts({ name: 'http', protocol: 'TCP' })]), []);
    assert.deepEqual(endpointsOf([ofPorts({ ...http, name: '' })], { name: undefined }), [
      '10.244.0.2:8080',
      '10.244.0.3:8080',
    ]);
  });
});

test('an external address that is not served has no rule; the other addresses of the Service have rules', () => {
  const service = makeService({ externalIPs: ['10.96.0.1', '203.0.113.8'] });
  const isServed = (address: string) => address !== '10.96.0.1';
  const addresses = serviceRules(service, [two], here, isServed).map((rule) => rule.addresses);
  assert.deepEqual(addresses, [['10.96.0.7'], ['203.0.113.8']]);
});

describe('the rules of a Service with two families', () => {
  const six = (addresses: readonly string[]): EndpointSlice => ({
    ...makeSlice(addresses.map((ip) => endpoint(ip, 'a'))),
    addressType: 'IPv6',
  });
  const slices = [two, six(['FD00:10:244:0::2'])];
  const dual = makeService({
    clusterIPs: ['10.96.0.7', 'FD00:10:96:0::7'],
    ipFamilies: ['IPv4', 'IPv6'],
    externalIPs: ['203.0.113.7', '2001:DB8::7'],
  });
  const of = (family: 'IPv4' | 'IPv6', service = dual) =>
    serviceRules(service, slices, here, () => true, family).map(({ addresses, endpoints }) => [
      addresses,
      ips(endpoints),
    ]);

  test('have the addresses of one family each, in canonical form', () => {
    assert.deepEqual(of('IPv4'), [
      [['10.96.0.7'], ['10.244.0.2', '10.244.0.3']],
      [['203.0.113.7'], ['10.244.0.2', '10.244.0.3']],
    ]);
    assert.deepEqual(of('IPv6'), [
      [['fd00:10:96::7'], ['fd00:10:244::2']],
      [['2001:db8::7'], ['fd00:10:244::2']],
    ]);
  });

  test('are those of the only family of a Service, also with slices of the other family', () => {
    assert.deepEqual(of('IPv6', makeService({})), []);
    const sixOnly = makeService({
      clusterIP: 'fd00:10:96::8',
      clusterIPs: ['fd00:10:96::8'],
      ipFamilies: ['IPv6'],
      externalIPs: ['203.0.113.7'],
    });
    assert.deepEqual(of('IPv4', sixOnly), []);
    assert.deepEqual(of('IPv6', sixOnly), [[['fd00:10:96::8'], ['fd00:10:244::2']]]);
  });

  test('have the node port in each family', () => {
    const service = makeService({ ...dual.spec, type: 'NodePort' });
    const ports = [{ port: 80, protocol: 'TCP' as const, nodePort: 30080, name: 'http', targetPort: 8080 }];
    const [rule] = serviceRules(
      { ...service, spec: { ...service.spec, ports } },
      slices,
      here,
      () => true,
      'IPv6',
    );
    assert.deepEqual(rule?.nodePort, {
      port: 30080,
      endpoints: [{ ip: 'fd00:10:244::2', port: 8080, local: true }],
      masquerade: true,
    });
  });
});
