/**
 * docs/three-machines.md, followed to the letter on three hosts that have only Docker and the single file.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ExecResult } from '../../src/os/exec.ts';
import { BareMachine } from './harness/bare-machine.ts';
import { Hosts } from './harness/hosts.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/three-machines.md'), 'utf8');

interface Step {
  readonly machines: readonly string[];
  readonly script: string;
}

/** Returns the steps: each indented block, with the machines that the preceding line names. */
function stepsOf(text: string): Step[] {
  return [...text.matchAll(/^On (vm[^:\n]*):\n\n((?: {4}.*\n)+)/gm)].map(([, machines = '', block = '']) => ({
    machines: machines.match(/vm\d/g) ?? [],
    script: block.replaceAll(/^ {4}/gm, ''),
  }));
}

/** Runs a script in a folder of the machine. An error contains the end of the machine's log. */
async function type(machine: BareMachine, folder: string, script: string): Promise<ExecResult> {
  try {
    return await machine.run(`cd '${folder}'\n${script}`);
  } catch (error) {
    const { stdout } = await machine.run('tail -n 30 /var/log/minik8s.log || true');
    throw new Error(`${machine.name}: ${String(error)}\n${stdout}`, { cause: error });
  }
}

test('docs/three-machines.md can be followed on three machines', { timeout: 300_000 }, async () => {
  const steps = stepsOf(page);
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 3, { docker: false });
  try {
    const machines = new Map(
      await Promise.all(
        hosts.all.map(async (host, index) => {
          const name = `vm${index + 1}`;
          const home = join(host.directory, 'home');
          mkdirSync(home);
          return [name, { machine: await BareMachine.start(name, host), home }] as const;
        }),
      ),
    );
    const at = (name: string) => {
      const found = machines.get(name);
      assert.ok(found, `the page names ${name}`);
      return found;
    };
    /** "Copy the file": from vm1 to the other machines. */
    const copy = async (path: string) => {
      const { stdout: content } = await at('vm1').machine.run(`cat ${path}`);
      for (const name of ['vm2', 'vm3'])
        await at(name).machine.run(`umask 077; mkdir -p "$(dirname ${path})"; cat >${path}`, {
          input: content,
        });
    };
    const outputs: string[][] = [];
    let address = 'no address shown yet';
    for (const { machines: names, script } of steps) {
      const typed = script.replaceAll('CLUSTER-IP', address);
      const results = await Promise.all(names.map((name) => type(at(name).machine, at(name).home, typed)));
      outputs.push(results.map(({ stdout }) => stdout));
      address = /^hello +ClusterIP +(\S+)/m.exec(results[0]?.stdout ?? '')?.[1] ?? address;
      if (script.includes('token create')) await copy('/etc/minik8s/node.yaml');
    }
    const said = (pattern: RegExp) => {
      const found = outputs.find((output) => output.some((text) => pattern.test(text)));
      assert.ok(found, `nothing printed ${pattern}:\n${outputs.flat().join('\n')}`);
      return found;
    };
    said(/^vm1 +Ready .*\nvm2 +Ready .*\nvm3 +Ready /m);
    const pages = said(/^hello from hello-/m);
    assert.equal(pages.length, 3, 'the page was asked for from every machine');
    for (const text of pages) assert.equal(text.match(/^hello from hello-/gm)?.length, 6, text);
    said(/node\/vm3 drained/);
    said(/removed \d+ containers/);
  } finally {
    for (const close of closers) await close();
  }
});
