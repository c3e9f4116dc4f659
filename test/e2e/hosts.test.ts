/** The hosts that other tests use: their guarantees, and their complete removal. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { Hosts } from './harness/hosts.ts';
import { waitFor } from './harness/wait-for.ts';

test('three hosts on one link reach one another, can be cut off, and are removed completely', async () => {
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 3, { images: [] });
  try {
    const reaches = (from: number, address: string) =>
      hosts
        .at(from)
        .run('busybox', 'ping', '-c', '1', '-W', '1', address)
        .then(
          () => true,
          () => false,
        );
    const [first, second, third] = hosts.all.map(({ address }) => address);
    assert.ok(first && second && third);
    assert.ok(await reaches(0, second));
    assert.ok(await reaches(2, first));
    assert.ok(await reaches(1, hosts.outside));
    await systemExec('busybox', ['ping', '-c', '1', '-W', '1', third]);

    await hosts.cut(hosts.at(1));
    assert.equal(await reaches(0, second), false);
    assert.equal(await reaches(1, hosts.outside), false);
    assert.ok(await reaches(0, third));
    await hosts.heal(hosts.at(1));
    await waitFor('the reconnected host', () => reaches(0, second));
  } finally {
    for (const close of closers) await close();
  }
  for (const { name, directory } of hosts.all) {
    assert.equal(existsSync(`/run/netns/${name}`), false);
    assert.equal(existsSync(directory), false);
  }
});
