/** Contents of images and builds of functions, value by value. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { nodeFunctions } from '../../../../../src/features/functions/agent/functions.ts';
import { machineSettings } from '../../../../../src/features/functions/agent/machine-settings.ts';
import { BuildError } from '../../../../../src/features/functions/agent/plan/build-error.ts';
import { tailOf } from '../../../../../src/features/functions/agent/plan/build-output.ts';
import {
  archiveOf,
  imageConfig,
  textOf,
} from '../../../../../src/features/functions/agent/plan/image-contents.ts';
import { functionNames, versionProblem } from '../../../../../src/features/functions/agent/plan/image-use.ts';
import { ownVariables } from '../../../../../src/features/functions/agent/plan/machine-settings.ts';
import { npmCommand, portableLock } from '../../../../../src/features/functions/agent/plan/node-libraries.ts';
import { givenVersion, isWarm } from '../../../../../src/features/functions/agent/plan/warm-use.ts';
import { changeStatus } from '../../../../../src/features/functions/agent/version-status.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import { ownImage } from '../../../../../src/features/functions/api/own-image.ts';

const image = 'minik8s.function/team/hello:abc';
const versionOf = (spec: object = {}) =>
  ({
    metadata: { name: 'hello-1', namespace: 'team', uid: 'u' },
    spec: {
      ...{ function: 'hello', runtime: 'python', handler: 'main.handler', baseImage: 'python:3', image },
      ...spec,
    },
  }) as unknown as FunctionVersion;

describe('the image of a function', () => {
  it('starts the program of its runtime, with the names of the function in its variables and labels', () => {
    const config = imageConfig(versionOf(), 'python');
    assert.deepEqual(config, {
      Env: ['PORT=8080', 'FUNCTION_NAME=hello', 'FUNCTION_NAMESPACE=team', 'FUNCTION_HANDLER=main.handler'],
      Entrypoint: ['python3', '/minik8s/run.py'],
      Cmd: [],
      WorkingDir: '/function',
      Labels: {
        'minik8s.io/function-image': image,
        'minik8s.io/built-for': 'hello-1',
        'minik8s.io/content-hash': 'abc',
      },
    });
    assert.deepEqual(imageConfig(versionOf({ handler: undefined }), 'nodejs').Entrypoint, [
      'node',
      '/minik8s/run.mjs',
    ]);
    assert.equal(imageConfig(versionOf({ handler: undefined }), 'nodejs').Env[3], 'FUNCTION_HANDLER=');
  });
  it('has files and folders that belong to root, are dated 1980, and are writable by root alone', () => {
    const archive = Buffer.from(archiveOf([{ path: 'a/b/c', content: Buffer.from('text') }]));
    const at = (index: number) => {
      const header = archive.subarray(index * 512, index * 512 + 512);
      const octal = (from: number, to: number) => Number.parseInt(header.toString('latin1', from, to), 8);
      const name = header.toString('utf8', 0, 100).replace(/\0.*$/s, '');
      return [name, octal(100, 108), octal(108, 116), octal(116, 124), octal(124, 136), octal(136, 148)];
    };
    assert.deepEqual([0, 1, 2].map(at), [
      [at(0)[0], 0o755, 0, 0, 0, 315_532_800],
      [at(1)[0], 0o755, 0, 0, 0, 315_532_800],
      ['a/b/c', 0o644, 0, 0, 4, 315_532_800],
    ]);
    assert.match(`${at(0)[0]} ${at(1)[0]}`, /^a\/? a\/b\/?$/);
  });
  it('is not built without a runtime, a handler or a base', () => {
    for (const missing of ['runtime', 'handler', 'baseImage'])
      assert.match(
        versionProblem(versionOf({ [missing]: undefined }), image) ?? '',
        /has no runtime, handler or baseImage/,
      );
    assert.deepEqual(functionNames(['python:3', image]), [image]);
    assert.equal(textOf(versionOf({ files: { a: 'x' } }), 'toString'), undefined);
    assert.equal(textOf(versionOf(), 'a'), undefined);
  });
});

it('a version is assigned only to a pod that waited and now belongs to a function', () => {
  const [warm, fn, version] = ['minik8s.io/warm', 'minik8s.io/function', 'minik8s.io/function-version'];
  const pod = (labels?: object) => ({ metadata: { name: 'p', labels } }) as never;
  const all = { [warm]: 'python', [fn]: 'f', [version]: 'f-1' };
  assert.equal(givenVersion(pod(all)), 'f-1');
  assert.equal(givenVersion(pod({ ...all, [warm]: undefined })), undefined);
  assert.equal(givenVersion(pod({ ...all, [fn]: undefined })), undefined);
  assert.equal(givenVersion(pod()), undefined);
  assert.deepEqual([isWarm(pod(all)), isWarm(pod()), isWarm(pod({ [fn]: 'f' }))], [true, false, false]);
});

describe('a build', () => {
  it('has separate homes, and the existing settings of this machine, read-only', async (context) => {
    const home = mkdtempSync(join(tmpdir(), 'minik8s-settings-'));
    context.after(() => rmSync(home, { recursive: true }));
    const own = [
      ...['HOME=/minik8s/home', 'XDG_CONFIG_HOME=/minik8s/home/.config'],
      ...['npm_config_globalconfig=/minik8s/home/global.npmrc', 'npm_config_userconfig=/minik8s/home/.npmrc'],
      'npm_config_cache=/minik8s/home/.npm',
    ];
    assert.deepEqual(ownVariables({}), own);
    assert.deepEqual(ownVariables({ PIP_CONFIG_FILE: '/x' }), [
      ...own,
      'PIP_CONFIG_FILE=/minik8s/home/.pip/own.conf',
    ]);
    assert.deepEqual(ownVariables({ PIP_CONFIG_FILE: '/dev/null' }), [...own, 'PIP_CONFIG_FILE=/dev/null']);
    mkdirSync(join(home, 'wheels'));
    const settings = {
      userconfig: join(home, 'npmrc'),
      globalconfig: join(home, 'none'),
      conf: join(home, 'pip.conf'),
    };
    writeFileSync(settings.userconfig, `cafile=${home}/missing.pem\n`);
    writeFileSync(settings.conf, `[global]\nfind-links = ${home}/wheels\n`);
    const { env, binds } = await machineSettings({
      ...{ HOME: home, PIP_INDEX_URL: 'https://x/simple', SECRET: 'no', PIP_CONFIG_FILE: settings.conf },
      ...{ npm_config_userconfig: settings.userconfig, npm_config_globalconfig: settings.globalconfig },
    });
    assert.deepEqual(env, [
      'PIP_INDEX_URL=https://x/simple',
      ...own,
      'PIP_CONFIG_FILE=/minik8s/home/.pip/own.conf',
    ]);
    assert.deepEqual(
      binds.filter((bind) => bind.includes(home)),
      [
        `${settings.conf}:/minik8s/home/.pip/own.conf:ro`,
        `${settings.userconfig}:/minik8s/home/.npmrc:ro`,
        `${home}/wheels:${home}/wheels:ro`,
      ],
    );
  });
  it('runs no scripts of Node packages, and reads locks of versions 2 and 3', () => {
    const flags = [
      '--ignore-scripts',
      '--omit=dev',
      '--no-audit',
      '--no-fund',
      '--no-update-notifier',
      '--no-progress',
    ];
    assert.deepEqual(npmCommand(true), ['npm', 'ci', ...flags]);
    assert.deepEqual(npmCommand(false), ['npm', 'install', ...flags]);
    for (const lock of [
      { packages: {} },
      { lockfileVersion: 1, packages: {} },
      { lockfileVersion: 3 },
      { lockfileVersion: '3', packages: {} },
      { lockfileVersion: 3, packages: [] },
    ])
      assert.throws(() => portableLock(JSON.stringify(lock)), BuildError, JSON.stringify(lock));
    assert.throws(() => portableLock('{'), /package-lock.json is not JSON/);
    assert.throws(() => portableLock('[]'), /package-lock.json must be an object/);
  });
  it('reports its last complete lines, if at least one fits', () => {
    assert.equal(tailOf('one\ntwo\nthree\n', 8), 'three\n');
    assert.equal(tailOf('one\ntwo\n', 8), 'one\ntwo\n');
    assert.equal(tailOf('one\ntwo', 4), 'two');
    assert.equal(tailOf('0123456789\n', 4), '789\n');
  });
  it('does not repeat a status write that fails without a conflict', async () => {
    let tries = 0;
    const resource = () => ({
      get: async () => versionOf(),
      updateStatus: async () => {
        tries++;
        throw newStatusError('Forbidden', 'no');
      },
    });
    const client = { resource } as unknown as Client;
    await assert.rejects(
      changeStatus(client, versionOf(), () => ({ lock: 'x' })),
      /no/,
    );
    assert.equal(tries, 1);
  });
});

it('a node whose runtime builds nothing has no chores and no instances that wait', async () => {
  const context = { nodeName: 'n', dataDir: '/nowhere' } as never;
  const none = nodeFunctions({}).start(context);
  assert.deepEqual([none.chores, none.podObserver], [undefined, undefined]);
  const all = nodeFunctions({ builds: {} as never }).start(context);
  assert.ok(all.chores && all.podObserver);
  for (const { imageProviders } of [none, all])
    for (const image of ['minik8s.function/default/f:1', 'minik8s.own/minik8s:node'])
      assert.equal(imageProviders.filter((one) => one.takes(image)).length, 1, image);
});

it('a node that cannot build uses existing images, and a node that builds also has the image of its program', async () => {
  const signal = new AbortController().signal;
  const pod = {
    metadata: { name: 'p', namespace: 'default', labels: { 'minik8s.io/function-version': 'f-1' } },
  } as never;
  const context = {
    ...{ nodeName: 'n', dataDir: '/nowhere', events: { event: () => undefined } },
    runtime: { findImage: async (id: string) => ({ id }) },
  } as never;
  const ensure = (builds: object | undefined, image: string) =>
    nodeFunctions({ program: '/nowhere/minik8s', builds: builds as never })
      .start(context)
      .imageProviders.find((one) => one.takes(image))
      ?.ensure(pod, image, signal) ?? assert.fail(`no provider takes ${image}`);
  assert.deepEqual(await ensure(undefined, 'minik8s.function/default/f:h'), {
    id: 'minik8s.function/default/f:h',
  });
  await assert.rejects(
    ensure({ owner: 'n' }, ownImage),
    /cannot make an image of \/nowhere\/minik8s: ENOENT/,
  );
});

it('a settings file whose path has a colon cannot be mounted and is left out', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'minik8s-settings-'));
  context.after(() => rmSync(home, { recursive: true }));
  const conf = join(home, 'a:b.conf');
  writeFileSync(conf, '');
  const { binds } = await machineSettings({ HOME: home, PIP_CONFIG_FILE: conf });
  assert.ok(!binds.some((bind) => bind.includes('own.conf')), binds.join());
});
