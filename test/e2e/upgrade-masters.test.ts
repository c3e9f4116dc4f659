/**
 * Three masters with the embedded etcd, installed as services: one command on the first upgrades all, one by
 * one, while a client writes; a version that does not start on another master is replaced there by the
 * previous one.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { BareMachine } from './harness/bare-machine.ts';
import { executable } from './harness/cluster.ts';
import { Hosts } from './harness/hosts.ts';
import { writeOtherVersion } from './harness/other-version.ts';
import { standInForSystemd } from './harness/stand-in-systemd.ts';

const patient = { timeoutMs: 300_000 };
const versionsScript = `minik8s ctl get leases -n kube-system -l apiserver.kubernetes.io/identity -o jsonpath='{range .items[*]}{.metadata.annotations.minik8s\\.io/version}{"\\n"}{end}'`;
/**
 * Returns a script that writes an object every half second, to the first master that accepts it, until a
 * file appears, and prints each write that no master accepts. A write whose answer was lost counts as
 * accepted.
 */
const writerTo = (addresses: readonly string[]) => `
write() {
  for address in ${addresses.join(' ')}; do
    minik8s ctl --server https://$address:6443 create configmap written-$1 && return
    minik8s ctl --server https://$address:6443 get configmap written-$1 && return
  done
  return 1
}
n=0
until [ -e /var/tmp/enough ]; do
  n=$((n + 1))
  write $n >/dev/null 2>>/var/tmp/messages || { echo "write $n failed"; cat /var/tmp/messages; } >>/var/tmp/failures
  sleep 0.5
done
echo $n >/var/tmp/written`;

test('one command upgrades three masters, one after the other', { timeout: 900_000 }, async (context) => {
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 3, { docker: false });
  try {
    const machines = await Promise.all(
      hosts.all.map((host, index) => BareMachine.start(`vm${index + 1}`, host)),
    );
    const [first, second, third] = machines;
    assert.ok(first && second && third);
    const directory = hosts.at(0).directory;
    const older = (await first.run(`${executable} version`)).stdout.trim();
    await Promise.all(machines.map((machine) => standInForSystemd(machine)));
    await first.run(`${executable} install master --yes`, patient);
    for (const machine of [second, third]) {
      const asked = 'minik8s token create --master --print-install-command';
      const line = (await first.run(asked, patient)).stdout.trim();
      await machine.run(`${line.replace('./minik8s', executable)} --yes`, patient);
    }
    const versions = async () => (await first.run(versionsScript, patient)).stdout.trim().split('\n');
    assert.deepEqual(await versions(), [older, older, older]);
    const put = async (letter: string, renames: Readonly<Record<string, string>> = {}) => {
      const path = join(directory, `minik8s-${letter}`);
      const version = await writeOtherVersion(path, letter, renames);
      await first.run(`cp ${path} /var/tmp/minik8s-new`);
      return version;
    };
    const upgrade = 'minik8s upgrade --file /var/tmp/minik8s-new --nodes --yes';

    await context.test('all masters have the new version, and every write was accepted', async () => {
      const next = await put('x');
      const writer = writerTo(hosts.all.map(({ address }) => address));
      await first.run(`(${writer}) </dev/null >/dev/null 2>&1 & disown`);
      const { stdout } = await first.run(`${upgrade}; touch /var/tmp/enough`, patient);
      const served = [...stdout.matchAll(/^master (\S+): serves with (\S+)$/gm)];
      assert.equal(served.length, 2, stdout);
      assert.deepEqual(await versions(), [next, next, next]);
      for (const machine of machines)
        assert.equal((await machine.run('minik8s version')).stdout.trim(), next);
      const written = 'until [ -e /var/tmp/written ]; do sleep 0.1; done; cat /var/tmp/written';
      assert.ok(Number((await first.run(written, patient)).stdout) > 5);
      assert.equal((await first.run('cat /var/tmp/failures 2>/dev/null || true')).stdout, '');
    });

    await context.test(
      'a version that does not start on another master is replaced there by the previous version',
      async () => {
        const before = (await second.run('minik8s version')).stdout.trim();
        // The second master alone has a setting that the next version does not know.
        await second.run('echo "max-requests-inflight: 300" >>/etc/minik8s/master.yaml');
        const next = await put('y', { 'max-requests-inflight': 'max-requests-inflighs' });
        const { stdout } = await first.run(`set +e; ${upgrade} 2>&1; echo "ended with $?"`, patient);
        assert.match(stdout, /^error: master \S+ was not upgraded: restart the service minik8s/m);
        assert.match(stdout, /ended with 1$/m);
        assert.deepEqual((await versions()).toSorted(), [before, before, next].toSorted());
        assert.equal((await second.run('minik8s version')).stdout.trim(), before);
      },
    );
  } finally {
    for (const close of closers) await close();
  }
});
