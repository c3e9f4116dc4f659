/**
 * docs/upgrade.md, followed to the letter on a virtual machine whose service systemd runs: pods keep running,
 * and clients of a Service, of a Function and of the API get every answer.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, startFreshMachines } from './fresh-machines.ts';
import type { Machine } from './machine.ts';
import { stepsOf } from './page-steps.ts';
import { stopwatch } from './stopwatch.ts';

const patient = { timeoutMs: 10 * minutes };
const containers = 'docker ps -q --no-trunc --filter ancestor=minik8s/hello:1 | sort';
const pods = `minik8s ctl get pods -l app=hello -o jsonpath='{range .items[*]}{.metadata.uid} {.status.containerStatuses[0].restartCount}{"\\n"}{end}'`;

/** Asks a URL again and again until `tally`; each line of the client's file is `answered` or a fault. */
async function startClient(machine: Machine, name: string, url: string): Promise<void> {
  const ask = `curl -sSk --fail --max-time 120 -o /dev/null "${url}" && echo answered || echo "$(date) FAILED"`;
  const script = `while [ ! -e /root/enough ]; do ${ask}; sleep 0.3; done >/root/${name}.log 2>&1`;
  await machine.output(`setsid bash -c '${script}; touch /root/${name}.done' >/dev/null 2>&1 </dev/null &`);
}

/** Ends the clients, and resolves to the number of answers and the faults of one. */
async function tally(machine: Machine, name: string): Promise<{ answers: number; faults: string[] }> {
  await machine.output(`touch /root/enough; until [ -e /root/${name}.done ]; do sleep 0.2; done`, patient);
  const lines = (await machine.output(`cat /root/${name}.log`)).trim().split('\n');
  const faults = lines.filter((line) => line !== 'answered');
  return { answers: lines.length - faults.length, faults };
}

test('an installed machine is upgraded as docs/upgrade.md says, and goes back', {
  timeout: 55 * minutes,
}, async (context) => {
  const [dryRun, upgrade, back, ...more] = stepsOf('upgrade.md');
  assert.ok(dryRun && upgrade && back && more.length === 0, 'the page has three steps');
  const done = stopwatch(context);
  const [vm1, ...others] = await startFreshMachines(1, { cpus: 2, newVersion: true });
  assert.ok(vm1 && others.length === 0);
  await using machine = vm1;
  const run = (script: string) => machine.output(script, patient);
  done('boot');
  // A start takes longer on an emulated processor than connections usually wait for it.
  await run('./minik8s install up --restart-hold 4m');
  await run('minik8s ctl apply -f hello && minik8s ctl rollout status deployment hello --timeout=300s');
  await run('minik8s ctl function create echo --image minik8s/hello:1 --min-scale 1 --public --wait');
  await run('mv minik8s-new /var/tmp/minik8s-new');
  const [older, newer] = [await run('minik8s version'), await run('/var/tmp/minik8s-new version')];
  assert.notEqual(older, newer);
  const clusterIP = await run('minik8s ctl get service hello -o jsonpath={.spec.clusterIP}');
  const called = 'https://127.0.0.1:8070/function/echo';
  await run(`until curl -sSk --fail --max-time 60 ${called}; do sleep 1; done`);
  const before = { containers: await run(containers), pods: (await run(pods)).split('\n').sort() };
  assert.equal(before.containers.trim().split('\n').length, 4, 'three pods and an instance');
  done('install up, a function and three pods');

  await startClient(machine, 'service', `http://${clusterIP}/`);
  await startClient(machine, 'function', called);
  await startClient(machine, 'api', 'https://127.0.0.1:6443/version');
  assert.match(await run(dryRun.script), /create a backup[\s\S]*replace [\s\S]*restart /);
  const shown = await run(upgrade.script);
  assert.match(shown, /\.tar\.zst: \d+ keys at revision/);
  assert.match(shown, new RegExp(`^vm1 +Ready .*${newer.trim().replaceAll(/[.+]/g, '\\$&')}`, 'm'));
  assert.equal(await run('minik8s version'), newer);
  done('upgrade');
  assert.equal((await run(back.script)).trim().split('\n').at(-1), older.trim());
  done('back');
  await run('minik8s ctl wait --for=condition=Ready node/vm1 --timeout=120s');
  assert.equal(await run('systemctl is-active minik8s'), 'active\n');
  for (const name of ['service', 'function', 'api']) {
    const { answers, faults } = await tally(machine, name);
    assert.deepEqual(faults, [], `requests of the client ${name} that failed`);
    assert.ok(answers >= 20, `the client ${name} got ${answers} answers`);
    context.diagnostic(`client ${name}: ${answers} answers, none failed`);
  }
  assert.equal(await run(containers), before.containers, 'containers keep running');
  assert.deepEqual((await run(pods)).split('\n').sort(), before.pods, 'pods keep running');
});
