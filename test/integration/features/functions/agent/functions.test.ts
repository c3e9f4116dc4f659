/** Functions on a node: a node agent builds images on Docker for the pods of a function. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../../../src/base/clock.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import { BuildEngine } from '../../../../../src/features/functions/agent/build-engine.ts';
import { FunctionChores } from '../../../../../src/features/functions/agent/function-chores.ts';
import { dockerSocket } from '../../../../fixtures/docker-socket.ts';
import { lockMachine } from '../../../../fixtures/machine-lock.ts';
import { eventually, type NodeHarness } from '../../../kubelet/node-harness.ts';
import { badInput } from './function-bad-input.ts';
import {
  contentHash,
  docker,
  type FunctionWorld,
  image,
  runtimeImages,
  startFunctionWorld,
} from './function-world.ts';

await lockMachine();

const { python, nodejs } = runtimeImages;
const waiting = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;

describe('functions on a node', () => {
  let world: FunctionWorld;
  let node: NodeHarness;
  before(async () => {
    world = await startFunctionWorld();
    ({ node } = world);
  });
  after(() => world.close());
  const createVersion: FunctionWorld['createVersion'] = (...args) => world.createVersion(...args);
  const createPod: FunctionWorld['createPod'] = (...args) => world.createPod(...args);
  const answer: FunctionWorld['answer'] = (...args) => world.answer(...args);
  const buildContainers = () => docker('ps', '-aq', '--filter', `name=^/minik8s-build\\.${node.owner}\\.`);

  it('a python function is built and answers a call, and its image contains no files of the build', async () => {
    await createVersion('hello', {
      runtime: 'python',
      baseImage: python,
      files: {
        'main.py':
          'from lib.words import word\ndef handler(event, context):\n    return [word, event, context.function_name]\n',
        'lib/words.py': 'word = "grüß"\n',
      },
      binaryFiles: { 'data/some.bin': Buffer.from([0, 1, 255]).toString('base64') },
    });
    await createPod('hello', 'hello-1', image('hello'));
    assert.deepEqual(await answer('hello', { a: 1 }), ['grüß', { a: 1 }, 'hello']);
    const [found] = JSON.parse(await docker('image', 'inspect', image('hello'))) as [
      { Config: { Labels: object; Env: string[] } },
    ];
    assert.deepEqual(found.Config.Labels, {
      'minik8s.io/function-image': image('hello'),
      'minik8s.io/built-for': 'hello-1',
      'minik8s.io/content-hash': contentHash,
      'minik8s.io/built-by': node.owner,
    });
    const listed = await docker(
      'run',
      '--rm',
      '--entrypoint',
      'ls',
      image('hello'),
      '-l',
      '/function/data/some.bin',
    );
    assert.match(listed, /^-rw-r--r-- +1 root +root +3 Jan +1 +1980 /);
    const { status } = await world.version('hello');
    const built = status?.conditions?.find(({ type }) => type === 'Built');
    assert.deepEqual(
      [built?.status, built?.reason, status?.nodeName, status?.lock],
      ['True', 'Built', 'node-1', undefined],
    );
    assert.equal(await buildContainers(), '');
  });

  it('a nodejs function is built as well, and a second pod uses the image that exists already', async () => {
    await createVersion('js', {
      runtime: 'nodejs',
      baseImage: nodejs,
      files: {
        'main.js': 'export const handler = (event) => ({ js: event });\n',
        'package.json': '{"type": "module"}',
      },
    });
    await Promise.all([createPod('js-a', 'js-1', image('js')), createPod('js-b', 'js-1', image('js'))]);
    assert.deepEqual(await answer('js-a', 1), { js: 1 });
    assert.deepEqual(await answer('js-b', 2), { js: 2 });
    const builds = node.events.filter((event) =>
      event.startsWith(`Built Successfully built image "${image('js')}"`),
    );
    assert.equal(builds.length, 1);
  });

  it('a pod of another namespace, without a label, or with another version has no function image', async () => {
    await createVersion('other', { runtime: 'python', baseImage: python, files: { 'main.py': '' } });
    const id = (await docker('image', 'inspect', '--format', '{{.Id}}', image('hello'))).trim();
    const cases: [name: string, version: string | undefined, image: string, message: RegExp][] = [
      [
        'stranger',
        'hello-1',
        image('hello', 'kube-system'),
        /namespace kube-system: a pod of namespace default may not/,
      ],
      ['unlabelled', undefined, image('hello'), /needs the label minik8s\.io\/function-version/],
      ['mixed', 'other-1', image('mixed'), /has the image .*, not /],
      ['by-id', 'hello-1', id, /the image of a function/],
      ['by-short-id', 'hello-1', id.replace('sha256:', '').slice(0, 20), /the image of a function/],
      ['odd', 'hello-1', 'minik8s.function/default', /is not the name of a function/],
    ];
    for (const [name, version, uses] of cases) await createPod(name, version, uses);
    for (const [name, , , message] of cases) {
      const pod = await node.waitFor(name, (pod) => waiting(pod)?.message !== undefined);
      assert.equal(waiting(pod)?.reason, 'FunctionImageRefused', JSON.stringify(waiting(pod)));
      assert.match(waiting(pod)?.message ?? '', message);
    }
  });

  it('a version with paths outside its folder, or with requirements that are not packages, is not built', async () => {
    const cases: [name: string, spec: object, message: RegExp][] = [
      ['up', { runtime: 'python', files: { '../../etc/passwd': 'x' } }, /must not contain '\.'/],
      [
        'option',
        { runtime: 'python', files: { 'main.py': '', 'requirements.txt': '--index-url http://x\n' } },
        /no option, file or address/,
      ],
      [
        'git',
        {
          runtime: 'nodejs',
          files: { 'main.js': '', 'package.json': '{"dependencies":{"a":"git+ssh://x/y"}}' },
        },
        /no addresses/,
      ],
    ];
    for (const [name, spec] of cases) {
      await createVersion(name, { baseImage: python, ...spec });
      await createPod(name, `${name}-1`, image(name));
    }
    for (const [name, , message] of cases) {
      const pod = await node.waitFor(name, (pod) => waiting(pod)?.reason === 'FunctionBuildFailed');
      assert.match(waiting(pod)?.message ?? '', message);
      await eventually(async () => {
        const { status } = await world.version(name);
        const built = status?.conditions?.find(({ type }) => type === 'Built');
        assert.deepEqual([built?.status, built?.reason], ['False', 'BuildFailed']);
        assert.match(built?.message ?? '', message);
      });
    }
    assert.equal(await buildContainers(), '');
    const log = await readFile(
      join(node.dataDir, `function-builds/default_option_${contentHash}.log`),
      'utf8',
    );
    assert.match(log, /no option, file or address/);
  });

  for (const [name, runtime, baseImage, files, expected] of [
    ['broken-py', 'python', python, { 'main.py': '\ndef handler()\n' }, /^main\.py:2: SyntaxError: /],
    ['broken-js', 'nodejs', nodejs, { 'main.js': '\nconst b = ;\n' }, /^main\.js:2: SyntaxError: /],
  ] as const)
    it(`the status of a ${runtime} container begins with file, line and cause of a syntax error`, async () => {
      await createVersion(name, { runtime, baseImage, files });
      await createPod(name, `${name}-1`, image(name));
      const ended = ({ status }: Pod) => {
        const { state, lastState } = status?.containerStatuses?.[0] ?? {};
        return state?.terminated ?? lastState?.terminated;
      };
      const pod = await node.waitFor(name, (one) => ended(one) !== undefined);
      assert.match(ended(pod)?.message ?? '', expected);
      await world.deletePod(name);
      await docker('rmi', '-f', image(name));
    });

  it('a link in the base image is replaced, not followed', async () => {
    const linked = `minik8s-test/linked:${process.pid}`;
    const id = (
      await docker(
        'run',
        '-d',
        '--entrypoint',
        'python3',
        python,
        '-c',
        'import os; os.symlink("/etc", "/function"); os.symlink("/tmp", "/minik8s")',
      )
    ).trim();
    try {
      await docker('wait', id);
      await docker('commit', id, linked);
      await createVersion('linked', {
        runtime: 'python',
        baseImage: linked,
        files: {
          'main.py':
            'import os\ndef handler(): return [os.path.islink("/function"), os.path.exists("/etc/main.py"), os.path.exists("/etc/passwd")]\n',
        },
      });
      await createPod('linked', 'linked-1', image('linked'));
      assert.deepEqual(await answer('linked', {}), [false, false, true]);
    } finally {
      await docker('rm', '-f', id);
      await docker('rmi', '-f', linked);
    }
  });

  it('leftovers of a killed agent are removed by the next one, and leftovers of other agents stay', async () => {
    const mine = (await docker('create', '--name', `minik8s-build.${node.owner}.x`, python)).trim();
    const other = (await docker('create', '--name', `minik8s-build.${node.owner}x.x`, python)).trim();
    try {
      await new BuildEngine({ socketPath: dockerSocket, owner: node.owner }).removeLeft();
      const left = await docker('ps', '-aq', '--no-trunc', '--filter', `name=minik8s-build\\.${node.owner}`);
      assert.deepEqual(left.trim().split('\n'), [other]);
    } finally {
      await docker('rm', '-f', mine, other).catch(() => undefined);
    }
  });

  it('the image of a deleted version is removed, and the image of an existing version stays', async () => {
    const engine = new BuildEngine({ socketPath: dockerSocket, owner: node.owner });
    const chores = new FunctionChores({
      ...{ client: node.client, engine, runtime: node.runtime },
      ...{ clock: systemClock, log: silentLogger, dataDir: node.dataDir, nodeName: 'n1' },
    });
    const isThere = async (name: string) => (await node.runtime.findImage(image(name))) !== undefined;
    await node.server.call('DELETE', '/apis/minik8s.io/v1/namespaces/default/functionversions/linked-1');
    await chores.look();
    assert.ok(await isThere('linked'), 'a pod uses it');
    for (const name of ['linked', 'js-a', 'js-b']) await world.deletePod(name);
    await eventually(async () => {
      await chores.look();
      assert.equal(await isThere('linked'), false);
    });
    assert.ok(await isThere('js'), 'its version is there');
  });

  it('all images that an agent has built are removed when the machine is cleaned up, except used ones', async () => {
    await new BuildEngine({ socketPath: dockerSocket, owner: `${node.owner}x` }).removeAll();
    const left = async () =>
      (
        await docker(
          'images',
          '--filter',
          `label=minik8s.io/built-by=${node.owner}`,
          '--format',
          '{{.Repository}}',
        )
      ).trim();
    assert.match(await left(), /minik8s\.function\/default\/js$/m);
    await new BuildEngine({ socketPath: dockerSocket, owner: node.owner }).removeAll();
    assert.equal(await left(), 'minik8s.function/default/hello');
  });

  badInput(() => world);
});
