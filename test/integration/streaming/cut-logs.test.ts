/**
 * Logs that cannot be read, or not to their end: the results in kubectl, ctl and a WebSocket. Real TLS and a
 * simulated engine.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { RuntimeError } from '../../../src/docker/runtime-error.ts';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { noHome } from '../../fixtures/ctl.ts';
import { kubectlsOf } from '../../fixtures/kubectls.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const path = '/api/v1/namespaces/default/pods/web/log?follow=true';
const printed = 'x'.repeat(100_000);

async function* cut(text: string) {
  if (text) yield Buffer.from(text);
  throw new RuntimeError('Unavailable', 'Docker closed the connection');
}

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** Message over HTTP/2, as with kube-apiserver. */
const kubectlSays = /^error: stream error: stream ID \d+; INTERNAL_ERROR; received from peer\n$/;
const ctlSays =
  /^error: the log of container "main" in pod "web" is not complete: the API server at \S+ broke off its answer: /;

interface Answer {
  readonly status: number;
  readonly text: string;
  /** True if the body is complete according to HTTP. */
  readonly complete: boolean;
}

describe('a log that', () => {
  let cluster: StreamCluster;
  let admin: KeyAndCertificate;
  let kubeconfig: string;
  let logs: StreamCluster['runtime']['logs'];

  before(async () => {
    cluster = await startStreamCluster();
    admin = await cluster.server.clientCertificate('admin', ['system:masters']);
    kubeconfig = await cluster.server.kubeconfigFor('admin', ['system:masters']);
    logs = cluster.runtime.logs;
  });
  after(() => cluster.stop());
  afterEach(() => {
    cluster.runtime.logs = logs;
  });

  const connection = () => {
    const { key, certificate: cert } = admin;
    return {
      ca: cluster.server.authority.certificate,
      key,
      cert,
      host: '127.0.0.1',
      port: cluster.server.port,
    };
  };

  async function run([file = '', ...args]: readonly string[]) {
    const env = { KUBECONFIG: kubeconfig, HOME: noHome, PATH: process.env.PATH ?? '', ...compileCache };
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code: child.exitCode, stdout, stderr };
  }

  function read(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = get({ ...connection(), path, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('error', () => undefined);
        response.on('close', () =>
          resolve({ status: response.statusCode ?? 0, text: body, complete: response.complete }),
        );
      });
      asked.on('error', reject);
    });
  }

  for (const [title, reason, status] of [
    ['the engine cannot read causes an error of the server', 'Unavailable', 500],
    ['belongs to a container that the engine has removed causes 404', 'NotFound', 404],
  ] as const)
    it(title, async () => {
      cluster.runtime.logs = () => Promise.reject(new RuntimeError(reason, 'Docker cannot read logs'));
      const answer = await read();
      assert.equal(answer.status, status);
      assert.match(
        answer.text,
        /cannot read the log of container .*main.* in pod .*web.*: Docker cannot read logs/,
      );
      const { key, cert, ca, host, port } = connection();
      const socket = new WebSocket(`wss://${host}:${port}${path}`, [], { ca, key, cert });
      const [, refused] = await once(socket, 'unexpected-response');
      assert.equal(refused.statusCode, status);
      socket.on('error', () => undefined);
      socket.terminate();
    });

  for (const [title, sent] of [
    ['breaks off before its first byte', ''],
    ['breaks off later', printed],
  ] as const)
    it(`${title} leaves the answer without an end, an added text or a printed stack`, async (t) => {
      const { mock } = t.mock.method(console, 'error');
      cluster.runtime.logs = async () => cut(sent);
      const answer = await read();
      assert.deepEqual([answer.status, answer.complete], [200, false]);
      assert.ok(sent === answer.text, `${answer.text.length}: ${answer.text.slice(-100)}`);
      const { key, cert, ca, host, port } = connection();
      const socket = new WebSocket(`wss://${host}:${port}${path}`, [], { ca, key, cert });
      const [code] = await once(socket, 'close');
      assert.equal(code, 1006);
      assert.deepEqual(
        mock.calls.map(({ arguments: [first] }) => first),
        [],
      );
    });

  for (const [name, program] of [
    ['ctl', [process.execPath, main, 'ctl']],
    ...kubectlsOf(['1.32']).map((each) => ['kubectl', [each.path]] as const),
  ] as const)
    it(`breaks off makes ${name} print the received part and an error`, async () => {
      cluster.runtime.logs = async () => cut('said\n');
      const { code, stdout, stderr } = await run([...program, 'logs', '-f', 'web']);
      assert.deepEqual([code, stdout], [1, 'said\n']);
      assert.match(stderr, name === 'ctl' ? ctlSays : kubectlSays);
      cluster.runtime.logs = () => Promise.reject(new RuntimeError('Unavailable', 'Docker cannot read logs'));
      const refused = await run([...program, 'logs', '-f', 'web']);
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, /^Error from server.*Docker cannot read logs\n$/);
    });

  it('ends has a complete answer', async () => {
    cluster.runtime.logs = async () =>
      (async function* () {
        yield Buffer.from(printed);
      })();
    const answer = await read();
    assert.ok(answer.complete && answer.text === printed);
  });
});
