/**
 * Image that a node builds from its own executable: once for all callers, with a message if the build
 * fails.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { OwnImage } from '../../../../../src/features/functions/agent/own-image.ts';
import { ownImage } from '../../../../../src/features/functions/api/own-image.ts';
import { ImageError } from '../../../../../src/kubelet/images/image-puller.ts';

const pod = { metadata: { name: 'p', namespace: 'default' } } as unknown as Pod;
const forever = new AbortController().signal;

function machine(
  context: TestContext,
  more: { readonly isProgram?: boolean; readonly builds?: boolean; readonly linked?: string } = {},
) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-own-image-'));
  context.after(() => rmSync(base, { recursive: true }));
  const [program, library] = [join(base, 'minik8s'), join(base, 'libc.so.6')];
  writeFileSync(program, 'the program');
  writeFileSync(library, 'the library');
  const images = new Map<string, Buffer>();
  const told: string[] = [];
  const envs: unknown[] = [];
  const ran: string[] = [];
  const world = {
    held: Promise.resolve(),
    fault: undefined as Error | undefined,
    keeps: true,
    owner: 'me',
    before: (): void => undefined,
  };
  const own = new OwnImage({
    program: more.isProgram === false ? undefined : program,
    engine:
      more.builds === false
        ? undefined
        : {
            get owner() {
              return world.owner;
            },
            importImage: async (archive: Readable, name: string, env: unknown) => {
              world.before();
              const parts: Buffer[] = [];
              for await (const part of archive) parts.push(Buffer.from(part));
              await world.held;
              if (world.fault) throw world.fault;
              envs.push(env);
              if (world.keeps) images.set(name, Buffer.concat(parts));
            },
          },
    runtime: { findImage: async (name) => (images.has(name) ? ({ id: name } as never) : undefined) },
    events: { event: (_, type, reason, message) => void told.push(`${type} ${reason} ${message}`) },
    exec: (async (file: string, args: string[], options: { env?: Record<string, string> }) => {
      ran.push([file, ...args, JSON.stringify(options.env)].join(' '));
      return { stdout: `\tlibc.so.6 => ${library} (0x1)\n${more.linked ?? ''}`, stderr: '' };
    }) as never,
  });
  return { own, images, told, world, program, library, envs, ran };
}

/** Returns the names and contents of the files of an archive. */
function filesOf(archive: Buffer): Record<string, string> {
  const files: Record<string, string> = {};
  for (let at = 0; at + 512 <= archive.length; ) {
    const name = archive.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8) || 0;
    if (name !== '' && archive[at + 156] !== 0x35)
      files[name] = archive.toString('utf8', at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

it('has the program, its libraries in their search paths, and an unprivileged user', async (context) => {
  const { own, images, told, program, library, envs } = machine(context);
  const { id } = await own.ensure(pod, ownImage, forever);
  const files = filesOf(images.get(id) ?? Buffer.alloc(0));
  assert.equal(files.minik8s, 'the program');
  const [path = ''] = Object.entries(files).find(([, text]) => text === 'the library') ?? [];
  assert.match(path, /libc\.so\.6$/);
  assert.deepEqual(envs, [{ LD_LIBRARY_PATH: `/${path.slice(0, path.lastIndexOf('/'))}` }]);
  assert.equal(files['etc/nsswitch.conf'], 'hosts: files dns\n');
  assert.match(files['etc/passwd'] ?? '', /^nobody:x:65534:65534:/m);
  assert.deepEqual(told, [`Normal Built Made image "${ownImage}" of ${program}`]);
  assert.ok(library);
});

it('is built once for all waiting callers, reused later, and built again for another file or agent', async (context) => {
  const { own, images, told, world, program } = machine(context);
  const release = Promise.withResolvers<void>();
  world.held = release.promise;
  const gone = new AbortController();
  const waiting = [own.ensure(pod, ownImage, forever), own.ensure(pod, ownImage, forever)];
  const left = own.ensure(pod, ownImage, gone.signal);
  gone.abort(new Error('the pod has gone'));
  await assert.rejects(left, /the pod has gone/);
  await assert.rejects(own.ensure(pod, ownImage, gone.signal), /the pod has gone/);
  release.resolve();
  const [one, two] = await Promise.all(waiting);
  assert.deepEqual([one?.id === two?.id, images.size, told.length], [true, 1, 1]);
  await own.close();
  assert.equal((await own.ensure(pod, ownImage, forever)).id, one?.id);
  assert.equal(told.length, 1, 'one that exists is not made');
  utimesSync(program, 1, 1);
  assert.notEqual((await own.ensure(pod, ownImage, forever)).id, one?.id);
  world.owner = 'another';
  await own.ensure(pod, ownImage, forever);
  assert.equal(images.size, 3);
});

it('reports why it cannot be built, and is built when it can be', async (context) => {
  const fails = (own: OwnImage, image: string, why: RegExp) =>
    assert.rejects(own.ensure(pod, image, forever), (error) => {
      assert.ok(error instanceof ImageError && error.reason === 'OwnImageFailed');
      assert.match(error.message, why);
      return true;
    });
  const { own, world, told, program } = machine(context);
  await fails(
    own,
    'minik8s.own/other:1',
    /there is no image "minik8s.own\/other:1": the image of minik8s is named /,
  );
  await fails(machine(context, { builds: false }).own, ownImage, /^this node makes no images$/);
  await fails(
    machine(context, { isProgram: false }).own,
    ownImage,
    /only the single-file program can make an image of itself/,
  );
  world.fault = new Error('no space left on device');
  await fails(own, ownImage, /^cannot make an image of .*: no space left on device$/);
  assert.deepEqual(told, [`Warning Failed cannot make an image of ${program}: no space left on device`]);
  world.fault = undefined;
  world.keeps = false;
  await fails(own, ownImage, /was made but is not present/);
  world.keeps = true;
  await own.ensure(pod, ownImage, forever);
  assert.equal(told.length, 3);
  rmSync(program);
  await fails(own, ownImage, /ENOENT/);
  writeFileSync(program, '');
});

const mebibyte = 1024 ** 2;

/** Returns type, mode, owner, time and name of each member; an archive ends with two empty blocks. */
function membersOf(archive: Buffer): string[] {
  const members: string[] = [];
  let at = 0;
  for (; archive[at] !== 0; ) {
    const field = (from: number, length: number) =>
      archive.toString('latin1', at + from, at + from + length).replace(/[\0 ]+$/, '');
    const number = (from: number, length: number) => Number.parseInt(field(from, length), 8);
    const size = number(124, 12);
    const own = [number(108, 8), number(116, 8), number(136, 12)];
    members.push(`${field(156, 1)} ${number(100, 8).toString(8)} ${own.join(' ')} ${field(0, 100)} ${size}`);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  assert.ok(archive.length - at >= 1024 && archive.subarray(at).every((byte) => byte === 0));
  return members;
}

it('has only files and folders of root, and always the same bytes', async (context) => {
  const { own, images, library, program, ran } = machine(context);
  await own.ensure(pod, ownImage, forever);
  const [[name, archive] = ['', Buffer.alloc(0)]] = [...images];
  assert.match(name, /:[0-9a-f]{16}$/);
  const members = membersOf(archive);
  const [folders, files] = [
    members.filter((one) => one.startsWith('5')),
    members.filter((one) => one.startsWith('0')),
  ];
  assert.ok(folders.length > 0 && folders.every((one) => /^5 755 0 0 0 \S+ 0$/.test(one)), folders.join());
  assert.deepEqual(
    files.map((one) => one.replace(/\S+\/(?=libc)/, '')),
    [
      ...['0 755 0 0 0 minik8s 11', '0 755 0 0 0 libc.so.6 11', '0 644 0 0 0 etc/nsswitch.conf 17'],
      '0 644 0 0 0 etc/passwd 60',
    ],
  );
  assert.deepEqual(ran, [`${program} {"LD_TRACE_LOADED_OBJECTS":"1"}`]);
  assert.ok(library);
});

it('contains every byte of a large file', async (context) => {
  for (const size of [16 * mebibyte - 1, 16 * mebibyte, 16 * mebibyte + 1]) {
    const { own, images, program } = machine(context);
    writeFileSync(program, Buffer.alloc(size, 'x'));
    const { id } = await own.ensure(pod, ownImage, forever);
    const archive = images.get(id) ?? assert.fail();
    assert.ok(membersOf(archive).includes(`0 755 0 0 0 minik8s ${size}`));
    assert.ok(filesOf(archive).minik8s === 'x'.repeat(size));
  }
});

it('is built again for a file of another size with the same time', async (context) => {
  const { own, images, program } = machine(context);
  utimesSync(program, 1, 1);
  await own.ensure(pod, ownImage, forever);
  appendFileSync(program, '!');
  utimesSync(program, 1, 1);
  await own.ensure(pod, ownImage, forever);
  assert.equal(images.size, 2);
});

it('has all libraries where its program looks for them', async (context) => {
  const other = mkdtempSync(join(tmpdir(), 'minik8s-own-image-other-'));
  context.after(() => rmSync(other, { recursive: true }));
  writeFileSync(join(other, 'libm.so.6'), 'm');
  const { own, envs } = machine(context, { linked: `\tlibm.so.6 => ${join(other, 'libm.so.6')} (0x2)\n` });
  await own.ensure(pod, ownImage, forever);
  const [{ LD_LIBRARY_PATH = '' }] = envs as [{ LD_LIBRARY_PATH?: string }];
  assert.equal(new Set(LD_LIBRARY_PATH.split(':')).size, LD_LIBRARY_PATH.split(':').length);
  assert.ok(
    LD_LIBRARY_PATH.split(':').every((path) => path.startsWith('/')),
    LD_LIBRARY_PATH,
  );
});

it('is complete before the agent ends', async (context) => {
  const { own, images, world } = machine(context);
  const release = Promise.withResolvers<void>();
  world.held = release.promise;
  const making = own.ensure(pod, ownImage, forever);
  let isClosed = false;
  const closing = own.close().then(() => {
    isClosed = true;
  });
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isClosed, false);
  release.resolve();
  await closing;
  assert.equal(images.size, 1);
  await making;
  world.fault = new Error('no space');
  world.owner = 'another';
  const failing = assert.rejects(own.ensure(pod, ownImage, forever));
  await own.close();
  await failing;
});

it('contains the current bytes of a growing file, and is not built from a small file that changes', async (context) => {
  const grows = machine(context);
  writeFileSync(grows.program, Buffer.alloc(17 * mebibyte, 'x'));
  grows.world.before = () => appendFileSync(grows.program, '!!!');
  const { id } = await grows.own.ensure(pod, ownImage, forever);
  assert.ok(filesOf(grows.images.get(id) ?? assert.fail()).minik8s === 'x'.repeat(17 * mebibyte));
  membersOf(grows.images.get(id) ?? assert.fail());
  const small = machine(context);
  small.world.before = () => appendFileSync(small.library, '!');
  await assert.rejects(
    small.own.ensure(pod, ownImage, forever),
    /libc\.so\.6 changed while it was being read/,
  );
});
