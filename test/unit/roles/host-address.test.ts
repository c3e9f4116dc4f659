/** The address of this machine towards a master. */
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { addressTowards, hostAddress } from '../../../src/roles/host-address.ts';

const own = () =>
  Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);

test('the address towards a name that cannot be resolved is one of this machine, not 0.0.0.0', async () => {
  const address = await addressTowards('no-such-host.invalid');
  assert.equal(address, await hostAddress());
  assert.ok(own().includes(address), address);
});

test('the address towards this machine itself is the one at which other machines reach it', async () => {
  assert.equal(await addressTowards('127.0.0.1'), await hostAddress());
});
