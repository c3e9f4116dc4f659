/**
 * Encodes stored objects into answers: one encoder for each form (the object, a row of a Table, metadata
 * alone), media type and served version. encoders.ts selects the encoder.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject, ListMeta } from '../../apimachinery/meta.ts';
import type { Turns } from '../turns.ts';
import type { Framing } from './framing.ts';

/** An object to be encoded, in its stored version. */
export interface Kept {
  readonly object: KubeObject;
  /** JSON of the object, with its resourceVersion; only read if the encoder needs it. */
  readonly bytes?: Buffer;
  /** Revision of an object in the watch cache: encodings of such an object are cached. */
  readonly revision?: number;
}

/** The request that receives a list, and the scheduler of the encoding work. */
export interface Listing {
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  readonly server: { readonly turns: Pick<Turns, 'next'> };
}

export interface Encoder {
  /** Content type of answers other than watches. */
  readonly contentType: string;
  /** True if the encoder's JSON is still to be converted to YAML. */
  readonly inYaml?: true;
  object(found: Kept): Uint8Array | string;
  /** Encodes an answer of another kind than the addressed one: a Status, a Scale. */
  otherKind(value: JsonObject): Uint8Array | string;
  list(listing: Listing, metadata: ListMeta, items: readonly Kept[]): Promise<Response>;
  /** Returns the encoding of a watch's events. */
  framing(): Framing;
}
