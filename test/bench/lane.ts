/**
 * One connection to a measured server with a minimal HTTP/1.1 client, so that the cost of the client is
 * small.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect } from 'node:tls';

export interface Target {
  /** Address; this machine's by default. */
  readonly host?: string;
  readonly port: number;
  /** PEM; undefined for a server without TLS. */
  readonly ca?: string;
  readonly key?: string;
  readonly cert?: string;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');
const nothing: Buffer = Buffer.alloc(0);

export function requestBytes(method: string, path: string, body?: string, type = 'application/json'): Buffer {
  const head = `${method} ${path} HTTP/1.1\r\nHost: apiserver\r\nAccept: application/json\r\nUser-Agent: bench\r\n`;
  if (body === undefined) return Buffer.from(`${head}\r\n`);
  return Buffer.from(
    `${head}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function textOf(body: Buffer, inChunks: boolean): string {
  if (!inChunks) return body.toString();
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, line), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString();
    parts.push(body.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/**
 * Sends one request at a time. A server may close the connection after an answer; the next request then opens
 * another.
 */
export class Lane {
  readonly #target: Target;
  readonly #keep: boolean;
  #socket: Socket | undefined;
  #head = '';
  #read = nothing;
  /** Remaining bytes of a body with a length; undefined for a chunked body. */
  #left: number | undefined;
  #tail = nothing;
  #parts: Buffer[] = [];
  #answered: (body: string) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  /** If `keep` is set, answers are returned as text; otherwise they are read and returned as ''. */
  constructor(target: Target, keep = false) {
    this.#target = target;
    this.#keep = keep;
  }

  /** Sends a request and resolves to the answer. Rejects when the status is not 2xx. */
  ask(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket ??= this.#connect();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Socket {
    const { host = '127.0.0.1', port, ca, key, cert } = this.#target;
    const socket =
      ca === undefined
        ? connectPlain({ host, port })
        : connect({ host, port, ca, ...(key !== undefined && cert !== undefined && { key, cert }) });
    const ours = () => this.#socket === socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => ours() && this.#take(chunk));
    socket.on('error', (error) => ours() && this.#failed(error));
    socket.on('close', () => ours() && this.#failed(new Error('the server closed the connection')));
    return socket;
  }

  #take(chunk: Buffer): void {
    if (this.#head !== '') {
      this.#body(chunk);
      return;
    }
    this.#read = this.#read.length === 0 ? chunk : Buffer.concat([this.#read, chunk]);
    const body = this.#read.indexOf(headEnd) + headEnd.length;
    if (body < headEnd.length) return;
    this.#head = this.#read.toString('latin1', 0, body);
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1];
    this.#left = length === undefined ? undefined : Number(length);
    this.#body(this.#read.subarray(body));
  }

  #body(chunk: Buffer): void {
    if (this.#keep) this.#parts.push(chunk);
    if (this.#left !== undefined) {
      this.#left -= chunk.length;
      if (this.#left > 0) return;
    } else {
      // There is only one answer at a time.
      this.#tail = Buffer.concat([this.#tail, chunk.subarray(-lastChunk.length)]).subarray(-lastChunk.length);
      if (!this.#tail.equals(lastChunk)) return;
    }
    this.#end();
  }

  #end(): void {
    const head = this.#head;
    const body = this.#keep ? textOf(Buffer.concat(this.#parts), this.#left === undefined) : '';
    this.#head = '';
    this.#read = nothing;
    this.#tail = nothing;
    this.#parts = [];
    if (/\r\nconnection: close\r\n/i.test(head)) this.close();
    if (head.startsWith('HTTP/1.1 2')) this.#answered(body);
    else this.#failed(new Error(`${head.slice(0, head.indexOf('\r\n'))} ${body}`));
  }
}
