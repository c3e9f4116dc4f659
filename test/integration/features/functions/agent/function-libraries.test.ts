/**
 * Libraries of functions: installed by pip and npm from the machine's index, in the same versions by every
 * build.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BuildEngine } from '../../../../../src/features/functions/agent/build-engine.ts';
import { BuildLog } from '../../../../../src/features/functions/agent/build-log.ts';
import { FunctionBuilder } from '../../../../../src/features/functions/agent/function-builder.ts';
import { functionVersionResource } from '../../../../../src/features/functions/api/function-version.ts';
import { readAsset } from '../../../../../src/os/assets.ts';
import { dockerSocket } from '../../../../fixtures/docker-socket.ts';
import { lockMachine } from '../../../../fixtures/machine-lock.ts';
import { type PackageIndexes, startPackageIndexes } from '../../../../fixtures/package-indexes.ts';
import { eventually } from '../../../kubelet/node-harness.ts';
import {
  contentHash,
  docker,
  type FunctionWorld,
  image,
  runtimeImages,
  startFunctionWorld,
} from './function-world.ts';

await lockMachine();

describe('libraries of functions', () => {
  let world: FunctionWorld;
  let indexes: PackageIndexes;
  let home: string;
  before(async () => {
    indexes = await startPackageIndexes();
    home = await mkdtemp(join(tmpdir(), 'minik8s-home-'));
    await writeFile(join(home, '.npmrc'), indexes.npmrc, { mode: 0o600 });
    await indexes.addWheel('inner', '1.0');
    await indexes.addWheel('outer', '1.0', ['inner>=1']);
    await indexes.addPackage('inner', '1.0.0');
    await indexes.addPackage('outer', '1.0.0', { inner: '^1.0.0' });
    world = await startFunctionWorld({ HOME: home, PIP_INDEX_URL: indexes.pipIndex, PATH: '/nowhere' });
  });
  after(async () => {
    const named = `name=minik8s-build.${world.node.owner}.`;
    const left = await docker('ps', '--all', '--quiet', '--filter', named);
    await world.close();
    assert.equal(left, '', 'no container of a build is left');
    await indexes.stop();
    await rm(home, { recursive: true });
  });

  const functions = {
    python: {
      runtime: 'python',
      baseImage: runtimeImages.python,
      files: {
        'main.py': 'import inner, outer\ndef handler(): return [outer.version, inner.version]\n',
        'requirements.txt': '# what it needs\nouter >= 1.0 ; python_version > "3"\n',
      },
    },
    nodejs: {
      runtime: 'nodejs',
      baseImage: runtimeImages.nodejs,
      files: {
        'main.mjs':
          "import inner from 'inner';\nimport outer from 'outer';\nimport { existsSync } from 'node:fs';\n" +
          "export const handler = () => [outer, inner, existsSync('node_modules/outer/ran')];\n",
        'package.json': JSON.stringify({
          dependencies: { outer: '^1.0.0' },
          scripts: { preinstall: 'false' },
        }),
        // The build does not use this file as npm's configuration.
        '.npmrc': 'registry=http://127.0.0.1:1/\n',
      },
    },
  } as const;
  const answers = {
    python: ['1.0', '1.0'],
    nodejs: ['1.0.0', '1.0.0', false],
  };

  for (const runtime of ['python', 'nodejs'] as const)
    it(`of ${runtime} are installed, recorded, and installed again in the same versions`, async () => {
      const name = `libs-${runtime}`;
      await world.createVersion(name, functions[runtime]);
      await world.createPod(`${name}-a`, `${name}-1`, image(name));
      assert.deepEqual(await world.answer(`${name}-a`, {}), answers[runtime]);
      const { status } = await world.version(name);
      const lock = status?.lock ?? '';
      if (runtime === 'python') {
        assert.match(
          lock,
          /^inner==1\.0 --hash=sha256:[0-9a-f]{64}\nouter==1\.0 --hash=sha256:[0-9a-f]{64}\n$/,
        );
      } else {
        const { packages } = JSON.parse(lock) as {
          packages: Record<string, { version: string; integrity: string }>;
        };
        assert.deepEqual(Object.keys(packages), ['', 'node_modules/inner', 'node_modules/outer']);
        assert.match(packages['node_modules/inner']?.integrity ?? '', /^sha512-/);
        assert.ok(!lock.includes('127.0.0.1'));
      }
      const log = await readFile(
        join(world.node.dataDir, `function-builds/default_${name}_${contentHash}.log`),
        'utf8',
      );
      const kept = [
        ...[JSON.stringify(status), log, world.node.events.join('\n')],
        ...[
          await docker('image', 'inspect', image(name)),
          await docker('history', '--no-trunc', image(name)),
        ],
      ];
      for (const text of kept) assert.ok(!text.includes(indexes.password), text);
      const search = [
        '--entrypoint',
        'sh',
        image(name),
        '-c',
        'cd /; for f in minik8s/* etc/* root/* tmp/*; do echo "$f"; done',
      ];
      const files = (await docker('run', '--rm', ...search)).split('\n');
      assert.deepEqual(
        files.filter((file) => /build|home|npmrc|pip\.conf/.test(file)),
        [],
      );

      // A newer version exists now; other builds do not use it.
      if (runtime === 'python') await indexes.addWheel('inner', '1.1');
      else await indexes.addPackage('inner', '1.1.0');
      await world.deletePod(`${name}-a`);
      await docker('rmi', '-f', image(name));
      await world.createPod(`${name}-b`, `${name}-1`, image(name));
      assert.deepEqual(await world.answer(`${name}-b`, {}), answers[runtime]);
      assert.equal((await world.version(name)).status?.lock, lock);
    });

  it('that do not exist are reported with the message of pip or npm, on the pod and on the version', async () => {
    const missing = {
      python: { ...functions.python, files: { 'main.py': '', 'requirements.txt': 'no-such-library==9\n' } },
      nodejs: {
        ...functions.nodejs,
        files: { 'main.js': '', 'package.json': '{"dependencies":{"no-such-library":"9"}}' },
      },
    };
    for (const runtime of ['python', 'nodejs'] as const) {
      const name = `none-${runtime}`;
      await world.createVersion(name, missing[runtime]);
      await world.createPod(name, `${name}-1`, image(name));
      const pod = await world.node.waitFor(
        name,
        ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'FunctionBuildFailed',
      );
      const said = pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
      assert.match(said, /no-such-library/);
      assert.ok(!said.includes(indexes.password));
      await eventually(async () => {
        const { status } = await world.version(name);
        assert.match(status?.log ?? '', /no-such-library/);
        assert.equal(status?.conditions?.[0]?.status, 'False');
      });
      await world.deletePod(name);
    }
  });

  it('are those of the lock that another build wrote first', async () => {
    const name = 'raced';
    const { metadata } = await world.createVersion(name, functions.python);
    const { lock } = (await world.version('libs-python')).status ?? {};
    assert.ok(metadata.name && lock?.includes('inner==1.0'));
    const resolved = await world.version(name);
    // The build has read the version without a lock, and finds this lock when it writes its own lock of inner
    // 1.1.
    await world.node.client.resource(functionVersionResource).updateStatus({ ...resolved, status: { lock } });
    const builder = new FunctionBuilder({
      client: world.node.client,
      engine: new BuildEngine({ socketPath: dockerSocket, owner: world.node.owner }),
      environment: { HOME: home, PIP_INDEX_URL: indexes.pipIndex },
      readAsset,
    });
    const log = new BuildLog();
    await builder.build(resolved, runtimeImages.python, log, AbortSignal.timeout(60_000));
    assert.match(log.tail, /another node has recorded the libraries/);
    await world.createPod(name, `${name}-1`, image(name));
    assert.deepEqual(await world.answer(name, {}), ['1.0', '1.0']);
    assert.equal((await world.version(name)).status?.lock, lock);
  });
});
