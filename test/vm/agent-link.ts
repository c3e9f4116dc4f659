/** Commands in a virtual machine, run by its agent at the other end of a virtio-serial port. */
import type { Duplex } from 'node:stream';
import { exitStatus, fromAgent, readFrames, toAgent, writeFrame } from './frames.ts';

export interface CommandOptions {
  /** Maximum duration, after which the command is killed and `run` rejects; default: two minutes. */
  readonly timeoutMs?: number;
  /** Standard input; default: empty. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Receives standard output as it comes, which is not collected then. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface CommandResult {
  /** Exit status as a shell has it: 128 and more for a signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Channel {
  readonly onOutput: (chunk: Buffer) => void;
  readonly onError: (chunk: Buffer) => void;
  readonly onExit: (status: number) => void;
  readonly onLost: (error: Error) => void;
  /** Called when the agent has passed the last chunk of input to the command. */
  onTaken: () => void;
}

const defaultTimeoutMs = 120_000;

export class AgentLink {
  /** Resolves when the agent runs; never rejects, since the end of the machine is seen elsewhere. */
  readonly ready: Promise<void>;
  readonly #stream: Duplex;
  readonly #channels = new Map<number, Channel>();
  #last = 0;
  #rest: Buffer = Buffer.alloc(0);
  #lost: Error | undefined;

  constructor(stream: Duplex) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => this.#receive(chunk, resolve));
    // QEMU closes its end when it ends; a reset of the connection means the same.
    stream.on('error', () => undefined);
    stream.on('close', () => this.#lose());
  }

  /** Runs a command by bash, as root. Rejects when the machine ends meanwhile, or after the timeout. */
  async run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    if (this.#lost) throw this.#lost;
    const { timeoutMs = defaultTimeoutMs, input } = options;
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const id = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const channel: Channel = {
      onOutput: options.onOutput ?? ((chunk) => void stdout.push(chunk)),
      onError: (chunk) => void stderr.push(chunk),
      onExit: resolve,
      onLost: reject,
      onTaken: () => undefined,
    };
    this.#channels.set(id, channel);
    const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8');
    const timer = setTimeout(() => {
      this.#send(id, toAgent.kill);
      const printed = `${text(stdout)}${text(stderr)}`.trimEnd();
      reject(new Error(`${command}: did not end within ${timeoutMs / 1000} s; it printed: ${printed}`));
    }, timeoutMs);
    try {
      this.#send(id, toAgent.run, Buffer.from(command));
      void this.#feed(id, channel, input ?? nothing()).catch(reject);
      return { status: await promise, stdout: text(stdout), stderr: text(stderr) };
    } finally {
      clearTimeout(timer);
      this.#channels.delete(id);
      channel.onTaken();
    }
  }

  /** Sends one chunk at a time, so that the agent has to hold no more than that. */
  async #feed(id: number, channel: Channel, input: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of input) {
      if (!this.#channels.has(id)) return;
      if (chunk.length === 0) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      channel.onTaken = resolve;
      this.#send(id, toAgent.input, chunk);
      await promise;
    }
    if (this.#channels.has(id)) this.#send(id, toAgent.input);
  }

  #send(channel: number, type: number, payload: Uint8Array = Buffer.alloc(0)): void {
    if (!this.#lost) this.#stream.write(writeFrame(channel, type, payload));
  }

  #receive(chunk: Buffer, hello: () => void): void {
    const { frames, rest } = readFrames(this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk);
    this.#rest = rest;
    for (const { channel: id, type, payload } of frames) {
      if (type === fromAgent.hello) hello();
      const channel = this.#channels.get(id);
      if (type === fromAgent.stdout) channel?.onOutput(payload);
      if (type === fromAgent.stderr) channel?.onError(payload);
      if (type === fromAgent.taken) channel?.onTaken();
      if (type === fromAgent.exit) channel?.onExit(exitStatus(payload.readUInt32LE(0)));
    }
  }

  #lose(): void {
    this.#lost = new Error('the virtual machine has ended');
    for (const { onLost } of this.#channels.values()) onLost(this.#lost);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
