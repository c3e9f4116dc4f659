import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Service, serviceResource } from '../../../../../../src/api/core/v1/service/service.ts';
import { created, merge, type Row, testCreate, testUpdate, updated } from '../../../../../fixtures/kinds.ts';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};
const spec = (fields: object) => ({ spec: fields });
const p0 = 'spec.ports[0]';
const external = { type: 'ExternalName', externalName: 'db.example.com', ports: null };

testCreate(serviceResource, service, [
  [
    'name that starts with a digit',
    { metadata: { name: '1a' } },
    'metadata.name: Invalid value: "1a": a DNS-1035 label',
  ],
  ['no ports', spec({ ports: null }), 'spec.ports: Required value'],
  ['a headless Service without ports', spec({ ports: null, clusterIP: 'None' })],
  ['one port with a name', spec({ ports: [{ name: 'http', port: 80, targetPort: 'http' }] })],
  [
    'two ports, one without a name',
    spec({ ports: [{ name: 'a', port: 80 }, { port: 81 }] }),
    'spec.ports[1].name: Required value',
  ],
  [
    'port names',
    spec({
      ports: [
        { name: 'A', port: 80 },
        { name: 'b', port: 81 },
        { name: 'b', port: 82 },
      ],
    }),
    `${p0}.name: Invalid value: "A": a lowercase RFC 1123 label`,
    'spec.ports[2].name: Duplicate value: "b"',
  ],
  [
    'port numbers',
    spec({ ports: [{ port: 0, targetPort: 65536 }] }),
    `${p0}.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
    `${p0}.targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
  ],
  [
    'target port name',
    spec({ ports: [{ port: 80, targetPort: 'a--b' }] }),
    `${p0}.targetPort: Invalid value: "a--b": must not contain consecutive hyphens`,
  ],
  [
    'one number, two protocols',
    spec({
      ports: [
        { name: 'a', port: 53 },
        { name: 'b', port: 53, protocol: 'UDP' },
      ],
    }),
  ],
  [
    'one number twice',
    spec({
      ports: [
        { name: 'a', port: 53 },
        { name: 'b', port: 53 },
      ],
    }),
    'spec.ports[1]: Duplicate value: {"protocol":"TCP","port":53}',
  ],
  ['node port', spec({ type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] })],
  [
    'node port of a cluster IP',
    spec({ ports: [{ port: 80, nodePort: 30080 }] }),
    `${p0}.nodePort: Forbidden: may not be used when \`type\` is 'ClusterIP'`,
  ],
  [
    'node port twice',
    spec({
      type: 'NodePort',
      ports: [
        { name: 'a', port: 80, nodePort: 30080 },
        { name: 'b', port: 81, nodePort: 30080 },
      ],
    }),
    'spec.ports[1].nodePort: Duplicate value: 30080',
  ],
  ['selector', spec({ selector: { 'a b': 'c' } }), 'spec.selector: Invalid value: "a b": name part'],
  ['external name', spec(external)],
  ['absolute external name', spec({ ...external, externalName: 'db.example.com.' })],
  ['no external name', spec({ ...external, externalName: null }), 'spec.externalName: Required value'],
  [
    'an invalid external name',
    spec({ ...external, externalName: 'A_b' }),
    'spec.externalName: Invalid value: "A_b": a lowercase',
  ],
  [
    'external name with an address',
    spec({ ...external, clusterIP: '10.96.0.1' }),
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
  ],
  [
    'external name with families',
    spec({ ...external, ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }),
    'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
    'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
  ],
  ['address', spec({ clusterIP: '10.96.0.9' })],
  [
    'bad address',
    spec({ clusterIP: '10.96.0' }),
    'spec.clusterIPs[0]: Invalid value: "10.96.0": must be a valid IP address',
  ],
  [
    'two contradictory addresses',
    spec({ clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.8'] }),
    'spec.clusterIPs: Invalid value: ["10.96.0.8"]: first value must match `clusterIP`',
  ],
  ...(
    [
      [['10.96.0.9', '10.96.0.10'], 'may specify no more than one IP for each IP family'],
      [['10.96.0.9', 'fd00::1', 'fd00::2'], 'may only hold up to 2 values'],
    ] as const
  ).map(
    ([clusterIPs, why]): Row => [
      `${clusterIPs.length} addresses`,
      spec({ clusterIP: '10.96.0.9', clusterIPs }),
      `spec.clusterIPs: Invalid value: ${JSON.stringify(clusterIPs)}: ${why}`,
    ],
  ),
  ['address of each family', spec({ clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9', 'fd00::1'] })],
  [
    'headless with node ports',
    spec({ type: 'NodePort', clusterIP: 'None' }),
    `spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`,
  ],
  [
    'families',
    spec({ ipFamilies: ['IPv4', 'IPv4', 'IPX'], ipFamilyPolicy: 'Both' }),
    'spec.ipFamilyPolicy: Unsupported value: "Both": supported values: "SingleStack"',
    'spec.ipFamilies[1]: Duplicate value: "IPv4"',
    'spec.ipFamilies[2]: Unsupported value: "IPX": supported values: "IPv4", "IPv6"',
  ],
  ...[1, 86400].map(
    (timeoutSeconds): Row => [
      `affinity for ${timeoutSeconds} s`,
      spec({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds } } }),
    ],
  ),
  [
    'an affinity of 0 seconds',
    spec({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } }),
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0',
  ],
  ['affinity', spec({ sessionAffinity: 'ClientIP' })],
  [
    'an affinity of two days',
    spec({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 172800 } } }),
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 172800: must be greater than 0 and less than',
  ],
  ['external address', spec({ externalIPs: ['192.0.2.1'], externalTrafficPolicy: 'Local' })],
  [
    'an invalid external address',
    spec({ externalIPs: ['127.0.0.1'] }),
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be',
  ],
  [
    'an unknown external traffic policy',
    spec({ externalTrafficPolicy: 'Local' }),
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ],
]);

