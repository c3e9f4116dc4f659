/** The API version in requests to engines that are replaced at one address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { dockerClient } from '../../../src/docker/client.ts';
import { makeDirectory } from '../../e2e/harness/belongings.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';

const socket = path.join(makeDirectory('minik8s-docker-'), 'docker.sock');
let engine: Server | undefined;
const heard: string[] = [];

/** Starts an engine that serves versions from `oldest` up to `newest` and rejects others as Docker does. */
async function start(newest: string, oldest: string): Promise<void> {
  const number = (version = '') => Number(version.split('.')[1]);
  engine = createServer(({ url = '' }, response) => {
    heard.push(url);
    const [, named] = /^\/v([\d.]+)\//.exec(url) ?? [];
    // A new connection for each request: a kept connection that has ended would fail first.
    const json = { 'content-type': 'application/json', connection: 'close' };
    const refuse = (why: string) =>
      response.writeHead(400, json).end(JSON.stringify({ message: `client version ${named} is ${why}.` }));
    if (named && number(named) > number(newest)) return void refuse('too new');
    if (named && number(named) < number(oldest)) return void refuse('too old');
    response.writeHead(200, json).end(JSON.stringify({ ApiVersion: newest, MinAPIVersion: oldest }));
  }).listen(socket);
  await once(engine, 'listening');
}

async function stop(): Promise<readonly string[]> {
  engine?.closeAllConnections();
  engine?.close();
  if (engine) await once(engine, 'close');
  engine = undefined;
  return heard.splice(0);
}

afterEach(stop);

test('the engine is queried once, and requests use the latest version that both support', async () => {
  await start('1.52', '1.44');
  const docker = dockerClient(socket);
  await Promise.all([docker.info(), docker.df()]);
  await docker.info();
  assert.deepEqual((await stop()).toSorted(), ['/v1.51/info', '/v1.51/info', '/v1.51/system/df', '/version']);
});

test('an engine that replaces another is queried again', async () => {
  const docker = dockerClient(socket);
  await assert.rejects(docker.info(), { code: 'ENOENT' });
  await start('1.41', '1.12');
  await docker.info();
  assert.deepEqual(await stop(), ['/version', '/v1.41/info']);
  await assert.rejects(docker.info());
  await start('1.52', '1.44');
  await docker.info();
  assert.deepEqual(await stop(), ['/version', '/v1.51/info']);
});

test('an engine replaced between two requests fails one of them', async () => {
  await start('1.41', '1.12');
  const docker = dockerClient(socket);
  await docker.info();
  await stop();
  await start('1.52', '1.44');
  await assert.rejects(docker.info(), /client version 1\.41 is too old/);
  await docker.info();
  assert.deepEqual(await stop(), ['/v1.41/info', '/version', '/v1.51/info']);
});

test('the engine of this machine accepts the version of the requests', async () => {
  const { ServerVersion } = await dockerClient(dockerSocket).info();
  assert.match(ServerVersion, /^\d+\./);
});
