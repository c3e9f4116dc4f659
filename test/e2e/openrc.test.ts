/** A cluster is installed on a machine with OpenRC, restarted, killed, stopped, upgraded and removed. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stepsOf } from '../vm/page-steps.ts';
import { executable } from './harness/cluster.ts';
import { Hosts } from './harness/hosts.ts';
import { helloImage } from './harness/images.ts';
import { OpenrcMachine } from './harness/openrc-machine.ts';
import { writeOtherVersion } from './harness/other-version.ts';
import { waitFor } from './harness/wait-for.ts';

const patient = { timeoutMs: 300_000 };
const containers = `docker ps -q --no-trunc --filter ancestor=${helloImage} | sort`;
/** Files, links and directories, without what Docker and OpenRC itself change. */
const skipped = [
  '/proc',
  '/sys',
  '/run',
  '/tmp',
  '/root',
  '/mnt',
  '/dev',
  '/var/lib/docker',
  '/var/lib/containerd',
];
const prune = skipped.map((path) => `-path ${path}`).join(' -o ');
const listing = `find / \\( ${prune} \\) -prune -o -printf '%M %u:%g %p %l\\n' | sort`;

/** The commands of docs/install.md that start pods. */
const [pods] = stepsOf('install.md', 'Pods');

test('a cluster is installed on a machine with OpenRC, and removed without a trace', {
  timeout: 900_000,
}, async (context) => {
  assert.ok(pods);
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 1, { docker: false });
  try {
    const machine = await OpenrcMachine.start(hosts.at(0));
    const { run } = { run: machine.run.bind(machine) };
    copyFileSync(executable, join(machine.shared, 'minik8s'));
    // bin/make-images of the samples makes its image from it.
    copyFileSync('/bin/busybox', join(machine.shared, 'busybox'));
    await run('cp /mnt/busybox /usr/bin/');
    await run('touch /var/log/docker.log && rc-update --quiet add docker default && rc-service docker start');
    await waitFor('dockerd', () => run('docker version').then(() => true), { timeoutMs: 60_000 });
    const before = await run(listing, patient);

    await context.test('an installation on a full disk says in one line where room is missing', async () => {
      await run('mount -t tmpfs -o size=1m tmpfs /usr/local/bin');
      const out = await run('/mnt/minik8s install up --yes --restart-hold 25s 2>&1 || true', patient);
      assert.match(
        out,
        /^error: \/usr\/local\/bin\/minik8s cannot be changed: its file system is full \(ENOSPC\): make room there$/m,
      );
      assert.equal(await run('ls /usr/local/bin'), '');
      await run('umount /usr/local/bin');
    });

    await context.test(
      'the first installation starts the service, and the second changes nothing',
      async () => {
        const out = await run('/mnt/minik8s install up --yes --restart-hold 25s', patient);
        assert.match(
          out,
          /^ {2}enable the service minik8s, so that it starts at every boot\n {2}start the service minik8s$/m,
        );
        assert.match(out, /^minik8s is ready; kubeconfig of root: /m);
        assert.match(await run('rc-service minik8s status'), /status: started/);
        assert.match(await run('rc-update show default'), /minik8s/);
        const again = await run('/mnt/minik8s install up --yes --restart-hold 25s', patient);
        // A kernel may contain a module without listing it; then the installation loads the module again.
        const steps = again.split('\n').filter((line) => line.startsWith('  '));
        assert.deepEqual(
          steps.filter((line) => !line.startsWith('  load the kernel modules')),
          [],
        );
      },
    );

    await context.test('status and logs recognize the service', async () => {
      await run('minik8s ctl wait --for=condition=Ready node/openrc --timeout=60s', patient);
      const status = await run('minik8s status');
      assert.match(status, /of the service minik8s/);
      assert.match(status, /\/var\/log\/minik8s\/minik8s\.log/);
      assert.notEqual((await run('minik8s logs --tail 3')).trim(), '');
    });

    await context.test('a restart, and a kill of the process, leave the pods running', async () => {
      await run(pods.script, patient);
      const running = await run(containers);
      assert.notEqual(running, '');
      await run('rc-service minik8s restart', patient);
      await run('minik8s ctl get nodes');
      assert.equal(await run(containers), running);
      const pid = 'cat /run/openrc/options/minik8s/child_pid';
      const killed = await run(pid);
      await run(`kill -9 ${killed}`);
      await waitFor(
        'the next process',
        async () =>
          (await run(pid)) !== killed &&
          (await run('minik8s ctl get nodes').then(
            () => true,
            () => false,
          )),
        patient,
      );
      assert.equal(await run(containers), running);
    });

    await context.test('a stop ends the service, and connections are refused at once', async () => {
      const running = await run(containers);
      const out = await run('minik8s stop', patient);
      assert.match(out, /start it again: rc-service minik8s start/);
      assert.doesNotMatch(await run('nft list tables'), /minik8s-restart/);
      assert.equal(await run(containers), running);
      assert.match(await run('minik8s status || [ $? = 3 ]'), /rc-service minik8s start/);
      await run('rc-service minik8s start', patient);
      await run('minik8s ctl get nodes');
    });

    await context.test(
      'wrong settings are reported with key and line, until they are corrected',
      async () => {
        const file = '/etc/minik8s/master.yaml';
        await run(
          `cp ${file} /root/kept.yaml && echo 'prot: 1' >>${file} && rc-service minik8s restart`,
          patient,
        );
        const error = /\/etc\/minik8s\/master\.yaml: line \d+: prot: no such setting \(did you mean port\?\)/;
        const pid = await run('cat /run/openrc/options/minik8s/child_pid');
        assert.match(
          await run('minik8s status || [ $? = 3 ]', patient),
          new RegExp(`^  last error ${error.source}$`, 'm'),
        );
        // Neither ended nor started again.
        assert.equal(await run(`kill -0 ${pid} && cat /run/openrc/options/minik8s/child_pid`), pid);
        assert.match(await run('cat /var/log/minik8s/output.log'), new RegExp(`^error: ${error.source}\n$`));
        await run(`cat /root/kept.yaml >${file}`);
        await waitFor(
          'the start',
          () =>
            run('minik8s ctl get nodes').then(
              () => true,
              () => false,
            ),
          patient,
        );
      },
    );

    await context.test(
      'an upgrade replaces the file, and a version that does not start is replaced by the previous one',
      async () => {
        const next = await writeOtherVersion(join(machine.shared, 'next'), 'x');
        const upgrade = 'minik8s upgrade --yes --no-backup --file /mnt/next';
        // A second upgrade would keep the file of the first one as the former version.
        assert.match(
          await run(`flock /run/minik8s-install.lock ${upgrade} 2>&1 || true`, patient),
          /^error: another process installs, upgrades or removes minik8s on this machine/m,
        );
        await run('test ! -e /usr/local/bin/minik8s.old');
        await run(upgrade, patient);
        assert.equal((await run('minik8s version')).trim(), next);
        await writeOtherVersion(join(machine.shared, 'bad'), 'y', { 'restart-hold': 'restart-hald' });
        const failed = await run('minik8s upgrade --yes --no-backup --file /mnt/bad 2>&1 || true', patient);
        assert.match(failed, /minik8s did not start: .*restart-hold/);
        assert.ok(failed.includes(`${next} is installed and runs, as before`), failed);
      },
    );

    await context.test('an uninstallation leaves nothing behind', async () => {
      await run('mount --bind /usr/local/bin /usr/local/bin && mount -o remount,bind,ro /usr/local/bin');
      assert.match(
        await run('minik8s uninstall --yes 2>&1 || true', patient),
        /^error: \/usr\/local\/bin\/minik8s\S* cannot be changed: its file system is read-only \(EROFS\): make it writable$/m,
      );
      await run('umount /usr/local/bin');
      assert.match(await run('rc-service minik8s status'), /status: started/, 'nothing was removed');
      await run('minik8s uninstall --yes', patient);
      const [was, is] = [before.split('\n'), (await run(listing, patient)).split('\n')];
      assert.deepEqual(
        is.filter((entry) => !was.includes(entry)),
        [],
        'more than before',
      );
      assert.deepEqual(
        was.filter((entry) => !is.includes(entry)),
        [],
        'less than before',
      );
      assert.equal(await run('docker ps -aq'), '');
    });
  } finally {
    for (const close of closers) await close();
  }
});
