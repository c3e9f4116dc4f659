/**
 * Converts the history of a run to API entries, and decides which of them are moved out of the status. Pure.
 */

import type { HistoryEntry } from '../../../states-language/run/turn.ts';
import { entriesOfChunk, type WorkflowHistoryEntry } from '../api/workflow-history-entry.ts';

/**
 * Limits in characters of JSON: the maximum of one entry, the maximum of all entries of a status, and the
 * minimum of an entry.
 */
const maxOfEntry = 4096;
const maxOfAll = 128 * 1024;
const minOfEntry = 256;

/** Returns the entries. `before` are the entries that the status already has. */
export function entriesOf(
  history: readonly HistoryEntry[],
  before: readonly WorkflowHistoryEntry[],
): WorkflowHistoryEntry[] {
  let left = maxOfAll - before.reduce((sum, entry) => sum + textOf(entry), 0);
  return history.map(({ id, time, type, state, way, detail, input, output }) => {
    const most = Math.max(minOfEntry, Math.min(maxOfEntry, left));
    const entry = {
      id,
      time: new Date(time).toISOString(),
      type,
      ...(state !== undefined && { state }),
      ...(way !== undefined && { task: way }),
      ...(detail !== undefined && { detail }),
      ...(input !== undefined && { input: cut(JSON.stringify(input), most) }),
      ...(output !== undefined && { output: cut(JSON.stringify(output), most) }),
    };
    left -= textOf(entry);
    return entry;
  });
}

const textOf = ({ input = '', output = '' }: WorkflowHistoryEntry) => input.length + output.length;

/** Cuts a text, never between the two halves of a surrogate pair. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most;
  return `${text.slice(0, end)}…`;
}

/**
 * Returns the entries to move to WorkflowHistory objects: a chunk as soon as it is full. A run that has ended
 * keeps its last entry.
 */
export function chunksOf(
  stored: readonly WorkflowHistoryEntry[],
  hasEnded: boolean,
): {
  readonly chunks: readonly (readonly WorkflowHistoryEntry[])[];
  readonly rest: readonly WorkflowHistoryEntry[];
} {
  const chunks: (readonly WorkflowHistoryEntry[])[] = [];
  let rest = stored;
  while (rest.length >= entriesOfChunk + (hasEnded ? 1 : 0)) {
    chunks.push(rest.slice(0, entriesOfChunk));
    rest = rest.slice(entriesOfChunk);
  }
  return { chunks, rest };
}
