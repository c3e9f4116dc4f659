/** `minik8s status`, `stop` and `logs` with real masters on this machine, each in a directory of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { identityOf } from '../../../src/roles/data-directory.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { freePort } from '../../fixtures/free-port.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of minik8s in a process of its own. */
async function run(args: readonly string[], options: object = {}): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const [out, err, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ]);
  return { code, out, err };
}

const textOf = async (stream: NodeJS.ReadableStream | null) =>
  stream === null ? '' : Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString();

describe('the masters of a machine', { timeout: 480_000 }, () => {
  const parent = mkdtempSync(join(tmpdir(), 'minik8s-own-'));
  const masters: ChildProcess[] = [];
  const [first, second] = [join(parent, 'first'), join(parent, 'second')];
  const log = join(parent, 'first.log');

  async function start(dataDir: string, flags: readonly string[], output: number | 'ignore') {
    const port = await freePort();
    const own = ['--data-dir', dataDir, '--bind-address', '127.0.0.1', '--port', `${port}`];
    const master = spawn(process.execPath, [main, 'master', ...own, ...flags], {
      stdio: ['ignore', output, output],
    });
    masters.push(master);
    const isReady = async () => {
      assert.equal(master.exitCode, null, 'the master has ended');
      return exists(join(dataDir, 'admin.conf')) && (await run(['status', '--data-dir', dataDir])).code === 0;
    };
    await eventually(systemClock, `the master of ${dataDir}`, isReady, 180_000);
    return master;
  }

  before(async () => {
    chmodSync(parent, 0o755);
    await start(first, ['--log-file', log, '--log-level', 'debug', '--log-file-max-size', '64Ki'], 'ignore');
    const file = openSync(join(parent, 'second.log'), 'a');
    await start(second, [], file);
    closeSync(file);
  });
  after(async () => {
    for (const master of masters) {
      const ended = master.exitCode !== null ? undefined : once(master, 'exit');
      master.kill('SIGTERM');
      await ended;
    }
    rmSync(parent, { recursive: true });
  });

  it('are shown as healthy, with their processes, directories and logs', async () => {
    const { code, out } = await run(['status', '--data-dir', first, '-o', 'json']);
    assert.equal(code, 0, out);
    const { health, processes } = JSON.parse(out);
    assert.equal(health, 'healthy');
    const [found] = processes;
    assert.equal(found.pid, masters[0]?.pid);
    assert.deepEqual(
      [found.role, found.dataDir, found.kubeconfig],
      ['master', first, join(first, 'admin.conf')],
    );
    assert.deepEqual(found.log, { kind: 'rotated', path: log });
    assert.deepEqual(found.api, { value: 'ready' });
    assert.ok(found.etcdBytes > 0 && found.certificate.daysLeft > 300);
    const text = await run(['status', '--data-dir', second]);
    assert.match(text.out, /^minik8s master: running, healthy\n/);
    assert.match(text.out, /log +\S+\/second\.log \(not rotated; --log-file is\)/);
  });

  it('are never stopped by a stop without a flag, which prints the command for each', async () => {
    const { code, err } = await run(['stop', '--role', 'master']);
    assert.equal(code, 2);
    assert.ok(err.includes(`minik8s stop --data-dir ${first}`) && err.includes(`--data-dir ${second}`), err);
    assert.ok(masters.every(({ exitCode }) => exitCode === null));
  });

  it('have logs that are printed by level and component, as text and as JSON, from all files', async () => {
    const own = ['logs', '--data-dir', first];
    await eventually(systemClock, 'a rotation', async () => {
      await run(['ctl', '--kubeconfig', join(first, 'admin.conf'), 'get', 'namespaces,configmaps,secrets']);
      return (
        readFileSync(log).length > 0 && (await run([...own, '--tail', '1'])).out !== '' && exists(`${log}.1`)
      );
    });
    const last = (await run([...own, '--tail', '3'])).out.trimEnd().split('\n');
    assert.equal(last.length, 3);
    const json = (await run([...own, '--level', 'info', '-o', 'json', '--tail', '5'])).out
      .trimEnd()
      .split('\n');
    assert.ok(json.length >= 1 && json.length <= 5);
    for (const line of json) assert.match(JSON.parse(line).level, /^(info|warn|error)$/);
    const some = JSON.parse(json.at(-1) ?? '');
    const component = some.component ?? 'apiserver';
    for (const line of (await run([...own, '--component', component])).out.trimEnd().split('\n'))
      assert.ok(line === '' || line.includes(` ${component}`), line);
    assert.equal((await run([...own, '--since', '1s', '--level', 'error'])).code, 0);
    const ofFile = await run(['logs', '--data-dir', second]);
    assert.equal(ofFile.out, readFileSync(join(parent, 'second.log'), 'utf8'));
  });

  it('are not meant by a word after minik8s logs, whose error names the command for logs of pods', async () => {
    const { code, err } = await run(['logs', 'web']);
    assert.equal(code, 2);
    assert.match(err, /did you mean minik8s ctl logs web\?/);
  });

  it('are shown to other users as far as permitted, are not stopped by them, and the error of logs names sudo', {
    skip: process.getuid?.() !== 0 && 'needs root',
  }, async () => {
    const nobody = { uid: 65534, gid: 65534, env: { PATH: process.env.PATH, HOME: '/' } };
    const program = join(parent, 'minik8s');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    const status = await run(['status', '--data-dir', first], nobody);
    assert.ok(status.code === 3 || status.code === 1, status.err);
    const stop = await run(['stop', '--data-dir', first], nobody);
    assert.notEqual(stop.code, 143);
    assert.equal(masters[0]?.exitCode, null);
    const logs = await run(['logs', '--data-dir', first], nobody);
    assert.equal(logs.code, 1);
    assert.match(logs.err, /sudo minik8s logs/);
  });

  it('stop on request, and the answer has the command that starts them again', async () => {
    const master = masters[1];
    assert.ok(master);
    const ended = once(master, 'exit');
    const { code, out } = await run(['stop', '--data-dir', second]);
    assert.equal(code, 0, out);
    assert.equal((await ended)[0], 0);
    const refused = await run([
      'ctl',
      'get',
      'nodes',
      '--kubeconfig',
      join(second, 'admin.conf'),
      '--request-timeout=10s',
    ]);
    assert.match(refused.err, /connection refused/, 'no connection waits for another master');
    assert.match(out, /^minik8s master \(process \d+\) has stopped\n/);
    assert.match(
      out,
      /start it again: setsid \S+ \S+ master --data-dir \S+\/second .*>>\S+second\.log 2>&1 <\/dev\/null &\n$/,
    );
    const status = await run(['status', '--data-dir', second]);
    assert.equal(status.code, 3);
    assert.match(status.out, /last run +master, version /);
    assert.equal((await run(['stop', '--data-dir', second])).code, 0, 'a second stop');
    assert.equal(
      (await run(['logs', '--data-dir', second])).out,
      readFileSync(join(parent, 'second.log'), 'utf8'),
    );
  });

  it('that are frozen are reported as not ready, and the error of stop names the command that kills them', async () => {
    const master = masters[0];
    assert.ok(master?.pid);
    process.kill(master.pid, 'SIGSTOP');
    try {
      const from = performance.now();
      const status = await run(['status', '--data-dir', first]);
      assert.equal(status.code, 1);
      assert.match(status.out, /! the API server is not ready: /);
      assert.ok(performance.now() - from < 60_000);
      const stop = await run(['stop', '--data-dir', first, '--timeout', '1s']);
      assert.equal(stop.code, 1);
      assert.match(stop.err, new RegExp(`still runs 1 s after.*kill -9 ${master.pid}`));
    } finally {
      process.kill(master.pid, 'SIGCONT');
    }
    await eventually(systemClock, 'the end', () => master.exitCode !== null);
  });
});

