/** Messages of failed calls of the Docker API. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { call } from '../../../src/docker/call.ts';

const failing = (failure: object) =>
  call('inspect', () => Promise.reject(Object.assign(new Error(), failure)));

for (const code of ['ENOENT', 'ECONNREFUSED']) {
  it(`a socket without an engine (${code}) gives the remedy`, async () => {
    const message = `connect ${code} /run/docker.sock`;
    await assert.rejects(failing({ code, syscall: 'connect', message }), {
      reason: 'Unavailable',
      message: `Docker cannot inspect: it does not run (${message}); start it on the node (systemctl start docker, or dockerd)`,
    });
  });
}

it('a connection that ended, and a missing file, do not mean that the engine is stopped', async () => {
  await assert.rejects(failing({ code: 'ECONNRESET', syscall: 'read', message: 'read ECONNRESET' }), {
    message: 'Docker cannot inspect: read ECONNRESET',
  });
  await assert.rejects(failing({ code: 'ENOENT', syscall: 'open', message: 'no such file' }), {
    message: 'Docker cannot inspect: no such file',
  });
});

it("the engine's own message is given in full", async () => {
  await assert.rejects(failing({ statusCode: 404, json: { message: 'No such container: a ' } }), {
    reason: 'NotFound',
    message: 'Docker cannot inspect: No such container: a',
    engineMessage: 'No such container: a',
  });
});
