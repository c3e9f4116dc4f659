/**
 * Builds on an engine, a socket of this process, that fails at each of its calls: a build leaves an image or
 * nothing.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { BuildEngine } from '../../../src/kubelet/functions/build-engine.ts';
import { eventually } from '../../fixtures/eventually.ts';

interface Container {
  readonly name: string;
  readonly body: Record<string, unknown>;
  readonly files: string[];
}

async function engine(context: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-build-engine-'));
  const containers = new Map<string, Container>();
  const images = new Map<string, Record<string, string>>();
  const asked: string[] = [];
  const world = {
    /** A call that fails, such as `POST /commit`. */
    failing: '',
    exitCode: 0,
    /** Resolves when the program of an installation ends. */
    ends: Promise.resolve() as Promise<unknown>,
    end: () => undefined as unknown,
    killed: false,
  };
  let next = 0;
  const answer = (response: ServerResponse, status: number, body?: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  };
  interface Asked {
    readonly url: URL;
    readonly body: Buffer;
    readonly response: ServerResponse;
  }
  const ofEngine: Readonly<Record<string, (asked: Asked) => void>> = {
    'GET /version': ({ response }) => answer(response, 200, { ApiVersion: '1.44', MinAPIVersion: '1.24' }),
    'POST /containers/create': ({ url, body, response }) => {
      const made = `c${next++}`;
      const name = url.searchParams.get('name') ?? '';
      containers.set(made, { name, body: JSON.parse(body.toString()), files: [] });
      answer(response, 201, { Id: made });
    },
    'GET /containers/json': ({ url, response }) => {
      const [wanted = ''] = (JSON.parse(url.searchParams.get('filters') ?? '{}').name ?? []) as string[];
      const found = [...containers].filter(([, { name }]) => new RegExp(wanted).test(`/${name}`));
      const all = found.map(([Id]) => ({ Id }));
      answer(response, 200, all);
    },
    'GET /images/json': ({ response }) => {
      const all = [...images].map(([name, Labels]) => ({ Id: `id-${name}`, RepoTags: [name], Labels }));
      answer(response, 200, all);
    },
    'POST /commit': ({ url, response }) => {
      const made = containers.get(url.searchParams.get('container') ?? '');
      const name = `${url.searchParams.get('repo')}:${url.searchParams.get('tag')}`;
      images.set(name, (made?.body.Labels ?? {}) as Record<string, string>);
      answer(response, 201, { Id: 'image' });
    },
  };
  const ofContainer: Readonly<
    Record<string, (container: Container, id: string, asked: Asked) => void | Promise<void>>
  > = {
    'PUT /archive': ({ files }, _, { url, body, response }) => {
      files.push(`${url.searchParams.get('path')} ${body.toString()}`);
      answer(response, 200);
    },
    'POST /start': (_, __, { response }) => answer(response, 204),
    'POST /kill': (_, __, { response }) => {
      world.killed = true;
      world.end();
      answer(response, 204);
    },
    'POST /wait': async (_, __, { response }) => {
      await world.ends;
      answer(response, 200, { StatusCode: world.exitCode });
    },
    'DELETE /container': (_, id, { response }) => {
      containers.delete(id);
      answer(response, 204);
    },
  };
  const serve = (call: string, id: string, from: Asked): void | Promise<void> => {
    if (call === world.failing) return answer(from.response, 500, { message: 'the disk is full' });
    if (ofEngine[call]) return ofEngine[call](from);
    if (call.startsWith('DELETE /images/')) {
      const wanted = decodeURIComponent(call.slice('DELETE /images/'.length)).replace(/^id-/, '');
      return images.delete(wanted) ? answer(from.response, 200, []) : answer(from.response, 404, {});
    }
    const container = containers.get(id);
    if (!container) return answer(from.response, 404, { message: 'no such container' });
    if (ofContainer[call]) return ofContainer[call](container, id, from);
    answer(from.response, 404, { message: `no ${call}` });
  };
  const server = createServer((request: IncomingMessage, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://engine');
      const path = url.pathname.replace(/^\/v[\d.]+/, '');
      const [, kind, id = '', verb = ''] = path.split('/');
      const isOfOne = kind === 'containers' && id !== 'create' && id !== 'json';
      const call = `${request.method} ${isOfOne ? `/${verb || 'container'}` : path}`;
      asked.push(call);
      void serve(call, id, { url, body: Buffer.concat(parts), response });
    });
  });
  server.on('upgrade', (request, socket) => {
    asked.push('POST /attach');
    if (world.failing === 'POST /attach') {
      socket.end('HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n');
    const text = Buffer.from('Collecting\n');
    const head = Buffer.from([1, 0, 0, 0, 0, 0, 0, text.length]);
    socket.end(Buffer.concat([head, text]));
    request.resume();
  });
  const socketPath = join(base, 'docker.sock');
  await new Promise<void>((resolve) => server.listen(socketPath, () => resolve()));
  context.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(base, { recursive: true });
  });
  const builds = new BuildEngine({ socketPath, owner: 'node/1' });
  const output: string[] = [];
  const config = { Env: ['A=1'], Entrypoint: ['run'], Cmd: [], WorkingDir: '/function', Labels: { x: 'y' } };
  return {
    ...{ builds, containers, images, asked, world, output },
    commit: () =>
      builds.commit({ baseImage: 'base', archive: Buffer.from('files'), config, image: 'repo/f:1' } as never),
    install: (signal = new AbortController().signal) =>
      builds.install(
        {
          ...{
            image: 'base',
            archive: Buffer.from('files'),
            command: ['pip'],
            workingDir: '/w',
            env: ['B=2'],
          },
          ...{ binds: ['/a:/a:ro'], onOutput: (data) => void output.push(Buffer.from(data).toString()) },
        },
        signal,
        async ({ exitCode }) => exitCode,
      ),
  };
}

