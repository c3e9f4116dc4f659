/** bin/make-images on machines with a busybox that needs libraries, and without any. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecError } from '../../src/os/exec.ts';
import { BareMachine } from './harness/bare-machine.ts';
import { Host } from './harness/host.ts';

/** A program in the place of busybox: lists itself, and prints a line under any other name. */
const program = `
#include <stdio.h>
int main(int count, char **words) { return puts(count > 1 ? "busybox\\nsh" : "it runs") == EOF; }
`;

test('the image of the samples is made from any busybox of the machine, or from a pulled image', {
  timeout: 300_000,
}, async (context) => {
  const host = await Host.start(context, { docker: false });
  const machine = await BareMachine.start('vm1', host);
  const folder = join(host.directory, 'home');
  mkdirSync(folder);
  writeFileSync(join(folder, 'program.c'), program);
  const type = async (script: string) =>
    (await machine.run(`cd '${folder}'\n${script}`, { timeoutMs: 120_000 })).stdout;

  await type('minik8s samples');
  assert.equal(await type('minik8s-samples/bin/make-images'), 'images: minik8s/hello:1 made\n');
  assert.equal(await type('minik8s-samples/bin/make-images'), 'images: minik8s/hello:1 is there\n');
  // The pulled image is that of Docker Hub elsewhere.
  await type('docker tag minik8s/hello:1 minik8s-test/busybox; docker image rm minik8s/hello:1');

  await context.test('a busybox with libraries gets them', async () => {
    await type('gcc -o program program.c; ldd program; rm /usr/bin/busybox; cp program /usr/bin/busybox');
    assert.equal(await type('minik8s-samples/bin/make-images'), 'images: minik8s/hello:1 made\n');
    assert.equal(await type('docker run --rm minik8s/hello:1 sh'), 'it runs\n');
  });

  await context.test('a machine without busybox and without a registry gets advice', async () => {
    await type('rm /usr/bin/busybox');
    await assert.rejects(type('minik8s-samples/bin/make-images'), (error) => {
      const { stderr = '' } = error instanceof ExecError ? error.failure : {};
      assert.match(
        stderr,
        /^error: this machine has no busybox, and busybox:stable cannot be pulled; run: /m,
      );
      return true;
    });
  });

  await context.test('a machine without busybox takes a pulled image', async () => {
    await type('docker tag minik8s-test/busybox busybox:stable');
    assert.equal(await type('minik8s-samples/bin/make-images'), 'images: minik8s/hello:1 made\n');
    assert.equal(await type('minik8s-samples/bin/make-images'), 'images: minik8s/hello:1 is there\n');
    const page = 'docker exec "$id" wget -qO- http://localhost:8080/';
    const started = `id=$(docker run --detach minik8s/hello:1)\nuntil ${page}; do sleep 0.2; done`;
    assert.match(await type(started), /^hello from [0-9a-f]{12}\n$/);
    assert.equal(await type('docker ps --all --quiet --filter ancestor=busybox:stable'), '');
  });
});
