/**
 * A waiting program receives its function while it still starts; it runs as a process of this machine, not as
 * process 1.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { givenSignal } from '../../../../../src/features/functions/agent/plan/image-contents.ts';
import { waitsVariable } from '../../../../../src/features/functions/api/warm-instance.ts';
import { freePort } from '../../../../fixtures/free-port.ts';

const programs = new URL('../../../../../src/features/functions/agent/programs/', import.meta.url);
const runtimes = {
  python: {
    command: 'python3',
    program: 'run.py',
    file: 'main.py',
    text: 'def handler(event):\n    return event\n',
  },
  nodejs: {
    command: process.execPath,
    program: 'run.mjs',
    file: 'main.mjs',
    text: 'export const handler = (event) => event;\n',
  },
} as const;

const headers = { 'content-type': 'application/json' };
const answerOf = async (port: number) => {
  const asked = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: '{"n":1}' });
  return (await asked.catch(() => undefined))?.json();
};

describe('an instance that is given a function while its program starts', () => {
  for (const [runtime, { command, program, file, text }] of Object.entries(runtimes))
    it(`answers for any time of the signal: ${runtime}`, async (context) => {
      const directory = await mkdtemp(join(tmpdir(), 'minik8s-given-'));
      context.after(() => rm(directory, { recursive: true }));
      await copyFile(fileURLToPath(new URL(program, programs)), join(directory, program));
      await writeFile(join(directory, file), text);
      await writeFile(join(directory, 'given.json'), '{"env":{}}');
      const port = await freePort();
      const env = { PATH: process.env.PATH, HOME: directory, PORT: `${port}`, [waitsVariable]: '1' };
      const child = spawn(command, [basename(program)], { cwd: directory, env, stdio: 'ignore' });
      const ended = once(child, 'close').then(([code, signal]) =>
        assert.fail(`it ended with ${code ?? signal}`),
      );
      ended.catch(() => undefined);
      context.after(() => child.kill('SIGKILL'));
      const deadline = AbortSignal.timeout(120_000);
      const answered = async () => {
        for (;;) {
          child.kill(givenSignal);
          const answer = await answerOf(port);
          if (answer !== undefined) return answer;
          deadline.throwIfAborted();
          await sleep(2);
        }
      };
      assert.deepEqual(await Promise.race([answered(), ended]), { n: 1 });
    });
});
