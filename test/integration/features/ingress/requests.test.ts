/** Ingresses as a real nginx serves them: paths, annotations, certificates and changes under load. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ingressSites } from '../../../../src/features/ingress/agent/plan/ingress-sites.ts';
import { claimsOf } from '../../../../src/features/ingress/api/claims.ts';
import { newAuthority } from '../../../../src/pki/credentials.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { makeService } from '../../../unit/cluster-dns/objects.ts';
import { makeIngress, prefix } from '../../../unit/features/ingress/objects.ts';
import { NginxStand } from '../../web-server/nginx-stand.ts';

type Options = Parameters<typeof makeIngress>[1];

describe('Ingresses under nginx', () => {
  let stand: NginxStand;
  let backends: Record<string, string> = {};
  const certificates = new Map<string, string>();

  /** Serves the Ingresses; a Service `web` leads to the backend `web`. */
  function serve(...ingresses: readonly ReturnType<typeof makeIngress>[]) {
    const claims = claimsOf(ingresses, new Set());
    const sites = ingressSites({
      claims,
      certificates: new Map([['secure.example', 'secure.pem']]),
      serviceOf: (_, name) => {
        const [clusterIP = '', port = ''] = (backends[name] ?? '').split(':');
        if (!clusterIP) return undefined;
        return makeService(name, { clusterIP, ports: [{ protocol: 'TCP', port: Number(port) }] });
      },
      slicesOf: () => [],
      resolved: new Map(),
    });
    return stand.serve(sites, certificates);
  }

  const portOf = (name: string) => Number(backends[name]?.split(':')[1]);
  const ingress = (name: string, options: Options) => makeIngress(name, options);
  const to = (name: string) => ({ service: { name, port: { number: portOf(name) } } });

  before(async () => {
    const [http, https] = [await freePort(), await freePort()];
    stand = await NginxStand.start({ http, https });
    backends = { web: await stand.backend('web'), api: await stand.backend('api') };
    const { certificate, key } = await newAuthority(Date.now(), 'secure');
    certificates.set('secure.pem', `${certificate}\n${key}`);
    await serve(
      ingress('paths', {
        host: 'shop.example',
        paths: [
          { path: '/', pathType: 'Prefix', backend: to('web') },
          { path: '/api', pathType: 'Prefix', backend: to('api') },
          { path: '/api/exact', pathType: 'Exact', backend: to('web') },
          {
            path: '/missing',
            pathType: 'Prefix',
            backend: { service: { name: 'none', port: { number: 1 } } },
          },
        ],
      }),
      ingress('wild', { host: '*.wild.example', paths: [prefix('/', to('web'))] }),
      ingress('rewritten', {
        host: 'rewrite.example',
        annotations: { 'rewrite-target': '/new/$2' },
        paths: [{ path: '/old(/|$)(.*)', pathType: 'ImplementationSpecific', backend: to('api') }],
      }),
      ingress('limited', {
        host: 'limited.example',
        annotations: { 'proxy-body-size': '1k', 'whitelist-source-range': '127.0.0.0/8' },
        paths: [prefix('/', to('web'))],
      }),
      ingress('closed', {
        host: 'closed.example',
        annotations: { 'whitelist-source-range': '192.0.2.0/24' },
        paths: [prefix('/', to('web'))],
      }),
      ingress('authenticated', {
        host: 'auth.example',
        annotations: { 'auth-type': 'basic' },
        paths: [prefix('/', to('web'))],
      }),
      ingress('moved', {
        host: 'moved.example',
        annotations: { 'permanent-redirect': 'https://new.example/x?y=z', 'permanent-redirect-code': '308' },
        paths: [prefix('/', to('web'))],
      }),
      ingress('cors', {
        host: 'cors.example',
        annotations: { 'enable-cors': 'true', 'cors-allow-origin': 'https://a.example' },
        paths: [prefix('/', to('web'))],
      }),
      ingress('sticky', {
        host: 'sticky.example',
        annotations: { affinity: 'cookie', 'session-cookie-name': 'route' },
        paths: [prefix('/', to('web'))],
      }),
      ingress('secure', {
        host: 'secure.example',
        tls: [{ hosts: ['secure.example'], secretName: 'secure' }],
        paths: [prefix('/', to('web'))],
      }),
    );
  });
  after(() => stand.stop());

  for (const [host, path, status, body] of [
    ['shop.example', '/', 200, /^web \/ /],
    ['shop.example', '/x/y?z=1', 200, /^web \/x\/y\?z=1 /],
    ['shop.example', '/api', 200, /^api \/api /],
    ['shop.example', '/api/', 200, /^api \/api\/ /],
    ['shop.example', '/apis', 200, /^web \/apis /],
    ['shop.example', '/api/exact', 200, /^web \/api\/exact /],
    ['shop.example', '/api/exact/more', 200, /^api \/api\/exact\/more /],
    ['shop.example', '/missing/x', 503, /not available/],
    ['a.wild.example', '/', 200, /^web \/ /],
    ['a.b.wild.example', '/', 404, /no route for this host/],
    ['wild.example', '/', 404, /no route for this host/],
    ['rewrite.example', '/old/a/b?c=d', 200, /^api \/new\/a\/b\?c=d /],
    ['rewrite.example', '/old', 200, /^api \/new\/ /],
    ['rewrite.example', '/other', 404, /no Ingress serves this path/],
    ['closed.example', '/', 403, /403 Forbidden/],
    ['auth.example', '/', 503, /not available/],
  ] as const) {
    it(`answers ${host}${path} with ${status} ${body.source}`, async () => {
      const answer = await stand.ask(host, path);
      assert.equal(answer.status, status);
      assert.match(answer.body, body);
    });
  }

  it('sends the real address of the client, not the addresses in its headers', async () => {
    const headers = {
      'X-Forwarded-For': '192.0.2.9',
      'X-Forwarded-Proto': 'https',
      'X-Real-IP': '192.0.2.9',
    };
    const answer = await stand.ask('shop.example', '/', { headers });
    const received = JSON.parse(String(answer.headers['x-received']));
    assert.equal(received.headers['x-forwarded-for'], '127.0.0.1');
    assert.equal(received.headers['x-real-ip'], '127.0.0.1');
    assert.equal(received.headers['x-forwarded-proto'], 'http');
  });

  it('rejects bodies above the maximum, with a length and without', async () => {
    const small = await stand.ask('limited.example', '/', { method: 'POST', body: 'x'.repeat(1024) });
    assert.equal(small.status, 200);
    const large = await stand.ask('limited.example', '/', { method: 'POST', body: 'x'.repeat(1025) });
    assert.equal(large.status, 413);
    const headers = { 'Transfer-Encoding': 'chunked' };
    const chunked = await stand.ask('limited.example', '/', {
      method: 'POST',
      body: 'x'.repeat(2000),
      headers,
    });
    assert.equal(chunked.status, 413);
  });

  it('redirects to the URL of the annotation', async () => {
    const { status, headers } = await stand.ask('moved.example', '/a');
    assert.deepEqual([status, headers.location], [308, 'https://new.example/x?y=z']);
  });

  it('sends the headers for other origins only to allowed origins', async () => {
    const ask = (origin: string) =>
      stand.ask('cors.example', '/', { method: 'OPTIONS', headers: { Origin: origin } });
    const allowed = await ask('https://a.example');
    assert.deepEqual(
      [allowed.status, allowed.headers['access-control-allow-origin']],
      [204, 'https://a.example'],
    );
    assert.equal((await ask('https://b.example')).headers['access-control-allow-origin'], undefined);
  });

  it('redirects to HTTPS if the host has a certificate', async () => {
    const { status, headers } = await stand.ask('secure.example', '/a?b=c');
    assert.deepEqual([status, headers.location], [308, `https://secure.example:${stand.ports.https}/a?b=c`]);
  });

  /** Returns the name in the certificate that the server presents for the host. */
  const presented = async (servername: string) => {
    const options = { host: '127.0.0.1', port: stand.ports.https, servername, rejectUnauthorized: false };
    const socket: TLSSocket = connectTls(options);
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };

  it('presents the certificate of the host, and the default one for others', async () => {
    assert.equal(await presented('secure.example'), 'secure');
    assert.equal(await presented('other.example'), 'default');
  });

  it('serves HTTP/2', async () => {
    const session = connectHttp2(`https://127.0.0.1:${stand.ports.https}`, {
      rejectUnauthorized: false,
      servername: 'secure.example',
    });
    const stream = session.request({ ':authority': 'secure.example', ':path': '/h2' });
    const [headers] = await once(stream, 'response');
    assert.equal(headers[':status'], 200);
    session.destroy();
  });

  const withChange = (n: number) =>
    serve(
      ingress('paths', {
        host: 'shop.example',
        paths: [prefix('/', to('web')), prefix(`/n${n}`, to('api'))],
      }),
      ingress('other', { host: 'other.example', paths: [prefix('/', to('api'))] }),
    );

  it('neither loses nor misroutes a request of clients with open connections during 10 changes', async () => {
    await withChange(0);
    let stop = false;
    const answers = new Map<string, number>();
    const count = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const clients = Array.from({ length: 6 }, (_, n) => {
      const [host, name] = n % 2 === 0 ? ['shop.example', 'web'] : ['other.example', 'api'];
      return keepAliveClient(stand.ports.http, host, name, () => stop, count);
    });
    for (let round = 1; round <= 10; round++) await withChange(round);
    stop = true;
    await Promise.all(clients);
    assert.deepEqual([...answers.keys()], ['right']);
    assert.ok((answers.get('right') ?? 0) > 100, `${answers.get('right')} requests`);
  });
});

/** Sends one request after the other over a connection, and a new one when the server asks for that. */
async function keepAliveClient(
  port: number,
  host: string,
  name: string,
  isOver: () => boolean,
  count: (answer: string) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = () =>
    new Promise<string>((resolve, reject) => {
      const call = get({ host: '127.0.0.1', port, path: '/', headers: { host }, agent }, (response) => {
        text(response).then((body) => resolve(`${response.statusCode} ${body}`), reject);
      });
      call.once('error', reject);
    });
  while (!isOver()) {
    const answer = await send().catch(String);
    count(answer.startsWith(`200 ${name} / `) ? 'right' : answer);
  }
  agent.destroy();
}
