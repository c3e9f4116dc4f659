/** A server with objects of the nodes n1 and n2, and a client with the certificate of n1. */
import assert from 'node:assert/strict';
import { Agent, request as httpsRequest } from 'node:https';
import { executableDocument } from '../../../src/api/core/v1/node/upgrade.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { podRangeClaims } from '../../../src/controllers/nodes/node-ipam.ts';
import { makeKey, makeRequest } from '../../../src/pki/new-request.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

export interface NodeAnswer {
  readonly status: number;
  readonly text: string;
}

export interface NodeWorld {
  readonly server: HttpsTestServer;
  /** Sends a request as the node n1. For a watch, the answer is the beginning of the watch. */
  ask(method: string, path: string, body?: unknown): Promise<NodeAnswer>;
  /** Creates an object as an administrator. */
  make(path: string, object: object): Promise<void>;
  stop(): Promise<void>;
}

export const core = '/api/v1';
export const inDefault = '/api/v1/namespaces/default';
export const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const merge = 'application/merge-patch+json';

/** Returns a container that requires the Secret and the ConfigMap named `source`. */
export const container = (name: string, source: string) => ({
  name,
  image: 'i',
  envFrom: [{ secretRef: { name: source } }, { configMapRef: { name: source } }],
});

/** Returns the spec of a CertificateSigningRequest for a node's client certificate. */
export async function requestFor(node: string): Promise<object> {
  const subject = { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
  const pem = await makeRequest(await makeKey(), subject);
  return {
    request: Buffer.from(pem).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['client auth', 'digital signature'],
  };
}

export async function startNodeWorld(): Promise<NodeWorld> {
  const server = await startHttpsTestServer({
    clock: systemClock,
    podRangeProblem: podRangeClaims('10.244.0.0/16'),
    documents: () => new Map([[executableDocument, () => new Response('the executable')]]),
  });
  const { certificate, key } = await server.clientCertificate('system:node:n1', ['system:nodes']);
  const agent = new Agent({ keepAlive: true, ca: server.authority.certificate, cert: certificate, key });
  const make = async (path: string, object: object) => {
    const answer = await server.call('POST', path, object);
    assert.equal(answer.status, 201, answer.text);
  };
  await makeObjects(server, make);
  return {
    server,
    make,
    ask: (method, path, body) => ask({ agent, port: server.port }, method, path, body),
    async stop() {
      agent.destroy();
      await server.stop();
    },
  };
}

/** Creates two objects of each kind that belongs to nodes: `own` is n1's and `other` is n2's. */
async function makeObjects(server: HttpsTestServer, make: NodeWorld['make']): Promise<void> {
  const pods = `${inDefault}/pods`;
  for (const [name, nodeName] of [
    ['own', 'n1'],
    ['other', 'n2'],
  ] as const) {
    await make(`${core}/nodes`, {
      metadata: { name: nodeName },
      ...(name === 'other' && { spec: { podCIDR: '10.244.2.0/24' } }),
    });
    await make(`${inDefault}/secrets`, { metadata: { name } });
    await make(`${inDefault}/configmaps`, { metadata: { name } });
    await make(pods, { metadata: { name }, spec: { containers: [container('c', name)] } });
    await make(`${pods}/${name}/binding`, { target: { name: nodeName } });
    await make(`${inDefault}/events`, {
      metadata: { name },
      involvedObject: { kind: 'Pod', namespace: 'default', name },
      source: { component: 'kubelet', host: nodeName },
    });
    await make('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', {
      metadata: { name: nodeName },
      spec: {},
    });
    const user = { name: `system:node:${nodeName}`, groups: ['system:nodes'] };
    const csr = { metadata: { name }, spec: await requestFor(nodeName) };
    assert.equal((await server.call('POST', csrs, csr, { user })).status, 201);
  }
  await make(`${inDefault}/services`, { metadata: { name: 'own' }, spec: { ports: [{ port: 80 }] } });
}

function ask(
  to: { readonly agent: Agent; readonly port: number },
  method: string,
  path: string,
  body: unknown,
): Promise<NodeAnswer> {
  return new Promise((resolve, reject) => {
    const type = method === 'PATCH' ? merge : 'application/json';
    const sent = body === undefined ? '' : JSON.stringify(body);
    // Node sets Content-Length by itself only for methods that usually have a body.
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(sent) };
    const request = httpsRequest({ ...to, host: '127.0.0.1', method, path, headers }, async (incoming) => {
      const status = incoming.statusCode ?? 0;
      if (path.includes('watch=true') && status === 200) {
        incoming.destroy();
        return resolve({ status, text: '' });
      }
      let text = '';
      for await (const chunk of incoming) text += chunk;
      resolve({ status, text });
    });
    request.on('error', reject);
    request.end(sent);
  });
}
