/**
 * docs/install.md, followed to the letter on two virtual machines that have Docker and the single file: with
 * a reboot and a cut of the power in between, and a comparison of the file systems at the end.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { minutes, printedLine, startFreshMachines } from './fresh-machines.ts';
import type { Machine } from './machine.ts';
import { stepsOf } from './page-steps.ts';
import { stopwatch } from './stopwatch.ts';

const steps = stepsOf('install.md');

/** Lists the file system with modes, owners and links, without what every boot or Docker itself changes. */
const skipped = [
  '/proc',
  '/sys',
  '/run',
  '/tmp',
  '/root',
  '/var/log',
  '/var/lib/docker',
  '/var/lib/containerd',
];
const prune = skipped.map((path) => `-path ${path}`).join(' -o ');
const listing = `find / -xdev \\( ${prune} \\) -prune -o -printf '%M %u:%g %p %l\\n' | grep -v systemd/random-seed | sort`;
const settings = `cat /proc/sys/net/ipv4/ip_forward /proc/sys/fs/inotify/max_user_instances`;

/** Names and restarts of the pods: NAME RESTARTS NODE. */
const pods = `minik8s ctl get pods -l app=hello -o jsonpath='{range .items[*]}{.metadata.name} {.status.containerStatuses[0].restartCount} {.spec.nodeName}{"\\n"}{end}'`;
const address = 'minik8s ctl get service hello -o jsonpath={.spec.clusterIP}';
const running = 'docker ps -q --filter label=io.kubernetes.container.name=hello | wc -l';

/**
 * A run that waits, and then calls a function. The image answers only GET, so the call fails with the status
 * 501, which the run catches.
 */
const definition = JSON.stringify({
  StartAt: 'Pause',
  States: {
    Pause: { Type: 'Wait', Seconds: 20, Next: 'Greet' },
    Greet: {
      Type: 'Task',
      Resource: 'function:greet',
      // The instance may not be ready before the emulated processor has started its node's pods.
      Retry: [
        { ErrorEquals: ['Function.Status'], MaxAttempts: 0 },
        { ErrorEquals: ['States.ALL'], IntervalSeconds: 5, MaxAttempts: 20, BackoffRate: 1 },
      ],
      Catch: [{ ErrorEquals: ['Function.Status'], Next: 'Called' }],
      End: true,
    },
    Called: { Type: 'Succeed' },
  },
});
const createRun = `set -e
  echo '${definition}' >greet.json
  minik8s ctl function create greet --image minik8s/hello:1 --wait
  minik8s ctl workflow create greet --definition greet.json
  minik8s ctl workflow run greet --run-name over-the-cut --input '{}' --wait=false`;

/** A pod of vm1 with a claim, whose data are on the disk before the power is cut. */
const createClaim = `set -eo pipefail
  sed 's|^  containers:|  nodeSelector: { kubernetes.io/hostname: vm1 }\\n  containers:|' \\
    samples/volume-dynamic/claim.yaml | minik8s ctl apply -f -
  minik8s ctl wait pod/notebook --for=condition=Ready --timeout=300s
  minik8s ctl exec notebook -- sh -c 'echo kept >/data/note && sync'`;
/** The container may not have been started again yet. */
const readClaim = 'until minik8s ctl exec notebook -- cat /data/note; do sleep 1; done';
const volume = 'minik8s ctl get persistentvolumeclaim notebook -o jsonpath={.spec.volumeName}';

const machines = new Map<string, Machine>();
const files = new Map<string, string>();
const at = (name: string): Machine => {
  const machine = machines.get(name);
  assert.ok(machine, `the page names ${name}`);
  return machine;
};

before(async () => {
  for (const machine of await startFreshMachines(2, { gateway: false })) machines.set(machine.name, machine);
  // The machines have no default route, from which the address of a node usually follows.
  await at('vm1').output(
    'mkdir /etc/minik8s && echo "node-ip: 10.77.0.1 # of vm1" >/etc/minik8s/master.yaml',
  );
  for (const [name, machine] of machines)
    files.set(name, await machine.output(`${listing}; ${settings}`, { timeoutMs: 10 * minutes }));
});
after(async () => {
  for (const machine of machines.values()) await machine.stop();
});

/** Runs the next step of the page and resolves to its output. */
async function next(join = ''): Promise<string> {
  const step = steps.shift();
  assert.ok(step, 'the page has more steps');
  return at(step.machine).output(step.script.replace(/^JOIN$/m, join), { timeoutMs: 10 * minutes });
}

