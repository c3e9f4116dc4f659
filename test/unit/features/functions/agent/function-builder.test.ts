/**
 * Build of a function's image, with an engine that the test controls: installed packages, commits, and
 * records.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newConflict, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { BuildEngine } from '../../../../../src/features/functions/agent/build-engine.ts';
import { BuildLog } from '../../../../../src/features/functions/agent/build-log.ts';
import { FunctionBuilder } from '../../../../../src/features/functions/agent/function-builder.ts';
import { BuildError } from '../../../../../src/features/functions/agent/plan/build-error.ts';
import { npmCommand, portableLock } from '../../../../../src/features/functions/agent/plan/node-libraries.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';

const image = 'minik8s.function/default/f:h';
const versionOf = (files: Record<string, string>, spec: object = {}, status?: object) =>
  ({
    metadata: { name: 'f-1', namespace: 'default', uid: 'u' },
    spec: {
      ...{ function: 'f', runtime: 'python', handler: 'main.handler', baseImage: 'b', files, image },
      ...spec,
    },
    ...(status && { status }),
  }) as unknown as FunctionVersion;
const lockOf = (version: string) => `a==${version} --hash=sha256:${'a'.repeat(64)}\n`;
const report = (version: string) =>
  JSON.stringify({
    install: [
      {
        metadata: { name: 'a', version },
        download_info: { archive_info: { hashes: { sha256: 'a'.repeat(64) } } },
      },
    ],
  });

function world(version: FunctionVersion) {
  let stored = version;
  const installs: {
    readonly command: string;
    readonly text: string;
    readonly image: string;
    readonly env: readonly string[];
  }[] = [];
  const commits: { readonly baseImage: string; readonly text: string; readonly from: string | undefined }[] =
    [];
  const does = {
    exitCode: 0,
    file: async (_: string): Promise<string | undefined> => report('1'),
    write: (_: FunctionVersion): Error | undefined => undefined,
    stored: (next: FunctionVersion) => {
      stored = next;
    },
  };
  const engine = {
    install: async (
      wanted: {
        image: string;
        command: string[];
        archive: Uint8Array;
        workingDir: string;
        env: readonly string[];
        onOutput(data: Uint8Array): void;
      },
      _: AbortSignal,
      use: (result: unknown) => Promise<unknown>,
    ) => {
      assert.equal(wanted.workingDir, '/minik8s/build');
      installs.push({
        ...{ command: wanted.command.join(' '), image: wanted.image, env: wanted.env },
        text: Buffer.from(wanted.archive).toString('latin1'),
      });
      wanted.onOutput(Buffer.from('Collecting a\n'));
      return use({ exitCode: does.exitCode, installed: { file: does.file, folder: async () => undefined } });
    },
    commit: async (
      { baseImage, archive }: { baseImage: string; archive: Uint8Array },
      libraries?: { folder: string; into: string },
    ) =>
      void commits.push({
        ...{ baseImage, text: Buffer.from(archive).toString('latin1') },
        from: libraries && `${libraries.folder} ${libraries.into}`,
      }),
  };
  const builder = new FunctionBuilder({
    client: {
      resource: () => ({
        get: async () => stored,
        updateStatus: async (next: FunctionVersion) => {
          const error = does.write(next);
          if (error) throw error;
          stored = next;
          return next;
        },
      }),
    } as never,
    engine: engine as unknown as BuildEngine,
    readAsset: (name) => Buffer.from(`program ${name}`),
    environment: { PIP_INDEX_URL: 'https://index', HOME: '/nowhere' },
  });
  const log = new BuildLog();
  return {
    ...{ installs, commits, does, log },
    stored: () => stored,
    build: () => builder.build(version, 'sha256:base', log, new AbortController().signal),
  };
}

describe('a function without libraries', () => {
  it('consists of its files and the program of its runtime, and no libraries are installed', async () => {
    for (const [files, runtime, program] of [
      [{ 'main.py': 'code' }, 'python', 'program run.py'],
      [{ 'main.py': 'code', 'requirements.txt': '# none\n\n' }, 'python', 'program run.py'],
      [{ 'main.mjs': 'code' }, 'nodejs', 'program run.mjs'],
    ] as const) {
      const { build, installs, commits } = world(versionOf(files, { runtime }));
      await build();
      assert.deepEqual([installs.length, commits.length, commits[0]?.from], [0, 1, undefined]);
      assert.equal(commits[0]?.baseImage, 'sha256:base');
      assert.ok(commits[0]?.text.includes('code') && commits[0].text.includes(program), runtime);
    }
  });
  it('without a runtime, or with files that lead elsewhere, is not built', async () => {
    await assert.rejects(world(versionOf({}, { runtime: undefined })).build(), BuildError);
    const { build, commits } = world(versionOf({ '../x': '' }));
    await assert.rejects(build(), /the file "..\/x"/);
    assert.deepEqual(commits, []);
  });
});

describe('libraries', () => {
  it('are installed in the base image, recorded, and put where the runtime looks for them', async () => {
    const python = world(versionOf({ 'requirements.txt': 'a>=1\n' }));
    await python.build();
    assert.equal(python.stored().status?.lock, lockOf('1'));
    assert.deepEqual(
      [python.commits[0]?.from, python.installs[0]?.image],
      ['libraries /minik8s', 'sha256:base'],
    );
    assert.match(python.installs[0]?.command ?? '', /^python3 -I -m pip install /);
    assert.ok(python.installs[0]?.text.includes('a>=1'));
    assert.match(python.log.tail, /^\$ .*pip.*\nCollecting a\n/);
  });
  it('are the libraries of the lock if there is a lock', async () => {
    const { build, installs, commits, stored } = world(
      versionOf({ 'requirements.txt': 'a>=1\n' }, {}, { lock: lockOf('2') }),
    );
    await build();
    assert.ok(installs[0]?.text.includes('a==2') && !installs[0].text.includes('a>=1'));
    assert.match(installs[0]?.command ?? '', /--require-hashes/);
    assert.deepEqual([commits.length, stored().status?.lock], [1, lockOf('2')]);
  });
  it('are fetched from the package index of this machine', async () => {
    const { build, installs } = world(versionOf({ 'requirements.txt': 'a\n' }));
    await build();
    assert.ok(installs[0]?.env.includes('PIP_INDEX_URL=https://index'));
  });
  it('are listed one on a line, and are empty if pip wrote no report', async () => {
    const one = world(versionOf({ 'requirements.txt': 'a>=1\nb\n' }));
    const asked: string[] = [];
    one.does.file = async (path) => {
      asked.push(path);
      return undefined;
    };
    await assert.rejects(one.build(), /pip left no report/);
    assert.deepEqual(asked, ['report.json']);
    const { text = '' } = one.installs[0] ?? {};
    assert.ok(text.includes('minik8s/build/requirements.txt\0') && text.includes('a>=1\nb\n'));
  });
  it('are the libraries that another node has recorded first, even if this node installed others', async () => {
    const { build, installs, commits, stored, does, log } = world(versionOf({ 'requirements.txt': 'a\n' }));
    let writes = 0;
    does.write = () => {
      if (writes++ > 0) return undefined;
      does.stored({ ...stored(), status: { lock: lockOf('2'), nodeName: 'other' } });
      return newConflict(functionVersionResource, 'f-1', 'it has changed');
    };
    await build();
    assert.deepEqual(
      installs.map(({ text }) => text.includes('a==2')),
      [false, true],
    );
    assert.deepEqual([commits.length, writes], [1, 1]);
    assert.deepEqual(stored().status, { lock: lockOf('2'), nodeName: 'other' });
    assert.match(log.tail, /another node has recorded the libraries/);
  });
  it('with a failed installation or recording are reported to the author of the function', async () => {
    const failed = world(versionOf({ 'requirements.txt': 'a\n' }));
    failed.does.exitCode = 1;
    await assert.rejects(failed.build(), (error) => {
      assert.ok(error instanceof BuildError);
      assert.equal(error.message, 'the libraries of FunctionVersion f-1 cannot be installed');
      return true;
    });
    assert.match(failed.log.tail, / ended with 1\n$/);
    assert.deepEqual([failed.commits.length, failed.stored().status], [0, undefined]);
    const odd = world(versionOf({ 'requirements.txt': 'a\n' }));
    odd.does.file = async () =>
      JSON.stringify({
        install: [
          {
            metadata: { name: 'a\n--index-url x', version: '1' },
            download_info: { archive_info: { hashes: { sha256: 'a'.repeat(64) } } },
          },
        ],
      });
    await assert.rejects(odd.build(), BuildError);
    assert.equal(odd.commits.length, 0);
  });
  it('are not committed before their lock is written', async () => {
    const { build, commits, does } = world(versionOf({ 'requirements.txt': 'a\n' }));
    does.write = () => newStatusError('InternalError', 'the store is away');
    await assert.rejects(build(), /the store is away/);
    assert.deepEqual(commits, []);
  });
});

describe('libraries of Node', () => {
  const manifest = JSON.stringify({ dependencies: { a: '1' } });
  const lockWith = (version: string) =>
    JSON.stringify({
      lockfileVersion: 3,
      packages: {
        'node_modules/a': { version, integrity: 'sha512-x', resolved: `https://index/${version}.tgz` },
      },
    });
  const built = async (files: Record<string, string>, status?: object) => {
    const one = world(versionOf(files, { runtime: 'nodejs', handler: 'main.h' }, status));
    const asked: string[] = [];
    one.does.file = async (path) => {
      asked.push(path);
      return lockWith('3.0.0');
    };
    await one.build();
    const text = one.installs[0]?.text ?? '';
    return {
      ...one,
      asked,
      text,
      names: [...text.matchAll(/minik8s\/build\/([\w.-]+)\0/g)].map(([, name]) => name),
    };
  };

  it('are the libraries that npm chose, which are recorded, in the folder of the program', async () => {
    const { installs, commits, stored, asked, text, names } = await built({ 'package.json': manifest });
    assert.deepEqual(names, ['package.json']);
    assert.match(text, /"dependencies":\{"a":"1"\}/);
    assert.deepEqual([installs[0]?.command, asked], [npmCommand(false).join(' '), ['package-lock.json']]);
    assert.deepEqual([commits.length, commits[0]?.from], [1, 'node_modules /function']);
    assert.equal(stored().status?.lock, portableLock(lockWith('3.0.0')));
  });
  it("are the libraries of a lock among the files, or else of the version's lock", async () => {
    const own = { 'package.json': manifest, 'package-lock.json': lockWith('2.0.0') };
    for (const [status, version] of [
      [undefined, '2.0.0'],
      [{ lock: portableLock(lockWith('1.0.0')) }, '1.0.0'],
    ] as const) {
      const { installs, stored, asked, text, names } = await built(own, status);
      assert.deepEqual(names, ['package-lock.json', 'package.json']);
      assert.ok(text.includes(`"version": "${version}"`) && !text.includes('https://index'));
      assert.deepEqual([installs[0]?.command, asked], [npmCommand(true).join(' '), []]);
      assert.equal(stored().status?.lock, portableLock(lockWith(version)));
    }
  });
  it('of Node are absent if nothing is installed; a missing lock is an error of npm', async () => {
    const none = await built({ 'package.json': '{"devDependencies":{"a":"1"}}' });
    assert.deepEqual([none.installs, none.commits[0]?.from], [[], undefined]);
    const odd = world(versionOf({ 'package.json': manifest }, { runtime: 'nodejs' }));
    odd.does.file = async () => undefined;
    await assert.rejects(odd.build(), /package-lock\.json is not JSON/);
    assert.deepEqual(odd.commits, []);
  });
});
