/** Ports of the machine that are forwarded to a pod. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostPortsOf, wantedPortsOf } from '../../../../../src/kubelet/pods/plan/host-ports.ts';
import { makePod } from '../../builders.ts';

const podWith = (hostIP: string | undefined) =>
  makePod(
    {
      containers: [
        {
          name: 'main',
          image: 'app:1',
          ports: [{ containerPort: 80, hostPort: 8080, ...(hostIP !== undefined && { hostIP }) }],
        },
      ],
    },
    {},
    { phase: 'Running', podIP: '10.244.0.2' },
  );

const rows: readonly [hostIP: string | undefined, wanted: readonly string[]][] = [
  [undefined, ['']],
  ['0.0.0.0', ['']],
  ['::', ['']],
  ['::ffff:0.0.0.0', ['']],
  ['192.0.2.1', ['192.0.2.1']],
  ['::ffff:192.0.2.1', ['192.0.2.1']],
  ['2001:db8::1', ['2001:db8::1']],
  ['2001:DB8:0::1', ['2001:db8::1']],
  ['', ['']],
  ['no address', []],
];
for (const [hostIP, wanted] of rows) {
  test(`a host port with the hostIP ${hostIP} is forwarded at the addresses ${JSON.stringify(wanted)}`, () => {
    assert.deepEqual(
      wantedPortsOf(podWith(hostIP)).map((port) => port.hostIP),
      wanted,
    );
    assert.deepEqual(
      hostPortsOf(podWith(hostIP)),
      wanted.map((address) => ({
        protocol: 'TCP',
        hostIP: address,
        hostPort: 8080,
        podIP: '10.244.0.2',
        containerPort: 80,
      })),
    );
  });
}

const plain = { containerPort: 80, hostPort: 8080 };
const web = (ports: readonly object[], spec: object = {}, status: object = {}) =>
  makePod(
    { containers: [{ name: 'main', image: 'app:1', ports }], ...spec },
    {},
    { podIP: '10.244.0.2', ...status },
  );
const all = { protocol: 'TCP', hostIP: '', hostPort: 8080 };
const led = { ...all, podIP: '10.244.0.2', containerPort: 80 };

for (const [what, pod, wanted, leads] of [
  ['has no host ports', makePod({}, {}, { podIP: '10.244.0.2' }), [], []],
  ['has container ports only', web([{ containerPort: 80 }, { containerPort: 81, hostPort: 0 }]), [], []],
  [
    'has host ports',
    web([plain, { containerPort: 53, hostPort: 5353, protocol: 'UDP', hostIP: '192.0.2.1' }]),
    [all, { protocol: 'UDP', hostIP: '192.0.2.1', hostPort: 5353 }],
    [led, { protocol: 'UDP', hostIP: '192.0.2.1', hostPort: 5353, podIP: '10.244.0.2', containerPort: 53 }],
  ],
  [
    'has several containers',
    web([], {
      containers: [
        { name: 'main', image: 'app:1' },
        { name: 'side', image: 'app:1', ports: [plain] },
      ],
    }),
    [all],
    [led],
  ],
  ['runs', web([plain], {}, { phase: 'Running' }), [all], [led]],
  ['is in the host’s network', web([plain], { hostNetwork: true }), [], []],
  ['has no address yet', web([plain], {}, { podIP: undefined }), [all], []],
  ['has succeeded', web([plain], {}, { phase: 'Succeeded' }), [all], []],
  ['has failed', web([plain], {}, { phase: 'Failed' }), [all], []],
] as const) {
  test(`a pod that ${what} requests ${wanted.length} host ports, and ${leads.length} are forwarded to it`, () => {
    assert.deepEqual(wantedPortsOf(pod), wanted);
    assert.deepEqual(hostPortsOf(pod), leads);
  });
}

test('a pod without a status has no forwarded ports', () => {
  const { status: _, ...pod } = web([plain]);
  assert.deepEqual(hostPortsOf(pod), []);
});
