/** OOM kills, read from a file that stands for the kernel's log. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { OomKills } from '../../../../src/kubelet/runtime/oom-kills.ts';

const id = (letter: string) => letter.repeat(64);
const named = (letter: string) =>
  `6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/docker/${id(letter)},task=dd,pid=7,uid=0\n`;
const numbered = (pid: number) => `3,1,2,-;Memory cgroup out of memory: Killed process ${pid} (dd)\n`;

function begin(context: TestContext, hasNumbersOfLog = true) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-oom-kills-'));
  context.after(() => rmSync(base, { recursive: true }));
  const path = join(base, 'kmsg');
  writeFileSync(path, '');
  const kills = new OomKills(path, async () => hasNumbersOfLog);
  return { path, kills, write: (record: string) => appendFileSync(path, record) };
}

test('a container was killed if the log names it, also before the first query', async (context) => {
  const { kills, write } = begin(context);
  write(named('a'));
  assert.deepEqual([await kills.has(id('a')), await kills.has(id('b'))], [true, false]);
  write(named('c'));
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((one) => kills.has(id(one)))), [true, false, true]);
});

test('a container was killed if the engine reports it, before or after a query', async (context) => {
  const { kills } = begin(context);
  kills.add(id('a'));
  assert.deepEqual([await kills.has(id('a')), await kills.has(id('b'))], [true, false]);
  kills.add(id('b'));
  assert.equal(await kills.has(id('b')), true);
});

test('a kill whose record has only the process id is assigned to the container with this first process', async (context) => {
  const { kills, write } = begin(context);
  await kills.started(id('a'), 71);
  await kills.started(id('b'), 72);
  write(numbered(71));
  assert.deepEqual([await kills.has(id('a')), await kills.has(id('b'))], [true, false]);
});

test('an earlier or later process with the same id is not assigned to a container', async (context) => {
  const { kills, write } = begin(context);
  write(numbered(71));
  await kills.started(id('a'), 71);
  assert.equal(await kills.has(id('a')), false);
  write(numbered(71));
  assert.equal(await kills.has(id('a')), false, 'the container had ended before');
  await kills.started(id('b'), 71);
  write(numbered(71));
  assert.deepEqual([await kills.has(id('a')), await kills.has(id('b'))], [false, true]);
});

test('process ids of another namespace than the kernel log’s are ignored', async (context) => {
  const { kills, write } = begin(context, false);
  await kills.started(id('a'), 71);
  write(numbered(71));
  assert.equal(await kills.has(id('a')), false);
});

test('without a kernel log, only the reports of the engine are used', async () => {
  const kills = new OomKills('/nonexistent/kmsg');
  await kills.started(id('a'), 71);
  assert.equal(await kills.has(id('a')), false);
  kills.add(id('a'));
  assert.equal(await kills.has(id('a')), true);
});
