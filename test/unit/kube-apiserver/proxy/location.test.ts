import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import {
  nodeLocation,
  parseProxyName,
  podLocation,
  serviceLocation,
} from '../../../../src/kube-apiserver/proxy/location.ts';

const code = (expected: number, message: RegExp) => (error: Error & { status?: { code: number } }) => {
  assert.equal(error.status?.code, expected);
  assert.match(error.message, message);
  return true;
};

describe('the name in a request for /proxy', () => {
  const cases: readonly [string, string, string, string][] = [
    ['web', 'http', 'web', ''],
    ['web:80', 'http', 'web', '80'],
    ['web:metrics', 'http', 'web', 'metrics'],
    ['http:web:80', 'http', 'web', '80'],
    ['https:web:443', 'https', 'web', '443'],
    ['https:web:', 'https', 'web', ''],
    [':web:80', 'http', 'web', '80'],
  ];
  for (const [id, scheme, name, port] of cases) {
    it(id, () => assert.deepEqual(parseProxyName(id, 'pod'), { scheme, name, port }));
  }
  for (const id of ['', ':80', 'ftp:web:80', 'constructor:web:80', 'http:web:80:81', 'https::1']) {
    it(`refuses ${JSON.stringify(id)}`, () => {
      assert.throws(() => parseProxyName(id, 'service'), code(400, /^invalid service request "/));
    });
  }
});

interface PodParts {
  readonly ip?: string | undefined;
  readonly ports?: readonly number[];
}

const podNamed = (name: string, { ip = '10.0.0.1', ports = [] }: PodParts = {}) =>
  ({
    metadata: { name, namespace: 'a' },
    spec: {
      containers: [
        { name: 'first' },
        { name: 'second', ports: ports.map((containerPort) => ({ containerPort })) },
      ],
    },
    status: { ...(ip && { podIP: ip, podIPs: [{ ip }] }) },
  }) as unknown as Pod;

const asked = (id: string) => parseProxyName(id, 'pod');

describe('the address of a pod', () => {
  it('has the requested port', () => {
    const { scheme, address, port } = podLocation(
      podNamed('web', { ports: [9000] }),
      asked('https:web:8443'),
    );
    assert.deepEqual({ scheme, address, port }, { scheme: 'https', address: '10.0.0.1', port: 8443 });
  });
  it('is the first port that any container names', () => {
    assert.equal(podLocation(podNamed('web', { ports: [9000, 9001] }), asked('web')).port, 9000);
  });
  it('may be any valid port', () => {
    for (const port of [1, 65535])
      assert.equal(podLocation(podNamed('web'), asked(`web:${port}`)).port, port);
  });
  it('is the default port of the scheme if no port is named', () => {
    assert.equal(podLocation(podNamed('web'), asked('web')).port, 80);
    assert.equal(podLocation(podNamed('web'), asked('https:web:')).port, 443);
  });
  for (const port of ['0', '65536', '99999999', 'http', '-1', '8080x', '1e3', '0x50', '8.5', '+80']) {
    it(`rejects port ${port}`, () => {
      assert.throws(() => podLocation(podNamed('web'), asked(`web:${port}`)), code(400, /is not a port/));
    });
  }
  for (const ip of [
    '',
    '127.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    'fe80::1',
    'ff0e::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
  ]) {
    it(`is not ${ip || 'nowhere'}`, () => {
      assert.throws(
        () => podLocation(podNamed('web', { ip }), asked('web')),
        code(400, /^address not allowed$/),
      );
    });
  }
  for (const [ip, used = ip] of [
    ['192.168.1.1'],
    ['2001:db8::1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
  ] as const) {
    it(`may be ${ip}`, () => assert.equal(podLocation(podNamed('web', { ip }), asked('web')).address, used));
  }
});

const service = (ports: readonly object[] = [{ port: 80 }]) =>
  ({ metadata: { name: 'web', namespace: 'a' }, spec: { ports } }) as unknown as Service;

const endpoint = (name: string, more: object = {}) => ({
  addresses: ['10.0.0.1'],
  conditions: { ready: true },
  targetRef: { kind: 'Pod', namespace: 'a', name },
  ...more,
});

const slice = (endpoints: readonly object[], ports: readonly object[] = [{ name: '', port: 8080 }]) =>
  ({ addressType: 'IPv4', endpoints, ports }) as unknown as EndpointSlice;

const anyPod = (name: string) => podNamed(name);

describe('the address of a service', () => {
  const at = (
    slices: readonly EndpointSlice[],
    id = 'web',
    drawn = 0,
    podOf: (name: string) => Pod | undefined = anyPod,
    of = service(),
  ) => {
    const { scheme, pod, port } = serviceLocation(of, slices, podOf, asked(id), drawn);
    return `${scheme} ${pod.metadata.name} ${port}`;
  };
  const named = service([
    { name: 'web', port: 80 },
    { name: 'admin', port: 81 },
  ]);
  const namedSlice = slice(
    [endpoint('p')],
    [
      { name: 'web', port: 8080 },
      { name: 'admin', port: 8081 },
    ],
  );

  it('is the port without a name', () => assert.equal(at([slice([endpoint('p')])]), 'http p 8080'));
  it('is found by number', () => assert.equal(at([slice([endpoint('p')])], 'https:web:80'), 'https p 8080'));
  it('is found by name', () => assert.equal(at([namedSlice], 'web:admin', 0, anyPod, named), 'http p 8081'));
  it('is found by the number of a port with a name', () => {
    assert.equal(at([namedSlice], 'web:81', 0, anyPod, named), 'http p 8081');
  });
  it('is chosen at random from all slices', () => {
    const slices = [slice([endpoint('p'), endpoint('q')]), slice([endpoint('r')])];
    assert.deepEqual(
      [0, 0.34, 0.67, 0.999].map((drawn) => at(slices, 'web', drawn)),
      ['http p 8080', 'http q 8080', 'http r 8080', 'http r 8080'],
    );
  });
  it('is an endpoint that is ready, or has no condition', () => {
    const slices = [
      slice([endpoint('p', { conditions: { ready: false } }), endpoint('q', { conditions: {} })]),
    ];
    assert.deepEqual(
      [0, 0.9].map((drawn) => at(slices, 'web', drawn)),
      ['http q 8080', 'http q 8080'],
    );
  });
  it('is the address of a pod, even if the endpoint has other addresses', () => {
    const several = slice([endpoint('p', { addresses: ['10.0.0.9', '10.0.0.1'] })]);
    assert.equal(serviceLocation(service(), [several], anyPod, asked('web'), 0).address, '10.0.0.1');
  });
  it('skips an unusable endpoint', () => {
    assert.equal(
      at([slice([endpoint('p'), endpoint('q'), endpoint('gone')])], 'web', 0.9, (name) =>
        name === 'gone' ? undefined : podNamed(name),
      ),
      'http p 8080',
    );
  });

  const none: readonly [string, readonly EndpointSlice[], ((name: string) => Pod | undefined)?][] = [
    ['no slice', []],
    ['no endpoint', [slice([])]],
    ['a port without a number', [slice([endpoint('p')], [{ name: '' }])]],
    ['an address that is not of a pod', [slice([endpoint('p', { targetRef: undefined })])]],
    [
      'a reference to something else',
      [slice([endpoint('p', { targetRef: { kind: 'Node', namespace: 'a', name: 'p' } })])],
    ],
    [
      'a reference to a pod without a name',
      [slice([endpoint('p', { targetRef: { kind: 'Pod', namespace: 'a', name: '' } })])],
    ],
    [
      'a pod of another namespace',
      [slice([endpoint('p', { targetRef: { kind: 'Pod', namespace: 'b', name: 'p' } })])],
    ],
    ['a pod that does not exist', [slice([endpoint('p')])], () => undefined],
    ['a pod with another address', [slice([endpoint('p', { addresses: ['10.0.0.2'] })])]],
    [
      'a pod with the address of its node',
      [slice([endpoint('p', { addresses: ['127.0.0.1'] })])],
      (name) => podNamed(name, { ip: '127.0.0.1' }),
    ],
  ];
  for (const [what, slices, podOf] of none) {
    it(`does not exist with ${what}`, () => {
      assert.throws(
        () => at(slices, 'web', 0.5, podOf),
        code(503, /^no endpoints available for service "web"$/),
      );
    });
  }
  it('does not exist for an unknown port name', () => {
    assert.throws(
      () => at([namedSlice], 'web:other', 0, anyPod, named),
      code(503, /^no endpoints available for service "web:other"$/),
    );
    assert.throws(
      () => at([namedSlice], 'web', 0, anyPod, named),
      code(503, /^no endpoints available for service "web"$/),
    );
  });
  it('does not exist for an unknown port number', () => {
    assert.throws(
      () => at([namedSlice], 'web:8080', 0, anyPod, named),
      code(503, /^no service port 8080 found for service "web"$/),
    );
  });
});

describe('the address of a node', () => {
  const node = (address = '192.0.2.1') =>
    ({
      metadata: { name: 'n' },
      status: {
        addresses: [{ type: 'InternalIP', address }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      },
    }) as unknown as Node;
  for (const id of ['n', 'n:10250', 'https:n:10250', 'https:n:']) {
    it(`is its agent by ${id}`, () => assert.equal(nodeLocation(node(), asked(id)), 'agent'));
  }
  it('is its address by any other port', () => {
    assert.deepEqual(nodeLocation(node(), asked('https:n:9100')), {
      scheme: 'https',
      address: '192.0.2.1',
      port: 9100,
    });
  });
  it('is not this machine itself', () => {
    assert.throws(() => nodeLocation(node('127.0.0.1'), asked('n:6443')), code(400, /^address not allowed$/));
    assert.equal(nodeLocation(node('127.0.0.1'), asked('n')), 'agent');
  });
});
