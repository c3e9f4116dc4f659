import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostPortsOf, wantedPortsOf } from '../../../src/kubelet/plan/host-ports.ts';
import { makePod } from './builders.ts';

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
  ['2001:db8::1', []],
];
for (const [hostIP, wanted] of rows) {
  test(`a port of the address ${hostIP} is one of ${JSON.stringify(wanted)} for the kernel`, () => {
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
