/** Servers with limits, and clients that reach them. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get, type RequestOptions, request } from 'node:https';
import type { TestContext } from 'node:test';
import {
  type HttpsTestServer,
  type HttpsTestServerOptions,
  startHttpsTestServer,
} from '../../fixtures/https-api-server.ts';

export const maps = '/api/v1/namespaces/default/configmaps';

export const masters = ['system:masters'];

export interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export async function start(t: TestContext, options: HttpsTestServerOptions = {}): Promise<HttpsTestServer> {
  const server = await startHttpsTestServer(options);
  t.after(() => server.stop());
  return server;
}

/** Returns functions that send requests as one user, each on a connection of its own. */
export async function as(server: HttpsTestServer, user: string, groups: readonly string[]) {
  const { key, certificate } = await server.clientCertificate(user, groups);
  return callWith(server, { key, cert: certificate });
}

export function callWith({ port, authority }: HttpsTestServer, credentials: RequestOptions) {
  const options = { host: '127.0.0.1', port, ca: authority.certificate, agent: false, ...credentials };
  const open = async (path: string) => {
    const outgoing = get({ ...options, path });
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    // From here on, the response reports failures.
    outgoing.on('error', () => {});
    return { response, hangUp: () => outgoing.destroy() };
  };
  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const headers = { 'content-type': 'application/json' };
    const outgoing = request({ ...options, path, method, headers });
    outgoing.end(body && JSON.stringify(body));
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
  };
  return { call, open };
}

export const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}