/** Waits for the pods after a boot of vm1, and compares them with those before it. */
async function assertBack(before: string, clusterIP: string, restarts: number): Promise<void> {
  const vm1 = at('vm1');
  const wait = `until minik8s ctl wait --for=condition=Ready node/vm1 --timeout=60s && ${pods} | grep ' vm1$' | grep -q ' ${restarts} '; do sleep 1; done`;
  await vm1.output(wait, { timeoutMs: 10 * minutes });
  await vm1.output('minik8s ctl wait --for=condition=Ready pod -l app=hello --timeout=120s', {
    timeoutMs: 10 * minutes,
  });
  const expected = before.replaceAll(/ \d+ vm1$/gm, ` ${restarts} vm1`);
  assert.equal(await vm1.output(pods), expected);
  assert.equal(await vm1.output(address), clusterIP);
  assert.equal(Number(await vm1.output(running)), expected.match(/ vm1$/gm)?.length, 'containers of vm1');
  // The program of a container that has just started may not listen yet.
  const ask = `until curl -sS --max-time 20 http://${clusterIP}/; do sleep 1; done`;
  assert.match(await vm1.output(ask, { timeoutMs: 10 * minutes }), /^hello from hello-/);
}

test('docs/install.md: install, join, pods, reboot, power cut, upgrade, uninstall', {
  timeout: 55 * minutes,
}, async (context) => {
  const done = stopwatch(context);
  const installed = await next();
  done('install up, and its dry run');
  assert.match(installed, /^minik8s install up:\n {2}copy this file to \/usr\/local\/bin\/minik8s$/m);
  assert.match(installed, /^vm1 +Ready +control-plane/m);
  await next(printedLine(installed));
  done('install node');
  assert.match(await next(), /^vm1 +Ready .*\nvm2 +Ready /m);
  const [, ...shown] = (await next()).trimEnd().split('\n');
  assert.ok(shown.length >= 3, shown.join('\n'));
  done('three pods on two nodes');

  const before = await at('vm1').output(pods);
  const clusterIP = await at('vm1').output(address);
  assert.match(before, / vm1$/m);
  assert.match(before, / vm2$/m);
  done('names and addresses read');
  await at('vm1').reboot();
  done('reboot, until all units have started');
  await assertBack(before, clusterIP, 1);
  done('pods back after the reboot');
  await at('vm1').output(createClaim, { timeoutMs: 10 * minutes });
  const claimed = await at('vm1').output(volume);
  await at('vm1').output(createRun, { timeoutMs: 10 * minutes });
  await at('vm1').powerOff();
  await at('vm1').powerOn();
  done('power cut, until all units have started');
  await assertBack(before, clusterIP, 2);
  assert.equal(await at('vm1').output(readClaim, { timeoutMs: 10 * minutes }), 'kept\n');
  assert.equal(await at('vm1').output(volume), claimed);
  await at('vm1').output('minik8s ctl delete pod notebook && minik8s ctl delete pvc notebook', {
    timeoutMs: 10 * minutes,
  });
  done('pods and a claim back after the power cut');
  const output = await at('vm1').output('minik8s ctl workflow wait over-the-cut', {
    timeoutMs: 10 * minutes,
  });
  assert.match(output, /501 Not Implemented/);
  await at('vm1').output('minik8s ctl workflow delete greet && minik8s ctl function delete greet', {
    timeoutMs: 10 * minutes,
  });
  done('a run of a workflow went on, and called a function');

  const ids = 'docker ps -q --no-trunc --filter ancestor=minik8s/hello:1 | sort';
  const containers = await at('vm1').output(ids);
  assert.match(
    await next(),
    /^ {2}write \/etc\/minik8s\/master.yaml\n {2}start minik8s.service$[\s\S]*nothing to do$/m,
  );
  assert.equal(await at('vm1').output(ids), containers, 'pods go on over a restart');
  assert.equal(
    await at('vm1').output('cat /etc/minik8s/master.yaml'),
    'node-ip: 10.77.0.1 # of vm1\nmax-pods: 50\n',
  );

  done('install again, with another setting and with none');
  await next();
  await next();
  done('uninstall on both machines');
  assert.equal(steps.length, 0, 'every step of the page was run');
  for (const [name, machine] of machines) {
    const now = await machine.output(`${listing}; ${settings}`, { timeoutMs: 10 * minutes });
    const [was, is] = [files.get(name)?.split('\n') ?? [], now.split('\n')];
    assert.deepEqual(
      is.filter((entry) => !was.includes(entry)),
      [],
      `${name} has more than before`,
    );
    assert.deepEqual(
      was.filter((entry) => !is.includes(entry)),
      [],
      `${name} has less than before`,
    );
    assert.equal(
      await machine.output('docker ps -aq; nft list tables | grep -v "ip nat\\|ip filter" || true'),
      '',
    );
  }
  assert.equal(await at('vm1').output('cat /etc/minik8s/master.yaml'), 'node-ip: 10.77.0.1 # of vm1\n');
});
