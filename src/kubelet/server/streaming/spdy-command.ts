/**
 * Serves exec and attach over SPDY/3.1, with one stream each for errors, input, outputs and terminal sizes.
 */
import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Clock, sleep } from '../../../base/clock.ts';
import { SpdyConnection, type SpdyStream } from '../../../streams/spdy-connection.ts';
import { type CommandSession, clientPatienceMs, type WantedStreams } from './command-session.ts';
import { hangUp } from './hang-up.ts';
import { type Outcome, outcomeStatus, outcomeText } from './outcome.ts';
import { TerminalSizes } from './terminal-sizes.ts';

export interface SpdyCommandOptions {
  readonly transport: Duplex;
  readonly wanted: WantedStreams;
  /** The negotiated protocol, such as `v4.channel.k8s.io`: from v4 on the outcome is a Status. */
  readonly protocol: string;
  readonly clock: Clock;
}

/** Resolves when the client has opened every requested stream; rejects when it does not in time. */
export async function openSpdyCommand(options: SpdyCommandOptions): Promise<CommandSession> {
  const { transport, wanted, protocol, clock } = options;
  const missing = new Set(streamNames(wanted));
  const streams = new Map<string, SpdyStream>();
  const complete = Promise.withResolvers<void>();
  const connection = new SpdyConnection(transport, (stream) => {
    const name = stream.headers.streamtype ?? '';
    if (!missing.delete(name)) return void stream.destroy();
    streams.set(name, stream);
    if (missing.size === 0) complete.resolve();
  });
  const gone = new AbortController();
  // Invalid SPDY data ends the connection, as a client that hangs up does.
  const running = connection.run().catch(() => void transport.destroy());
  void running.then(() => gone.abort());
  const late = new AbortController();
  try {
    await Promise.race([
      complete.promise,
      sleep(clock, clientPatienceMs, AbortSignal.any([late.signal, gone.signal])).then(() => {
        throw new Error('the client opened no streams');
      }),
    ]);
  } catch (error) {
    transport.destroy();
    throw error;
  } finally {
    late.abort();
  }
  return {
    streams: {
      stdin: streams.get('stdin'),
      stdout: streams.get('stdout'),
      stderr: streams.get('stderr'),
      sizes: sizesOf(streams.get('resize')),
    },
    gone: gone.signal,
    async finish(outcome) {
      const outputs = [streams.get('stdout'), streams.get('stderr')];
      for (const output of outputs) output?.end();
      const error = streams.get('error');
      error?.end(outcomeBytes(outcome, protocol));
      await Promise.allSettled(
        [...outputs, error].map((stream) => stream && finished(stream, { readable: false })),
      );
      // Unread data would keep the end of the connection from being noticed.
      for (const stream of streams.values()) stream.resume();
      await hangUp(transport, clock);
      await running;
    },
  };
}

function streamNames({ stdin, stdout, stderr, tty }: WantedStreams): string[] {
  const wanted = { error: true, stdin, stdout, stderr, resize: tty };
  return Object.entries(wanted).flatMap(([name, is]) => (is ? [name] : []));
}

function outcomeBytes(outcome: Outcome, protocol: string): string {
  return protocol === 'v4.channel.k8s.io' ? outcomeStatus(outcome) : outcomeText(outcome);
}

function sizesOf(stream: SpdyStream | undefined): TerminalSizes {
  const sizes = new TerminalSizes();
  if (!stream) sizes.end();
  stream?.on('data', (chunk: Buffer) => sizes.push(chunk.toString()));
  stream?.once('close', () => sizes.end());
  return sizes;
}
