/** Kept part of a build's output: a short output completely, otherwise its beginning and end. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { BuildLog, logPath } from '../../../../../src/features/functions/agent/build-log.ts';

function begin(context: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-build-log-'));
  context.after(() => rmSync(base, { recursive: true }));
  const path = join(base, 'logs', 'one.log');
  const log = new BuildLog();
  const saved = async () => {
    await log.save(path);
    return readFileSync(path, 'utf8');
  };
  return { log, path, saved };
}
const write = (log: BuildLog, ...texts: readonly string[]) => {
  for (const text of texts) log.write(Buffer.from(text));
};

it('a log is in the data of the node, under the name of its function', () => {
  const image = 'minik8s.function/ns/fn:0123456789abcdef';
  assert.equal(logPath('/data', image), '/data/function-builds/ns_fn_0123456789abcdef.log');
  assert.throws(() => logPath('/data', 'busybox:1'), /busybox:1 is not an image of a function/);
});

it('lines may arrive in pieces, and the last line may lack its end', async (context) => {
  const { log, saved } = begin(context);
  log.addLine('it begins');
  write(log, 'one\r', '\ntwo', ' and more\nthr', 'ee\rfour');
  assert.equal(log.tail, 'it begins\none\ntwo and more\nthree\nfour\n');
  write(log, 'five\n');
  assert.equal(await saved(), 'it begins\none\ntwo and more\nthree\nfour\nfive\n');
});

it('contains the unfinished line once at its end, in the message and in the file', async (context) => {
  for (const read of [(log: BuildLog) => log.tail.trim(), (log: BuildLog) => log.message]) {
    const { log, saved } = begin(context);
    write(log, 'the last');
    assert.deepEqual([read(log), read(log)], ['the last', 'the last']);
    assert.equal(await saved(), 'the last\n');
  }
  const { log, saved } = begin(context);
  write(log, 'the last');
  assert.equal(await saved(), 'the last\n');
  assert.equal(await saved(), 'the last\n');
});

it('a character whose bytes arrive in two pieces is decoded correctly', () => {
  const log = new BuildLog();
  const [first, ...rest] = Buffer.from('ä\n');
  log.write(Buffer.from([first ?? 0]));
  log.write(Buffer.from(rest));
  assert.equal(log.tail, 'ä\n');
});

it('a long line is cut, whether it ends or not', async (context) => {
  for (const end of ['\n', '']) {
    const { log, saved } = begin(context);
    write(log, `${'x'.repeat(5000)}${end}`);
    assert.equal(await saved(), `${'x'.repeat(4096)}\n`);
  }
});

it('omits the middle of a long log, with the number of omitted bytes', async (context) => {
  const { log, saved } = begin(context);
  const line = 'x'.repeat(1023);
  for (let i = 0; i < 1024; i++) log.addLine(line);
  assert.equal(await saved(), `${line}\n`.repeat(1024), 'a MiB is whole');
  log.addLine('behind');
  assert.equal(
    await saved(),
    `${`${line}\n`.repeat(1024)}… 7 bytes are left out …\n${`${line}\n`.repeat(64).slice(7)}behind\n`,
  );
});

it('a log replaces the previous log, and is readable only for its owner', async (context) => {
  const { log, path, saved } = begin(context);
  log.addLine('one');
  await saved();
  rmSync(path);
  writeFileSync(path, 'of another build, and longer', { mode: 0o644 });
  assert.equal(await saved(), 'one\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
});
