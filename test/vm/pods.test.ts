/**
 * Pods on a kernel of its own with version 2 of cgroups: limits and usage, and the samples of probes, init
 * containers, resizes and volumes by the commands of their READMEs.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { carryOutBy, root } from '../e2e/harness/readme-commands.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { commandsOf } from '../fixtures/sample-readme.ts';
import { minutes } from './fresh-machines.ts';
import type { Machine } from './machine.ts';
import { apply, patient, podOf, startOneNode, startPod } from './one-node.ts';

const MiB = 2 ** 20;

// The suite's time includes the start of its machine.
describe('pods on version 2 of cgroups', { timeout: 55 * minutes }, () => {
  let machine: Machine;
  before(
    async () => {
      machine = await startOneNode();
      // An emulated processor may not end a probe's command within the seconds of the sample.
      await machine.output(`sed -i 's/timeoutSeconds: 5/timeoutSeconds: 60/' samples/probes/pod.yaml`);
    },
    { timeout: 20 * minutes },
  );
  after(() => machine?.stop());

  const ctl = (command: string) => machine.output(`minik8s ctl ${command}`, patient);
  const group = async (pod: string, file: string) =>
    (await ctl(`exec ${pod} -- cat /sys/fs/cgroup/${file}`)).trim();

  it('limits memory and processor time by the cgroup of the container', async () => {
    await startPod(machine, 'limited', {
      resources: { requests: { cpu: '100m' }, limits: { cpu: '200m', memory: '32Mi' } },
    });
    assert.equal(await group('limited', 'memory.max'), String(32 * MiB));
    assert.equal(await group('limited', 'cpu.max'), '20000 100000');
    await ctl(`exec limited -- sh -c '(while :; do :; done) >/dev/null 2>&1 &'`);
    const throttled = async () =>
      Number(/^throttled_usec (\d+)$/m.exec(await group('limited', 'cpu.stat'))?.[1]);
    await waitFor('throttled processes', async () => (await throttled()) > 100_000, patient);
  });

  it('reports the usage of a throttled container, and of the node', async () => {
    const row = /^limited +(\d+)m +(\d+)Mi$/m;
    await waitFor(
      'about 200m of a processor',
      async () => {
        const shown = await ctl('top pod limited');
        const [, cpu, memory] = row.exec(shown) ?? [];
        if (Number(cpu) > 120 && Number(cpu) < 280 && Number(memory) < 32) return true;
        throw new Error(shown);
      },
      patient,
    );
    assert.match(await ctl('top node'), /^vm1 +\d+m +\d+% +\d+Mi +\d+%/m);
    const summary: {
      pods: { podRef: { name: string }; process_stats?: { process_count?: number } }[];
    } = JSON.parse(await ctl('get --raw /api/v1/nodes/vm1/proxy/stats/summary'));
    const processes = summary.pods.find(({ podRef }) => podRef.name === 'limited')?.process_stats;
    // The server and the loop; a pause process has a cgroup of its own.
    assert.ok((processes?.process_count ?? 0) >= 2, JSON.stringify(processes));
    await ctl('delete pod limited');
  });

  it('gives a container that the kernel killed for memory the reason OOMKilled', async () => {
    const limits = { resources: { limits: { memory: '16Mi' } } };
    const command = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=200M', 'count=1'];
    const child = ['sh', '-c', `${command.join(' ')}; exit $?`];
    await apply(
      machine,
      podOf('greedy', { ...limits, command }, { restartPolicy: 'Never' }),
      podOf('greedy-child', { ...limits, command: child }, { restartPolicy: 'Never' }),
    );
    for (const name of ['greedy', 'greedy-child']) {
      await ctl(`wait pod/${name} --for=jsonpath='{.status.phase}'=Failed --timeout=300s`);
      const state = '{.status.containerStatuses[0].state.terminated';
      const end = await ctl(`get pod ${name} -o jsonpath='${state}.reason} ${state}.exitCode}'`);
      assert.equal(end, 'OOMKilled 137', name);
    }
    assert.match(await ctl('why pod greedy'), /memory/);
    await ctl('delete pod greedy greedy-child');
  });

  for (const sample of [
    'probes',
    'resize',
    'init-and-sidecar',
    'volume-dynamic',
    'volume-static',
    'ephemeral-volumes',
  ])
    it(`runs samples/${sample} as its README says`, async () => {
      const commands = commandsOf(readFileSync(join(root, 'samples', sample, 'README.md'), 'utf8'));
      const run = async (command: string) => {
        // An emulated processor needs longer than the README expects.
        const patiently = command.replaceAll(/--timeout=\d+s/g, '--timeout=300s');
        const script = `ctl() { minik8s ctl "$@"; }\n${patiently}`;
        const { status, stdout, stderr } = await machine.run(script, patient);
        return { code: status, said: stdout + stderr };
      };
      await carryOutBy(run, commands, patient.timeoutMs);
    });
});
