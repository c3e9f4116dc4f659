/**
 * Masters that join at the same time, under a used name, or with a former disk, and the removal of the
 * leader.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { test } from 'node:test';
import { Hosts } from './harness/hosts.ts';
import { JoinedMaster } from './harness/joined-masters.ts';
import { holderAt, podsOf } from './harness/masters.ts';
import { waitFor } from './harness/wait-for.ts';

test('several masters can join at the same time, each name joins once, and the leader can be removed', async (context) => {
  const hosts = await Hosts.start(context, 4, { docker: false });
  const [a, b, c] = [0, 1, 2].map((index) => new JoinedMaster(hosts, index));
  assert.ok(a && b && c);
  await a.startWith(undefined);
  const ids = async () => (await a.list()).map((line) => line.split(/ +/).slice(0, 2).join(' ')).sort();

  await context.test('two masters join at the same time with the same command', async () => {
    const line = await a.invite();
    await Promise.all([b.startWith(line), c.startWith(line)]);
    await a.untilAllVote(3);
    assert.match(b.role.log + c.role.log, /waiting to join the masters reason="[^"]* is joining/);
  });

  await context.test('a machine cannot join under the name of a master that runs', async () => {
    const before = await ids();
    const twin = new JoinedMaster(hosts, 3, 'm2');
    await assert.rejects(
      twin.startWith(await a.invite()),
      /a master with the name m2 runs at https:\S+: give/,
    );
    assert.deepEqual(await ids(), before);
    await b.kubectl('create', 'configmap', 'after-the-twin');
  });

  await context.test(
    'the former disk of a master that joined again with an empty disk is rejected',
    async () => {
      await c.kill();
      const former = `${c.dataDir}.former`;
      const isFile = (path: string) => !/^(client|peer):0$|\.sock$/.test(basename(path));
      cpSync(c.dataDir, former, { recursive: true, filter: isFile });
      await rm(c.dataDir, { recursive: true });
      await c.startWith(await a.invite());
      await a.untilAllVote(3);
      const before = await ids();
      await c.kill();
      await rm(c.dataDir, { recursive: true });
      cpSync(former, c.dataDir, { recursive: true });
      await assert.rejects(
        c.startWith(undefined),
        /error: this master was removed from the cluster: stop it/,
      );
      assert.deepEqual(await ids(), before);
      await c.startWith(await b.invite());
      await a.untilAllVote(3);
      await c.kubectl('get', 'configmap', 'after-the-twin');
    },
  );

  await context.test(
    'writes and controllers continue at the other masters after the leader is removed',
    async () => {
      const identity = await holderAt(b);
      const leader = [a, b, c].find((master) => master.identity === identity);
      const others = [a, b, c].filter((master) => master !== leader);
      const [other] = others;
      assert.ok(leader && other);
      const removed = await other.minik8s('masters', 'remove', leader.name, '--data-dir', other.dataDir);
      assert.match(removed.stdout, new RegExp(`^master ${leader.name} removed`), removed.stderr);
      await waitFor(
        'a write',
        async () =>
          (await other.kubectl.attempt(['create', 'deployment', 'web', '--image=none', '--replicas=2']))
            .code === 0,
      );
      await waitFor('its pods', async () => (await podsOf(other, 'web')) === 2);
      await other.untilAllVote(2);
      const { code, stderr } = await leader.kubectl.attempt(['create', 'configmap', 'nowhere']);
      assert.equal(code, 1);
      assert.match(stderr, /this master was removed from the cluster: stop it/);
      await leader.role.end('SIGTERM');
    },
  );
});
