/**
 * The recorded terminal of the README, docs/pictures/terminal.svg: the commands after the quick start still
 * print what it shows, on a machine after the quick start. `npm run docs:terminal` records it again.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Recorded, recordedIn, terminalPicture } from '../../config/docs/terminal-picture.ts';
import { masked } from '../fixtures/masked-output.ts';
import { BareMachine } from './harness/bare-machine.ts';
import { quickStart } from './harness/guides.ts';
import { Host } from './harness/host.ts';
import { root } from './harness/readme-commands.ts';
import { waitFor } from './harness/wait-for.ts';

const file = join(root, 'docs/pictures/terminal.svg');
const title = 'A terminal: the commands after the quick start, and what they print';

/** Returns the commands of the README's section with this heading. */
function commandsUnder(heading: string): readonly string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [block = ''] = /(?:^ {4}.*\n)+/m.exec(readme.split(`\n## ${heading}\n`)[1] ?? '') ?? [];
  return block.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

/**
 * Returns the lines that must be the same in each run. The number of lines of a rollout depends on its speed.
 */
const shapeOf = (recorded: readonly Recorded[]) =>
  recorded.map(({ command, output }) => ({
    command,
    output: masked(output.filter((line) => !line.startsWith('Waiting for deployment ')).join('\n')),
  }));

test('the commands after the quick start print what the terminal of the README shows', {
  timeout: 600_000,
}, async (context) => {
  const host = await Host.start(context, { docker: false });
  const machine = await BareMachine.start('vm1', host);
  await machine.run(quickStart, { timeoutMs: 300_000 });
  await machine.run('minik8s ctl apply -f samples/hello; minik8s ctl rollout status deployment hello');
  await waitFor('minik8s is healthy', () => machine.run('minik8s status').then(() => true));

  const recorded: Recorded[] = [];
  for (const command of commandsUnder('After the quick start')) {
    const { stdout, stderr } = await machine.run(command);
    assert.equal(stderr, '', command);
    const shown = stdout.trimEnd().replaceAll(root, '/root/minik8s');
    recorded.push({ command, output: shown.split('\n').map((line) => line.trimEnd()) });
  }
  if (process.env.MINIK8S_RECORD_TERMINAL) writeFileSync(file, terminalPicture(title, recorded));
  assert.deepEqual(shapeOf(recorded), shapeOf(recordedIn(readFileSync(file, 'utf8'))));
});
