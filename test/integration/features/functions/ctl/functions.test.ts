/**
 * `ctl function`, `execute` and `update function`, against a server whose functions a program of the test
 * answers.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { systemClock } from '../../../../../src/base/clock.ts';
import { Registry } from '../../../../../src/base/metrics/registry.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import {
  functionLabel,
  functionVersionLabel,
  instancePort,
} from '../../../../../src/features/functions/api/function-instance.ts';
import { type Ctl, ctlFor } from '../../../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../../../fixtures/https-api-server.ts';

const functions = '/apis/minik8s.io/v1/namespaces/default/functions';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const address = '127.0.1.7';

let server: HttpsTestServer;
let ctl: Ctl;
let directory: string;
let program: Server;

before(async () => {
  const writeDemand = () => Promise.resolve();
  const functionCalls = { master: 'here', reachesPod: () => true, writeDemand };
  server = await startHttpsTestServer({ clock: systemClock, functionCalls, metrics: new Registry() });
  ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
  directory = await mkdtemp(join(tmpdir(), 'minik8s-functions-'));
  program = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      const isWrong = body.includes('wrong');
      outgoing
        .writeHead(isWrong ? 500 : 200)
        .end(isWrong ? '{"error":"ValueError: wrong"}' : `{"got":${body}}`);
    });
  });
  await new Promise<void>((resolve) => program.listen(instancePort, address, resolve));
});
after(async () => {
  program.closeAllConnections();
  program.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

let folder: string;
let made = 0;
beforeEach(async () => {
  folder = join(directory, `source-${made++}`);
  await mkdir(join(folder, 'shop', '__pycache__'), { recursive: true });
  await writeFile(join(folder, 'main.py'), 'def handler(event, context):\n    return event\n');
  await writeFile(join(folder, 'shop', 'orders.py'), 'x = 1\n');
  await writeFile(join(folder, 'shop', '__pycache__', 'orders.pyc'), Buffer.from([0, 255]));
  await writeFile(join(folder, 'model.bin'), Buffer.from([0, 1, 2, 255]));
});

const stored = async (name: string) => (await server.call('GET', `${functions}/${name}`)).json<Fn>();
const ok = (out: string) => ({ status: 0, out, err: '' });

describe('ctl function create', () => {
  it('sends the files of a folder, without the leftovers of tools', async () => {
    const args = [
      'function',
      'create',
      'hello',
      '--from',
      folder,
      '-e',
      'A=b=c',
      '--timeout',
      '5',
      '--public',
    ];
    assert.deepEqual(await ctl(args), ok('function/hello created\n'));
    const { spec } = await stored('hello');
    assert.deepEqual(Object.keys(spec.files ?? {}), ['main.py', 'shop/orders.py']);
    assert.deepEqual(spec.binaryFiles, { 'model.bin': 'AAEC/w==' });
    assert.deepEqual(
      [spec.runtime, spec.handler, spec.env, spec.timeoutSeconds, spec.public, spec.maxScale],
      ['python', 'main.handler', [{ name: 'A', value: 'b=c' }], 5, true, 10],
    );
  });
  it('sends the files of a zip archive', async () => {
    const archive = join(directory, 'app.zip');
    const content = {
      'index.mjs': strToU8('export const run = (event) => event;'),
      'lib/': new Uint8Array(),
      'lib/a.js': strToU8('1'),
    };
    await writeFile(archive, zipSync(content));
    const args = ['function', 'create', 'zipped', '--from', archive, '--handler', 'index.run'];
    assert.deepEqual(await ctl(args), ok('function/zipped created\n'));
    const { spec } = await stored('zipped');
    assert.deepEqual([spec.runtime, Object.keys(spec.files ?? {})], ['nodejs', ['index.mjs', 'lib/a.js']]);
  });
  it('creates a function from an image, or only checks it in a dry run', async () => {
    const args = [
      'function',
      'create',
      'imaged',
      '--image',
      'app:1',
      '--dry-run=server',
      '-o',
      'jsonpath={.spec.image}',
    ];
    assert.deepEqual(await ctl(args), ok('app:1'));
    assert.equal((await server.call('GET', `${functions}/imaged`)).status, 404);
  });
  for (const [what, args, message] of [
    ['no name', [], /say which function: NAME/],
    [
      'an empty folder',
      ['x', '--from', 'EMPTY'],
      /there is no program in \S+empty\w+: no main\.py \(Python\) and no main\.js/,
    ],
    ['a folder that does not exist', ['x', '--from', 'NOWHERE'], /there is no file or folder \/.*\/nowhere/],
    ['an image and a folder', ['x', '--from', '.', '--image', 'a'], /only one of --from and --image/],
    ['a variable without a value', ['x', '--image', 'a', '-e', 'A'], /--env takes NAME=VALUE/],
    ['no number', ['x', '--image', 'a', '--timeout', 'soon'], /--timeout: expected a whole number/],
    ['nothing to run', ['x'], /give the program, --from DIRECTORY or --from FILE.zip, or --image IMAGE/],
    [
      'a handler that does not exist',
      ['x', '--from', 'FOLDER', '--handler', 'other.f'],
      /spec.files has no other.py/,
    ],
  ] as const)
    it(`rejects ${what}`, async () => {
      const empty = await mkdtemp(join(directory, 'empty'));
      const places: Readonly<Record<string, string>> = {
        FOLDER: folder,
        NOWHERE: join(folder, 'nowhere'),
        EMPTY: empty,
      };
      const given = args.map((word) => places[word] ?? word);
      const { status, out, err } = await ctl(['function', 'create', ...given]);
      assert.deepEqual([status, out], [1, '']);
      assert.match(err, message);
    });
  it('rejects a folder with a link, which may lead to any file', async () => {
    await symlink('/etc/hostname', join(folder, 'link.py'));
    const { status, err } = await ctl(['function', 'create', 'x', '--from', folder]);
    assert.equal(status, 1);
    assert.match(err, /link\.py is a link/);
  });
  it('rejects a folder with two languages unless the runtime is given', async () => {
    await writeFile(join(folder, 'a.js'), '');
    const { err } = await ctl(['function', 'create', 'x', '--from', folder]);
    assert.match(err, /choose one by --runtime/);
  });
  it('rejects an invalid archive', async () => {
    const archive = join(directory, 'broken.zip');
    await writeFile(archive, 'no archive');
    assert.match(
      (await ctl(['function', 'create', 'x', '--from', archive])).err,
      /cannot read .*broken\.zip/,
    );
  });
});

describe('ctl function update', () => {
  const name = 'changing';
  beforeEach(async () => {
    await server.call('DELETE', `${functions}/${name}`);
    const { err } = await ctl([
      'function',
      'create',
      name,
      '--from',
      folder,
      '-e',
      'A=1',
      '--concurrency',
      '3',
    ]);
    assert.equal(err, '');
  });
  it('replaces the whole program, and keeps the settings', async () => {
    await rm(join(folder, 'shop'), { recursive: true });
    await rm(join(folder, 'model.bin'));
    assert.deepEqual(
      await ctl(['function', 'update', name, '--from', folder]),
      ok(`function/${name} updated\n`),
    );
    const { spec, metadata } = await stored(name);
    assert.deepEqual([Object.keys(spec.files ?? {}), spec.binaryFiles], [['main.py'], undefined]);
    assert.deepEqual([spec.env, spec.concurrency, metadata.generation], [[{ name: 'A', value: '1' }], 3, 2]);
  });
  it('changes settings without a new program', async () => {
    assert.equal(
      (await ctl(['update', 'function', name, '--max-scale', '4'])).out,
      `function/${name} updated\n`,
    );
    const { spec } = await stored(name);
    assert.deepEqual([spec.maxScale, Object.keys(spec.files ?? {}).length], [4, 2]);
  });
  it('replaces a program by an image', async () => {
    assert.equal((await ctl(['function', 'update', name, '--image', 'app:2'])).err, '');
    const { spec } = await stored(name);
    assert.deepEqual(
      [spec.image, spec.runtime, spec.files, spec.handler],
      ['app:2', undefined, undefined, undefined],
    );
  });
  it('succeeds while the status changes all the time', async () => {
    let isOver = false;
    const asking = (async () => {
      for (let count = 1; !isOver; count++) {
        const status = { demand: { here: 1 + (count % 9) } };
        await server.call('PATCH', `${functions}/${name}/status`, { status }, merge);
      }
    })();
    try {
      for (let count = 1; count <= 10; count++)
        assert.equal((await ctl(['function', 'update', name, '--max-scale', String(count)])).err, '');
    } finally {
      isOver = true;
      await asking;
    }
    assert.equal((await stored(name)).spec.maxScale, 10);
  });
  it('rejects a function that does not exist', async () => {
    const { status, err } = await ctl(['function', 'update', 'nobody', '--max-scale', '4']);
    assert.equal(status, 1);
    assert.match(err, /NotFound.*functions\.minik8s\.io "nobody" not found/);
  });
});

describe('a call', () => {
  before(async () => {
    const created = await server.call('POST', functions, {
      metadata: { name: 'answering' },
      spec: { image: 'app:1' },
    });
    const { metadata } = created.json<Fn>();
    await server.call('PATCH', `${functions}/answering/status`, { status: { activeVersion: 'v1' } }, merge);
    const owner = {
      apiVersion: 'minik8s.io/v1',
      kind: 'Function',
      name: 'answering',
      uid: metadata.uid,
      controller: true,
    };
    const labels = { [functionLabel]: 'answering', [functionVersionLabel]: 'v1' };
    await server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'p', labels, ownerReferences: [owner] },
      spec: { nodeName: 'n1', containers: [{ name: 'function', image: 'app:1' }] },
    });
    const running = {
      name: 'function',
      ready: true,
      restartCount: 0,
      image: '',
      imageID: '',
      state: { running: {} },
    };
    const status = {
      phase: 'Running',
      podIP: address,
      podIPs: [{ ip: address }],
      containerStatuses: [running],
    };
    await server.call('PATCH', '/api/v1/namespaces/default/pods/p/status', { status }, merge);
  });
  it('prints the answer', async () =>
    assert.deepEqual(await ctl(['function', 'invoke', 'answering', '{"n":1}']), ok('{"got":{"n":1}}\n')));
  it('reaches a function of another namespace by a name with that namespace', async () =>
    assert.deepEqual(
      await ctl(['execute', 'default/answering', '{"n":2}', '-n', 'other']),
      ok('{"got":{"n":2}}\n'),
    ));
  it('has an empty body without an argument', async () =>
    assert.deepEqual(await ctl(['execute', 'answering']), ok('{"got":{}}\n')));
  it('takes its body from a file or from standard input', async () => {
    const file = join(directory, 'event.json');
    await writeFile(file, '[1]');
    assert.equal((await ctl(['execute', 'answering', `@${file}`])).out, '{"got":[1]}\n');
    assert.equal((await ctl(['execute', 'answering', '@-'], { stdin: '[2]' })).out, '{"got":[2]}\n');
  });
  it("fails with the function's failure", async () => {
    const { status, out, err } = await ctl(['execute', 'answering', '"wrong"']);
    assert.deepEqual([status, out], [1, '']);
    assert.equal(err, 'error: function answering failed: ValueError: wrong\n');
  });
  it('is counted in the description of the function', async () => {
    const answered = async () => {
      const { status, out, err } = await ctl(['describe', 'function', 'answering']);
      assert.deepEqual([status, err], [0, '']);
      const numberOf = (title: string) => Number(new RegExp(`^  ${title}: +(\\d+)`, 'm').exec(out)?.[1]);
      assert.match(out, /^ {2}Latency: +average [\d.]+m?s, 50% within [\d.]+m?s, 99% within [\d.]+m?s$/m);
      return { out, count: numberOf('Answered'), failed: numberOf('Failed') };
    };
    await ctl(['function', 'invoke', 'answering']);
    const before = await answered();
    await ctl(['function', 'invoke', 'answering', '{"n":2}']);
    await ctl(['function', 'invoke', 'answering', '"wrong"']);
    const after = await answered();
    assert.deepEqual([after.count - before.count, after.failed - before.failed], [2, 1]);
    assert.match(after.out, /^ {2}Failed: +\d+ \(500: \d+\)$/m);
  });
  it('is not made with a body that is not JSON', async () => {
    const { status, err } = await ctl(['execute', 'answering', '{n:1}']);
    assert.equal(status, 1);
    assert.match(err, /the argument of a call must be JSON/);
  });
});

describe('ctl function get, describe, delete and logs', () => {
  before(async () => {
    await server.call('POST', functions, { metadata: { name: 'known' }, spec: { image: 'app:1' } });
  });
  it('accept the name of a function', async () => {
    const { out } = await ctl(['function', 'get', 'known']);
    assert.match(out, /^NAME +RUNTIME +READY +INSTANCES +VERSION +AGE\nknown +app:1 +Unknown +0\/0 +<none> /);
    assert.match((await ctl(['function', 'describe', 'known'])).out, /^Name: +known\n/);
    assert.equal((await ctl(['function', 'logs', 'known'])).status, 0);
    assert.match((await ctl(['function', 'logs', 'known', '--build'])).err, /has no version yet/);
    const deleted = await ctl(['function', 'delete', 'known']);
    assert.deepEqual(deleted, ok('function.minik8s.io "known" deleted\n'));
  });
});
