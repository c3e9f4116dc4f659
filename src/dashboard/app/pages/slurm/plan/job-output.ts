/** The output of a SlurmJob, which arrives in pieces. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { numberAt, textAt } from '../../../../../apimachinery/fields.ts';

export interface OutputFile {
  readonly path: string;
  readonly kind: string;
  readonly text: string;
  /** Bytes from the start without a gap; later pieces are not shown until the missing ones have arrived. */
  readonly bytes: number;
}

/** Returns the files of a job with their text, in the order in which their first pieces were written. */
export function outputFiles(pieces: readonly JsonObject[]): readonly OutputFile[] {
  const byPath = Map.groupBy(pieces, (piece) => textAt(piece, 'spec', 'path'));
  return [...byPath].map(([path, own]) => ({
    path,
    kind: textAt(own[0], 'spec', 'kind'),
    ...textOf(own),
  }));
}

function textOf(pieces: readonly JsonObject[]): Pick<OutputFile, 'text' | 'bytes'> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (const piece of pieces.toSorted(
    (a, b) => numberAt(a, 'spec', 'offset') - numberAt(b, 'spec', 'offset'),
  )) {
    if (numberAt(piece, 'spec', 'offset') !== bytes) continue;
    const data = Uint8Array.fromBase64(textAt(piece, 'spec', 'data'));
    bytes += data.length;
    text += decoder.decode(data, { stream: true });
  }
  return { text: text + decoder.decode(), bytes };
}
