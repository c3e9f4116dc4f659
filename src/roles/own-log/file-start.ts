/** Finds the place at which the reading of a log begins. Searches its files from the end backwards. */

import { type LogFile, openNewest, openOldest, preceding } from '../../kubelet/runtime/log-file-chain.ts';
import { firstTimeIn } from '../../os/rotating-file.ts';
import { isSelectedLine, type Selection } from './selection.ts';

export interface Start {
  readonly file: LogFile;
  /** Byte at which a line begins. */
  readonly offset: number;
}

const pieceBytes = 256 * 1024;

/**
 * Opens the file with the first line that is needed for the last `tail` selected lines, and for the lines
 * since the selection's time; undefined if there is no file. The place may be earlier than necessary.
 */
export async function openStart(
  path: string,
  selection: Selection,
  tail: number | undefined,
): Promise<Start | undefined> {
  if (tail === undefined && selection.since === undefined) {
    const oldest = await openOldest(path);
    return oldest && { file: oldest, offset: 0 };
  }
  let file = await openNewest(path);
  const needs = new Needs(selection, tail);
  while (file) {
    const offset = await startIn(file, needs);
    const older = offset === undefined ? await preceding(path, file) : undefined;
    if (!older) return { file, offset: offset ?? 0 };
    await file.handle.close();
    file = older;
  }
  return undefined;
}

/** Counts the selected lines in pieces of the log, which are read from the end backwards. */
class Needs {
  readonly #selection: Selection;
  #left: number | undefined;

  constructor(selection: Selection, tail: number | undefined) {
    this.#selection = selection;
    this.#left = tail;
  }

  /** Returns true if no older piece is needed. `text` holds whole lines. */
  areMetBy(text: string): boolean {
    const { since } = this.#selection;
    if (since !== undefined && (firstTimeIn(text.slice(0, 128)) ?? since) < since) return true;
    if (this.#left === undefined) return false;
    for (const line of text.split('\n')) if (isSelectedLine(this.#selection, line)) this.#left--;
    return this.#left <= 0;
  }
}

/** Resolves to the place in a file, or to undefined if the file before it is needed too. */
async function startIn({ handle }: LogFile, needs: Needs): Promise<number | undefined> {
  let { size: end } = await handle.stat();
  while (end > 0) {
    const from = Math.max(0, end - pieceBytes);
    const bytes = Buffer.alloc(end - from);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    // A piece that begins within a line is cut after that line, which belongs to the piece before it.
    const cut = from === 0 ? 0 : bytes.indexOf(0x0a) + 1;
    if (needs.areMetBy(bytes.toString('utf8', cut, bytesRead).replace(/\n$/, ''))) return from + cut;
    // Without a line end in the piece, the whole piece is the middle of one line.
    end = from === 0 || cut === 0 ? from : Math.min(from + cut, end - 1);
  }
  return undefined;
}
