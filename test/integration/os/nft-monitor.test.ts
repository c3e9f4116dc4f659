import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';

const namespace = `minik8s-monitor-test-${process.pid}`;
const source = JSON.stringify(new URL('../../../src/os/nft-monitor.ts', import.meta.url).href);
const clockSource = JSON.stringify(new URL('../../../src/base/clock.ts', import.meta.url).href);
const program = `
  import { monitorRules } from ${source};
  import { systemClock as clock } from ${clockSource};
  const stop = new AbortController();
  process.stdin.resume().on('end', () => stop.abort());
  const onReady = () => console.log('ready');
  const onEmptied = (chains) => console.log(chains.join());
  await monitorRules({ clock, onReady, onEmptied }, stop.signal);
`;
const nft = (input: string) =>
  systemExec('ip', ['netns', 'exec', namespace, 'nft', '-f', '-'], { input, timeoutMs: 60_000 });
const table = (name: string) => `
  table ip ${name}
  delete table ip ${name}
  table ip ${name} { chain first { accept; }\n chain second { accept; }\n }
`;

before(() => systemExec('ip', ['netns', 'add', namespace]));
after(() => systemExec('ip', ['netns', 'delete', namespace]));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('the monitor reports deleted rules, but not rules that are written again at once', async (context) => {
  const args = ['netns', 'exec', namespace, process.execPath, '--input-type=module', '-e', program];
  const child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => child.stdin.end());
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  // The monitor listens a moment after its start: events before that are not reported.
  while (!output.includes('early')) {
    await nft(`${table('early')} delete table ip early`);
    await pause(300);
  }
  await nft(table('ours'));
  await nft(table('ours'));
  await pause(1000);
  assert.doesNotMatch(output, /ours/);
  await nft('flush ruleset');
  while (!output.includes('ours')) await pause(50);
  assert.match(output, /^ip ours first,ip ours second$/m);
  child.stdin.end();
  await once(child, 'exit');
});
