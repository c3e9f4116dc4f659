import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { logLevels } from '../../../src/terminal/log-levels.ts';
import { jsonLine, textLine } from '../../../src/terminal/log-line.ts';
import { RoleLog, strangeLines } from '../../e2e/harness/role-log.ts';

const event = { at: new Date(0), component: 'kubelet', message: 'started', fields: { pod: 'default/web' } };

describe('in the log of a role', () => {
  for (const level of logLevels)
    test(`lines of level ${level} are expected, as text and as JSON`, () => {
      for (const line of [textLine, jsonLine])
        assert.deepEqual(
          strangeLines(`${line({ ...event, level })}\n${line({ ...event, level, component: '' })}\n`),
          [],
        );
    });

  for (const line of [
    '    at Socket.emit (node:events:526:24)',
    'Error: aborted',
    "  code: 'ECONNRESET'",
    '}',
    '(node:123) [DEP0190] DeprecationWarning: Passing args',
    '(Use `node --trace-deprecation ...` to show where the warning was created)',
    'undefined',
    '2026-01-02T03:04:05.678Z INFO  kubelet: started pod=undefined',
    '2026-01-02T03:04:05.678Z INFO  kubelet: waits NaN ms',
    '2026-01-02T03:04:05.678Z INFO  kubelet: failed error="[object Object]"',
  ])
    test(`the line "${line}" is unexpected`, () => {
      assert.deepEqual(strangeLines(`${textLine({ ...event, level: 'info' })}\n${line}\n`), [line]);
    });

  test('lines of both outputs are not mixed, for any order of their bytes, and an incomplete line of a killed process is dropped', async () => {
    const log = new RoleLog('minik8s node');
    const [out, err] = [new PassThrough(), new PassThrough()];
    log.take(out);
    log.take(err);
    const line = `${textLine({ ...event, level: 'info' })}\n`;
    for (const [index, character] of [...line].entries()) {
      err.write(character);
      if (index === 10) out.write('minik8s is ready: here\n');
      await new Promise(setImmediate);
    }
    err.write('2026-01-02T0');
    await new Promise(setImmediate);
    err.destroy();
    await new Promise(setImmediate);
    assert.equal(log.text, `minik8s is ready: here\n${line}2026-01-02T0`);
    log.requireLogLines();
  });

  test('unexpected lines cause one error, which names the role', async () => {
    const log = new RoleLog('minik8s node on worker');
    const output = new PassThrough();
    log.take(output);
    output.write('    at open (node:fs:1:2)\n');
    await new Promise(setImmediate);
    assert.throws(
      () => log.requireLogLines(),
      /^Error: minik8s node on worker wrote 1 lines .*:\n {4}at open/,
    );
    log.requireLogLines();
  });
});
