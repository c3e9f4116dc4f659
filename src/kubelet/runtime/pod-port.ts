/**
 * A TCP connection to a port on a pod's own loopback address, through a program that enters its network
 * (pause.c).
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { RuntimeError } from '../../docker/runtime-error.ts';

/** Maximum length of the program's error line. */
const maxLineLength = 1024;

/**
 * Connects the stream to the port in the network of process `pid`, until both sides are done or the stream is
 * closed. Rejects with the program's message when nothing listens on the port, and when the signal aborts.
 */
export async function connectPort(
  program: string,
  pid: number,
  port: number,
  stream: Duplex,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  if (stream.destroyed) return;
  const child = spawn(program, ['connect', String(pid), String(port)], { stdio: 'pipe' });
  const ended = endOf(child);
  // A stream whose two sides have ended closes too, while the program may still have to pass on its last
  // bytes.
  const wasLeft = () => stream.destroyed && !(stream.readableEnded && stream.writableFinished);
  const kill = () => {
    child.kill('SIGKILL');
    // Unread output would keep its pipe open.
    child.stdout.destroy();
  };
  const closed = () => {
    if (wasLeft()) kill();
  };
  signal.addEventListener('abort', kill, { once: true });
  stream.once('close', closed);
  // A broken pipe means that the program has ended; its exit status shows whether it failed.
  for (const pipe of [child.stdin, child.stdout]) pipe.on('error', () => undefined);
  stream.pipe(child.stdin);
  child.stdout.pipe(stream);
  try {
    const { code, line } = await ended;
    signal.throwIfAborted();
    if (code !== 0 && !wasLeft()) throw new RuntimeError('Failed', line || `the connection failed: ${code}`);
    stream.end();
  } finally {
    signal.removeEventListener('abort', kill);
    stream.off('close', closed);
    stream.unpipe(child.stdin);
    stream.resume();
  }
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; line: string }> {
  let line = '';
  child.stderr.on('data', (chunk: Buffer) => {
    line = (line + chunk.toString()).slice(0, maxLineLength);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, line: line.trim().split('\n', 1)[0] ?? '' };
}
