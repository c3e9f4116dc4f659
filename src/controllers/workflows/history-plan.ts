/** Entries of the history of a run as the API shows them, and which of them the status has no more room for. Pure. */
import { entriesOfChunk, type WorkflowHistoryEntry } from '../../api/minik8s/v1/workflow-history-entry.ts';
import type { HistoryEntry } from '../../states-language/run/turn.ts';

/** Characters of JSON that an entry repeats, and those of all entries of one status together. */
const mostOfEntry = 4096;
const mostOfAll = 128 * 1024;
const leastOfEntry = 256;

/** `before` are those that the status has already. */
export function entriesOf(
  history: readonly HistoryEntry[],
  before: readonly WorkflowHistoryEntry[],
): WorkflowHistoryEntry[] {
  let left = mostOfAll - before.reduce((sum, entry) => sum + textOf(entry), 0);
  return history.map(({ id, time, type, state, way, detail, input, output }) => {
    const most = Math.max(leastOfEntry, Math.min(mostOfEntry, left));
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

/** Never between the two halves of a character. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most;
  return `${text.slice(0, end)}…`;
}

/** What goes into WorkflowHistory objects: of a run that goes on as soon as there is enough for one. */
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
