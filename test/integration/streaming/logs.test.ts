/** Logs on a WebSocket, as Kubernetes' own suite and Headlamp read them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { systemUser } from '../../../src/apiserver/request/user.ts';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const log = '/api/v1/namespaces/default/pods/web/log';

describe('logs on a WebSocket', () => {
  let cluster: StreamCluster;
  let admin: KeyAndCertificate;

  before(async () => {
    cluster = await startStreamCluster();
    admin = await cluster.server.clientCertificate('admin', ['system:masters']);
    cluster.runtime.print(cluster.containerId, 'first');
    cluster.runtime.print(cluster.containerId, '€ second');
  });
  after(() => cluster.stop());

  const open = (query: string, protocols: string[], path = log) => {
    const { key, certificate: cert } = admin;
    const ca = cluster.server.authority.certificate;
    const url = `wss://127.0.0.1:${cluster.server.port}${path}${query}`;
    return new WebSocket(url, protocols, { ca, key, cert });
  };

  /** Returns the messages and whether each is binary, until the server closes the connection. */
  async function read(socket: WebSocket) {
    const messages: { readonly text: string; readonly binary: boolean }[] = [];
    socket.on('message', (data, binary) => messages.push({ text: String(data), binary }));
    await once(socket, 'close');
    return messages;
  }

  for (const protocols of [[], ['binary.k8s.io'], ['v9.channel.k8s.io', 'binary.k8s.io']]) {
    it(`are bytes for a client that offers ${protocols.join() || 'nothing'}`, async () => {
      const socket = open('', protocols);
      const messages = await read(socket);
      assert.equal(socket.protocol, protocols.at(-1) ?? '');
      assert.deepEqual(messages[0], { text: '', binary: true });
      assert.ok(messages.every(({ binary }) => binary));
      assert.equal(messages.map(({ text }) => text).join(''), 'first\n€ second\n');
    });
  }

  it('are base64 for a client with that protocol', async () => {
    const socket = open('?tailLines=1', ['base64.binary.k8s.io']);
    const messages = await read(socket);
    assert.equal(socket.protocol, 'base64.binary.k8s.io');
    assert.ok(messages.every(({ binary }) => !binary));
    const bytes = messages.map(({ text }) => Buffer.from(text, 'base64'));
    assert.equal(Buffer.concat(bytes).toString(), '€ second\n');
  });

  it('are followed until the client disconnects', async () => {
    const socket = open('?follow=true&tailLines=0', ['binary.k8s.io']);
    const messages: string[] = [];
    socket.on('message', (data) => messages.push(String(data)));
    await once(socket, 'message');
    cluster.runtime.print(cluster.containerId, 'third');
    while (!messages.includes('third\n')) await once(socket, 'message');
    // Messages of a client are ignored.
    socket.send('nothing');
    cluster.runtime.print(cluster.containerId, 'fourth');
    while (!messages.includes('fourth\n')) await once(socket, 'message');
    socket.close();
    const [code] = await once(socket, 'close');
    assert.equal(code, 1005);
  });

  it('are refused before the connection leaves HTTP', async () => {
    for (const [query, protocols, path, status] of [
      ['', ['v4.channel.k8s.io'], log, 400],
      ['?container=none', [], log, 400],
      ['?tailLines=x', [], log, 400],
      ['', [], log.replace('web', 'none'), 404],
    ] as const) {
      const socket = open(query, [...protocols], path);
      socket.on('error', () => undefined);
      const [, response] = await once(socket, 'unexpected-response');
      assert.equal(response.statusCode, status, `${path}${query}`);
      response.destroy();
    }
  });
});

it('logs are followed for as long as the container is silent, also on a connection that was used before', async () => {
  const connectTimeout = 1000;
  const cluster = await startStreamCluster(connectTimeout);
  cluster.runtime.print(cluster.containerId, 'first');
  const read = async (query: string) => {
    const response = await cluster.server.handlerFor(systemUser('admin'))(
      new Request(`https://apiserver${log}?${query}`),
    );
    assert.equal(response.status, 200);
    return response;
  };
  for (let i = 0; i < 2; i++) assert.equal(await (await read('')).text(), 'first\n');
  const followed = (await read('follow=True&previous=False&tailLines=0')).body?.getReader();
  const next = followed?.read().then(
    ({ value }) => Buffer.from(value ?? []).toString(),
    (error) => `cut off: ${String(error)}`,
  );
  const cut = await Promise.race([next, setTimeout(2 * connectTimeout)]);
  assert.equal(cut, undefined);
  cluster.runtime.print(cluster.containerId, 'second');
  assert.equal(await next, 'second\n');
  await followed?.cancel();
  await cluster.stop();
});
