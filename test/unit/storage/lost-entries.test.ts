import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecError } from '../../../src/os/exec.ts';
import { endOfWaiting, explainWaiting, untilWaiting } from '../../../src/storage/lost-entries.ts';

const waiting = { line: 'x', trouble: 'waiting' } as const;
const warning =
  '{"level":"warn","msg":"failed to publish local member to cluster through raft","error":"timed out"}\n';

test('a log counts as damaged only if it ends before its database', () => {
  const behind = endOfWaiting(waiting, { log: 25, database: 203 });
  assert.equal(behind.trouble, 'damaged');
  assert.match(behind.line, /log ends at entry 25, and the database at entry 203/);
  assert.deepEqual(endOfWaiting(waiting, { log: 203, database: 203 }), { line: 'x' });
  assert.deepEqual(endOfWaiting(waiting, { log: 204, database: 203 }), { line: 'x' });
});

test('the data of etcd are examined only if etcd was waiting', async () => {
  const calls: unknown[] = [];
  const exec = async (...call: unknown[]) => {
    calls.push(call.slice(0, 2));
    return { stdout: '{"database":9,"log":4}\n', stderr: '' };
  };
  const sources = { binary: '/bin/etcd', data: '/d', exec };
  assert.deepEqual(await explainWaiting({ line: 'killed' }, sources), { line: 'killed' });
  assert.deepEqual(calls, []);
  assert.equal((await explainWaiting(waiting, sources)).trouble, 'damaged');
  assert.deepEqual(calls, [['/bin/etcd', ['log-end', '/d']]]);
});

test('a log that cannot be read is damaged, with the reason of the program', async () => {
  const exec = () => {
    const stderr = 'panic: wal: file not found\ngoroutine 1\n';
    const failure = { file: 'etcd', args: [], code: 1, stdout: '', stderr };
    return Promise.reject(new ExecError(failure, 'exit status 1'));
  };
  const end = await explainWaiting(waiting, { binary: 'etcd', data: '/d', exec });
  assert.equal(end.trouble, 'damaged');
  assert.equal(end.line, 'wal: file not found');
});

test('the message about the wait is found in the log of a running etcd, and the signal ends the search', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'lost-entries-'));
  const file = join(directory, 'etcd.log');
  writeFileSync(file, '\n\n');
  const stop = new AbortController();
  try {
    const found = untilWaiting(file, stop.signal);
    appendFileSync(file, '{"level":"warn","msg":"something else"}\n');
    appendFileSync(file, warning);
    assert.equal(await found, true);
    const other = untilWaiting(file, stop.signal);
    stop.abort();
    assert.equal(await other, false);
    assert.equal(await untilWaiting(join(directory, 'none'), new AbortController().signal), false);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
