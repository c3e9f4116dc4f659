/**
 * Faulty programs and faulty calls of functions: instances on Docker, called through the API server's
 * gateway.
 */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import { instanceOf } from '../../../../../src/features/functions/controller/instance-plan.ts';
import { defaultLogRotation } from '../../../../../src/kubelet/runtime/log-rotation.ts';
import { eventually, isReady } from '../../../kubelet/node-harness.ts';
import { docker, type FunctionWorld, image, runtimeImages } from './function-world.ts';

const api = '/apis/minik8s.io/v1/namespaces/default/functions';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

const programs = {
  python: {
    'main.py': `
import os, time
calls = 0
def handler(event):
    global calls
    calls += 1
    match event.get("do"):
        case "version": return os.environ["FUNCTION_VERSION"]
        case "throw": raise ValueError("no such order")
        case "no JSON": return {1, 2}
        case "hold":
            open("/tmp/held", "x").close()
            while not os.path.exists("/tmp/released"): time.sleep(0.02)
        case "exit": os._exit(3)
        case "hang":
            while True: pass
        case "print":
            line = "x" * 65_535 + "\\n"
            for _ in range(event["bytes"] // 65_536): os.write(1, line.encode())
    return calls
`,
  },
  nodejs: {
    'main.mjs': `
import { existsSync, writeFileSync, writeSync } from 'node:fs';
let calls = 0;
export async function handler(event) {
  calls++;
  switch (event.do) {
    case 'version': return process.env.FUNCTION_VERSION;
    case 'throw': throw new RangeError('no such order');
    case 'no JSON': return 1n;
    case 'hold':
      writeFileSync('/tmp/held', '');
      while (!existsSync('/tmp/released')) await new Promise((resolve) => setTimeout(resolve, 20));
      break;
    case 'exit': process.exit(3);
    case 'hang': for (;;);
    case 'print': {
      const line = 'x'.repeat(65_535) + '\\n';
      for (let left = event.bytes; left > 0; left -= line.length) writeAll(line);
    }
  }
  return calls;
}
function writeAll(text) {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try { rest = rest.subarray(writeSync(1, rest)); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
  }
}
`,
  },
} as const;
const errors = { python: 'ValueError: no such order', nodejs: 'RangeError: no such order' } as const;
const bytesLimit = { runtime: 6 * 1024 * 1024, gateway: 16 * 1024 * 1024 } as const;

/** Declares the tests for both runtimes at once. Instances are left running. */
export function badInput(worldOf: () => FunctionWorld): void {
  describe('bad input of functions', { concurrency: true }, () => {
    for (const runtime of ['python', 'nodejs'] as const)
      describe(runtime, { concurrency: 1 }, () => badInputOf(runtime, worldOf));

    it('a function that does not exist is answered with 404, and gets no pod', async () => {
      const { node } = worldOf();
      assert.equal((await node.server.call('POST', `${api}/nobody/invoke`, {})).status, 404);
      const selector = encodeURIComponent('minik8s.io/function=nobody');
      const pods = await node.server.call('GET', `/api/v1/namespaces/default/pods?labelSelector=${selector}`);
      assert.deepEqual(pods.json<{ items: unknown[] }>().items, []);
    });
  });
}

