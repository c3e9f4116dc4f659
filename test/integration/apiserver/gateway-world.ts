/**
 * An API server with the gateway's port, and functions whose instances are programs on addresses of the
 * loopback network.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { Agent, request } from 'node:https';
import { type Status, StatusError } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Fn } from '../../../src/features/functions/api/function.ts';
import {
  functionLabel,
  functionVersionLabel,
  instancePort,
} from '../../../src/features/functions/api/function-instance.ts';
import type { WorkflowRun } from '../../../src/features/workflows/api/workflow-run.ts';
import { listenAsGateway } from '../../fixtures/gateway-port.ts';
import {
  type HttpsTestServer,
  type HttpsTestServerOptions,
  startHttpsTestServer,
} from '../../fixtures/https-api-server.ts';

export const functions = '/apis/minik8s.io/v1/namespaces/default/functions';
export const pods = '/api/v1/namespaces/default/pods';
export const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

export interface GatewayWorldOptions extends Pick<HttpsTestServerOptions, 'tracer'> {}

/**
 * First three bytes of the instances' addresses. Each process has its own, since test files that run at
 * the same time listen at the same port.
 */
const ownNetwork = `127.${1 + (process.pid % 250)}.${Math.floor(process.pid / 250) % 250}`;

export interface InstanceOptions {
  /** Version of the instance; default v1, the version that is called. */
  readonly version?: string;
  /** True if the Function owns the pod; default true. */
  readonly owned?: boolean;
}

type CleanUp = () => Promise<unknown> | undefined;

export class GatewayWorld {
  readonly server: HttpsTestServer;
  readonly port: number;
  readonly asAdmin: Agent;
  /** Requested instances, in order: `NAMESPACE/NAME INSTANCES`. */
  readonly demands: readonly string[];
  readonly #stop: () => Promise<void>;
  readonly #cleanUps: CleanUp[] = [];
  #made = 0;
  #addresses = 1;

  constructor(
    parts: Pick<GatewayWorld, 'server' | 'port' | 'asAdmin' | 'demands'> & {
      stop: () => Promise<void>;
    },
  ) {
    this.server = parts.server;
    this.port = parts.port;
    this.asAdmin = parts.asAdmin;
    this.demands = parts.demands;
    this.#stop = parts.stop;
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** Removes everything that was created since the last call. */
  async cleanUp(): Promise<void> {
    for (const cleanUp of this.#cleanUps.splice(0)) await cleanUp();
  }

  later(cleanUp: CleanUp): void {
    this.#cleanUps.push(cleanUp);
  }

  /** Returns an agent without a client certificate. */
  stranger(): Agent {
    return new Agent({ ca: this.server.authority.certificate });
  }

  async agentOf(user: string): Promise<Agent> {
    const { key, certificate } = await this.server.clientCertificate(user, ['people']);
    const agent = new Agent({ ca: this.server.authority.certificate, key, cert: certificate });
    this.later(async () => agent.destroy());
    return agent;
  }

  /** Calls a function. Rejects when the answer is cut off. */
  call(path: string, { agent = this.asAdmin, body, ...asked }: Asked = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.port, path, method: 'POST', agent, ...asked },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (chunk: string) => {
            text += chunk;
          });
          answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
          answer.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Creates a function that is ready to be called; its controller does not run here. */
  async fn(spec: Partial<Fn['spec']> = {}, ready = true): Promise<Fn> {
    const name = `f${this.#made++}`;
    const body = { metadata: { name }, spec: { image: 'app:1', ...spec } };
    const answer = await this.server.call('POST', functions, body);
    assert.equal(answer.status, 201, answer.text);
    this.later(() => this.server.call('DELETE', `${functions}/${name}`));
    const status = ready ? { activeVersion: 'v1' } : {};
    const written = await this.server.call('PATCH', `${functions}/${name}/status`, { status }, merge);
    return written.json<Fn>();
  }

  /** Creates a pod of the function. Its program listens unless only the pod is requested. */
  async instance(
    { metadata }: Fn,
    answer?: RequestListener,
    { version = 'v1', owned = true }: InstanceOptions = {},
  ): Promise<{ name: string; ip: string }> {
    const ip = `${ownNetwork}.${this.#addresses++}`;
    if (answer) await this.listening(ip, answer);
    const name = `p${this.#made++}`;
    const owner = {
      apiVersion: 'minik8s.io/v1',
      kind: 'Function',
      name: metadata.name,
      uid: metadata.uid,
      controller: true,
    };
    const created = await this.server.call('POST', pods, {
      metadata: {
        name,
        labels: { [functionLabel]: metadata.name, [functionVersionLabel]: version },
        ownerReferences: owned ? [owner] : [],
      },
      spec: { nodeName: 'n1', containers: [{ name: 'function', image: 'app:1' }] },
    });
    assert.equal(created.status, 201, created.text);
    this.later(() => this.server.call('DELETE', `${pods}/${name}?gracePeriodSeconds=0`));
    const status = {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      containerStatuses: [
        {
          name: 'function',
          ready: true,
          restartCount: 0,
          image: 'app:1',
          imageID: '',
          state: { running: {} },
        },
      ],
    };
    const written = await this.server.call('PATCH', `${pods}/${name}/status`, { status }, merge);
    assert.equal(written.status, 200, written.text);
    return { name, ip };
  }

  listening(ip: string, answer: RequestListener): Promise<Server> {
    const program = createServer(answer);
    this.later(async () => {
      program.closeAllConnections();
      await new Promise((resolve) => program.close(resolve));
    });
    return new Promise((resolve) => program.listen(instancePort, ip, () => resolve(program)));
  }
}

export async function startGatewayWorld(traced: GatewayWorldOptions = {}): Promise<GatewayWorld> {
  const demands: string[] = [];
  const runs = '/apis/minik8s.io/v1/namespaces/default/workflowruns';
  const server: HttpsTestServer = await startHttpsTestServer({
    clock: systemClock,
    ...traced,
    workflowCalls: {
      create: async (run) => {
        const answer = await server.call('POST', runs, run);
        if (answer.status !== 201) throw new StatusError(answer.json<Status>());
        return answer.json<WorkflowRun>();
      },
      get: async (_, name) => (await server.call('GET', `${runs}/${name}`)).json<WorkflowRun>(),
    },
    functionCalls: {
      master: 'here',
      reachesPod: () => true,
      writeDemand: async (namespace, name, instances) => {
        demands.push(`${namespace}/${name} ${instances}`);
        const body = { status: { demand: { here: instances } } };
        const patched = await server.call('PATCH', `${functions}/${name}/status`, body, merge);
        assert.ok([200, 404].includes(patched.status), patched.text);
      },
    },
  });
  const stopping = new AbortController();
  const listener = await listenAsGateway(server, { direct: server.directCalls, signal: stopping.signal });
  const { key, certificate } = await server.clientCertificate('admin', ['system:masters']);
  const asAdmin = new Agent({ keepAlive: true, ca: server.authority.certificate, key, cert: certificate });
  return new GatewayWorld({
    server,
    port: listener.port,
    asAdmin,
    demands,
    stop: async () => {
      asAdmin.destroy();
      stopping.abort();
      await listener.closed;
      await server.stop();
    },
  });
}
