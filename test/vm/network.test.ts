/** Virtual machines of a network reach each other, unless one of them is cut off. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Machine } from './machine.ts';
import { Network } from './network.ts';

it('connects two machines, one of which can be cut off', async () => {
  const network = new Network();
  const start = (name: string, address: string) =>
    Machine.start({ name, cpus: 1, memoryMb: 1024, lan: { network, address: `${address}/24` } });
  await using one = await start('one', '10.77.0.1');
  await using two = await start('two', '10.77.0.2');
  await one.output('ping -c 1 -w 60 10.77.0.2');
  network.cut('two');
  assert.equal((await one.run('ping -c 3 -W 3 10.77.0.2')).status, 1);
  network.mend('two');
  await two.output('ping -c 1 -w 60 10.77.0.1');
});
