/** Masters with the embedded etcd that are removed, that leave, or of which only one remains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyKubectl } from '../fixtures/kubectls.ts';
import { endOf } from './harness/end-of.ts';
import { Hosts } from './harness/hosts.ts';
import { JoinedMaster } from './harness/joined-masters.ts';
import { endpoints } from './harness/masters.ts';
import { waitFor } from './harness/wait-for.ts';

test('masters are removed, leave, and the last one continues alone when two are lost', async (context) => {
  const hosts = await Hosts.start(context, 3, { docker: false });
  const [a, b, c] = [0, 1, 2].map((index) => new JoinedMaster(hosts, index));
  assert.ok(a && b && c);
  await a.startWith(undefined);
  await b.startWith(await a.invite());
  await c.startWith(await a.invite());
  const at = (master: JoinedMaster) => ['--data-dir', master.dataDir];
  const refused = async (master: JoinedMaster, ...args: string[]) => {
    const { code, stderr } = await master.minik8s(...args, ...at(master));
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^error: [^\n]+\n$/);
    return stderr;
  };
  const names = async (master: JoinedMaster) =>
    (await master.list()).map((line) => line.split(' ')[0]).sort();
  await waitFor('three voters', async () => (await a.list()).every((line) => / voter +yes/.test(line)));

  await context.test(
    'a removal that would leave no majority is rejected, as is the removal of the master itself',
    async () => {
      assert.match(await refused(a, 'masters', 'remove', 'm1'), /is the master of this machine/);
      assert.match(await refused(a, 'masters', 'remove', 'm9'), /there is no master m9: the masters are/);
      await c.role.end('SIGKILL');
      assert.match(await refused(a, 'masters', 'remove', 'm2'), /without m2, 1 of 2 .* start m3 first/);
      b.configure(undefined);
      await c.startWith(undefined);
    },
  );

  await context.test('a removed master ends with one line, and joins again', async () => {
    const { stdout, stderr } = await a.minik8s('masters', 'remove', 'm3', ...at(a));
    assert.match(stdout, /^master m3 removed/, stderr);
    await waitFor('two masters', async () => (await names(a)).join() === 'm1,m2');
    await c.role.end('SIGTERM');
    await assert.rejects(
      c.role.start(/never/),
      /error: this master was removed from the cluster: stop it, and join/,
    );
    await c.startWith(await b.invite());
    assert.deepEqual(await names(c), ['m1', 'm2', 'm3']);
  });

  await context.test('a master that is reset leaves the cluster', async () => {
    await waitFor('three voters', async () => (await a.list()).every((line) => / voter +yes/.test(line)));
    await c.role.end('SIGTERM');
    const { stdout, stderr } = await c.minik8s('reset', '--yes', ...at(c));
    assert.match(stdout, /this master has left the other masters/, stderr);
    assert.deepEqual(await names(a), ['m1', 'm2']);
    await c.startWith(await a.invite());
  });

  await context.test('a master that is cut off is not ready, and its readyz reports the reason', async () => {
    const raw = ['--kubeconfig', `${c.dataDir}/admin.conf`, 'get', '--raw', '/readyz'];
    const readyz = async () => {
      const { stdout, stderr } = await endOf(hosts.at(2).command(anyKubectl(), raw));
      return stdout + stderr;
    };
    await hosts.cut(hosts.at(2));
    await waitFor('the reason', async () =>
      /\[-\]etcd failed: .*no contact with a majority of the masters/.test(await readyz()),
    );
    await a.kubectl('create', 'configmap', 'meanwhile');
    await hosts.heal(hosts.at(2));
    await waitFor('readyz', async () => (await readyz()).startsWith('ok'));
    await c.kubectl('get', 'configmap', 'meanwhile');
  });

  await context.test(
    'after two masters are lost, the third continues alone, and the others join it again',
    async () => {
      await a.kubectl('create', 'configmap', 'kept');
      await c.kubectl('get', 'configmap', 'kept');
      await Promise.all([a, b, c].map((master) => master.role.end('SIGKILL')));
      assert.match(await refused(c, 'reset', '--yes'), /cannot leave the others .* give --force/);
      const recovered = await c.minik8s('recover', '--from-this-master', '--yes', ...at(c));
      assert.equal(recovered.code, 0, recovered.stderr);
      assert.match(recovered.stdout, /leaving the cluster: m1 \(https:\S+\), m2 /);
      await c.startWith(undefined);
      await c.kubectl('get', 'configmap', 'kept');
      assert.match((await c.list()).join(), /^minik8s +\S+ +voter +yes +unix/);
      await a.startWith(await c.invite());
      await b.startWith(await c.invite());
      assert.deepEqual(await names(b), ['m1', 'm2', 'm3']);
      await waitFor('three endpoints', async () => (await endpoints(a)).length === 3);
      await a.kubectl('get', 'configmap', 'kept');
      assert.match(
        await refused(c, 'recover', '--from-this-master', '--yes'),
        /is used by minik8s with process id/,
      );
      await a.role.end('SIGTERM');
      assert.match(await refused(a, 'recover', '--from-this-master', '--yes'), /the master m[23] answers at/);
    },
  );
});
