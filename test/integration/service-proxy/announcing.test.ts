/**
 * Addresses of the pool in a real local network: a client calls the address while the node that answers for
 * it dies.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { poolLeaseName } from '../../../src/api/core/v1/service/pool-lease.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { removeAnnouncements } from '../../../src/service-proxy/announcing/kernel.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import {
  address,
  address6,
  admin,
  agents,
  answering,
  answers,
  call,
  cluster,
  hardware,
  holder,
  holds,
  inBridge,
  nodeIPs,
  nodeIPv6s,
  offer,
  setEndpoints,
  spaces,
  startAgent,
  startNetwork,
  stopNetwork,
  within,
} from './announcing-network.ts';

/** Removes the Service; resolves when no Lease of an address is left. */
async function removeService(): Promise<void> {
  await admin().resource(serviceResource).delete('web', 'default');
  await admin().resource(endpointSliceResource).delete('web', 'default');
  await waitFor('the Leases are gone', async () => {
    for (const one of [address, address6])
      if (await cluster.get(leaseResource, poolLeaseName(one), 'kube-system'))
        throw new Error(`that of ${one} is still there`);
    return true;
  });
}

before(startNetwork);
after(stopNetwork);

test('one node answers for the address, and no process of that node is reached at it', async () => {
  agents.set('a', startAgent('a'));
  await offer({ externalTrafficPolicy: 'Local' }, ['a']);
  await holds('a');
  await answers('a');
  agents.set('b', startAgent('b'));
  const own = spawn('nsenter', [
    `--net=/run/netns/${spaces.a}`,
    ...[
      process.execPath,
      '-e',
      `require('node:net').createServer((one) => one.end()).listen(2222, '0.0.0.0')`,
    ],
  ]);
  try {
    await waitFor('the process listens', async () => {
      const { stdout } = await within('a')('ss', ['-Hlnt']);
      if (!stdout.includes(':2222')) throw new Error('not yet');
      return true;
    });
    assert.match(await call(2222), /Connection refused|Failed to connect/);
  } finally {
    own.kill('SIGKILL');
  }
  const events = await waitFor('the event', async () => {
    const found = await cluster.list(eventResource, 'default');
    if (!found.some(({ reason }) => reason === 'AddressAnnounced')) throw new Error('none yet');
    return found;
  });
  assert.ok(events.some(({ message }) => message === `node a answers for ${address} on eth0`));
});

test('another machine that begins to use the address is detected by the node that answers', async () => {
  const announcer = agents.get('a')?.announcer;
  assert.deepEqual(await announcer?.rivals(), []);
  const exec = within('client');
  // The client asks as if the address were its own.
  await exec('ip', ['address', 'add', `${address}/32`, 'dev', 'eth0']);
  try {
    await exec('ip', ['neigh', 'flush', 'dev', 'eth0']);
    const asked = ['route', 'replace', `${nodeIPs.a}/32`, 'dev', 'eth0', 'src', address];
    await exec('ip', asked);
    const rivals = await waitFor('the rival', async () => {
      await exec('ip', ['neigh', 'flush', 'dev', 'eth0']);
      await exec('curl', ['--silent', '--max-time', '1', `http://${nodeIPs.a}:9/`]).catch(() => undefined);
      const found = await announcer?.rivals();
      if (!found?.length) throw new Error('none yet');
      return found;
    });
    const { stdout } = await exec('ip', ['-json', 'link', 'show', 'eth0']);
    assert.deepEqual(rivals, [{ address, machine: JSON.parse(stdout)[0].address, service: 'default/web' }]);
    await exec('ip', ['route', 'del', `${nodeIPs.a}/32`, 'dev', 'eth0']);
  } finally {
    await exec('ip', ['address', 'delete', `${address}/32`, 'dev', 'eth0']);
  }
});

test('with the policy Local the address follows the pods', async () => {
  await setEndpoints(['b']);
  await answers('b');
  await holds('b');
  assert.deepEqual(await answering(), [await hardware('b')]);
  await setEndpoints(['a', 'b']);
});

test('the address moves when the agent of its node is killed, and the killed node no longer answers', async (context) => {
  await holds('b');
  agents.get('b')?.kill();
  agents.delete('b');
  const since = performance.now();
  const moved = (await answers('a')) - since;
  context.diagnostic(`moved after the kill of the agent in ${Math.round(moved)} ms`);
  await holds('a');
  assert.deepEqual(await answering(), [await hardware('a')]);
});

test('the kernel of a killed agent that announces the address late does not get it back', async () => {
  const killed = within('b');
  const table = 'arp minik8s-announced';
  // As if the takeover had not silenced this kernel, and the agent had confirmed the address until now.
  const input = `flush set ${table} silenced
    flush set ${table} confirmed
    add element ${table} confirmed { ${address} timeout 3s }
  `;
  const machine = await hardware('b');
  await waitFor('the late announcement', async () => {
    await killed('nft', ['-f', '-'], { input });
    await killed('ip', ['neigh', 'flush', 'to', address, 'dev', 'eth0']);
    await killed('ip', ['neigh', 'replace', address, 'dev', 'eth0', 'use']);
    const rivals = await agents.get('a')?.announcer.rivals();
    if (!rivals?.some((rival) => rival.machine === machine)) throw new Error(JSON.stringify(rivals));
    return true;
  });
  await answers('a');
  await holds('a');
});

test('an agent that starts again does not take the address over, and an agent that stops hands it over', async (context) => {
  agents.set('b', startAgent('b'));
  await waitFor('the address is no longer on the link of b', async () => {
    const { stdout } = await within('b')('ip', ['-4', 'address', 'show', 'dev', 'eth0']);
    if (stdout.includes(address)) throw new Error(stdout);
    return true;
  });
  await answers('a');
  const since = performance.now();
  await agents.get('a')?.stop();
  agents.delete('a');
  const moved = (await answers('b')) - since;
  context.diagnostic(`handed over in ${Math.round(moved)} ms`);
  await holds('b');
});

