/**
 * Builds on an engine, a socket of this process, that fails at each of its calls: a build leaves an image or
 * nothing.
 */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import { BuildEngine, type Installed } from '../../../../../src/features/functions/agent/build-engine.ts';
import { archiveOf } from '../../../../../src/features/functions/agent/plan/image-contents.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { FakeBuildEngine } from '../../../../fixtures/fake-build-engine.ts';

async function engine(context: TestContext) {
  const fake = await FakeBuildEngine.start();
  context.after(() => fake.close());
  const builds = new BuildEngine({ socketPath: fake.socketPath, owner: 'node/1' });
  const output: string[] = [];
  const config = {
    Env: ['A=1'],
    Entrypoint: ['run'],
    Cmd: ['c'],
    WorkingDir: '/function',
    Labels: { x: 'y' },
  };
  const commit = { baseImage: 'base', archive: Buffer.from('files'), config, image: 'host:1/f:1' };
  const installation = {
    ...{ image: 'base', archive: Buffer.from('files'), command: ['pip'], workingDir: '/w', env: ['B=2'] },
    ...{ binds: ['/a:/a:ro'], onOutput: (data: Uint8Array) => void output.push(String(data)) },
  };
  return {
    ...{ fake, builds, output, commit },
    /** Lets the calls of this kind fail. */
    fails: (...calls: readonly string[]) => {
      fake.meets = (call) => (calls.includes(call) ? 500 : undefined);
    },
    install: <T = number>(
      signal = new AbortController().signal,
      use = async (result: { exitCode: number; installed: Installed }) => result.exitCode as T,
    ) => builds.install(installation, signal, use),
  };
}

test('a commit leaves the image and no container; if a call fails, it leaves neither', async (context) => {
  for (const failing of ['', 'POST /containers/create', 'PUT /archive', 'POST /commit']) {
    const { builds, commit, fake, fails } = await engine(context);
    fails(failing);
    if (failing === '') await builds.commit(commit as never);
    else await assert.rejects(builds.commit(commit as never), /the disk is full/, failing);
    assert.equal(fake.containers.size, 0, failing);
    const made = [...fake.images].map(([name, { labels, files }]) => [name, labels, files]);
    const whole = ['host:1/f:1', { x: 'y', 'minik8s.io/built-by': 'node/1' }, ['/ files']];
    assert.deepEqual(made, failing === '' ? [whole] : [], failing);
  }
});

test('an image has the requested configuration, and its container has no network', async (context) => {
  const { builds, commit, fake } = await engine(context);
  await builds.commit(commit as never);
  const { Labels: _, name: __, ...made } = fake.images.get('host:1/f:1')?.made ?? {};
  assert.deepEqual(made, {
    ...{ Image: 'base', Entrypoint: ['run'], Cmd: ['c'], Env: ['A=1'], WorkingDir: '/function' },
    HostConfig: { NetworkMode: 'none' },
  });
});

test('an image contains the folder of an installation in its place, if there is one', async (context) => {
  for (const [folder, wanted] of [
    ['libraries', ['/ files', '/into an archive']],
    ['none', ['/ files']],
  ] as const) {
    const { builds, commit, fake, install } = await engine(context);
    fake.installed.set('/w/libraries', Buffer.from('an archive'));
    await install(undefined, ({ installed: from }) =>
      builds.commit(commit as never, { from, folder, into: '/into' }),
    );
    assert.deepEqual(fake.images.get('host:1/f:1')?.files, wanted);
    assert.equal(fake.containers.size, 0);
  }
});

test('a file of an installation is its text, undefined if it is missing, and an error if it is too large', async (context) => {
  const { fake, install, fails } = await engine(context);
  const size = 16 * 1024 ** 2;
  const member = (text: Uint8Array) =>
    archiveOf([{ path: 'report', content: text }]) as Uint8Array<ArrayBuffer>;
  fake.installed.set('/w/report', Buffer.from(member(Buffer.from('größe'))));
  fake.installed.set('/w/large', Buffer.from(member(new Uint8Array(size))));
  assert.equal(await install(undefined, ({ installed }) => installed.file('report')), 'größe');
  assert.equal(await install(undefined, ({ installed }) => installed.file('none')), undefined);
  const large = install(undefined, ({ installed }) => installed.file('large'));
  await assert.rejects(large, /^RuntimeError: large has more than 16777216 bytes$/);
  fails('GET /archive');
  const failing = install(undefined, ({ installed }) => installed.file('report'));
  await assert.rejects(failing, /cannot read report of a build: the disk is full/);
  assert.equal(fake.containers.size, 0);
});

