/**
 * Mistakes of beginners, typed on a machine after the quick start: the answer names the place, the cause
 * and the remedy. Mistakes that need no containers are in test/integration/cli/beginners.test.ts; those
 * of disks, tokens and clocks are in the tests full-disk, join and certificates.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecError } from '../../src/os/exec.ts';
import { BareMachine } from './harness/bare-machine.ts';
import {
  type Mistake,
  manifest,
  ofFunctions,
  ofMinik8s,
  ofPods,
  programs,
  withoutDocker,
} from './harness/beginner-mistakes.ts';
import { quickStart } from './harness/guides.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

test('mistakes of beginners are answered with the cause and the remedy', {
  timeout: 900_000,
}, async (context) => {
  const host = await Host.start(context, { docker: false });
  const machine = await BareMachine.start('vm1', host);
  await machine.run(quickStart, { timeoutMs: 300_000 });

  /** Resolves to both streams, whatever the exit status. */
  const type = async (line: string): Promise<string> => {
    try {
      const { stdout, stderr } = await machine.run(`cd ${host.directory}\n${line}`, { timeoutMs: 120_000 });
      return stdout + stderr;
    } catch (error) {
      if (!(error instanceof ExecError) || error.failure.code === undefined) throw error;
      return error.failure.stdout + error.failure.stderr;
    }
  };
  const answers = async (mistakes: readonly Mistake[]) => {
    for (const { line, says } of mistakes)
      await context.test(line, async () => {
        await waitFor(`${line} says ${says}`, async () => {
          const said = await type(line);
          if (!says.test(said)) throw new Error(said);
          return true;
        });
      });
  };

  writeFileSync(join(host.directory, 'mistakes.yaml'), manifest);
  assert.doesNotMatch(await type('minik8s ctl apply -f mistakes.yaml'), /error/i);
  await answers(ofPods);
  await answers(ofMinik8s);

  for (const [name, text] of Object.entries(programs)) {
    mkdirSync(join(host.directory, name));
    writeFileSync(join(host.directory, name, 'main.py'), text);
  }
  await machine.run('bin/make-runtimes python', { timeoutMs: 300_000 });
  await type('minik8s ctl image load minik8s/python:3 --name python:3-slim');
  await answers(ofFunctions);

  await context.test('a closed terminal does not end minik8s, and a missing folder is named', async () => {
    await type('minik8s stop');
    const started = 'minik8s up --pod-manifest-path /srv/absent >/var/log/up.log 2>&1 & sleep 15';
    await type(`setsid script --quiet --command '${started}' /dev/null </dev/null >/dev/null`);
    await waitFor('the end of the terminal is logged', async () => {
      const log = await type('cat /var/log/up.log');
      assert.match(log, /the terminal was closed \(SIGHUP\): going on/);
      assert.match(log, /the directory of static pods \/srv\/absent does not exist: create it/);
      return true;
    });
    assert.match(await type('minik8s ctl get nodes'), /^vm1 +Ready /m);
  });

  await machine.run('kill "$(cat /run/docker.pid)"');
  await answers(withoutDocker);
  await machine.run('setsid dockerd >/var/log/dockerd.log 2>&1 </dev/null &');
  await waitFor('Docker', () => machine.run('docker version').then(() => true), { timeoutMs: 60_000 });
});
