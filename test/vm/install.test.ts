/**
 * docs/install.md, followed to the letter on two virtual machines that have Docker and the single file: with
 * a reboot and a cut of the power in between, and a comparison of the file systems at the end.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { copyImages } from './images.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/install.md'), 'utf8');
/** Steps of the page: each indented block, with the machine that the preceding line names. */
const steps = [...page.matchAll(/^On (vm[12]):\n\n((?: {4}.*\n)+)/gm)].map(
  ([, machine = '', block = '']) => ({
    machine,
    script: `set -e\n${block.replaceAll(/^ {4}/gm, '')}`,
  }),
);
const minutes = 60_000;

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
const running = 'docker ps -q --filter ancestor=minik8s/hello:1 | wc -l';

const network = new Network();
const machines = new Map<string, Machine>();
const files = new Map<string, string>();
const at = (name: string): Machine => {
  const machine = machines.get(name);
  assert.ok(machine, `the page names ${name}`);
  return machine;
};

before(async () => {
  await systemExec(join(root, 'bin/make-images'), []);
  for (const [name, host] of [
    ['vm1', 1],
    ['vm2', 2],
  ] as const) {
    const lan = { network, address: `10.77.0.${host}/24` };
    const machine = await Machine.start({ name, lan, cpus: 1 });
    machines.set(name, machine);
    await machine.output(`echo '10.77.0.${3 - host} vm${3 - host}' >>/etc/hosts`);
    await machine.copyIn(join(root, 'dist/minik8s'), '/root/minik8s');
    await copyImages(machine, 'minik8s/hello:1');
  }
  await at('vm1').output('mkdir hello');
  for (const file of ['deployment.yaml', 'service.yaml'])
    await at('vm1').copyIn(join(root, 'samples/hello', file), `/root/hello/${file}`);
  // The machines have no default route, from which the address of a node usually follows.
  await at('vm1').output(
    'mkdir /etc/minik8s && echo "node-ip: 10.77.0.1 # of vm1" >/etc/minik8s/master.yaml',
  );
  for (const [name, machine] of machines)
    files.set(name, await machine.output(`${listing}; ${settings}`, { timeoutMs: 5 * minutes }));
});
after(async () => {
  for (const machine of machines.values()) await machine.stop();
});

/** Runs the next step of the page and resolves to its output. */
async function next(join = ''): Promise<string> {
  const step = steps.shift();
  assert.ok(step, 'the page has more steps');
  return at(step.machine).output(step.script.replace(/^JOIN$/m, join), { timeoutMs: 5 * minutes });
}

/** Waits for the pods after a boot of vm1, and compares them with those before it. */
async function assertBack(before: string, clusterIP: string, restarts: number): Promise<void> {
  const vm1 = at('vm1');
  const wait = `until minik8s ctl wait --for=condition=Ready node/vm1 --timeout=60s && ${pods} | grep ' vm1$' | grep -q ' ${restarts} '; do sleep 1; done`;
  await vm1.output(wait, { timeoutMs: 5 * minutes });
  await vm1.output('minik8s ctl wait --for=condition=Ready pod -l app=hello --timeout=120s', {
    timeoutMs: 3 * minutes,
  });
  const expected = before.replaceAll(/ \d+ vm1$/gm, ` ${restarts} vm1`);
  assert.equal(await vm1.output(pods), expected);
  assert.equal(await vm1.output(address), clusterIP);
  assert.equal(Number(await vm1.output(running)), expected.match(/ vm1$/gm)?.length, 'containers of vm1');
  // The program of a container that has just started may not listen yet.
  const ask = `until curl -sS --max-time 20 http://${clusterIP}/; do sleep 1; done`;
  assert.match(await vm1.output(ask, { timeoutMs: 2 * minutes }), /^hello from hello-/);
}

test('docs/install.md: install, join, pods, reboot, power cut, upgrade, uninstall', {
  timeout: 30 * minutes,
}, async () => {
  const installed = await next();
  assert.match(installed, /^minik8s install up:\n {2}copy this file to \/usr\/local\/bin\/minik8s$/m);
  assert.match(installed, /^vm1 +Ready +control-plane/m);
  const [line = ''] = /^ {2}MINIK8S_TOKEN=.*$/m.exec(installed) ?? [];
  await next(line.trim());
  assert.match(await next(), /^vm1 +Ready .*\nvm2 +Ready /m);
  const [, ...shown] = (await next()).trimEnd().split('\n');
  assert.ok(shown.length >= 3, shown.join('\n'));

  const before = await at('vm1').output(pods);
  const clusterIP = await at('vm1').output(address);
  assert.match(before, / vm1$/m);
  assert.match(before, / vm2$/m);
  await at('vm1').reboot();
  await assertBack(before, clusterIP, 1);
  await at('vm1').powerOff();
  await at('vm1').powerOn();
  await assertBack(before, clusterIP, 2);

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

  await next();
  await next();
  assert.equal(steps.length, 0, 'every step of the page was run');
  for (const [name, machine] of machines) {
    const now = await machine.output(`${listing}; ${settings}`, { timeoutMs: 5 * minutes });
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