test('the address moves when its node loses power', async (context) => {
  agents.set('a', startAgent('a'));
  await answers('b');
  agents.get('b')?.kill();
  agents.delete('b');
  await inBridge('ip', ['link', 'set', 'to-b', 'down']);
  const since = performance.now();
  const moved = (await answers('a')) - since;
  context.diagnostic(`moved after the loss of the node in ${Math.round(moved)} ms`);
});

test('an IPv6 address moves with its node, by neighbour advertisements', async (context) => {
  await removeService();
  agents.set('b', startAgent('b'));
  await inBridge('ip', ['link', 'set', 'to-b', 'up']);
  await offer({ externalTrafficPolicy: 'Local', ipFamilies: ['IPv6'] }, ['a'], 'IPv6');
  await holds('a', address6);
  await answers('a', address6);
  assert.deepEqual(await answering(address6), [await hardware('a')]);
  assert.match(await call(22, address6), /Connection refused|Failed to connect/);
  const { stdout } = await within('a')('ip', ['route', 'get', '2001:db8::3']);
  assert.ok(stdout.includes(`src ${nodeIPv6s.a}`), `the machine's own connections: ${stdout}`);
  await setEndpoints(['b'], 'IPv6');
  await holds('b', address6);
  await answers('b', address6);
  await setEndpoints(['a', 'b'], 'IPv6');
  // The client knows the hardware address, and does not ask again: it learns the new one by announcement.
  const known = async () => {
    const { stdout } = await within('client')('ip', ['-json', 'neigh', 'show', address6]);
    return JSON.parse(stdout || '[]')[0]?.lladdr as string | undefined;
  };
  assert.equal(await known(), await hardware('b'));
  agents.get('b')?.kill();
  agents.delete('b');
  const since = performance.now();
  const [own, machine] = [await hardware('a'), await hardware('b')];
  await waitFor(
    'the announcement',
    async () => {
      const found = await known();
      if (found !== own) throw new Error(`${found}, and that of b is ${machine}`);
      return true;
    },
    { intervalMs: 20 },
  );
  context.diagnostic(`announced after the kill of the agent in ${Math.round(performance.now() - since)} ms`);
  await answers('a', address6);
  assert.deepEqual(await answering(address6), [own], 'the killed node is silent');
});

test('a node is silent about an IPv6 address that another machine announces, which is detected', async () => {
  const other = within('b');
  const machine = await hardware('b');
  const table = 'ip6 minik8s-announced';
  const number = '0x20010db8000000000000000000000240';
  // The kernel of the killed agent announces the address once more.
  const input = `flush set ${table} silenced
    flush map ${table} announced
    add element ${table} announced { ${number} timeout 3s : ${address6} }
  `;
  await waitFor('the rival', async () => {
    await other('nft', ['-f', '-'], { input });
    await other('ip', ['neigh', 'flush', 'to', address6, 'dev', 'eth0']);
    await other('ip', ['neigh', 'replace', address6, 'dev', 'eth0', 'use']);
    const rivals = (await agents.get('a')?.announcer.rivals()) ?? [];
    if (!rivals.some((rival) => rival.address === address6 && rival.machine === machine))
      throw new Error(JSON.stringify(rivals));
    return true;
  });
  const { stdout } = await within('a')('nft', ['list', 'set', ...table.split(' '), 'silenced']);
  assert.ok(stdout.includes(address6), stdout);
  await answers('a', address6);
});

test('an address that another machine has is not taken, and the Service has an event with its hardware address', async () => {
  await removeService();
  await waitFor('the address is free', async () => {
    const { stdout } = await within('a')('ip', ['-4', 'address', 'show', 'dev', 'eth0']);
    if (stdout.includes(address)) throw new Error(stdout);
    return true;
  });
  await within('client')('ip', ['address', 'add', `${address}/32`, 'dev', 'eth0']);
  await offer({}, ['a']);
  const message = await waitFor('the event', async () => {
    const found = (await cluster.list(eventResource, 'default')).find(
      ({ reason }) => reason === 'AddressInUse',
    );
    if (!found) throw new Error('none yet');
    return found.message ?? '';
  });
  const { stdout } = await within('client')('ip', ['-json', 'link', 'show', 'eth0']);
  assert.ok(message.includes(JSON.parse(stdout)[0].address), message);
  assert.equal(await holder(), undefined);
  assert.deepEqual(await agents.get('a')?.announcer.rivals(), [
    { address, machine: JSON.parse(stdout)[0].address, service: 'default/web' },
  ]);
});

test('removeAnnouncements removes the addresses and rules that a node has in the kernel', async () => {
  await agents.get('a')?.stop();
  agents.delete('a');
  const stopped = within('a');
  await stopped('ip', [
    ...['address', 'replace', `${address}/32`, 'dev', 'eth0', 'scope', 'host'],
    ...['valid_lft', '60', 'preferred_lft', '60'],
  ]);
  assert.match((await stopped('nft', ['list', 'tables'])).stdout, /minik8s-announced/);
  for (const _ of ['once', 'again']) await removeAnnouncements(stopped);
  assert.doesNotMatch((await stopped('nft', ['list', 'tables'])).stdout, /minik8s-announced/);
  const { stdout } = await stopped('ip', ['-4', 'address', 'show', 'dev', 'eth0']);
  assert.ok(!stdout.includes(address) && stdout.includes(nodeIPs.a), stdout);
});
