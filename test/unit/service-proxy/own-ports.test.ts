import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldPorts } from '../../../src/service-proxy/own-ports.ts';

const output = `tcp   LISTEN 0      128          0.0.0.0:22         0.0.0.0:*
tcp   LISTEN 0      511        127.0.0.1:80         0.0.0.0:*
tcp   LISTEN 0      511       127.0.0.53%lo:53         0.0.0.0:*
tcp   LISTEN 0      511            [::1]:80            [::]:*
tcp   LISTEN 0      511                *:443              *:*
udp   UNCONN 0      0      10.0.0.1%eth0:53         0.0.0.0:*
`;

test('a port is held by a process that listens at an address of the machine, not at a loopback address', () => {
  const wanted = new Set(['tcp . 22', 'tcp . 80', 'tcp . 443', 'udp . 53', 'tcp . 53']);
  assert.deepEqual([...heldPorts(output, wanted)], ['tcp . 22', 'tcp . 443', 'udp . 53']);
  assert.deepEqual([...heldPorts(output, new Set(['tcp . 8080']))], []);
});