test('an installation leaves no container if any call fails, and its error names the call', async (context) => {
  for (const [failing, why] of [
    ['POST /containers/create', /Docker cannot create a build: the disk is full/],
    ['PUT /archive', /Docker cannot put files into a build: the disk is full/],
    ['POST /attach', /Docker cannot read a build: /],
    ['POST /start', /Docker cannot start a build: the disk is full/],
    ['POST /wait', /Docker cannot await a build: the disk is full/],
  ] as const) {
    const { install, fake, fails } = await engine(context);
    fails(failing);
    await assert.rejects(install(), why, failing);
    assert.equal(fake.containers.size, 0, failing);
  }
});

test('a container whose creation had no answer is removed', async (context) => {
  const { install, fake } = await engine(context);
  fake.meets = (call) => (call === 'POST /containers/create' ? 'lost' : undefined);
  await assert.rejects(install(), /cannot create a build/);
  assert.deepEqual([...fake.containers], []);
});

test('a failed removal of a container changes no result, and is repeated with the next one or on request', async (context) => {
  const { install, fake, fails, builds, commit } = await engine(context);
  fails('DELETE /container');
  assert.equal(await install(), 0);
  await builds.commit(commit as never);
  await assert.rejects(
    install(undefined, () => Promise.reject(new Error('pip is missing'))),
    /^Error: pip is missing$/,
  );
  assert.equal(fake.containers.size, 3);
  await assert.rejects(builds.removeDiscarded(), /Docker cannot remove a build: the disk is full/);
  fails();
  await builds.removeDiscarded();
  assert.equal(fake.containers.size, 0);
  const removals = () => fake.asked.filter((call) => call === 'DELETE /container').length;
  const before = removals();
  await builds.removeDiscarded();
  assert.equal(removals(), before, 'one that is gone is not removed again');
});

