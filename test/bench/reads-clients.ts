/** The clients of reads.ts, in a process of their own: as little as HTTP needs, so that what is measured is the server. */
import { connect, type TLSSocket } from 'node:tls';

export interface ReadsTask {
  readonly port: number;
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
  readonly path: string;
  /** How many requests wait for an answer at any time; each has a connection. */
  readonly inFlight: number;
  readonly ms: number;
}

export interface ReadsAnswer {
  readonly answers: number;
  readonly ms: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

/** One connection that asks again as soon as it has its answer. */
class Lane {
  readonly #task: ReadsTask;
  #socket: TLSSocket | undefined;
  #read: Buffer = Buffer.alloc(0);
  #answered: () => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  constructor(task: ReadsTask) {
    this.#task = task;
  }

  ask(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket ??= this.#connect();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): TLSSocket {
    const { port, ca, key, cert } = this.#task;
    const socket = connect({ host: '127.0.0.1', port, ca, key, cert });
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#failed(error));
    socket.on('close', () => this.#failed(new Error('the server closed the connection')));
    return socket;
  }

  #take(chunk: Buffer): void {
    this.#read = this.#read.length === 0 ? chunk : Buffer.concat([this.#read, chunk]);
    const body = this.#read.indexOf(headEnd) + headEnd.length;
    if (body < headEnd.length) return;
    const head = this.#read.toString('latin1', 0, body);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    const whole = length === undefined ? this.#chunksEnd(body) : body + Number(length);
    if (whole === undefined || this.#read.length < whole) return;
    this.#read = Buffer.alloc(0);
    if (!head.startsWith('HTTP/1.1 200 ')) this.#failed(new Error(head.slice(0, head.indexOf('\r\n'))));
    else if (/\r\nconnection: close\r\n/i.test(head)) this.#failed(new Error('the answer was too long'));
    else this.#answered();
  }

  /** There is only one answer at a time. */
  #chunksEnd(body: number): number | undefined {
    const ends = this.#read.length >= body + lastChunk.length && this.#read.subarray(-5).equals(lastChunk);
    return ends ? this.#read.length : undefined;
  }
}

const requestFor = (path: string) =>
  Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: apiserver\r\nAccept: application/json\r\nUser-Agent: bench\r\n\r\n`,
  );

async function run(task: ReadsTask): Promise<ReadsAnswer> {
  const lanes = Array.from({ length: task.inFlight }, () => new Lane(task));
  const request = requestFor(task.path);
  // Connecting is not part of it. The answer of /livez to who has asked for nothing else yet would be the connection's last.
  await Promise.all(lanes.map((lane) => lane.ask(requestFor('/api'))));
  let answers = 0;
  const start = performance.now();
  await Promise.all(
    lanes.map(async (lane) => {
      for (; performance.now() < start + task.ms; answers++) await lane.ask(request);
      lane.close();
    }),
  );
  return { answers, ms: performance.now() - start };
}

process.on('message', async (task: ReadsTask) => {
  process.send?.(await run(task));
});
