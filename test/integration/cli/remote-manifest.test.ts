/** Manifests at a URL, from correct servers and from faulty ones. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import {
  fetchManifest,
  type RemoteContext,
  remoteLimits,
} from '../../../src/cli/manifests/remote-manifest.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far}\n';
const servers: Server[] = [];
let [http, trusted, stranger] = ['', '', ''];
let asked: string[] = [];

const pages: Readonly<Record<string, RequestListener>> = {
  '/good': (_request, response) => void response.end(text),
  '/moved': (_request, response) => void response.writeHead(302, { location: '/good' }).end(),
  '/circle': (_request, response) => void response.writeHead(301, { location: '/circle' }).end(),
  '/to-http': (_request, response) => void response.writeHead(307, { location: `${http}/good` }).end(),
  '/to-file': (_request, response) => void response.writeHead(307, { location: 'file:///etc/passwd' }).end(),
  '/broken': (_request, response) => void response.writeHead(503).end('later'),
  '/large': (_request, response) => void response.end('#'.repeat(2000)),
  '/binary': (_request, response) => void response.end(Buffer.from([0xff, 0xfe, 0, 1])),
  '/silent': () => {},
  '/cut': (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('kind');
    response.socket?.destroySoon();
  },
};

const listener: RequestListener = (request, response) => {
  const { url = '', headers } = request;
  asked.push(`${url} ${headers.authorization ?? ''}`.trim());
  const page = pages[url];
  if (page) page(request, response);
  else response.writeHead(404).end();
};

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const authorities = getCACertificates('default');

before(async () => {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const leaf = async (authority: Awaited<ReturnType<typeof createAuthority>>) =>
    issueCertificate(authority, { commonName: 'files', hosts: ['127.0.0.1'], usages: ['server'], ...times });
  const known = await createAuthority('known', times.notBefore, times.notAfter);
  const unknown = await createAuthority('unknown', times.notBefore, times.notAfter);
  http = `http://127.0.0.1:${await listen(createServer(listener))}`;
  for (const authority of [known, unknown]) {
    const { key, certificate } = await leaf(authority);
    const port = await listen(createHttpsServer({ key, cert: certificate }, listener) as unknown as Server);
    if (authority === known) trusted = `https://127.0.0.1:${port}`;
    else stranger = `https://127.0.0.1:${port}`;
  }
  setDefaultCACertificates([...authorities, known.certificate]);
});
after(() => {
  setDefaultCACertificates(authorities);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const context = (more: Partial<RemoteContext> = {}): RemoteContext => ({
  env: {},
  clock: new FakeClock(),
  signal: new AbortController().signal,
  limits: { ...remoteLimits, bytes: 1000, attempts: 1 },
  ...more,
});

test('http and verified https are read, redirects followed', async () => {
  for (const url of [`${http}/good`, `${http}/moved`, `${trusted}/good`, `${trusted}/moved`])
    assert.equal(await fetchManifest(url, context()), text, url);
});

const refused: [where: () => string, expected: RegExp][] = [
  [
    () => `${http}/nosuch`,
    /^unable to read URL ".*\/nosuch", server reported 404 Not Found, status code=404$/,
  ],
  [() => `${http}/broken`, /server reported 503 Service Unavailable, status code=503$/],
  [() => `${http}/circle`, /stopped after 10 redirects$/],
  [() => `${http}/to-file`, /redirects to a URL that is neither http nor https$/],
  [() => `${trusted}/to-http`, /redirects from https to http, where the server is not verified$/],
  [() => `${stranger}/good`, /^unable to read URL "https:.*": .*(certificate|issuer)/],
  [() => trusted.replace('127.0.0.1', 'localhost'), /^unable to read URL "https:/],
  [() => `${http}/large`, /it is larger than/],
  [() => `${http}/binary`, /it is binary or not UTF-8/],
  [() => `${http}/cut`, /aborted/],
  [() => 'http://127.0.0.1:1/x', /ECONNREFUSED/],
  [() => 'http://[', /^the URL passed to filename "http:\/\/\[" is not valid$/],
];
for (const [where, expected] of refused) {
  test(`refused: ${expected.source}`, async () => {
    await assert.rejects(fetchManifest(where(), context()), { message: expected });
  });
}

test('redirects are followed at most ten times', async () => {
  asked = [];
  await assert.rejects(fetchManifest(`${http}/circle`, context()));
  assert.equal(asked.length, 11);
});

test('a server that does not answer causes a timeout', async () => {
  const limits = { ...remoteLimits, silence: 50 };
  await assert.rejects(fetchManifest(`${http}/silent`, context({ limits })), {
    message: /the server sent nothing for 0\.05 s$/,
  });
});

test('a server that answers 5xx is tried three times', async () => {
  asked = [];
  const pauses: number[] = [];
  const clock: Clock = {
    ...systemClock,
    now: () => 0,
    after: (ms, fn) => {
      pauses.push(ms);
      setImmediate(fn);
      return { cancel() {} };
    },
  };
  await assert.rejects(fetchManifest(`${http}/broken`, context({ clock, limits: remoteLimits })), {
    message: /status code=503$/,
  });
  assert.deepEqual([asked.length, pauses], [3, [500, 500]]);
});

test('a password is sent only to its server, and appears in no message', async () => {
  asked = [];
  const url = `${http}/nosuch`.replace('//', '//me:secret@');
  await assert.rejects(fetchManifest(url, context()), (error: Error) => !error.message.includes('secret'));
  assert.deepEqual(asked, [`/nosuch Basic ${btoa('me:secret')}`]);
});

test('an interrupt ends the request', async () => {
  const stop = new AbortController();
  const outcome = fetchManifest(`${http}/silent`, context({ signal: stop.signal }));
  stop.abort();
  await assert.rejects(outcome, { name: 'AbortError' });
});