test('an installation is an unprivileged program with limits, with its exit status and output in the result', async (context) => {
  const { install, fake, output } = await engine(context);
  fake.exitCode = 7;
  const ends = Promise.withResolvers<void>();
  fake.ends = ends.promise;
  const installing = install();
  await eventually(systemClock, 'it runs', () => fake.asked.includes('POST /wait'));
  const [container] = fake.containers.values();
  const { HostConfig, name, ...body } = container?.body ?? {};
  assert.match(String(name), /^minik8s-build\.node_1\.[-0-9a-f]{36}$/);
  assert.deepEqual(body, {
    ...{ Image: 'base', Entrypoint: ['pip'], Cmd: [], WorkingDir: '/w', User: '0:0', Env: ['B=2'] },
    Healthcheck: { Test: ['NONE'] },
  });
  assert.deepEqual(HostConfig, {
    ...{ NetworkMode: 'host', Binds: ['/a:/a:ro'], Memory: 2 ** 31, MemorySwap: 2 ** 31, NanoCpus: 2e9 },
    ...{ PidsLimit: 512, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'] },
    LogConfig: { Type: 'none', Config: {} },
  });
  assert.deepEqual(container?.files, ['/ files']);
  ends.resolve();
  assert.equal(await installing, 7);
  assert.deepEqual([output.join(''), fake.containers.size], ['Collecting\n', 0]);
});

test('an aborted installation ends at once in any phase, together with its program', async (context) => {
  for (const at of ['POST /wait', 'POST /start', 'POST /attach', '']) {
    const { install, fake } = await engine(context);
    fake.ends = new Promise(() => undefined);
    const stop = new AbortController();
    fake.meets = (call) => {
      if (call === at) stop.abort(new Error('the pod has gone'));
      return undefined;
    };
    if (at === '') stop.abort(new Error('the pod has gone'));
    await assert.rejects(install(stop.signal), /the pod has gone/, at);
    assert.equal(fake.containers.size, 0, at);
  }
});

test('an abandoned build ends at once, although the engine cannot remove its container', async (context) => {
  const { install, fake, builds, fails } = await engine(context);
  fake.ends = new Promise(() => undefined);
  const stop = new AbortController();
  const installing = install(stop.signal);
  await eventually(systemClock, 'it runs', () => fake.asked.includes('POST /wait'));
  fails('DELETE /container', 'POST /kill');
  stop.abort(new Error('the pod has gone'));
  await assert.rejects(installing, /the pod has gone/);
  assert.equal(fake.containers.size, 1);
  fails();
  await builds.removeDiscarded();
  assert.equal(fake.containers.size, 0);
});

test('containers of a killed agent are removed, and containers of other agents are kept', async (context) => {
  const { builds, fake } = await engine(context);
  for (const [id, name] of [
    ['a', 'minik8s-build.node_1.x'],
    ['b', 'minik8s-build.node_10.x'],
    ['c', 'x-minik8s-build.node_1.x'],
    ['d', 'minik8s-buildxnode_1.x'],
  ] as const)
    fake.hasContainer(id, name);
  await builds.removeLeft();
  assert.deepEqual([...fake.containers.keys()], ['b', 'c', 'd']);
});

test('an image of one archive has its name, its variables and the agent that may remove it', async (context) => {
  const { builds, fake } = await engine(context);
  await builds.importImage(Readable.from([Buffer.from('an archive')]), 'host:1/own:2', {
    A: '1',
    B: 'x "y"',
  });
  const [name, { files, made }] = [...fake.images][0] ?? assert.fail('no image was made');
  assert.deepEqual([name, files, made.fromSrc], ['host:1/own:2', ['an archive'], '-']);
  assert.deepEqual(String(made.changes).split('\n'), [
    'ENV A="1" B="x \\"y\\""',
    'LABEL minik8s.io/built-by="node/1" minik8s.io/function-image="host:1/own:2"',
  ]);
  fake.meets = () => 500;
  const again = builds.importImage(Readable.from([Buffer.from('x')]), 'host:1/own:2', {});
  await assert.rejects(again, /Docker cannot make the image host:1\/own:2: the disk is full/);
});

test('a waiting instance has its files before its signal, and reports whether it has them', async (context) => {
  const { builds, fake, fails } = await engine(context);
  const container = fake.hasContainer('c', 'instance');
  assert.equal(await builds.hasFile('c', '/minik8s/given.json'), false);
  assert.equal(await builds.hasFile('gone', '/minik8s/given.json'), false);
  await builds.give('c', Buffer.from('minik8s/given.json'));
  assert.equal(await builds.hasFile('c', '/minik8s/given.json'), true);
  assert.deepEqual([container.files, container.signals], [['/ minik8s/given.json'], ['SIGURG']]);
  assert.deepEqual(
    fake.asked.filter((call) => /^P/.test(call)),
    ['PUT /archive', 'POST /kill'],
  );
  await builds.give('c');
  assert.deepEqual([container.files.length, container.signals.length], [1, 2]);
  fails('PUT /archive', 'HEAD /archive');
  await assert.rejects(builds.give('c', Buffer.from('x')), /put files into a build: the disk is full/);
  assert.equal(container.signals.length, 2);
  await assert.rejects(builds.hasFile('c', '/x'), /Docker cannot look for \/x/);
  fails('POST /kill');
  await assert.rejects(builds.give('c'), /Docker cannot signal an instance to continue: the disk is full/);
});

const builtHere = { 'minik8s.io/built-by': 'node/1' };

test('all images that were built here are removed, also an image without a name; images of other agents stay', async (context) => {
  const { builds, fake, fails } = await engine(context);
  const labels = { ...builtHere, 'minik8s.io/function-image': 'repo/f:1' };
  for (const name of ['repo/f:1', '<none>:<none>', '', 'other:1']) fake.hasImage(name, labels);
  fake.hasImage('theirs:1', { 'minik8s.io/built-by': 'node/2', 'minik8s.io/function-image': 'theirs:1' });
  fake.hasContainer('a', 'minik8s-build.node_1.x');
  await builds.removeAll();
  assert.deepEqual([...fake.images.keys()], ['other:1', 'theirs:1']);
  assert.equal(fake.containers.size, 0);
  fails('GET /images/json');
  await assert.rejects(builds.removeAll(), /Docker cannot list images of functions: the disk is full/);
  fails('GET /containers/json');
  await assert.rejects(builds.removeAll(), /Docker cannot list containers: the disk is full/);
});

test('images are listed with the name of their build and the version', async (context) => {
  const { builds, fake } = await engine(context);
  const labels = { ...builtHere, 'minik8s.io/function-image': 'repo/f:1', 'minik8s.io/built-for': 'f-1' };
  fake.hasImage('repo/f:1', labels);
  // An image that was made from it, an image without a function's name, and one without a version.
  fake.hasImage('other:1', labels);
  fake.hasImage('bare:1', builtHere);
  fake.hasImage('own:1', { ...builtHere, 'minik8s.io/function-image': 'own:1' });
  assert.deepEqual(await builds.images(), [
    { id: 'id-repo/f:1', image: 'repo/f:1', version: 'f-1' },
    { id: 'id-own:1', image: 'own:1', version: '' },
  ]);
});
