/** HTTPS client of webhooks. Connections are kept, and bounded in number for each webhook. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { WebhookClient as WebhookClientConfig } from '../../api/webhook-client.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import type { Clock } from '../../base/clock.ts';
import { trustPublicAuthorities } from '../../base/public-authorities.ts';
import type { Dial } from '../proxy/dial.ts';
import { connectionFailure, statusFailure } from './plan/failures.ts';

/**
 * Maximum number of concurrent calls of one webhook; further calls wait for a connection, at most for the
 * webhook's timeout. The limit also ends a loop of a webhook whose own requests call it again.
 */
const maxConnections = 64;
const maxIdleConnections = 8;
const idleTimeoutMs = 30_000;
const dialTimeoutMs = 30_000;
const usualPort = 443;
/** Maximum number of webhooks whose connections are kept. */
const maxClients = 200;
/** Maximum bytes of an answer by default: the largest object as a patch in base64, with room. */
const usualAnswerBytes = 3 * 1024 * 1024;

/** Failure to call a webhook: the failure policy applies. The message has upstream's words. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
}

export interface WebhookCall {
  readonly client: WebhookClientConfig;
  readonly body: string;
  readonly timeoutMs: number;
  /** Maximum bytes of the answer. */
  readonly maxAnswerBytes?: number;
}

/** Returns how to connect to a port of a Service. Throws an error if it has no endpoint. */
export type ServiceDialer = (namespace: string, name: string, port: number) => Promise<Dial>;

export class WebhookClient {
  readonly #clock: Clock;
  readonly #dialService: ServiceDialer;
  readonly #agents = new BoundedMap<Agent>(maxClients);

  constructor(clock: Clock, dialService: ServiceDialer) {
    this.#clock = clock;
    this.#dialService = dialService;
  }

  /** Resolves to the body of a successful answer. Rejects with a CallFailure. */
  async post(call: WebhookCall): Promise<string> {
    const { client, timeoutMs } = call;
    const url = new URL(addressOf(client));
    url.searchParams.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`);
    // Kubernetes writes the port of a Service even if it is the usual one.
    const shown = client.service ? `${addressOf(client)}${url.search}` : url.href;
    const late = new AbortController();
    const timer = this.#clock.after(timeoutMs, () => late.abort());
    try {
      return await this.#send(call, url, late.signal);
    } catch (error) {
      const why = late.signal.aborted ? 'context deadline exceeded' : connectionFailure(error);
      throw error instanceof CallFailure ? error : new CallFailure(`Post ${JSON.stringify(shown)}: ${why}`);
    } finally {
      timer.cancel();
    }
  }

  /** Sends the request; once more if a kept connection was closed before it was used. */
  async #send(call: WebhookCall, url: URL, signal: AbortSignal): Promise<string> {
    const { client, body, maxAnswerBytes = usualAnswerBytes } = call;
    const agent = this.#agentOf(client);
    for (let attempt = 1; ; attempt++) {
      const { sent, answer } = sendOnce(agent, url, body, signal);
      try {
        return await bodyOf(await answer, maxAnswerBytes);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (attempt > 1 || !sent.reusedSocket || code !== 'ECONNRESET' || signal.aborted) throw error;
      }
    }
  }

  #agentOf(client: WebhookClientConfig): Agent {
    const key = JSON.stringify(client);
    const known = this.#agents.get(key);
    if (known) return known;
    const agent = this.#createAgent(client);
    this.#agents.set(key, agent);
    return agent;
  }

  #createAgent({ caBundle, service }: WebhookClientConfig): Agent {
    if (!caBundle) trustPublicAuthorities();
    const options: AgentOptions = {
      keepAlive: true,
      maxSockets: maxConnections,
      maxFreeSockets: maxIdleConnections,
      timeout: idleTimeoutMs,
      ALPNProtocols: ['http/1.1'],
      ...(caBundle && { ca: Buffer.from(caBundle, 'base64') }),
    };
    if (!service) return new Agent(options);
    const { namespace = '', name = '', port = usualPort } = service;
    return new ServiceAgent(options, this.#clock, () => this.#dialService(namespace, name, port));
  }
}

/** Connects by TLS through a connection to an endpoint of a Service. */
class ServiceAgent extends Agent {
  readonly #dialer: () => Promise<Dial>;
  readonly #clock: Pick<Clock, 'after'>;

  constructor(options: AgentOptions, clock: Pick<Clock, 'after'>, dialer: () => Promise<Dial>) {
    super(options);
    this.#clock = clock;
    this.#dialer = dialer;
  }

  override createConnection(
    options: Parameters<Agent['createConnection']>[0],
    done?: (error: Error | null, connection: Duplex) => void,
  ): Duplex | null | undefined {
    this.#connect(options as ConnectionOptions).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  }

  async #connect(options: ConnectionOptions): Promise<Duplex> {
    const late = new AbortController();
    const timer = this.#clock.after(dialTimeoutMs, () => late.abort());
    try {
      const dial = await this.#dialer();
      const socket = await dial(late.signal);
      return connectTls({ ...options, socket: socket as Socket });
    } finally {
      timer.cancel();
    }
  }
}

/** Returns the address of the webhook; a Service has the name that its certificate must have. */
function addressOf({ url, service }: WebhookClientConfig): string {
  if (!service) return url ?? '';
  const { name, namespace, path = '', port = usualPort } = service;
  return `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? '' : '/'}${path}`;
}

function sendOnce(agent: Agent, url: URL, body: string, signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent: ClientRequest = httpsRequest(url, {
    method: 'POST',
    agent,
    signal,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'kube-apiserver-admission',
    },
  });
  sent.on('response', resolve);
  sent.on('error', reject);
  sent.end(body);
  return { sent, answer: promise };
}

async function bodyOf(answer: IncomingMessage, maxAnswerBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the connection.
    if (bytes > maxAnswerBytes) throw new CallFailure(`the answer has more than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status <= 206) return text;
  throw new CallFailure(statusFailure(status, answer.headers['content-type'] ?? '', text));
}
