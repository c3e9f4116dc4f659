/**
 * Functions of the built file on the real engine: built, called, scaled to zero and back, updated, broken,
 * deleted.
 */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1PodList } from '@kubernetes/client-node';
import { freePort } from '../fixtures/free-port.ts';
import { lockMachine } from '../fixtures/machine-lock.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { Cluster } from './harness/cluster.ts';
import { firstCause } from './harness/first-cause.ts';
import { gatewayCaller, removeFunctionImages } from './harness/gateway-calls.ts';
import { waitFor } from './harness/wait-for.ts';

const images = { python: `minik8s-test/python:${process.pid}`, nodejs: `minik8s-test/nodejs:${process.pid}` };

interface FunctionObject {
  readonly status?: {
    readonly activeVersion?: string;
    readonly replicas?: number;
    readonly conditions?: readonly {
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

await lockMachine();

test('functions are built, called, scaled, updated and deleted', async (context) => {
  await Promise.all([makeRuntimeImage('python', images.python), makeRuntimeImage('nodejs', images.nodejs)]);
  context.after(() => removeFunctionImages(Object.values(images)));
  const gatewayPort = await freePort();
  const flags = [
    '--gateway-port',
    String(gatewayPort),
    '--python-image',
    images.python,
    '--nodejs-image',
    images.nodejs,
  ];
  const cluster = await Cluster.start(context, { flags });
  const { kubectl } = cluster;
  const ctl = (...args: string[]) => cluster.run('ctl', '--kubeconfig', cluster.kubeconfig, ...args);
  const call = gatewayCaller(context, cluster, gatewayPort);
  const folder = join(cluster.dataDir, 'source');
  await mkdir(folder);
  const fn = (name: string) => kubectl.json<FunctionObject>('get', 'function', name);
  const podsOf = async (name: string) =>
    (await kubectl.json<V1PodList>('get', 'pods', '-l', `minik8s.io/function=${name}`)).items;
  const untilGone = (name: string) =>
    waitFor(`the instances of ${name} to go`, async () => (await podsOf(name)).length === 0, {
      timeoutMs: 90_000,
    });

  await context.test('a function that is created from a folder answers calls', async () => {
    await writeFile(
      join(folder, 'main.py'),
      'def handler(event, context):\n    print("call", context.call_id)\n    return {"v": 1, **event}\n',
    );
    const out = await ctl('function', 'create', 'hello', '--from', folder, '--idle-seconds', '2', '--wait');
    assert.equal(out, 'function/hello created\nfunction/hello can be called\n');
    assert.deepEqual(await call('/function/hello', { n: 1 }), { status: 200, text: '{"v":1,"n":1}' });
    assert.equal(await ctl('execute', 'default/hello', '{"n":2}'), '{"v":1,"n":2}\n');
    assert.match(
      await ctl('function', 'logs', 'hello', '--build'),
      /^building minik8s\.function\/default\/hello:/,
    );
  });

  await context.test('only the gateway reaches an instance; pods and Services do not', async () => {
    const keep = (minScale: number) =>
      kubectl('patch', 'function', 'hello', '--type=merge', '-p', JSON.stringify({ spec: { minScale } }));
    await keep(1);
    const instance = await waitFor('an instance that stays', async () =>
      (await podsOf('hello')).find(
        ({ metadata, status }) => !metadata?.deletionTimestamp && status?.phase === 'Running',
      ),
    );
    const { name = '' } = instance.metadata ?? {};
    const address = instance.status?.podIP ?? assert.fail('it has an address');
    await kubectl('expose', 'pod', name, '--name=open', '--port=8080');
    const service = (await kubectl.json<{ spec: { clusterIP: string } }>('get', 'service', 'open')).spec;
    const peeking = join(cluster.dataDir, 'peek-source');
    await mkdir(peeking);
    const program = [
      'import http.client',
      'def handler(event):',
      '    connection = http.client.HTTPConnection(event["host"], event["port"], timeout=3)',
      '    try:',
      '        connection.request("POST", "/", "{}")',
      '        return connection.getresponse().status',
      '    except OSError as error:',
      '        return type(error).__name__',
    ];
    await writeFile(join(peeking, 'main.py'), program.join('\n'));
    await ctl('function', 'create', 'peek', '--from', peeking, '--wait');
    const peek = async (host: string, port: number) =>
      JSON.parse((await call('/function/peek', { host, port })).text) as unknown;
    for (const host of [address, service.clusterIP])
      assert.equal(await peek(host, 8080), 'TimeoutError', host);
    assert.equal((await call('/function/hello', { n: 1 })).status, 200);
    await kubectl('delete', 'service', 'open');
    await keep(0);
    await ctl('function', 'delete', 'peek');
  });

  await context.test('a function of Node.js with a library in its own folder answers calls', async () => {
    const other = join(cluster.dataDir, 'node-source');
    await mkdir(join(other, 'lib'), { recursive: true });
    await writeFile(
      join(other, 'index.mjs'),
      "import { add } from './lib/add.mjs';\nexport const run = async ({ a, b }) => ({ sum: add(a, b) });\n",
    );
    await writeFile(join(other, 'lib', 'add.mjs'), 'export const add = (a, b) => a + b;\n');
    await ctl('function', 'create', 'sum', '--from', other, '--handler', 'index.run', '--wait');
    assert.deepEqual(await call('/function/default/sum', { a: 2, b: 3 }), { status: 200, text: '{"sum":5}' });
  });

  await context.test(
    'an unused function has no instances, and 50 concurrent calls of it are all answered, each made once',
    async () => {
      await untilGone('hello');
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => call('/function/hello', { n })));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.deepEqual(new Set(answers.map(({ text }) => JSON.parse(text).n)).size, 50);
      const logs = await Promise.all(
        (await podsOf('hello')).map(({ metadata }) => kubectl.attempt(['logs', metadata?.name ?? ''])),
      );
      const made = logs.flatMap(({ stdout }) => stdout.match(/^call .*$/gm) ?? []);
      // The log of a removed instance is removed too, so there may be fewer lines.
      assert.equal(new Set(made).size, made.length);
      assert.ok(made.length > 0 && made.length <= 50, String(made.length));
    },
  );

  await context.test('an update fails no call', async () => {
    let isOver = false;
    const seen = new Map<string, number>();
    const calling = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const { status, text } = await call('/function/hello', {});
        const key = `${status} ${text}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    });
    try {
      await writeFile(join(folder, 'main.py'), 'def handler(event):\n    return {"v": 2}\n');
      await ctl('function', 'update', 'hello', '--from', folder, '--wait');
      await waitFor('the new program to answer', () => (seen.get('200 {"v":2}') ?? 0) > 20);
    } finally {
      isOver = true;
      await Promise.all(calling);
    }
    assert.deepEqual([...seen.keys()].toSorted(), ['200 {"v":1}', '200 {"v":2}']);
  });

  await context.test(
    'the status reports why a program cannot be loaded, and the previous version serves',
    async () => {
      const { activeVersion } = (await fn('hello')).status ?? {};
      await writeFile(join(folder, 'main.py'), 'import nothing_like_it\ndef handler(event):\n    return 3\n');
      const failed = await ctl('function', 'update', 'hello', '--from', folder, '--wait').catch(
        (error: Error) => error.message,
      );
      assert.match(failed, /No module named 'nothing_like_it'/);
      const { status } = await fn('hello');
      assert.equal(status?.activeVersion, activeVersion);
      assert.equal(status?.conditions?.[0]?.status, 'False');
      assert.deepEqual(await call('/function/hello', {}), { status: 200, text: '{"v":2}' });
    },
  );

  await context.test(
    'ctl why names the faulty line of a program and a library that cannot be installed, and its advice mends the function',
    async () => {
      const cause = await firstCause(ctl, 'function/hello');
      assert.equal(cause?.rule, 'function-not-ready');
      assert.match(cause.says, /does not start: main\.py:1: .*No module named 'nothing_like_it'/);
      assert.equal(cause.commands[0], 'function update hello -n default --from FOLDER');
      const update = (word: string) => ctl(...word.replace('FOLDER', folder).split(' '), '--wait');
      await writeFile(join(folder, 'requirements.txt'), './nothing-here.whl\n');
      await update(cause.commands[0]).catch(() => undefined);
      const built = await firstCause(ctl, 'function/hello');
      assert.equal(built?.rule, 'function-build', JSON.stringify(built));
      await rm(join(folder, 'requirements.txt'));
      await writeFile(join(folder, 'main.py'), 'def handler(event):\n    return {"v": 2}\n');
      await update(built.commands[0] ?? '');
      assert.match(await ctl('why', 'function/hello'), /^function\/hello has no problem$/m);
    },
  );

  await context.test(
    'a call whose handler throws is answered with the message, and a call whose handler ends the program with a failure',
    async () => {
      const other = join(cluster.dataDir, 'bad-source');
      await mkdir(other);
      await writeFile(
        join(other, 'main.py'),
        'import os\ndef handler(event):\n    if event.get("die"): os._exit(3)\n    raise ValueError("secret-free")\n',
      );
      await ctl('function', 'create', 'bad', '--from', other, '--wait');
      const thrown = await call('/function/bad', {});
      assert.deepEqual([thrown.status, JSON.parse(thrown.text)], [500, { error: 'ValueError: secret-free' }]);
      const died = await call('/function/bad', { die: true });
      assert.equal(died.status, 502, died.text);
      // The program restarts by itself.
      await waitFor(
        'the function to answer again',
        async () => (await call('/function/bad', {})).status === 500,
      );
    },
  );

  await context.test(
    'calls in progress when the master is killed end, each made once, and the functions can be called again',
    async () => {
      const programs = {
        'slow-js': [
          'main.mjs',
          `let made = 0;
let release;
const released = new Promise((done) => { release = done; });
export async function handler({ holds, releases }) {
  if (releases) release();
  if (!holds) return made;
  made += 1;
  await released;
}
`,
        ],
        'slow-py': [
          'main.py',
          `import threading
made = 0
released = threading.Event()
def handler(event):
    global made
    if event.get("releases"): released.set()
    if not event.get("holds"): return made
    made += 1
    released.wait()
`,
        ],
      } as const;
      const names = Object.keys(programs);
      const made = async (name: string) => (await call(`/function/${name}`, {})).text;
      for (const [name, [file, text]] of Object.entries(programs)) {
        const slow = join(cluster.dataDir, name);
        await mkdir(slow);
        await writeFile(join(slow, file), text);
        const always = ['--idle-seconds', '60', '--max-scale', '1', '--concurrency', '10'];
        await ctl('function', 'create', name, '--from', slow, '--wait', '--timeout', '300', ...always);
      }
      const under = names.flatMap((name) =>
        Array.from({ length: 5 }, () =>
          call(`/function/${name}`, { holds: true }).then(
            ({ status }) => status,
            () => 'cut',
          ),
        ),
      );
      for (const name of names) await waitFor(`the calls of ${name}`, async () => (await made(name)) === '5');
      await cluster.end('SIGKILL');
      assert.deepEqual(
        await Promise.all(under),
        under.map(() => 'cut'),
      );
      await cluster.up();
      for (const name of names) {
        const count = await waitFor('it to be called again', () => made(name).catch(() => undefined));
        assert.equal(count, '5');
        assert.equal((await call(`/function/${name}`, { releases: true })).status, 200);
        await kubectl('patch', 'function', name, '--type=merge', '-p', '{"spec":{"idleSeconds":1}}');
        await untilGone(name);
      }
    },
  );

  await context.test(
    'a function that does not exist is not found, and a deleted function leaves nothing behind',
    async () => {
      assert.equal((await call('/function/nobody', {})).status, 404);
      const names = ['hello', 'sum', 'bad', 'slow-js', 'slow-py'];
      await ctl('function', 'delete', ...names);
      for (const name of names) await untilGone(name);
      await waitFor(
        'the removal of the versions',
        async () => (await kubectl('get', 'functionversions')) === '',
      );
      await waitFor('the port to be closed', () =>
        call('/function/hello', {}).then(
          () => false,
          () => true,
        ),
      );
    },
  );
});
