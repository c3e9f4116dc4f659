import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';

const namespace = `minik8s-monitor-test-${process.pid}`;
const source = JSON.stringify(new URL('../../../src/os/nft-monitor.ts', import.meta.url).href);
const program = `
  import { monitorRules } from ${source};
  const stop = new AbortController();
  process.stdin.resume().on('end', () => stop.abort());
  const onReady = () => console.log('ready');
  const onEmptied = (chains) => console.log(chains.join());
  await monitorRules({ onReady, onEmptied }, stop.signal);
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

test('the monitor reports deleted rules, and no rules that are written again at once', async () => {
  const args = ['netns', 'exec', namespace, process.execPath, '--input-type=module', '-e', program];
  const child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  assert.equal(await next(), 'ready');
  // The monitor listens a moment after its start: events before that are not reported.
  let reported: Promise<unknown> | undefined = next();
  const isReported = reported.then(() => {
    reported = undefined;
  });
  while (await reported) {
    await nft(`${table('early')} delete table ip early`);
    await Promise.race([isReported, new Promise((resolve) => setTimeout(resolve, 300))]);
  }
  await nft(table('ours'));
  await nft(table('ours'));
  await nft('flush ruleset');
  let line = await next();
  while (String(line).includes('early')) line = await next();
  assert.equal(line, 'ip ours first,ip ours second');
  child.stdin.end();
  await once(child, 'exit');
});
