import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Exec, ExecError } from '../../../../src/os/exec.ts';
import { HeldPorts, removeHeldPorts, renderHeldPorts } from '../../../../src/roles/master/held-ports.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

function world(holdMs: number, failure?: ExecError) {
  const inputs: string[] = [];
  const exec: Exec = async (file, args, options) => {
    assert.deepEqual([file, ...args], ['nft', '-f', '-']);
    inputs.push(String(options?.input));
    if (failure) throw failure;
    return { stdout: '', stderr: '' };
  };
  const log = new RecordingLogger();
  return { inputs, log, exec, held: new HeldPorts({ exec, log, holdMs }) };
}

const removal = 'add table ip minik8s-restart\ndelete table ip minik8s-restart\n';
const noNft = new ExecError({ file: 'nft', args: [], stdout: '', stderr: '' }, 'cannot be run');

test('the rule drops only packets that open connections, and expires without a removal', () => {
  const text = renderHeldPorts([6443, 8070], 30);
  assert.ok(text.startsWith(removal));
  assert.match(text, /elements = \{ 6443 timeout 30s, 8070 timeout 30s \}/);
  assert.match(text, /tcp dport @ports tcp flags & \(syn \| ack\) == syn drop/);
});

test('a stop writes one rule, which holds new connections to the ports that are open', async () => {
  const { held, inputs } = world(1500);
  held.opened(6443);
  held.opened(8070);
  held.opened(9000);
  held.closed(9000);
  await Promise.all([held.hold(), held.hold()]);
  held.closed(8070);
  assert.deepEqual(inputs, [renderHeldPorts([6443, 8070], 2)]);
});

test('a start removes the table of the previous process', async () => {
  const { held, inputs } = world(30_000);
  await held.release();
  assert.deepEqual(inputs, [removal]);
});

test('with a time of 0 no rule is written or removed', async () => {
  const { held, inputs } = world(0);
  held.opened(6443);
  await held.release();
  await held.hold();
  assert.deepEqual(inputs, []);
});

test('without nft, connections are refused during a restart, and the stop continues', async () => {
  const { held, log, exec } = world(30_000, noNft);
  held.opened(6443);
  await held.hold();
  await removeHeldPorts(exec);
  assert.deepEqual(
    log.lines.map(({ level, message }) => `${level} ${message}`),
    ['debug connections are refused during a restart'],
  );
});