const exists = (path: string) => {
  try {
    closeSync(openSync(path, 'r'));
    return true;
  } catch {
    return false;
  }
};

it('a process that got the id of a former minik8s is never shown or stopped', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-reused-'));
  const other = spawn('sleep', ['1000']);
  try {
    const identity = identityOf(other.pid ?? 0) ?? '';
    for (const text of [`${other.pid} 1\n`, `${identity}\n`]) {
      writeFileSync(join(dataDir, 'minik8s.pid'), text);
      assert.equal((await run(['status', '--data-dir', dataDir])).code, 3, text);
      assert.match((await run(['stop', '--data-dir', dataDir])).out, /not running/);
      assert.equal(other.exitCode, null);
    }
  } finally {
    const ended = once(other, 'exit');
    other.kill('SIGKILL');
    await ended;
    rmSync(dataDir, { recursive: true });
  }
});

it('a log in the journal is printed with journalctl, and the error without journalctl names it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-journal-'));
  const bin = join(dataDir, 'bin');
  mkdirSync(bin);
  const record = {
    ...{ process: '1 1', role: 'up', version: '0.1.0', startedAt: '2026-01-02T03:04:05Z', configFile: '/x' },
    log: { kind: 'journal', unit: 'minik8s.service' },
  };
  writeFileSync(join(dataDir, 'run.json'), JSON.stringify(record));
  try {
    const none = await run(['logs', '--data-dir', dataDir], { env: { ...process.env, PATH: bin } });
    assert.equal(none.code, 1);
    assert.match(none.err, /the log is in the journal, and journalctl cannot read it: .*ENOENT/);
    // A program with the same output stands in for the journal, which containers do not have.
    const lines = ['2026-01-02T03:04:05.678Z INFO  a: one', '2026-01-02T03:04:06.678Z WARN  b: two'];
    const script = `#!/bin/sh\ncase "$*" in *--unit=minik8s.service*) printf '%s\\n' '${lines.join("' '")}' '-- cursor: c' ;; esac\n`;
    writeFileSync(join(bin, 'journalctl'), script, { mode: 0o755 });
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    assert.equal((await run(['logs', '--data-dir', dataDir], { env })).out, `${lines.join('\n')}\n`);
    assert.equal(
      (await run(['logs', '--data-dir', dataDir, '--level', 'warn'], { env })).out,
      `${lines[1]}\n`,
    );
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
