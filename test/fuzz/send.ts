/** Sends a request as it is and reads the answer, over connections that are reused. */
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { FuzzRequest } from './requests.ts';

export interface Target {
  readonly port: number;
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
}

export interface Sent {
  readonly status: number;
  readonly body: Buffer;
  /** Reason why there is no answer, or no whole one. */
  readonly failed?: string;
  /** True if the client left as planned. */
  readonly left?: boolean;
}

/** Timeout of an answer, in milliseconds. */
const patienceMs = 20_000;

export class Sender {
  readonly #agent: Agent;
  readonly #target: Target;

  constructor(target: Target, connections: number) {
    this.#target = target;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends the request, and retries it once when a kept connection has just ended. Never rejects. */
  async send(asked: FuzzRequest): Promise<Sent> {
    const first = await this.#once(asked);
    return first.failed === 'ended before it was used' ? this.#once(asked) : first;
  }

  close(): void {
    this.#agent.destroy();
  }

  #once({ method, path, headers, body, leaveAfterMs }: FuzzRequest): Promise<Sent> {
    const { port, ca, key, cert } = this.#target;
    return new Promise((resolve) => {
      let status = 0;
      const parts: Buffer[] = [];
      let left = false;
      const timers: NodeJS.Timeout[] = [];
      const end = (failed?: string) => {
        for (const timer of timers) clearTimeout(timer);
        resolve({
          status,
          body: Buffer.concat(parts),
          ...(left ? { left } : failed !== undefined && { failed }),
        });
      };
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const outgoing = request({
        ...{ host: '127.0.0.1', port, ca, key, cert, agent: this.#agent },
        ...{ method, path, headers: { ...headers, ...length } },
      });
      const after = (ms: number, work: () => void) => timers.push(setTimeout(work, ms));
      after(patienceMs, () => outgoing.destroy(new Error(`no whole answer in ${patienceMs / 1000} s`)));
      if (leaveAfterMs !== undefined)
        after(leaveAfterMs, () => {
          left = true;
          outgoing.destroy();
        });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const early = outgoing.reusedSocket && status === 0 && error.code === 'ECONNRESET';
        end(early ? 'ended before it was used' : error.message);
      });
      outgoing.on('upgrade', (_, socket) => {
        socket.destroy();
        end();
      });
      outgoing.on('response', (answer: IncomingMessage) => {
        status = answer.statusCode ?? 0;
        answer.on('data', (chunk: Buffer) => parts.push(chunk));
        answer.on('end', () => end());
        answer.on('error', (error) => end(error.message));
      });
      outgoing.end(body);
    });
  }
}
