/** Pages of docs as a user follows them on a machine: their commands, in order, in one shell. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BareMachine } from './bare-machine.ts';
import { root } from './readme-commands.ts';

export const pageOf = (name: string) => readFileSync(join(root, 'docs', name), 'utf8');

/** Starts minik8s as bin/quickstart does. */
export const quickStart = `
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
export async function follow(machine: BareMachine, page: string, folder = root) {
  const script = sectionsOf(page).flatMap(({ heading, commands }) => [
    `printf '\\n== %s\\n' '${heading}'`,
    ...commands,
  ]);
  const { stdout } = await machine.run([`cd '${folder}'`, ...script].join('\n'), { timeoutMs: 400_000 });
  const outputs = new Map(stdout.split(/^== /m).map((part) => [part.split('\n', 1)[0] ?? '', part] as const));
  return (heading: string, wanted: RegExp) => assert.match(outputs.get(heading) ?? '', wanted);
}

export interface ConsoleCommand {
  readonly command: string;
  readonly output: string;
}

/** Returns the commands in terminal blocks, each with the output lines below it. */
export const consoleOf = (page: string): readonly ConsoleCommand[] =>
  [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .filter((part) => part !== '')
      .map((part) => {
        const [command = '', ...lines] = part.split('\n');
        return { command, output: lines.join('\n') };
      }),
  );
