/** The rendered configuration under a real nginx, without a container. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, get, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { renderNginx } from '../../../../../src/features/host-names/agent/render-nginx.ts';
import type { HostRoutes } from '../../../../../src/features/host-names/agent/routes.ts';
import { systemExec } from '../../../../../src/os/exec.ts';
import { freePort } from '../../../../fixtures/free-port.ts';

const port = await freePort();
const longHost = Array.from({ length: 4 }, () => 'a'.repeat(62)).join('.');

describe('the web server', () => {
  let directory: string;
  let nginx: ChildProcess | undefined;
  const backends: Server[] = [];

  /** Starts a backend that answers with its name and the request. */
  const backend = async (name: string) => {
    const server = createServer(({ url, headers }, response) => {
      const shown = [headers.host, headers['x-forwarded-prefix'] ?? '-', headers['x-forwarded-host']];
      response.end(`${name} ${url} ${shown.join(' ')}`);
    });
    backends.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert(typeof address === 'object' && address);
    return `127.0.0.1:${address.port}`;
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-nginx-'));
    const [web, api] = [await backend('web'), await backend('api')];
    const hosts: HostRoutes[] = [
      {
        host: 'shop.example',
        paths: [
          { path: '/api/v2', upstream: api },
          { path: '/down', upstream: '127.0.0.1:1' },
          { path: '/none', upstream: undefined },
          { path: '/api', upstream: web },
        ],
      },
      { host: 'www.example', paths: [{ path: '/', upstream: web }] },
      { host: longHost, paths: [{ path: '/', upstream: undefined }] },
      ...Array.from({ length: 500 }, (_, n) => ({
        host: `host-${n}.example`,
        paths: [{ path: `/${'x'.repeat(1000)}`, upstream: api }],
      })),
    ];
    const file = join(directory, 'nginx.conf');
    await writeFile(file, renderNginx([], { port, generation: 'abc123' }));
    await systemExec('nginx', ['-t', '-c', file]);
    await writeFile(file, renderNginx(hosts, { port, generation: 'abc123' }));
    await systemExec('nginx', ['-t', '-c', file]);
    nginx = spawn('nginx', ['-c', file, '-g', 'daemon off;'], { stdio: 'ignore' });
    for (let tries = 0; ; tries++) {
      const answers = await ask('x', '/').catch(() => undefined);
      if (answers) break;
      assert.ok(tries < 600, 'nginx does not answer');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  after(async () => {
    if (nginx) {
      const exit = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await exit;
    }
    for (const server of backends) server.close();
    await rm(directory, { recursive: true, force: true });
  });

  const ask = (host: string, path: string) =>
    new Promise<string>((resolve, reject) => {
      const call = get({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (response) => {
        text(response).then((body) => resolve(`${response.statusCode} ${body.trim()}`), reject);
      });
      call.once('error', reject);
    });

  for (const [host, path, answer] of [
    ['shop.example', '/api', '200 web / shop.example /api shop.example'],
    ['shop.example', '/api/', '200 web / shop.example /api shop.example'],
    ['shop.example', '/api/a/b?c=d', '200 web /a/b?c=d shop.example /api shop.example'],
    ['shop.example', '/api/v2/x', '200 api /x shop.example /api/v2 shop.example'],
    ['shop.example', '/api/v22', '200 web /v22 shop.example /api shop.example'],
    ['shop.example', '/apis', '404 no Dns serves this path'],
    ['shop.example', '/', '404 no Dns serves this path'],
    ['SHOP.example', '/api', '200 web / SHOP.example /api SHOP.example'],
    [`shop.example:${port}`, '/api', `200 web / shop.example:${port} /api shop.example:${port}`],
    ['shop.example', '/none', '503 the service of this path is not available'],
    ['shop.example', '/none/x', '503 the service of this path is not available'],
    ['shop.example', '/down/x', '503 the service of this path is not available'],
    ['www.example', '/a%20b/c?d', '200 web /a%20b/c?d www.example - www.example'],
    [
      'host-499.example',
      `/${'x'.repeat(1000)}/y`,
      `200 api /y host-499.example /${'x'.repeat(1000)} host-499.example`,
    ],
    [longHost, '/', '503 the service of this path is not available'],
    ['other.example', '/api', '404 no Dns serves this host'],
    ['_minik8s', '/generation', '200 abc123'],
  ] as const) {
    const shown = `${host.slice(0, 30)}${path.slice(0, 30)}`;
    it(`answers ${shown} with ${answer.slice(0, 50)}`, async () =>
      assert.equal(await ask(host, path), answer));
  }
});
