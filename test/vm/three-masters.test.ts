/**
 * Three masters that systemd starts, as docs/three-masters.md installs them on three virtual machines: the
 * network of one is slow and loses frames, its power is cut, and then that of all three.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { minutes, startFreshMachines } from './fresh-machines.ts';
import type { Machine } from './machine.ts';
import { stepsOf } from './page-steps.ts';
import { stopwatch } from './stopwatch.ts';

const patient = { timeoutMs: 10 * minutes };
const three = ['vm1 voter yes', 'vm2 voter yes', 'vm3 voter yes'];

const states = (output: string) =>
  [...output.matchAll(/^(\S+) +[0-9a-f]+ +(voter|joining) +(yes|no) /gm)]
    .map(([, name, state, answers]) => `${name} ${state} ${answers}`)
    .sort();

/** Waits until the machine's list of masters has these states. */
const untilStates = (machine: Machine, expected: readonly string[]) =>
  waitFor(
    `${machine.name} lists ${expected.join(', ')}`,
    async () => {
      const { stdout, stderr } = await machine.run('minik8s masters list', patient);
      if (states(stdout).join() === expected.join()) return true;
      throw new Error(stdout + stderr);
    },
    patient,
  );

/** Creates ConfigMaps one after the other, each until a master accepts it. */
const write = (machine: Machine, names: readonly string[]) =>
  machine.output(
    `for name in ${names.join(' ')}; do
       until minik8s ctl create configmap $name --from-literal=a=b || minik8s ctl get configmap $name; do sleep 1; done
     done`,
    patient,
  );

const written = async (machine: Machine): Promise<string[]> =>
  (await machine.output('minik8s ctl get configmaps -o name', patient))
    .trim()
    .split('\n')
    .filter((name) => name.startsWith('configmap/w-'))
    .map((name) => name.slice('configmap/'.length))
    .sort();

test('three masters serve without one of them, and come back after a power cut of all', {
  timeout: 55 * minutes,
}, async (context) => {
  const [first, ...joins] = stepsOf('three-masters.md', 'As services');
  assert.deepEqual([first?.machine, ...joins.map(({ machine }) => machine)], ['vm1', 'vm2', 'vm3']);
  const done = stopwatch(context);
  const machines = await startFreshMachines(3);
  try {
    const [vm1, vm2, vm3] = machines;
    assert.ok(vm1 && vm2 && vm3 && first);
    done('boot of three machines');
    await vm1.output(first.script, patient);
    done('install of the first master');
    const line = await vm1.output('cat /root/join.sh');
    await Promise.all(
      [vm2, vm3].map(async (machine, index) => {
        await machine.output(`umask 077; cat >/root/join.sh <<'END'\n${line}END`);
        await machine.output(joins[index]?.script ?? '', patient);
      }),
    );
    await untilStates(vm1, three);
    done('install of two more masters');

    // The kernel of the virtual machine delays and drops what the master sends.
    await vm1.output('tc qdisc add dev eth0 root netem delay 60ms 20ms loss 2%');
    await write(vm1, ['w-slow-1']);
    await write(vm2, ['w-slow-2']);
    await untilStates(vm3, three);
    await vm1.output('tc qdisc del dev eth0 root');
    done('writes while the network of one is slow');

    await write(vm1, ['w-before']);
    await vm1.powerOff();
    const since = performance.now();
    await write(vm2, ['w-meanwhile-1']);
    context.diagnostic(`a write after the cut: ${((performance.now() - since) / 1000).toFixed(0)} s`);
    await write(vm3, ['w-meanwhile-2']);
    await untilStates(vm2, ['vm1 voter no', ...three.slice(1)]);
    done('power cut of one');
    await vm1.powerOn();
    await untilStates(vm1, three);
    const all = ['w-before', 'w-meanwhile-1', 'w-meanwhile-2', 'w-slow-1', 'w-slow-2'];
    assert.deepEqual(await written(vm1), all);
    done('the one is back');

    await write(vm1, ['w-last']);
    await Promise.all(machines.map((machine) => machine.powerOff()));
    await Promise.all(machines.map((machine) => machine.powerOn()));
    for (const machine of machines) {
      await untilStates(machine, three);
      assert.deepEqual(await written(machine), ['w-before', 'w-last', ...all.slice(1)]);
    }
    await write(vm2, ['w-after']);
    assert.ok((await written(vm3)).includes('w-after'));
    done('power cut of all three, until each serves again');
  } finally {
    for (const machine of machines) await machine.stop();
  }
});
