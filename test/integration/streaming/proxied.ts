/** Web servers that are pods behind Services, and clients that reach them through the API server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

export const namespace = '/api/v1/namespaces/default';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly as?: KeyAndCertificate;
}

export const portOf = (server: { address(): AddressInfo | string | null }) =>
  (server.address() as AddressInfo).port;

/** Answers with the request as it was received. */
export const echo: Handle = async (request, response) => {
  const { method, url, headers } = request;
  let body = '';
  for await (const chunk of request) body += chunk;
  response.setHeader('content-type', 'application/json');
  response.setHeader('x-method', method ?? '');
  response.end(JSON.stringify({ method, url, headers, body }));
};

export const echoed = ({ text }: Answer) =>
  JSON.parse(text) as { method: string; url: string; headers: Record<string, string>; body: string };

/** The pod `web` and its Service; the ports `http` and `tls` lead to `backend` and `secure`. */
export class Proxied {
  readonly cluster: StreamCluster;
  readonly backend: Server;
  readonly secure: Server;
  /** Handler of both servers for the next request. */
  handle: Handle = echo;
  readonly #admin: KeyAndCertificate;

  private constructor(cluster: StreamCluster, admin: KeyAndCertificate, own: KeyAndCertificate) {
    this.cluster = cluster;
    this.#admin = admin;
    this.backend = createServer((request, response) => this.handle(request, response));
    this.secure = createSecureServer(
      { key: own.key, cert: own.certificate, requestCert: true, rejectUnauthorized: false },
      (request, response) => this.handle(request, response),
    );
  }

  static async start(): Promise<Proxied> {
    const cluster = await startStreamCluster();
    const admin = await cluster.server.clientCertificate('admin', ['system:masters']);
    const own = await issueCertificate(cluster.server.authority, {
      commonName: 'nobody-knows-me',
      hosts: ['nobody-knows-me'],
      usages: ['server'],
      notBefore: Date.now() - 3_600_000,
      notAfter: Date.now() + 86_400_000,
    });
    const proxied = new Proxied(cluster, admin, own);
    const { backend, secure } = proxied;
    for (const server of [backend, secure]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    await proxied.createService(
      'web',
      [
        { name: 'http', port: 80 },
        { name: 'tls', port: 443 },
      ],
      [
        { name: 'http', port: portOf(backend) },
        { name: 'tls', port: portOf(secure) },
      ],
    );
    return proxied;
  }

  async stop(): Promise<void> {
    for (const server of [this.backend, this.secure]) {
      server.closeAllConnections();
      server.close();
    }
    await this.cluster.stop();
  }

  toPod(path: string, port = portOf(this.backend)): string {
    return `${namespace}/pods/web:${port}/proxy${path}`;
  }

  async createService(name: string, ports: readonly object[], targets: readonly object[]) {
    const { server } = this.cluster;
    const made = await server.call('POST', `${namespace}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports },
    });
    assert.equal(made.status, 201, made.text);
    const slice = await server.call(
      'POST',
      `/apis/discovery.k8s.io/v1${namespace.slice('/api/v1'.length)}/endpointslices`,
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['10.0.0.1'],
            conditions: { ready: true },
            targetRef: { kind: 'Pod', namespace: 'default', name: 'web' },
          },
        ],
        ports: targets,
      },
    );
    assert.equal(slice.status, 201, slice.text);
  }

  open(path: string, { method = 'GET', headers = {}, as = this.#admin }: Asked = {}) {
    return httpsRequest({
      host: '127.0.0.1',
      port: this.cluster.server.port,
      servername: 'localhost',
      ca: this.cluster.server.authority.certificate,
      key: as.key,
      cert: as.certificate,
      agent: false,
      path,
      method,
      headers,
    });
  }

  async ask(path: string, asked: Asked = {}): Promise<Answer> {
    const sent = this.open(path, asked);
    sent.end(asked.body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: Buffer.concat(chunks).toString(),
    };
  }
}
