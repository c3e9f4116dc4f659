/** The API of one master, for a client that never repeats a request by itself. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';

export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

/** A request without an answer is given up after this time. */
const answerMs = 3_000;
/** A watch without any event is resumed after this time, because its server may have failed silently. */
const silenceMs = 10_000;

/** Returns the credentials of the administrator in a kubeconfig that minik8s wrote. */
export function credentialsIn(kubeconfig: string) {
  const config = parse(readFileSync(kubeconfig, 'utf8'));
  const decoded = (data: string) => Buffer.from(data, 'base64').toString();
  const { user } = config.users[0];
  return {
    ca: decoded(config.clusters[0].cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
}

export class ApiClient {
  readonly url: string;
  readonly #agent: Agent;

  constructor(url: string, credentials: ReturnType<typeof credentialsIn>) {
    this.url = url;
    this.#agent = new Agent({ ...credentials, keepAlive: true });
  }

  /** Sends a request once. Rejects if there is no answer. */
  async send(method: string, path: string, body?: object): Promise<Answer> {
    const signal = AbortSignal.timeout(answerMs);
    const response = await this.#begin({ method, path, signal }, body);
    return { code: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
  }

  /** Resolves to false also if there is no answer. */
  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(answerMs);
    const response = await this.#begin({ method: 'GET', path: '/readyz', signal }).catch(() => undefined);
    response?.resume().on('error', () => undefined);
    return response?.statusCode === 200;
  }

  /** Calls `onLine` with each event of a watch. Resolves or rejects when the watch has ended. */
  async watch(path: string, onLine: (event: unknown) => void, signal: AbortSignal): Promise<void> {
    const response = await this.#begin({ method: 'GET', path, signal, timeout: silenceMs });
    if (response.statusCode !== 200) {
      onLine({ type: 'ERROR', object: JSON.parse(await text(response)) });
      return;
    }
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      // A connection may end within a line.
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(JSON.parse(line));
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #begin(options: RequestOptions, body?: object): Promise<IncomingMessage> {
    const content = body ? JSON.stringify(body) : '';
    // Node sends no length with the body of a DELETE by itself.
    const length = Buffer.byteLength(content);
    const headers = { 'content-type': 'application/json', ...(length > 0 && { 'content-length': length }) };
    return new Promise((resolve, reject) => {
      const call = request(this.url, { ...options, headers, agent: this.#agent }, resolve);
      call.once('timeout', () => call.destroy(new Error('no event')));
      call.on('socket', (socket) => socket.setKeepAlive(true, 1_000));
      call.on('error', reject);
      call.end(content);
    });
  }
}

/** Masters that get the requests. A master that failed is left out for a moment, unless all have failed. */
export class Servers {
  readonly all: readonly ApiClient[];
  readonly #failedAt = new Map<ApiClient, number>();
  readonly #next: () => number;

  constructor(all: readonly ApiClient[], next: () => number) {
    this.all = all;
    this.#next = next;
  }

  pick(): ApiClient {
    const now = performance.now();
    const well = this.all.filter(
      (one) => now - (this.#failedAt.get(one) ?? Number.NEGATIVE_INFINITY) > 1_000,
    );
    const from = well.length > 0 ? well : this.all;
    return from[Math.floor(this.#next() * from.length)] as ApiClient;
  }

  failed(client: ApiClient): void {
    this.#failedAt.set(client, performance.now());
  }
}
