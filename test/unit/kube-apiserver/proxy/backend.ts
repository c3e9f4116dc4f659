/** Program in a pod, reached through its ports without a network, behind a node agent of the test. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type Duplex, duplexPair } from 'node:stream';
import { createAuthority, issueCertificate } from '../../../../src/pki/x509.ts';
import { Agents } from '../subresources/agents.ts';

export const namespace = '/api/v1/namespaces/default';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with the received request. */
export const echo: Handle = async (request, response) => {
  const { method, url, headers } = request;
  let body = '';
  for await (const chunk of request) body += chunk;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ method, url, headers, body }));
};

export interface Echoed {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The pod `web` on the node n1, its Service, and the requests to them. */
export class Backend {
  readonly agents: Agents;
  readonly server: Server;
  /** Handler of the next request. */
  handle: Handle = echo;
  /** Server's ends of the open connections. */
  readonly connections: Duplex[] = [];

  private constructor(agents: Agents) {
    this.agents = agents;
    this.server = createServer((request, response) => this.handle(request, response));
  }

  static async start(): Promise<Backend> {
    const backend: Backend = new Backend(
      await Agents.start({ dial: async () => backend.connect(backend.server) }),
    );
    const { agents } = backend;
    await agents.create(`${namespace}/pods`, {
      metadata: { name: 'web' },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 8080 }] }],
      },
    });
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    const status = { status: { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] } };
    await agents.server.call('PATCH', `${namespace}/pods/web/status`, status, merge);
    backend.overPlainText();
    return backend;
  }

  overPlainText(): void {
    this.agents.agree = async () => ({ headers: {}, socket: this.connect(this.server) });
  }

  /** Makes the pod's port serve HTTPS from now on, with a certificate of an unknown authority. */
  async overTls(): Promise<void> {
    const validity = [Date.now() - 3_600_000, Date.now() + 3_600_000] as const;
    const authority = await createAuthority('nobody', ...validity);
    const { key, certificate } = await issueCertificate(authority, {
      commonName: 'nobody',
      hosts: ['nobody'],
      usages: ['server'],
      notBefore: validity[0],
      notAfter: validity[1],
    });
    const secure = createSecureServer({ key, cert: certificate }, (request, response) =>
      this.handle(request, response),
    );
    this.agents.agree = async () => ({ headers: {}, socket: this.connect(secure) });
  }

  /** Makes the pod's port write `answer` for any request. */
  overBytes(answer: string): void {
    this.agents.agree = async () => {
      const [near, far] = duplexPair();
      this.connections.push(far);
      far.on('error', () => undefined);
      near.once('close', () => far.destroy());
      // The program answers after the first bytes of the request.
      once(far, 'data').then(() => far.write(answer));
      // Function of a socket, in whose place this stream is.
      return { headers: {}, socket: Object.assign(near, { setKeepAlive: () => near }) };
    };
  }

  connect(server: Server): Duplex {
    const [near, far] = duplexPair();
    this.connections.push(far);
    // When the other side closes, this side closes too, once it has been read, as a socket does.
    far.once('close', () => {
      if (near.readableEnded) near.destroy();
      else near.once('end', () => near.destroy());
    });
    near.once('close', () => far.destroy());
    server.emit('connection', far);
    return near;
  }

  async stop(): Promise<void> {
    for (const connection of this.connections) connection.destroy();
    await this.agents.server.stop();
  }
}
