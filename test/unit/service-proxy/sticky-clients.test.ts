import assert from 'node:assert/strict';
import { it } from 'node:test';
import { elementsIn } from '../../../src/service-proxy/sticky-clients.ts';

it('clients, their remaining times and their endpoints are read from the output of nft', () => {
  const text = `table ip minik8s-proxy {
	map sticky-clients {
		type ipv4_addr . ipv4_addr . inet_proto . inet_service : mark
		size 65536
		flags dynamic,timeout
		elements = { 10.2.0.1 . 10.9.0.1 . tcp . 80 timeout 3h expires 2h59m58s992ms : 0x4d800009,
			     10.2.0.3 . 10.9.0.1 . tcp . 80 expires 2h59m58s : 0x4d80000b,
			     10.2.0.2 . 10.9.0.1 . 132 . 80 timeout 3s expires 4ms : 0x4e80000a }
	}
}
`;
  assert.deepEqual(elementsIn(text), [
    '10.2.0.1 . 10.9.0.1 . tcp . 80 timeout 3h expires 2h59m58s992ms : 0x4d800009',
    '10.2.0.3 . 10.9.0.1 . tcp . 80 expires 2h59m58s : 0x4d80000b',
    '10.2.0.2 . 10.9.0.1 . 132 . 80 timeout 3s expires 4ms : 0x4e80000a',
  ]);
  const hashed = `\telements = { 0x00000000 timeout 3h expires 2h59m58s992ms : 0x4d800009,
\t\t     0x8f2a0c11 timeout 3s expires 4ms : 0x4e80000a }`;
  assert.deepEqual(elementsIn(hashed), [
    '0x00000000 timeout 3h expires 2h59m58s992ms : 0x4d800009',
    '0x8f2a0c11 timeout 3s expires 4ms : 0x4e80000a',
  ]);
  assert.deepEqual(elementsIn('table ip minik8s-proxy {\n\tmap sticky-clients {\n\t}\n}\n'), []);
});
