/**
 * Detection of a shutdown of the machine, and the signals that the installed unit gets: with a real systemd,
 * which is the first process of namespaces of the test.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { stopBeforeStart } from '../../../src/installation/held-stop.ts';
import { systemdUnit, unitName } from '../../../src/installation/plan/systemd-unit.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { machineIsStopping } from '../../../src/roles/worker/node-life.ts';
import { eventually } from '../../fixtures/eventually.ts';

/**
 * Returns the path of the version 2 control groups of this machine: systemd requires a group of its own
 * there.
 */
function controlGroups(): string {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const path = mounts.map((line) => line.split(' ')).find(([, , type]) => type === 'cgroup2')?.[1];
  assert.ok(path, 'this kernel has no cgroup2 mounted: mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified');
  return path;
}

/** Returns the script that boots one service, which stops only once the file `enough` exists. */
const boot = (directory: string) => `
  set -e
  mount --make-rprivate /
  umount --lazy /sys/fs/cgroup
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  mount -t proc proc /proc
  mount -t tmpfs tmpfs /run
  mkdir -p /run/systemd/system
  cd /run/systemd/system
  echo '[Unit]
DefaultDependencies=no
Conflicts=shutdown.target
Before=shutdown.target
[Service]
ExecStart=/bin/sleep infinity
ExecStop=/bin/sh -c "while ! test -e ${directory}/enough; do sleep 0.1; done"' >slow.service
  echo '[Unit]
Requires=slow.service
After=slow.service' >test.target
  exec env container=test /lib/systemd/systemd --unit=test.target --show-status=0 --log-level=err
`;

let directory: string;
let group: string;
let unshare: ChildProcess;
let booted: string;
/** Runs programs on the machine that systemd runs. */
let exec: Exec;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'minik8s-systemd-'));
  group = join(controlGroups(), `minik8s-test-${process.pid}`);
  const spaces = ['--mount', '--pid', '--fork', '--kill-child', '--uts', '--ipc', '--net', '--cgroup'];
  const script = `mkdir ${group} && echo $$ >${group}/cgroup.procs && exec unshare ${spaces.join(' ')} bash -c "$BOOT"`;
  unshare = spawn('bash', ['-c', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH, BOOT: boot(directory) },
  });
  const first = await eventually(systemClock, 'the first process', async () => {
    assert.equal(unshare.exitCode, null, 'systemd could not be started, see above');
    const child = readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').trim();
    const program = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '');
    return program === 'systemd\n' && child;
  });
  booted = `/proc/${first}/root/run/systemd/system`;
  exec = (file, args, options) =>
    systemExec('nsenter', ['--target', first, '--mount', '--pid', file, ...args], options);
  await eventually(systemClock, 'systemd to run', async () => (await stateOf()) === 'running');
});

after(async () => {
  if (unshare.exitCode === null && unshare.signalCode === null) {
    unshare.kill('SIGKILL');
    await once(unshare, 'exit');
  }
  await eventually(systemClock, 'its control groups to go', () =>
    systemExec('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']).then(
      () => true,
      () => undefined,
    ),
  );
  rmSync(directory, { recursive: true, force: true });
});

/** Returns systemctl's output, whatever its exit status is. */
async function stateOf(): Promise<string> {
  const { stdout } = await exec('sh', ['-c', 'systemctl is-system-running; true']);
  return stdout.trim();
}

/** A program that is ready at once, and that writes each signal that ends it. */
const recorder = () => `#!/bin/bash
trap 'echo SIGINT >>${directory}/signals; exit' INT
trap 'echo SIGTERM >>${directory}/signals; exit' TERM
systemd-notify --ready
while :; do sleep 0.1; done
`;

/** Returns the signals since the last call. */
function signals(): string {
  const path = join(directory, 'signals');
  const text = readFileSync(path, 'utf8').trim();
  rmSync(path);
  return text;
}

test('the installed unit gets SIGTERM in a restart and SIGINT in a stop, unless a start follows the stop', async () => {
  const program = join(directory, 'program');
  writeFileSync(program, recorder(), { mode: 0o755 });
  const [, service = ''] =
    /^(\[Service\]\n[\s\S]*)\[Install\]/m.exec(systemdUnit('master', program, 90)) ?? [];
  // Other units of this machine must not be started here.
  writeFileSync(join(booted, unitName), `[Unit]\nDefaultDependencies=no\n${service}`);
  await exec('systemctl', ['daemon-reload']);
  await exec('systemctl', ['start', unitName]);
  await exec('systemctl', ['restart', unitName]);
  assert.equal(signals(), 'SIGTERM');
  await exec('systemctl', ['stop', unitName]);
  assert.equal(signals(), 'SIGINT');

  await exec('systemctl', ['start', unitName]);
  await stopBeforeStart(exec, join(booted, `${unitName}.d/held.conf`));
  assert.equal(signals(), 'SIGTERM');
  await exec('systemctl', ['start', unitName]);
  await exec('systemctl', ['stop', unitName]);
  assert.equal(signals(), 'SIGINT', 'the setting was for one stop alone');
  const { stdout } = await exec('systemctl', ['show', '--property=Result', '--value', unitName]);
  assert.equal(stdout.trim(), 'success');
});

test('a stopped service does not count as a shutdown of the machine, and a poweroff does', async () => {
  assert.equal(await machineIsStopping(exec, booted), false);
  await exec('systemctl', ['stop', '--no-block', 'slow.service']);
  await eventually(systemClock, 'the stop of the service', async () => {
    const { stdout } = await exec('systemctl', ['show', '--property=ActiveState', 'slow.service']);
    return stdout.trim() === 'ActiveState=deactivating';
  });
  assert.equal(await machineIsStopping(exec, booted), false);
  await exec('systemctl', ['poweroff']);
  await eventually(systemClock, 'the machine to go down', async () => (await stateOf()) === 'stopping');
  assert.equal(await machineIsStopping(exec, booted), true);
  await exec('touch', [join(directory, 'enough')]);
  if (unshare.exitCode === null && unshare.signalCode === null) await once(unshare, 'exit');
});
