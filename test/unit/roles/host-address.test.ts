/** The address of this machine towards a master. */
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { addressTowards, hostAddress } from '../../../src/roles/host-address.ts';

const own = () =>
  Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);

test('for a name that cannot be resolved it is an address of this machine, not 0.0.0.0', async () => {
  const address = await addressTowards('no-such-host.invalid');
  assert.equal(address, await hostAddress());
  assert.ok(own().includes(address), address);
});

test('for this machine itself it is the address at which other machines reach it', async () => {
  assert.equal(await addressTowards('127.0.0.1'), await hostAddress());
});