test('a commit leaves the image and no container, and where a call fails neither', async (context) => {
  for (const failing of ['', 'POST /containers/create', 'PUT /archive', 'POST /commit']) {
    const { commit, containers, images, world } = await engine(context);
    world.failing = failing;
    if (failing === '') await commit();
    else await assert.rejects(commit(), /the disk is full/, failing);
    assert.equal(containers.size, 0, failing);
    assert.deepEqual(
      [...images],
      failing === '' ? [['repo/f:1', { x: 'y', 'minik8s.io/built-by': 'node/1' }]] : [],
    );
  }
});

test('an installation leaves no container, whichever call fails, and says how its program ended', async (context) => {
  for (const failing of ['PUT /archive', 'POST /start', 'POST /wait']) {
    const { install, containers, world } = await engine(context);
    world.failing = failing;
    await assert.rejects(install(), /the disk is full/, failing);
    assert.equal(containers.size, 0, failing);
  }
});

test('an installation is a program without rights and with bounds, of which the exit status and the output are told', async (context) => {
  const { install, containers, world, output, asked } = await engine(context);
  world.exitCode = 7;
  const ends = Promise.withResolvers<void>();
  world.ends = ends.promise;
  const installing = install();
  await eventually(systemClock, 'it runs', () => asked.includes('POST /wait'));
  const [container] = containers.values();
  const { HostConfig, name, ...body } = container?.body ?? {};
  assert.match(String(name), /^minik8s-build\.node_1\./);
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
  assert.deepEqual([output.join(''), containers.size], ['Collecting\n', 0]);
});

test('an installation that is given up is ended and removed', async (context) => {
  const { install, containers, world, asked } = await engine(context);
  world.ends = new Promise((resolve) => {
    world.end = () => resolve(undefined);
  });
  const stop = new AbortController();
  const installing = install(stop.signal);
  await eventually(systemClock, 'it runs', () => asked.includes('POST /wait'));
  stop.abort(new Error('the pod has gone'));
  await assert.rejects(installing, /the pod has gone/);
  assert.deepEqual([world.killed, containers.size], [true, 0]);
});

test('containers of an agent that was killed are removed, those of other agents are not', async (context) => {
  const { builds, containers } = await engine(context);
  for (const [id, name] of [
    ['a', 'minik8s-build.node_1.x'],
    ['b', 'minik8s-build.node_10.x'],
    ['c', 'x-minik8s-build.node_1.x'],
    ['d', 'minik8s-buildxnode_1.x'],
  ] as const)
    containers.set(id, { name, body: {}, files: [] });
  await builds.removeLeft();
  assert.deepEqual([...containers.keys()], ['b', 'c', 'd']);
});

test('all images that were built go, also one that has lost its name', async (context) => {
  const { builds, images } = await engine(context);
  images.set('repo/f:1', { 'minik8s.io/function-image': 'repo/f:1' });
  images.set('<none>:<none>', { 'minik8s.io/function-image': 'repo/g:1' });
  images.set('other:1', { 'minik8s.io/function-image': 'repo/f:1' });
  await builds.removeAll();
  assert.deepEqual([...images.keys()], ['other:1']);
});

test('images are told by the name that they were built as, and by the version', async (context) => {
  const { builds, images } = await engine(context);
  images.set('repo/f:1', { 'minik8s.io/function-image': 'repo/f:1', 'minik8s.io/built-for': 'f-1' });
  // An image that was made from it, and an image without a function's name.
  images.set('other:1', { 'minik8s.io/function-image': 'repo/f:1', 'minik8s.io/built-for': 'f-1' });
  images.set('bare:1', {});
  assert.deepEqual(await builds.images(), [{ id: 'id-repo/f:1', image: 'repo/f:1', version: 'f-1' }]);
});
