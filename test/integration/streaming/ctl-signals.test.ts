/** `ctl` that is asked to end by a signal: its exit status, and what it leaves behind. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { noHome } from '../../fixtures/ctl.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const ctl = [process.execPath, main, 'ctl'];
const signals = [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = AbortSignal.timeout(120_000);
  while (!condition()) {
    if (deadline.aborted) throw new Error(`waited in vain for ${what}`);
    await setTimeout(10);
  }
}

describe('ctl that a signal ends', { timeout: 300_000 }, () => {
  let cluster: StreamCluster;
  let directory: string;
  let env: Record<string, string>;
  let count = 0;

  before(async () => {
    cluster = await startStreamCluster();
    ({ directory } = cluster.server);
    const temporary = join(directory, 'temporary');
    mkdirSync(temporary);
    env = {
      KUBECONFIG: await cluster.server.kubeconfigFor('admin', ['system:masters']),
      HOME: noHome,
      PATH: process.env.PATH ?? '',
      TMPDIR: temporary,
      ...compileCache,
    };
  });
  after(() => cluster.stop());

  const start = ([file = '', ...args]: readonly string[], more: Record<string, string> = {}) =>
    spawn(file, args, { env: { ...env, ...more }, stdio: 'pipe', timeout: 120_000 });

  /** Sends the signal; resolves to the exit status and all errors. */
  async function ended(child: ChildProcess, name: NodeJS.Signals) {
    const err = text(child.stderr ?? assert.fail());
    const closed = once(child, 'close');
    child.stdout?.resume();
    child.kill(name);
    const [code] = (await closed) as [number | null];
    return [code, await err];
  }

  /** Returns a program that makes the file `ready`, and then runs the commands. */
  function program(commands: string) {
    const [file, ready] = [join(directory, `program-${count}`), join(directory, `ready-${count++}`)];
    writeFileSync(file, `#!/bin/sh\n: > ${ready}\n${commands}\n`, { mode: 0o755 });
    return { file, started: () => until('the program', () => existsSync(ready)) };
  }

  const leftOver = () => readdirSync(join(directory, 'temporary'));

  for (const [name, status] of signals) {
    it(`${name} ends exec and its program, and port-forward, with status ${status}`, async () => {
      const exec = start([...ctl, 'exec', 'web', '--', 'wait']);
      await until('the program', () => cluster.running() === 1);
      assert.deepEqual(await ended(exec, name), [status, '']);
      await until('the end of the program', () => cluster.running() === 0);
      const forward = start([...ctl, 'port-forward', 'web', ':8080']);
      await once(forward.stdout, 'data');
      assert.deepEqual(await ended(forward, name), [status, '']);
    });

    it(`${name} ends edit and diff with the programs that they run, and leaves no file of them`, async () => {
      const editor = program('exec sleep 1000');
      const edit = start([...ctl, 'edit', 'pod', 'web'], { KUBE_EDITOR: editor.file });
      await editor.started();
      assert.deepEqual([await ended(edit, name), leftOver()], [[status, ''], []]);
      const differ = program('exec sleep 1000');
      const manifest = join(directory, 'made.json');
      writeFileSync(manifest, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made"}}');
      const diff = start([...ctl, 'diff', '-f', manifest], { KUBECTL_EXTERNAL_DIFF: differ.file });
      await differ.started();
      assert.deepEqual([await ended(diff, name), leftOver()], [[status, ''], []]);
    });

    it(`${name} ends cp, which leaves no file with a part of its content`, async () => {
      const [remote, local] = [join(directory, 'endless'), join(directory, `copy-${name}`)];
      writeFileSync(remote, '');
      truncateSync(remote, 2 ** 36);
      const cp = start([...ctl, 'cp', `web:${remote}`, local]);
      await until('the beginning of the copy', () => existsSync(local));
      const [code] = await ended(cp, name);
      assert.deepEqual([code, existsSync(local)], [status, false]);
      // The next test waits for a program of its own.
      await until('the end of the program', () => cluster.running() === 0);
    });

    it(`${name} ends exec -it, which restores the terminal`, async () => {
      const pid = join(directory, `pid-${name}`);
      const words = [...ctl, 'exec', '-it', 'web', '--', 'wait'].map((word) => `'${word}'`).join(' ');
      const script = `sh -c "echo \\$\\$ > ${pid}; exec ${words}"; echo status $?; stty -a`;
      const terminal = start(['script', '-qec', script, '/dev/null']);
      const printed = text(terminal.stdout);
      await until('the program', () => cluster.running() === 1);
      process.kill(Number(readFileSync(pid, 'utf8')), name);
      const out = await printed;
      assert.match(out, new RegExp(`^status ${status}\r$`, 'm'));
      assert.match(out, / icanon/);
      assert.match(out, / echo /);
    });
  }

  it('Ctrl-C in an editor is left to the editor, and the edit is sent', async () => {
    const [interrupted, done] = [join(directory, 'interrupted'), join(directory, 'done')];
    const editor = program(
      `trap ': > ${interrupted}' INT\nwhile [ ! -e ${done} ]; do sleep 0.1; done\n` +
        `sed -i 's/name: web$/name: web\\n  labels: {edited: "yes"}/' "$1"`,
    );
    const words = [...ctl, 'edit', 'pod', 'web'].map((word) => `'${word}'`).join(' ');
    // The shell would end on the Ctrl-C, too.
    const script = `trap : INT; KUBE_EDITOR=${editor.file} ${words}; echo status $?`;
    const terminal = start(['script', '-qec', script, '/dev/null']);
    const printed = text(terminal.stdout);
    await editor.started();
    for (let times = 0; times < 2; times++) terminal.stdin.write('\x03');
    await until('the interrupt', () => existsSync(interrupted));
    writeFileSync(done, '');
    assert.match(await printed, /pod\/web edited\r\nstatus 0\r/);
    assert.deepEqual(leftOver(), []);
  });
});