function badInputOf(runtime: 'python' | 'nodejs', worldOf: () => FunctionWorld): void {
  const name = `bad-${runtime}`;
  let world: FunctionWorld;
  let fn: Fn;
  const request = (method: string, path: string, body?: unknown, options = {}) =>
    world.node.server.call(method, path, body, options);
  const call = async (body: unknown, options = {}) => {
    const { status, text } = await request('POST', `${api}/${name}/invoke`, body, options);
    return [status, JSON.parse(text)] as const;
  };
  /** Starts an instance of a version that differs by `spec`. */
  async function startInstance(version: string, spec: object): Promise<string> {
    const made = await world.node.client.resource(functionVersionResource).create({
      apiVersion: 'minik8s.io/v1',
      kind: 'FunctionVersion',
      metadata: { name: version, namespace: 'default' },
      spec: {
        ...{ function: name, runtime, baseImage: runtimeImages[runtime], files: programs[runtime] },
        ...{ handler: 'main.handler', timeoutSeconds: 120, concurrency: 1, image: image(name), ...spec },
      },
    } as unknown as FunctionVersion);
    const pod = instanceOf(fn, made);
    await world.node.createPod(version, { ...pod.spec, terminationGracePeriodSeconds: 0 }, pod.metadata);
    return version;
  }
  const serve = async (version: string, timeoutSeconds: number) => {
    await request('PATCH', `${api}/${name}`, { spec: { timeoutSeconds } }, merge);
    await request('PATCH', `${api}/${name}/status`, { status: { activeVersion: version } }, merge);
    await eventually(async () => assert.deepEqual(await call({ do: 'version' }), [200, version]));
  };
  const idOf = ({ status }: Pod) =>
    status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? '';
  const inInstance = async (script: string) =>
    docker('exec', idOf(await world.node.pod(`${name}-1`)), 'sh', '-c', script);
  const ended = ({ status }: Pod) => {
    const { state, lastState } = status?.containerStatuses?.[0] ?? {};
    return state?.terminated ?? lastState?.terminated;
  };

  before(async () => {
    world = worldOf();
    const spec = { runtime, files: programs[runtime], concurrency: 1 };
    fn = (await request('POST', api, { metadata: { name }, spec })).json<Fn>();
    await world.node.waitFor(await startInstance(`${name}-1`, {}), isReady);
    await serve(`${name}-1`, 120);
  });

  it('a handler that throws is answered with 500 and its message', async () => {
    assert.deepEqual(await call({ do: 'throw' }), [500, { error: errors[runtime] }]);
  });

  it('a result that is not JSON is answered with 500', async () => {
    const [status, { error }] = await call({ do: 'no JSON' });
    assert.equal(status, 500);
    assert.match(error, /^InvalidResult: the result is not JSON/);
  });

  it('a call over a limit of size is answered with 413, and is not made', async () => {
    const [, before] = await call({});
    for (const bytes of Object.values(bytesLimit)) {
      const [status] = await call(JSON.stringify('x'.repeat(bytes)));
      assert.equal(status, 413, `${bytes}`);
    }
    assert.deepEqual(await call({}), [200, before + 1]);
  });

  it('a client that disconnects during its call occupies no place any more, and its call is made once', async () => {
    const [, before] = await call({});
    const leaving = new AbortController();
    const left = call({ do: 'hold' }, { signal: leaving.signal });
    await inInstance('until [ -e /tmp/held ]; do sleep 0.05; done');
    leaving.abort();
    await left.catch(() => undefined);
    await inInstance('touch /tmp/released');
    assert.deepEqual(await call({}), [200, before + 2]);
  });

  it('a version without the handler reports it, and the previous version serves', async () => {
    const pod = await startInstance(`${name}-2`, { handler: 'main.nothing' });
    const { exitCode, message = '' } =
      ended(await world.node.waitFor(pod, (one) => ended(one) !== undefined)) ?? {};
    assert.equal(exitCode, 1);
    assert.match(message, /no function nothing/);
    assert.equal((await call({}))[0], 200);
    await world.deletePod(pod);
  });

  it('a handler that prints more than a log may have is answered, and no more than that is kept', async () => {
    assert.equal((await call({ do: 'print', bytes: 128e6 }))[0], 200);
    const pod = await world.node.pod(`${name}-1`);
    const log = (await docker('inspect', '--format', '{{.LogPath}}', idOf(pod))).trim();
    const files = (await readdir(dirname(log))).filter((file) => file.startsWith(basename(log)));
    const sizes = await Promise.all(files.map(async (file) => (await stat(join(dirname(log), file))).size));
    const { maxBytes, maxFiles } = defaultLogRotation;
    assert.ok(files.length > 1 && files.length <= maxFiles, files.join());
    // The engine checks the size after each piece of a line; a piece has 16 KiB.
    for (const size of sizes) assert.ok(size < maxBytes + 65_536, sizes.join());
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
  });

  it('a handler that ends its process is answered with 502, and the instance starts again', async () => {
    const [status, { message }] = await call({ do: 'exit' });
    assert.equal(status, 502);
    assert.match(message, /the instance ended before it had answered the call/);
    await eventually(async () => assert.deepEqual(await call({}), [200, 1]));
    assert.equal((await world.node.pod(`${name}-1`)).status?.containerStatuses?.[0]?.restartCount, 1);
  });

  it('a call whose handler hangs is answered with 504 at its timeout, and the instance ends', async () => {
    const pod = await startInstance(`${name}-3`, { timeoutSeconds: 1 });
    await world.node.waitFor(pod, isReady);
    await serve(`${name}-3`, 1);
    const [status, { message }] = await call({ do: 'hang' });
    assert.equal(status, 504);
    assert.match(message, /did not answer within its timeoutSeconds of 1/);
    const { exitCode } = ended(await world.node.waitFor(pod, (one) => ended(one) !== undefined)) ?? {};
    assert.ok(exitCode === 70 || exitCode === 137, String(exitCode));
    await eventually(async () => assert.equal((await call({}))[0], 200));
  });
}
