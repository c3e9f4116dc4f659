/**
 * An API server whose node agents are part of the test: they record requests, and answer as the test sets.
 */

import type { UserInfo } from '../../../../src/apiserver/request/user.ts';
import type { UpgradedConnection } from '../../../../src/apiserver/server-context.ts';
import type { NodeConnection } from '../../../../src/kube-apiserver/node-connection.ts';
import {
  admin,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../../fixtures/api-server.ts';

export interface AskedAgent {
  readonly node: string;
  readonly path: string;
  readonly signal: AbortSignal;
  /** Method of a request to upgrade. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | ReadableStream<Uint8Array>;
  /** Headers of a request to upgrade. */
  readonly upgrade?: Readonly<Record<string, string>>;
  readonly shutdown?: AbortSignal;
  readonly signal?: AbortSignal;
  readonly remoteAddress?: string;
  readonly hangUp?: () => void;
  readonly user?: UserInfo;
}

export class Agents {
  readonly server: TestServer;
  readonly asked: AskedAgent[] = [];
  /** Next answer of the agents. */
  answer: () => Response | Promise<Response> = () => new Response('said');
  /** Answer of the agents to a request to upgrade. */
  agree: () => Promise<UpgradedConnection | Response> = () => Promise.reject(new Error('no agent listens'));
  /** Connection to which the last request was joined. */
  joined: UpgradedConnection | undefined;

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async start(options: TestServerOptions & { dial?: NodeConnection['dial'] } = {}): Promise<Agents> {
    const { dial, ...others } = options;
    const connection: NodeConnection = Object.assign(
      async (node: string, path: string, signal: AbortSignal) => {
        agents.asked.push({ node, path, signal });
        return agents.answer();
      },
      {
        upgrade: async (node: string, request: object, signal: AbortSignal) => {
          agents.asked.push({ node, signal, ...(request as { path: string }) });
          return agents.agree();
        },
        ...(dial && { dial }),
      },
    );
    const agents: Agents = new Agents(await startTestServer({ nodeConnection: connection, ...others }));
    return agents;
  }

  async ask(path: string, options: AskOptions = {}): Promise<Response> {
    const { method = 'GET', headers = {}, body, upgrade, signal, user = admin, ...env } = options;
    const request = new Request(`https://apiserver${path}`, {
      method,
      headers,
      ...(body !== undefined && { body, duplex: 'half' }),
      ...(signal && { signal }),
    });
    const wanted = upgrade && {
      headers: upgrade,
      switchTo: (connection: UpgradedConnection) => {
        this.joined = connection;
      },
    };
    return this.server.app.fetch(request, { user, ...env, ...(wanted && { upgrade: wanted }) });
  }

  /** Returns the status and the message of a rejection. */
  async refusal(path: string, options: AskOptions = {}): Promise<string> {
    const answer = await this.ask(path, options);
    const { kind, message } = (await answer.json()) as { kind: string; message: string };
    if (kind !== 'Status') throw new Error(`${path} was answered`);
    return `${answer.status} ${message}`;
  }

  async create(path: string, body: object): Promise<void> {
    const answer = await this.server.call('POST', path, body);
    if (answer.status !== 201) throw new Error(answer.text);
  }
}
