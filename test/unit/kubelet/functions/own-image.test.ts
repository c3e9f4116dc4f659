/**
 * Image that a node makes of its own executable: once for all callers, with a message where it cannot be
 * made.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod.ts';
import { ownImage } from '../../../../src/api/minik8s/v1/own-image.ts';
import { OwnImage } from '../../../../src/kubelet/functions/own-image.ts';
import { ImageError } from '../../../../src/kubelet/images/image-puller.ts';

const pod = { metadata: { name: 'p', namespace: 'default' } } as unknown as Pod;
const forever = new AbortController().signal;

function machine(
  context: TestContext,
  more: { readonly isProgram?: boolean; readonly builds?: boolean } = {},
) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-own-image-'));
  context.after(() => rmSync(base, { recursive: true }));
  const [program, library] = [join(base, 'minik8s'), join(base, 'libc.so.6')];
  writeFileSync(program, 'the program');
  writeFileSync(library, 'the library');
  const images = new Map<string, Buffer>();
  const told: string[] = [];
  const envs: unknown[] = [];
  const world = { held: Promise.resolve(), fault: undefined as Error | undefined, keeps: true, owner: 'me' };
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
    exec: (async () => ({ stdout: `\tlibc.so.6 => ${library} (0x1)\n`, stderr: '' })) as never,
  });
  return { own, images, told, world, program, library, envs };
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

it('has the program, its libraries where they are looked for, and a user who is nobody', async (context) => {
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

it('is made once for all who wait and found the next time, and anew for another file or another agent', async (context) => {
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
  assert.equal(told.length, 1, 'one that is there is not made');
  utimesSync(program, 1, 1);
  assert.notEqual((await own.ensure(pod, ownImage, forever)).id, one?.id);
  world.owner = 'another';
  await own.ensure(pod, ownImage, forever);
  assert.equal(images.size, 3);
});

it('says why it cannot be made, and is made when it can be', async (context) => {
  const fails = (own: OwnImage, image: string, why: RegExp) =>
    assert.rejects(own.ensure(pod, image, forever), (error) => {
      assert.ok(error instanceof ImageError && error.reason === 'OwnImageFailed');
      assert.match(error.message, why);
      return true;
    });
  const { own, world, told, program } = machine(context);
  await fails(own, 'minik8s.own/other:1', /"minik8s.own\/other:1" is no image: its name is /);
  await fails(machine(context, { builds: false }).own, ownImage, /^this node makes no images$/);
  await fails(
    machine(context, { isProgram: false }).own,
    ownImage,
    /only the one file makes an image of itself/,
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