const single = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
const allocated = merge(service, spec({ clusterIP: '10.96.0.9', ...single })) as typeof service;

testUpdate(serviceResource, allocated, [
  ['ports', spec({ ports: [{ port: 81 }] })],
  ['an omitted address', spec({ clusterIP: null, clusterIPs: null })],
  [
    'address changed',
    spec({ clusterIP: '10.96.0.8' }),
    'spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set',
  ],
  [
    'a removed address',
    spec({ clusterIP: 'None' }),
    'spec.clusterIPs[0]: Invalid value: ["None"]: may not change',
  ],
  ['a change to an external name', spec(external)],
  [
    'another family',
    spec({ ipFamilies: ['IPv6'] }),
    'spec.clusterIPs[0]: Invalid value: "10.96.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`',
    'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
  ],
  [
    'another first family',
    spec({ ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'PreferDualStack' }),
    'spec.clusterIPs[0]: Invalid value: "10.96.0.9": expected an IPv6 value',
    'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
  ],
  ['a second family', spec({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' })],
]);

const bothIPs = ['10.96.0.9', 'fd00:10:96::9'];
const both = spec({
  clusterIPs: bothIPs,
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'RequireDualStack',
});
testUpdate(serviceResource, merge(allocated, both) as typeof service, [
  ['omitted addresses', spec({ clusterIP: null, clusterIPs: null })],
  ['omitted second address', spec({ clusterIPs: null })],
  [
    'a second address that is released with its policy',
    spec({ clusterIPs: ['10.96.0.9'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }),
  ],
  [
    'a second address that is released without its policy',
    spec({ clusterIPs: ['10.96.0.9'], ipFamilies: ['IPv4'] }),
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
  ],
  [
    'another second address',
    spec({ clusterIPs: ['10.96.0.9', 'fd00:10:96::8'] }),
    'spec.clusterIPs[1]: Invalid value: ["10.96.0.9","fd00:10:96::8"]: may not change once set',
  ],
  [
    'addresses in another order',
    spec({ clusterIP: bothIPs[1], clusterIPs: bothIPs.toReversed(), ipFamilies: ['IPv6', 'IPv4'] }),
    'spec.clusterIPs[0]: Invalid value: ["fd00:10:96::9","10.96.0.9"]: may not change once set',
    'spec.clusterIPs[1]: Invalid value: ["fd00:10:96::9","10.96.0.9"]: may not change once set',
    'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
  ],
]);
testUpdate(serviceResource, allocated, [
  ['an added second address', both],
  [
    'addresses that are not of their families',
    spec({ clusterIPs: bothIPs, ipFamilies: ['IPv4', 'IPv4'] }),
    'spec.ipFamilies[1]: Duplicate value: "IPv4"',
  ],
]);

const dual = spec({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' });
testUpdate(serviceResource, merge(allocated, dual) as typeof service, [
  ['a removed second family', spec({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })],
  [
    'families in another order',
    spec({ ipFamilies: ['IPv6', 'IPv4'] }),
    'spec.clusterIPs[0]: Invalid value: "10.96.0.9": expected an IPv6 value',
    'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
  ],
]);

testUpdate(serviceResource, merge(service, spec({ clusterIP: 'None' })) as typeof service, [
  ['family of a headless service', spec({ ipFamilies: ['IPv6'] })],
]);

const keeps = (title: string, before: object, after: object, expected: Partial<Service['spec']>) =>
  test(`an updated service ${title}`, () => {
    const old = created(serviceResource, merge(service, spec(before)));
    const { object, problems } = updated(serviceResource, old, merge(service, spec(after)));
    assert.deepEqual(problems, []);
    const found = Object.fromEntries(
      Object.keys(expected).map((key) => [key, object.spec[key as keyof Service['spec']]]),
    );
    assert.deepEqual(found, expected);
  });

keeps(
  'keeps its address',
  { clusterIP: '10.96.0.9' },
  {},
  { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] },
);
keeps(
  'keeps the node port of a port that stays',
  { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] },
  {
    type: 'LoadBalancer',
    ports: [
      { name: 'a', port: 81 },
      { name: 'b', port: 80 },
    ],
  },
  {
    ports: [
      { name: 'a', protocol: 'TCP', port: 81, targetPort: 81 },
      { name: 'b', protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30080 },
    ],
  },
);
keeps(
  'does not give one node port to two ports',
  { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] },
  {
    type: 'NodePort',
    ports: [
      { name: 'a', port: 81, nodePort: 30080 },
      { name: 'b', port: 80 },
    ],
  },
  {
    ports: [
      { name: 'a', protocol: 'TCP', port: 81, targetPort: 81, nodePort: 30080 },
      { name: 'b', protocol: 'TCP', port: 80, targetPort: 80 },
    ],
  },
);
keeps(
  'loses node ports and their policy when its type changes',
  { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] },
  { type: 'ClusterIP', ports: [{ port: 80, nodePort: 30080 }], externalTrafficPolicy: 'Cluster' },
  { ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }], externalTrafficPolicy: undefined },
);
keeps(
  'loses its address when it becomes an external name',
  { clusterIP: '10.96.0.9', ...single },
  {
    ...external,
    clusterIP: '10.96.0.9',
    clusterIPs: ['10.96.0.9'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
  },
  {
    clusterIP: undefined,
    clusterIPs: undefined,
    ipFamilies: undefined,
    ipFamilyPolicy: undefined,
    internalTrafficPolicy: undefined,
  },
);
keeps(
  'loses its external name when it gets an address',
  external,
  { type: 'ClusterIP', externalName: 'db.example.com' },
  { externalName: undefined, ipFamilies: undefined },
);

test('a Service gets the defaults of Kubernetes', () => {
  const { spec: defaulted } = created(serviceResource, service);
  assert.deepEqual(defaulted, {
    type: 'ClusterIP',
    selector: { app: 'web' },
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  });
  const sticky = created(
    serviceResource,
    merge(service, spec({ type: 'NodePort', sessionAffinity: 'ClientIP' })),
  );
  assert.equal(sticky.spec.externalTrafficPolicy, 'Cluster');
  assert.equal(sticky.spec.sessionAffinityConfig?.clientIP?.timeoutSeconds, 10800);
});

test('the default target port is the port', () => {
  for (const targetPort of [undefined, 0, '']) {
    const { ports } = created(
      serviceResource,
      merge(service, spec({ ports: [{ port: 80, targetPort }] })),
    ).spec;
    assert.equal(ports?.[0]?.targetPort, 80);
  }
});

keeps(
  'keeps a policy that is changed while it is reachable from outside',
  { type: 'NodePort' },
  { type: 'NodePort', externalTrafficPolicy: 'Local' },
  { externalTrafficPolicy: 'Local' },
);
keeps(
  'keeps the policy it has',
  { type: 'NodePort', externalTrafficPolicy: 'Local' },
  { type: 'NodePort', externalTrafficPolicy: 'Local' },
  { externalTrafficPolicy: 'Local' },
);

test('a load balancer allocates node ports by default, and the field is removed when its type changes', () => {
  const balancer = created(serviceResource, merge(service, spec({ type: 'LoadBalancer' })));
  assert.partialDeepStrictEqual(balancer.spec, { allocateLoadBalancerNodePorts: true });
  const { object } = updated(serviceResource, balancer, merge(balancer, spec({ type: 'ClusterIP' })));
  assert.ok(!('allocateLoadBalancerNodePorts' in object.spec));
});
