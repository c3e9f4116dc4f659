/**
 * Reads a container's log from the engine's own files, up to its end at the time of the call. The engine's
 * API sends each entry in a frame of its own, which costs the engine and the agent ten times as much.
 */
import { onAbort } from '../../base/abort.ts';
import type { FollowOptions } from './followed-files.ts';
import { LogFilePrinter } from './log-file-lines.ts';
import { type LogPart, openParts } from './log-tail.ts';

const chunkBytes = 256 * 1024;

/**
 * Opens the files; undefined when there are none, or when they are not accessible. The returned sequence ends
 * when the signal aborts, too. Files are closed when it ends or the signal aborts.
 */
export async function readKeptFiles(
  path: string,
  { tailLines, ...print }: FollowOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const parts = await unlessForbidden(openParts(path, tailLines));
  if (!parts || parts.length === 0) return undefined;
  return readParts(parts, new LogFilePrinter(print), signal);
}

function readParts(
  parts: readonly LogPart[],
  printer: LogFilePrinter,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  // Closing waits for a read in progress.
  const close = () => {
    for (const { file } of parts) file.handle.close().catch(() => undefined);
  };
  // The files are closed at an abort even if reading has not begun.
  const unlink = onAbort(signal, close);
  return (async function* () {
    try {
      for (const part of parts) {
        yield* readPart(part, printer);
        printer.nextFile();
      }
    } catch (error) {
      // An error after the abort comes from a file that the abort closed.
      if (!signal.aborted) throw error;
    } finally {
      unlink();
      close();
    }
  })();
}

async function* readPart({ file, offset, end }: LogPart, printer: LogFilePrinter): AsyncIterable<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (let at = offset; at < end; ) {
    const { bytesRead } = await file.handle.read(buffer, 0, Math.min(chunkBytes, end - at), at);
    // The file has been truncated, for example by logrotate with copytruncate.
    if (bytesRead === 0) return;
    at += bytesRead;
    const printed = printer.print(buffer.subarray(0, bytesRead));
    if (printed.length > 0) yield printed;
  }
}

async function unlessForbidden<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}
