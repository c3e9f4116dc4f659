/**
 * docs/learn.md, docs/build-with-it.md and docs/run-it.md as written, on a machine that the quick start has
 * left: minik8s in the PATH, its data in the usual places, no registry and no images of runtimes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecError } from '../../src/os/exec.ts';
import { commandsOf } from '../fixtures/sample-readme.ts';
import { BareMachine } from './harness/bare-machine.ts';
import { Host } from './harness/host.ts';
import { root } from './harness/readme-commands.ts';
import { waitFor } from './harness/wait-for.ts';

const pageOf = (name: string) => readFileSync(join(root, 'docs', name), 'utf8');

/** Starts minik8s as bin/quickstart does. */
const quickStart = `
bin/make-images
mkdir -p /var/lib/minik8s
setsid minik8s up --log-file /var/lib/minik8s/up.log >/var/lib/minik8s/up.out 2>&1 </dev/null &
until grep -q '^minik8s is ready' /var/lib/minik8s/up.out; do sleep 0.2; kill -0 $!; done
`;

/** Returns the commands of each section that has any, without blocks for machines with systemd. */
function sectionsOf(page: string) {
  const own = page.replaceAll(/^On vm1:\n\n(?: {4}.*\n)+/gm, '');
  return own.split(/^## /m).flatMap((section) => {
    const commands = [...section.matchAll(/^ {4}(.*)$/gm)].map(([, line = '']) => line);
    return commands.length === 0 ? [] : [{ heading: section.split('\n', 1)[0] ?? '', commands }];
  });
}

/** Runs all commands of a page in one shell. Resolves to a check of what the commands of a section print. */
async function follow(machine: BareMachine, page: string) {
  const script = sectionsOf(page).flatMap(({ heading, commands }) => [
    `printf '\\n== %s\\n' '${heading}'`,
    ...commands,
  ]);
  const { stdout } = await machine.run(script.join('\n'), { timeoutMs: 400_000 });
  const outputs = new Map(stdout.split(/^== /m).map((part) => [part.split('\n', 1)[0] ?? '', part] as const));
  return (heading: string, wanted: RegExp) => assert.match(outputs.get(heading) ?? '', wanted);
}

/** Resolves to the whole output, and rejects unless the command succeeds. */
async function type(machine: BareMachine, command: string): Promise<string> {
  const { stdout, stderr } = await machine.run(command, { timeoutMs: 150_000 });
  return stdout + stderr;
}

test('the pages of the three ways in can be followed as written', { timeout: 900_000 }, async (context) => {
  const host = await Host.start(context, { docker: false });
  const machine = await BareMachine.start('vm1', host);
  await machine.run(quickStart, { timeoutMs: 300_000 });

  await context.test('docs/learn.md', async () => {
    for (const { command, says } of commandsOf(pageOf('learn.md')))
      if (says === undefined) await type(machine, command);
      else
        await waitFor(`${command} says ${says}`, async () => {
          const said = await type(machine, command);
          if (!says.test(said)) throw new Error(said);
          return true;
        });
  });

  await context.test('docs/build-with-it.md', async () => {
    const prints = await follow(machine, pageOf('build-with-it.md'));
    prints('The runtime', /^(docker\.io\/library\/)?python:3-slim /m);
    prints('A function', /^\{"greeting":"hello, you"\}$/m);
    prints('A function', /^called with \{'name': 'you'\}$/m);
    prints('A call by curl', /\{"greeting":"hello, curl"\}/);
    prints('For everybody', /\{"greeting":"hello, anybody"\}/);
    prints('Another version', /^\{"greeting":"good morning, you"\}$/m);
    const left = await machine.run('minik8s ctl get functions,images.minik8s.io -o name');
    assert.equal(left.stdout.trim(), '');
  });

  await context.test('docs/run-it.md', async () => {
    const prints = await follow(machine, pageOf('run-it.md'));
    prints('Every day', /^vm1 +Ready /m);
    prints('Back up', /\/var\/backups\/minik8s\/\S+\.tar\.zst\.age/);
    prints('Stop', /^minik8s up \(process \d+\) has stopped$/m);
    await assert.rejects(
      machine.run('minik8s status'),
      (error) => error instanceof ExecError && error.failure.code === 3,
    );
  });
});
