/**
 * The built file is killed again and again while it installs, upgrades, goes back, restores and removes a
 * master on a machine with OpenRC: before or after a later one of its effects each time, until it ends by
 * itself. The machine is then as if the command had never been killed.
 */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestOfFile } from '../../src/installation/machine-facts.ts';
import { systemExec } from '../../src/os/exec.ts';
import { SeededRandom } from '../fixtures/seeded-random.ts';
import { executable } from './harness/cluster.ts';
import { Hosts } from './harness/hosts.ts';
import { OpenrcMachine } from './harness/openrc-machine.ts';
import { writeOtherVersion } from './harness/other-version.ts';
import { waitFor } from './harness/wait-for.ts';

const patient = { timeoutMs: 300_000 };
/** Lists what the commands change, except for logs and the content of the data directory. */
const listing = `
  find /etc /usr/local /var/log -not -path '/var/log/*.log' -printf '%M %u:%g %p %l\\n' | sort
  for path in /var/lib/minik8s /var/backups; do
    [ ! -e $path ] || find $path -maxdepth 1 -not -name '*.before-restore-*' -printf '%M %u:%g %p\\n' | sort
  done
  for path in /etc/minik8s/master.yaml /etc/init.d/minik8s /usr/local/bin/minik8s*; do
    [ ! -e $path ] || sha256sum $path
  done`;
const pid = 'cat /run/openrc/options/minik8s/child_pid';

/** Returns the lines that only one of the listings has. */
const differences = (was: string, is: string) => {
  const [before, now] = [was.split('\n'), is.split('\n')];
  const gone = before.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  return [...gone, ...now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`)];
};

test('commands that are killed at their effects, and repeated, end as if they had not been killed', {
  timeout: 900_000,
}, async (context) => {
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 1, { docker: false });
  try {
    const machine = await OpenrcMachine.start(hosts.at(0));
    const { shared } = machine;
    const run = (script: string) => machine.run(script, patient);
    copyFileSync(executable, join(shared, 'minik8s'));
    await writeOtherVersion(join(shared, 'next'), 'x');
    const [own, next] = await Promise.all([executable, join(shared, 'next')].map(digestOfFile));
    const version = (await systemExec(executable, ['version'])).stdout;
    const source = join(import.meta.dirname, 'harness/kill-at.c');
    await systemExec('gcc', ['-shared', '-fPIC', '-O1', '-o', join(shared, 'kill-at.so'), source]);

    /**
     * Runs the command until it ends by itself, or until `isDone` after a kill: a return that was complete
     * would go forward again. `steps`: maximum number of effects between two kills, at first. Resolves to the
     * last output; rejects if the command has failed, or was killed fewer than three times.
     */
    async function untilDone(command: string, steps: number, isDone = async () => false): Promise<string> {
      const random = new SeededRandom(28);
      for (let at = 1, kills = 0; ; at += 1 + random.below(steps + at / 6), kills++) {
        const variables = `KILL_AT=${at} ${random.below(2) === 1 ? 'KILL_AFTER=1 ' : ''}`;
        // A pipe: a write to a file would be an effect.
        const out = await run(
          `set +e; { ${variables}LD_PRELOAD=/mnt/kill-at.so ${command}; echo "status $?"; } 2>&1 | cat`,
        );
        const [, status] = /^status (\d+)$/m.exec(out) ?? [];
        if (status === '137' && !(await isDone())) continue;
        assert.match(status ?? '', /^(?:0|137)$/, out);
        assert.ok(kills >= 3, `${command} was killed ${kills} times`);
        return out;
      }
    }
    const files = () => run(listing);
    const record = async () => {
      const { created, ...others } = JSON.parse(await run('cat /etc/minik8s/installed.json'));
      return { ...others, created: created.sort() };
    };
    const configMap = (verb: string) => run(`minik8s ctl ${verb} configmap kept`);
    const digests = async () => {
      const out = await run(
        `sha256sum /usr/local/bin/minik8s /usr/local/bin/minik8s.old /proc/$(${pid})/exe | cut -d' ' -f1`,
      );
      const [installed, kept, running] = out.split('\n');
      return { installed, kept, running };
    };

    const install = '/mnt/minik8s install master --yes';
    const bare = await files();
    await run(install);
    const [whole, wholeRecord] = [await files(), await record()];
    await run('/mnt/minik8s uninstall --yes');
    assert.deepEqual(differences(bare, await files()), []);

    await context.test('an installation makes the same files, and the same record', async () => {
      assert.match(await untilDone(install, 5), /^minik8s is ready; kubeconfig of root: /m);
      assert.deepEqual(differences(whole, await files()), []);
      assert.deepEqual(await record(), wholeRecord);
      assert.match(await run(install), /nothing to do/);
      await configMap('create');
    });

    await context.test('an upgrade runs the new version, and keeps the former one', async () => {
      await untilDone('minik8s upgrade --yes --no-backup --file /mnt/next', 5);
      assert.deepEqual(await digests(), { installed: next, kept: own, running: next });
      assert.equal(await run('ls /usr/local/bin'), 'minik8s\nminik8s.old\n');
    });

    await context.test('a return runs the former version, and keeps the one that it replaced', async () => {
      // The last step has renamed the replaced file; a draft that a kill has left goes with the next command.
      const isBack = async () =>
        (await run('cd /usr/local/bin; [ ! -e minik8s.replaced ] || echo left; minik8s version')) === version;
      await untilDone('minik8s upgrade --yes --no-backup --back', 5, isBack);
      assert.deepEqual(await digests(), { installed: own, kept: next, running: own });
    });

    await context.test('a restoration has the objects of the backup, and leaves no drafts', async () => {
      await run('minik8s backup create --dir /root/backups');
      await configMap('delete');
      await run('minik8s stop');
      const before = await files();
      await untilDone('minik8s backup restore --replace /root/backups/*.zst', 5);
      assert.deepEqual(differences(before, await files()), []);
      await run('rc-service minik8s start');
      await waitFor('the object of the backup', () => configMap('get').then(() => true), patient);
    });

    await context.test('a removal leaves nothing behind', async () => {
      // Killed after its last effect, it has nothing left to remove, which another one reports as an error.
      const isGone = async () => (await run('[ -e /etc/minik8s ] || echo gone')) === 'gone\n';
      await untilDone('/mnt/minik8s uninstall --yes', 2, isGone);
      assert.deepEqual(differences(bare, await files()), []);
      // A draft of the record, by a process that no longer runs.
      await run('mkdir /etc/minik8s; echo x >/etc/minik8s/installed.json.minik8s-4999999-0');
      assert.match(await run('/mnt/minik8s uninstall --yes'), /removed \/etc\/minik8s, which was empty/);
      assert.deepEqual(differences(bare, await files()), []);
    });
  } finally {
    for (const close of closers) await close();
  }
});
