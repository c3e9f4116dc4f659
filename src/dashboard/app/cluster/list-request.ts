/** Lists of any length: their objects are read in turns while the answer arrives. */
import type { ListMeta } from '../../../apimachinery/meta.ts';
import { ListPieces } from './plan/list-pieces.ts';
import { request } from './request.ts';
import { Turn } from './turns.ts';

/** The answer without its objects. */
export interface Envelope {
  readonly metadata: ListMeta;
}

export interface ListRequest<S, T, E extends Envelope> {
  readonly path: string;
  readonly init: RequestInit;
  /** Field of the answer with the objects: `items`, or `rows` of a table. */
  readonly member: string;
  /** Returns what is kept of an object of the answer. */
  readonly read: (served: S) => T;
  /** Called with the fields of the answer before its objects. */
  readonly onHead?: (head: Partial<E>) => void;
  /** Called after each turn with the objects so far, in an array that grows. */
  readonly onPart?: ((objects: readonly T[]) => void) | undefined;
}

export interface Listed<T, E extends Envelope> {
  readonly objects: T[];
  readonly envelope: E;
}

export async function requestList<S, T, E extends Envelope = Envelope>(
  list: ListRequest<S, T, E>,
): Promise<Listed<T, E>> {
  const response = await request(list.path, list.init);
  const objects: T[] = [];
  const pieces = new ListPieces(list.member);
  const turn = new Turn();
  for await (const text of textsOf(response)) {
    for (const piece of pieces.push(text)) {
      if (objects.length === 0) list.onHead?.(JSON.parse(pieces.head()) as Partial<E>);
      objects.push(list.read(JSON.parse(piece) as S));
      if (!turn.isOver) continue;
      list.onPart?.(objects);
      await turn.next();
    }
  }
  return { objects, envelope: JSON.parse(pieces.end()) as E };
}

async function* textsOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
