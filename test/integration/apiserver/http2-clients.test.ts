/** Unmodified HTTP/2 clients other than node agents. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { agentProtocol } from '../../../src/http/agent-protocol.ts';
import {
  type HttpsTestServer,
  type HttpsTestServerOptions,
  startHttpsTestServer,
} from '../../fixtures/https-api-server.ts';
import { anyKubectl, kubectlsOf } from '../../fixtures/kubectls.ts';

const run = promisify(execFile);
const maps = '/api/v1/namespaces/default/configmaps';
const masters = ['system:masters'];

async function start(t: TestContext, options: HttpsTestServerOptions = {}): Promise<HttpsTestServer> {
  const server = await startHttpsTestServer(options);
  t.after(() => server.stop());
  return server;
}

/** Returns the negotiated protocol; false when the client offers none. */
async function agreed(server: HttpsTestServer, offered?: readonly string[]): Promise<string | false | null> {
  const socket = connect({
    host: '127.0.0.1',
    port: server.port,
    ca: server.authority.certificate,
    ...(offered && { ALPNProtocols: [...offered] }),
  });
  await once(socket, 'secureConnect');
  socket.destroy();
  return socket.alpnProtocol;
}

/**
 * Runs a kubectl whose HTTP/2 client logs its frames; resolves with the output and whether any frames were
 * logged.
 */
async function kubectl(path: string, kubeconfig: string, args: readonly string[]) {
  const env = { ...process.env, KUBECONFIG: kubeconfig, GODEBUG: 'http2debug=1' };
  const { stdout, stderr } = await run(path, [...args], { env, timeout: 120_000 });
  return { stdout, isHttp2: stderr.includes('http2: Transport received HEADERS') };
}

describe('HTTP/2', () => {
  it('is negotiated with every client that offers it, and HTTP/1.1 with all others', async (t) => {
    const server = await start(t);
    assert.equal(await agreed(server, ['http/1.1', 'h2']), 'h2');
    assert.equal(await agreed(server, ['http/1.1']), 'http/1.1');
    assert.equal(await agreed(server), false);
  });

  it('is negotiated only with agents with --http2 agents', async (t) => {
    const server = await start(t, { listen: { http2: 'agents' } });
    assert.equal(await agreed(server, ['h2', 'http/1.1']), 'http/1.1');
    assert.equal(await agreed(server, ['h2', agentProtocol]), 'h2');
  });

  for (const { version, path } of kubectlsOf(['1.20', '1.27', '1.30', '1.32', '1.33']))
    it(`carries the requests and watches of kubectl ${version}`, async (t) => {
      const server = await start(t);
      const kubeconfig = await server.kubeconfigFor('user', masters);
      const call = async (...args: string[]) => {
        const { stdout, isHttp2 } = await kubectl(path, kubeconfig, args);
        assert.ok(isHttp2, `kubectl ${args.join(' ')} received no HTTP/2 frame`);
        return stdout;
      };
      const manifest = join(server.directory, 'map.json');
      const metadata = { name: 'large', namespace: 'default' };
      const data = { text: 'x'.repeat(700_000) };
      await writeFile(manifest, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }));
      await call('create', '-f', manifest);
      const stored = JSON.parse(await call('get', 'configmap', 'large', '-o', 'json')) as {
        data: typeof data;
      };
      assert.equal(stored.data.text, data.text);
      assert.match(await call('get', 'namespaces'), /^default /m);
      const watch = spawn(path, ['get', 'configmaps', '-o', 'name', '--watch'], {
        env: { ...process.env, KUBECONFIG: kubeconfig },
      });
      t.after(() => watch.kill());
      let lines = 0;
      for await (const _line of createInterface(watch.stdout)) {
        if (++lines === 2) break;
        await call('annotate', 'configmap', 'large', 'example.com/seen=true');
      }
      assert.equal(lines, 2, 'the watch ended before it brought the change');
      await call('delete', 'configmap', 'large');
    });

  it('refuses an upload of more than 3 MiB by curl and by kubectl with 413', async (t) => {
    const server = await start(t);
    const { key, certificate } = await server.clientCertificate('user', masters);
    const file = (name: string, text: string) => writeFile(join(server.directory, name), text);
    const metadata = { name: 'large', namespace: 'default' };
    const large = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(8 << 20) } };
    await file('ca.pem', server.authority.certificate);
    await file('key.pem', key);
    await file('cert.pem', certificate);
    await file('large.json', JSON.stringify(large));
    const tls = ['--cacert', 'ca.pem', '--key', 'key.pem', '--cert', 'cert.pem'];
    const shown = ['--silent', '--output', 'answer.json', '--write-out', '%{http_version} %{http_code}'];
    const sent = ['--header', 'content-type: application/json', '--data-binary', '@large.json'];
    const url = `https://127.0.0.1:${server.port}${maps}`;
    const cwd = server.directory;
    const options = { cwd, timeout: 120_000 };
    assert.equal((await run('curl', ['--http2', ...tls, ...shown, ...sent, url], options)).stdout, '2 413');
    assert.equal((await run('curl', ['--http2', ...tls, ...shown, url], options)).stdout, '2 200');
    const kubeconfig = await server.kubeconfigFor('user', masters);
    const args = ['create', '--validate=false', '-f', join(cwd, 'large.json')];
    await assert.rejects(kubectl(anyKubectl(), kubeconfig, args), /too large/i);
  });

  it('ends a connection with a GOAWAY without an error when the server stops', async () => {
    const server = await startHttpsTestServer();
    const { key, certificate } = await server.clientCertificate('user', masters);
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, {
      ca: server.authority.certificate,
      key,
      cert: certificate,
    });
    const watch = session.request({ ':path': `${maps}?watch=true` });
    await once(watch, 'response');
    const goodbye = once(session, 'goaway');
    const ended = once(watch.resume(), 'end');
    const stopped = server.stop();
    assert.equal((await goodbye)[0], 0);
    await ended;
    await stopped;
  });

  it('counts the connections of a user as with HTTP/1.1', async (t) => {
    // One user may have a quarter of all connections.
    const server = await start(t, { listen: { maxConnections: 16 } });
    const { key, certificate } = await server.clientCertificate('user', masters);
    const ask = async () => {
      const session = connectHttp2(`https://127.0.0.1:${server.port}`, {
        ca: server.authority.certificate,
        key,
        cert: certificate,
      });
      t.after(() => session.destroy());
      const [headers] = await once(session.request({ ':path': maps }), 'response');
      return headers[':status'];
    };
    const answers = [];
    for (let number = 0; number < 6; number++) answers.push(await ask());
    assert.deepEqual(answers, [200, 200, 200, 200, 429, 429]);
  });
});
