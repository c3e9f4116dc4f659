/** Places that are full or read-only, on a machine with OpenRC: one line, and nothing is half done. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { executable } from './harness/cluster.ts';
import { Hosts } from './harness/hosts.ts';
import { OpenrcMachine } from './harness/openrc-machine.ts';
import { writeOtherVersion } from './harness/other-version.ts';

const patient = { timeoutMs: 300_000 };
const listing = "find /etc /usr/local /var/log -printf '%M %u:%g %p %l\\n' | sort";
const full = 'cannot be changed: its file system is full (ENOSPC): make room there';
const readOnly = 'cannot be changed: its file system is read-only (EROFS): make it writable';

test('a place that cannot be changed is named in one line, and nothing is half done', {
  timeout: 600_000,
}, async (context) => {
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 1, { docker: false });
  try {
    const machine = await OpenrcMachine.start(hosts.at(0));
    const run = (script: string) => machine.run(script, patient);
    /** Resolves to the lines of standard error of a command that fails. */
    const failing = async (command: string) => {
      const out = await run(`${command} 2>&1 >/dev/null && echo SUCCEEDED || true`);
      return out.trimEnd().split('\n');
    };
    copyFileSync(executable, join(machine.shared, 'minik8s'));
    await writeOtherVersion(join(machine.shared, 'next'), 'x');
    const install = '/mnt/minik8s install master --yes';
    const fill = (path: string) =>
      `mkdir -p ${path} && mount -t tmpfs -o size=64k tmpfs ${path} && (cat /dev/zero >${path}/full || true) 2>/dev/null`;
    const bare = await run(listing);

    await context.test(
      'an installation on a full /etc/minik8s names the record, and changes nothing',
      async () => {
        await run(fill('/etc/minik8s'));
        assert.deepEqual(await failing(install), [`error: /etc/minik8s/installed.json ${full}`]);
        await run('umount /etc/minik8s && rmdir /etc/minik8s');
        assert.equal(await run(listing), bare);
      },
    );

    for (const [place, path] of Object.entries({
      '/etc/runlevels': '/etc/runlevels/default/minik8s',
      '/etc/init.d': '/etc/init.d/minik8s',
      '/usr/local': '/usr/local/bin/minik8s',
    }))
      await context.test(
        `an installation with a read-only ${place} names the path there, and changes nothing`,
        async () => {
          await run(`mount --bind ${place} ${place} && mount -o remount,bind,ro ${place}`);
          assert.deepEqual(await failing(install), [`error: ${path} ${readOnly}`]);
          await run(`umount ${place}`);
          assert.equal(await run(listing), bare);
        },
      );

    await context.test(
      'an upgrade with a full /etc/minik8s names the record, and leaves the version that runs',
      async () => {
        await run(install);
        await run(
          `cp -a /etc/minik8s /root/ && ${fill('/etc/minik8s')}; head -c 1 /dev/zero >/etc/minik8s/full`,
        );
        await run(
          'cp -a /root/minik8s/. /etc/minik8s/ && (cat /dev/zero >/etc/minik8s/full2 || true) 2>/dev/null',
        );
        const version = (await run('minik8s version')).trim();
        assert.deepEqual(await failing('minik8s upgrade --yes --no-backup --file /mnt/next'), [
          `error: keep the installed file as /usr/local/bin/minik8s.old: /etc/minik8s/installed.json ${full}; ` +
            `${version} is installed and runs, as before`,
        ]);
        await run('umount /etc/minik8s');
        assert.equal(await run('ls /usr/local/bin'), 'minik8s\n');
      },
    );

    await context.test(
      'a removal with a read-only /etc/runlevels names the link, and leaves the service running',
      async () => {
        await run('mount --bind /etc/runlevels /etc/runlevels && mount -o remount,bind,ro /etc/runlevels');
        const before = await run(listing);
        assert.deepEqual(await failing('minik8s uninstall --yes'), [
          `error: /etc/runlevels/default/minik8s ${readOnly}`,
        ]);
        assert.equal(await run(listing), before);
        await run('minik8s ctl get --raw /readyz');
        await run('umount /etc/runlevels && minik8s uninstall --yes');
        assert.equal(await run(listing), bare);
      },
    );
  } finally {
    for (const close of closers) await close();
  }
});
