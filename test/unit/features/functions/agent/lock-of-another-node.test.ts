import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BuildEngine } from '../../../../../src/features/functions/agent/build-engine.ts';
import type { BuildLog } from '../../../../../src/features/functions/agent/build-log.ts';
import { FunctionBuilder } from '../../../../../src/features/functions/agent/function-builder.ts';
import { BuildError } from '../../../../../src/features/functions/agent/plan/build-error.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';

const began = new Error('pip or npm was begun');
const builder = new FunctionBuilder({
  client: {} as never,
  engine: { install: () => Promise.reject(began) } as unknown as BuildEngine,
  readAsset: () => new Uint8Array(),
  environment: {},
});
const log = { addLine: () => undefined, write: () => undefined } as unknown as BuildLog;
const hash = `--hash=sha256:${'a'.repeat(64)}`;
const build = (runtime: 'python' | 'nodejs', lock: string) => {
  const files = { 'requirements.txt': 'a', 'package.json': '{"dependencies":{"a":"1"}}' };
  const spec = {
    function: 'f',
    runtime,
    handler: 'main.handler',
    files,
    image: 'minik8s.function/default/f:h',
  };
  const version = { metadata: { name: 'f-1', namespace: 'default' }, spec, status: { lock } };
  return builder.build(version as unknown as FunctionVersion, 'sha256:1', log, new AbortController().signal);
};
const packages = (version: string) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: { 'node_modules/a': { version, integrity: 'sha512-x' } },
  });

test('a lock that no build wrote starts neither pip nor npm', async () => {
  for (const lock of [`--index-url https://x\na==1 ${hash}\n`, '-e .', `a @ https://x/a.whl ${hash}`])
    await assert.rejects(build('python', lock), BuildError, lock);
  await assert.rejects(build('nodejs', packages('https://x/a.tgz')), BuildError);
});
test('a lock that a build wrote is installed', async () => {
  await assert.rejects(build('python', `a==1 ${hash}\n`), began);
  await assert.rejects(build('nodejs', packages('1.0.0')), began);
});

test('the first lock of two concurrent installations is kept, and the other node installs it', async () => {
  const theirs = `a==1 ${hash}\n`;
  const version = {
    metadata: { name: 'f-1', namespace: 'default', uid: 'u' },
    spec: {
      ...{ function: 'f', runtime: 'python', handler: 'main.handler' },
      ...{ files: { 'requirements.txt': 'a' }, image: 'minik8s.function/default/f:h' },
    },
  } as unknown as FunctionVersion;
  // The lock is written while this node installs.
  let stored = { ...version, status: { lock: theirs } } as FunctionVersion;
  const installed: string[] = [];
  let commits = 0;
  const { install, commit } = {
    install: async (
      wanted: { archive: Uint8Array },
      _: unknown,
      use: (result: unknown) => Promise<unknown>,
    ) => {
      installed.push(Buffer.from(wanted.archive).toString('latin1').includes('a==1') ? 'theirs' : 'own');
      const report = {
        install: [
          {
            metadata: { name: 'a', version: '2' },
            download_info: { archive_info: { hashes: { sha256: 'a'.repeat(64) } } },
          },
        ],
      };
      return use({ exitCode: 0, installed: { file: async () => JSON.stringify(report) } });
    },
    commit: async () => void commits++,
  };
  const one = new FunctionBuilder({
    client: {
      resource: () => ({
        get: async () => stored,
        updateStatus: async (next: FunctionVersion) => {
          stored = next;
          return next;
        },
      }),
    } as never,
    engine: { install, commit } as unknown as BuildEngine,
    readAsset: () => new Uint8Array(),
    environment: {},
  });
  await one.build(version, 'sha256:1', log, new AbortController().signal);
  assert.deepEqual([stored.status?.lock, installed, commits], [theirs, ['own', 'theirs'], 1]);
});
