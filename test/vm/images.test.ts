/** A virtual machine gets images without a registry, and runs containers of them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { helloImage, makeImages } from '../e2e/harness/images.ts';
import { copyImages } from './images.ts';
import { Machine } from './machine.ts';

it('runs a container of an image of this machine, whose port is forwarded', async () => {
  await makeImages();
  await using machine = await Machine.start({ name: 'runner', forward: [8080] });
  await copyImages(machine, helloImage);
  const page = await machine.output(`docker run --rm ${helloImage} cat /bin/hello`);
  assert.match(page, /^#!\/bin\/sh/);
  await machine.output(`docker run --detach --publish 8080:8080 ${helloImage}`);
  await machine.output('until curl -fs http://127.0.0.1:8080/; do sleep 0.2; done');
  const answer = await fetch(`http://127.0.0.1:${machine.port(8080)}/`, {
    signal: AbortSignal.timeout(60_000),
  });
  assert.equal(answer.status, 200);
});
