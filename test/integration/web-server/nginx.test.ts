/** The rendered configuration under a real nginx, without a container: Dns objects and Ingresses. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { dnsSites } from '../../../src/features/host-names/agent/dns-sites.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { NginxStand } from './nginx-stand.ts';

const longHost = Array.from({ length: 4 }, () => 'a'.repeat(62)).join('.');

describe('the web server with Dns objects', () => {
  let stand: NginxStand;
  const port = freePort();

  before(async () => {
    stand = await NginxStand.start({ http: await port });
    const [web, api] = [await stand.backend('web'), await stand.backend('api')];
    await stand.serve(
      dnsSites([
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
      ]),
    );
  });
  after(() => stand.stop());

  for (const [host, path, answer] of [
    ['shop.example', '/api', '200 web / shop.example /api shop.example'],
    ['shop.example', '/api/', '200 web / shop.example /api shop.example'],
    ['shop.example', '/api/a/b?c=d', '200 web /a/b?c=d shop.example /api shop.example'],
    ['shop.example', '/api/v2/x', '200 api /x shop.example /api/v2 shop.example'],
    ['shop.example', '/api/v22', '200 web /v22 shop.example /api shop.example'],
    ['shop.example', '/apis', '404 no Dns serves this path'],
    ['shop.example', '/', '404 no Dns serves this path'],
    ['SHOP.example', '/api', '200 web / SHOP.example /api SHOP.example'],
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
    ['other.example', '/api', '404 no route for this host'],
  ] as const) {
    const shown = `${host.slice(0, 30)}${path.slice(0, 30)}`;
    it(`answers ${shown} with ${answer.slice(0, 50)}`, async () => {
      const { status, body } = await stand.ask(host, path);
      assert.equal(`${status} ${body}`, answer);
    });
  }
});

describe('the web server of a node with an IPv6 address', () => {
  const sitesOf = (web: string) =>
    dnsSites([{ host: 'shop.example', paths: [{ path: '/', upstream: web }] }]);

  it('serves HTTP, HTTPS and other ports over both families, and refuses unknown hosts over both', async () => {
    const [http, https, own] = [await freePort(), await freePort(), await freePort()];
    const stand = await NginxStand.start({ http, https, ipv6: true });
    try {
      const [site] = sitesOf(await stand.backend('web'));
      assert.ok(site);
      const { portProblems } = await stand.serve([site, { ...site, listen: { port: own, tls: false } }]);
      assert.deepEqual(portProblems, []);
      for (const at of ['127.0.0.1', '::1']) {
        for (const port of [http, own]) {
          const { status, body } = await stand.ask('shop.example', '/x', { at, port });
          assert.deepEqual([status, body.split(' ')[0]], [200, 'web'], `${at} ${port}`);
          assert.equal((await stand.ask('other.example', '/', { at, port })).status, 404, `${at} ${port}`);
        }
        await assert.doesNotReject(handshake(at, https), at);
      }
    } finally {
      await stand.stop();
    }
  });

  it('does not listen on IPv6 on a node without such an address', async () => {
    const stand = await NginxStand.start({ http: await freePort() });
    try {
      await stand.serve(sitesOf(await stand.backend('web')));
      await assert.rejects(stand.ask('shop.example', '/', { at: '::1' }), { code: 'ECONNREFUSED' });
    } finally {
      await stand.stop();
    }
  });
});

/** Resolves when TLS is agreed upon; the certificate is not verified. */
async function handshake(host: string, port: number): Promise<void> {
  const socket = connect({ host, port, servername: 'shop.example', rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
  } finally {
    socket.destroy();
  }
}
