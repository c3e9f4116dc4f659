/** docs/three-masters.md, followed to the letter on three hosts that have only Docker and the single file. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BareMachine } from './harness/bare-machine.ts';
import { Hosts } from './harness/hosts.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/three-masters.md'), 'utf8');

/** Section that test/vm/three-masters.test.ts follows: it needs systemd. */
const services = /^## As services\n[\s\S]*?(?=^## )/m;

/** Returns the steps: each indented block, with the machine that the preceding line names. */
const steps = [...page.replace(services, '').matchAll(/^On (vm[123]):\n\n((?: {4}.*\n)+)/gm)].map(
  ([, machine = '', block = '']) => ({ machine, script: block.replaceAll(/^ {4}/gm, '') }),
);

const states = (output: string) =>
  [...output.matchAll(/^(\S+) +[0-9a-f]+ +(voter|joining) +(yes|no) /gm)].map(
    ([, name, state, answers]) => `${name} ${state} ${answers}`,
  );

test('docs/three-masters.md can be followed on three machines', { timeout: 600_000 }, async () => {
  assert.ok(steps.length > 15, `${steps.length} steps`);
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 3, { docker: false });
  try {
    const started = hosts.all.map((host, index) => BareMachine.start(`vm${index + 1}`, host));
    const machines = await Promise.all(started);
    const at = (name: string) => machines.find((machine) => machine.name === name) ?? assert.fail(name);
    await at('vm1').run('bin/make-images');
    const lists: string[][] = [];
    const recovered: string[] = [];
    for (const { machine, script } of steps) {
      const { stdout } = await at(machine)
        .run(script, { timeoutMs: 150_000 })
        .catch(async (error) => {
          const log = await at(machine).run('tail -n 20 /var/log/minik8s.log || true');
          throw new Error(`${machine}: ${String(error)}\n${log.stdout}`, { cause: error });
        });
      if (script.includes('masters list')) lists.push(states(stdout).sort());
      if (script.includes('recover ')) recovered.push(stdout);
      if (!script.includes('>/etc/minik8s-join.sh')) continue;
      // "Copy the file": to the other machines.
      const { stdout: line } = await at(machine).run('cat /etc/minik8s-join.sh');
      for (const other of machines.filter(({ name }) => name !== machine))
        await other.run('umask 077; cat >/etc/minik8s-join.sh', { input: line });
    }
    const three = ['vm1 voter yes', 'vm2 voter yes', 'vm3 voter yes'];
    const [joined, oneLost, removed, again] = lists;
    assert.deepEqual(joined, three);
    assert.deepEqual(oneLost, ['vm1 voter no', ...three.slice(1)]);
    assert.deepEqual(removed, three.slice(0, 2));
    assert.deepEqual(again, three);
    assert.match(
      recovered[0] ?? '',
      /leaving the cluster: vm1 \(https:\S+\), vm2 \(https:\S+\); never start/,
    );
  } finally {
    for (const close of closers) await close();
  }
});
